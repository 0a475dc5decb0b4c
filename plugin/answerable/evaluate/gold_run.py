"""Run a gold set over servers that may fail: failed calls, several at once, repeats, tokens."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..serve.engine import Engine
from ..serve.errors import AnswerableError, CancelledError, FailureCause
from ..serve.request_context import RequestContext, use_context
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.types import Claim
from .entailment import EntailmentJudge, list_unsupported_claims
from .gold import GoldQuery
from .run_costs import sum_usages
from .runner import add_scores, embed_queries, judge_outcome, retrieve_pool
from .verdict import CallUsage, RepeatedRun, Verdict

# Causes that every further call of the same server would have too.
_LASTING_CAUSES: frozenset[FailureCause] = frozenset(
    {"no-package", "no-key", "key-refused", "quota", "no-model", "timeout"}
)
# Queries that are begun for each that runs: enough to keep every worker busy while the first of
# them takes long, and few enough that the end of a run wastes no call.
_QUEUED_PER_JOB = 2


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Choose the tier of a run, how many queries are asked at once, and how often each is.

    ``judge``: is asked about each claim, in the full tier.
    """

    full: bool = False
    jobs: int = 1
    repeat: int = 1
    judge: EntailmentJudge | None = None


def run_gold_queries(
    queries: Sequence[GoldQuery],
    engine: Engine[Bundle],
    notes: Mapping[str, str],
    options: RunOptions,
) -> Iterator[Verdict]:
    """Judge queries, in their order; a call that fails makes the status ``error``.

    notes: from a note's path to its id. One call embeds all questions; if it fails for a reason
    that may concern one of them only, each is embedded alone. KeyboardInterrupt comes after the
    verdicts that are there already; calls under way are cancelled.
    """
    task = _GoldTask(engine, notes, options)
    vectors = _embed_all(queries, engine)
    if options.jobs == 1:
        for query, vector in zip(queries, vectors, strict=True):
            yield task.judge(query, vector)
        return
    pending: deque[Future[Verdict]] = deque()
    with ThreadPoolExecutor(options.jobs, "answerable-eval") as executor:
        try:
            for query, vector in zip(queries, vectors, strict=True):
                pending.append(executor.submit(task.judge, query, vector))
                if len(pending) >= _QUEUED_PER_JOB * options.jobs:
                    yield _take_first(pending)
            while pending:
                yield _take_first(pending)
        except KeyboardInterrupt:
            task.cancel()
            yield from _collect_finished(pending)
            raise
        finally:
            task.cancel()
            executor.shutdown(cancel_futures=True)


def _take_first(pending: deque[Future[Verdict]]) -> Verdict:
    """Wait for the first verdict; it stays in line if the wait is interrupted."""
    verdict = pending[0].result()
    pending.popleft()
    return verdict


def _collect_finished(pending: deque[Future[Verdict]]) -> Iterator[Verdict]:
    """Yield the verdicts that were there when their run was cancelled."""
    for future in pending:
        if future.cancel():
            continue
        error = future.exception()
        if error is None:
            yield future.result()


def _embed_all(
    queries: Sequence[GoldQuery], engine: Engine[Bundle]
) -> Sequence[Floats | AnswerableError | None]:
    """Embed all questions; an error for each if no call can succeed, None to embed it alone."""
    try:
        return list(embed_queries(queries, engine))
    except AnswerableError as error:
        if error.cause is None:
            raise
        return [error if error.cause in _LASTING_CAUSES else None for _ in queries]


class _GoldTask:
    """Judge one query in whatever thread calls it, each call with a context of its own."""

    def __init__(
        self, engine: Engine[Bundle], notes: Mapping[str, str], options: RunOptions
    ) -> None:
        self._engine = engine
        self._notes = notes
        self._options = options
        self._lock = threading.Lock()
        self._contexts: set[RequestContext] = set()
        self._is_cancelled = False

    def cancel(self) -> None:
        """Stop the calls under way, and those that would begin: CancelledError in each."""
        with self._lock:
            self._is_cancelled = True
            contexts = list(self._contexts)
        for context in contexts:
            context.cancel()

    def judge(self, query: GoldQuery, vector: Floats | AnswerableError | None) -> Verdict:
        """Judge a query by all of its runs. vector: its question's, an error, or None for neither.

        CancelledError if the run was cancelled.
        """
        if vector is None:
            try:
                with self._use_context():
                    (vector,) = embed_queries([query], self._engine)
            except AnswerableError as error:
                vector = _require_failed_call(error)
        if isinstance(vector, AnswerableError):
            return _make_error_verdict(query, "embedding", vector)
        verdicts = [self._judge_once(query, vector) for _ in range(self._options.repeat)]
        return add_scores(merge_runs(verdicts), vector, self._engine)

    def _judge_once(self, query: GoldQuery, vector: Floats) -> Verdict:
        engine, start = self._engine, time.monotonic()
        pool = retrieve_pool(query, vector, engine)
        if not self._options.full:
            return judge_outcome(query, pool, None, engine, self._notes)
        claims: tuple[Claim, ...] = ()
        with self._use_context() as context:
            try:
                reply = engine.answer_from(pool)
                claims = reply.answer.claims
                verdict = judge_outcome(query, pool, reply, engine, self._notes)
            except AnswerableError as error:
                failure = _require_failed_call(error)
                # What was retrieved is known all the same.
                verdict = replace(
                    judge_outcome(query, pool, None, engine, self._notes),
                    error=f"answer: {failure}",
                    cause=failure.cause,
                )
        verdict = replace(verdict, usage=_read_usage(context, start))
        judge = self._options.judge
        return self._judge_claims(judge, verdict, claims) if judge and claims else verdict

    def _judge_claims(
        self, judge: EntailmentJudge, verdict: Verdict, claims: Sequence[Claim]
    ) -> Verdict:
        """Add what a judge says of each claim; one that is required can fail the verdict."""
        start = time.monotonic()
        with self._use_context() as context:
            supports = judge.judge_claims(claims)
        verdict = replace(verdict, supports=supports, judge_usage=_read_usage(context, start))
        if not judge.required:
            return verdict
        if failed := [each for each in supports if each.support == "error"]:
            error = f"judge: the call of {judge.model} failed ({failed[0].cause})"
            return replace(verdict, error=error, cause=failed[0].cause)
        unsupported = list_unsupported_claims(verdict)
        return replace(
            verdict,
            issues=(*verdict.issues, *unsupported),
            public_issues=(*verdict.public_issues, *unsupported),
        )

    @contextmanager
    def _use_context(self) -> Iterator[RequestContext]:
        context = RequestContext()
        with self._lock:
            self._contexts.add(context)
            if self._is_cancelled:
                context.cancel()
        try:
            with use_context(context):
                context.check_deadline()
                yield context
        finally:
            with self._lock:
                self._contexts.discard(context)


def merge_runs(verdicts: Sequence[Verdict]) -> Verdict:
    """Merge the verdicts of several runs of one query; that of a single run stays as it is.

    An error leads, then a failure: a server that fails is not a model that wavers.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    leading = min(verdicts, key=lambda each: (each.error is None, not each.issues))
    runs = tuple(
        RepeatedRun(
            each.issues,
            each.error,
            each.cause,
            each.mode,
            each.answer.text if each.answer else "",
        )
        for each in verdicts
    )
    return replace(
        leading,
        usage=sum_usages([each.usage for each in verdicts]),
        judge_usage=sum_usages([each.judge_usage for each in verdicts]),
        runs=runs,
    )


def _require_failed_call(error: AnswerableError) -> AnswerableError:
    """Return the error of a call that failed; raise any other, and that of a cancelled run."""
    if error.cause is None or isinstance(error, CancelledError):
        raise error
    return error


def _make_error_verdict(query: GoldQuery, call: str, error: AnswerableError) -> Verdict:
    """Make the verdict of a query of which nothing could be retrieved."""
    return Verdict(
        query.id,
        query.query,
        (),
        None,
        below_floors=True,
        tags=query.tags,
        note=query.note,
        expected_modes=query.expected_modes,
        known_failure=query.known_failure,
        error=f"{call}: {error}",
        cause=error.cause,
    )


def _read_usage(context: RequestContext, start: float) -> CallUsage | None:
    """Read what the calls of a query took; None if they have counted no token."""
    if not context.tokens_in + context.tokens_out:
        return None
    seconds = round(time.monotonic() - start, 3)
    return CallUsage(context.tokens_in, context.tokens_out, seconds)
