"""Run gold queries and judge each, one by one or several at once, once or repeatedly."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from ..serve.answers.contract import EvidenceItem
from ..serve.bundle_format.manifest import Profile
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, CancelledError, ProviderError
from ..serve.request_context import RequestContext, use_context
from ..serve.retrieval.question import clean_question
from ..serve.retrieval.retrieve import TOP_K, RetrievalResult
from ..serve.retrieval.scoring import Scored, choose_floored_score
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.types import Claim, Passage, RecordCitation, Reply, RoutingHint
from .gold import GoldQuery
from .judge import EntailmentJudge, judge_answer, judge_retrieval, summarize_reply
from .query_retrieval import (
    compute_hint_floor_scores,
    compute_passage_floor_scores,
    embed_queries,
    retrieve_pool,
)
from .sources import matches_source, select_public_sources
from .verdict import (
    CallUsage,
    NearMiss,
    RecordedAnswer,
    RecordedCitation,
    RepeatedRun,
    SourceRank,
    Verdict,
    sum_usages,
)

_SCORE_DIGITS = 6
_MAX_NEAR_MISSES = 5
# Queries that are begun for each that runs: enough to keep every worker busy while the first of
# them takes long, and few enough that the end of a run wastes no call.
_QUEUED_PER_JOB = 2


def run_gold_set(
    queries: Sequence[GoldQuery], engine: Engine[Bundle], notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; one call embeds them all.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    for query, vector in zip(queries, embed_queries(queries, engine), strict=True):
        verdict = judge_query(query, vector, engine, notes, full=full)
        yield add_scores(verdict, vector, engine)


def add_scores(verdict: Verdict, vector: Floats, engine: Engine[Bundle]) -> Verdict:
    """Add the best score of either stream to a verdict. vector: of its question, (dimensions,)."""
    reading = engine.parse_question(clean_question(verdict.query))
    passage_scores = compute_passage_floor_scores(engine.store, reading, vector)
    hint_scores = compute_hint_floor_scores(engine.store, reading, vector)
    return replace(
        verdict,
        passage_score=round(float(passage_scores.max(initial=0.0)), _SCORE_DIGITS),
        hint_score=round(float(hint_scores.max(initial=0.0)), _SCORE_DIGITS),
    )


def judge_query(
    query: GoldQuery, vector: Floats, engine: Engine, notes: Mapping[str, str], *, full: bool
) -> Verdict:
    """Judge one query; its scores, which take every row of the bundle, are left at 0.

    vector: of its question, (dimensions,). notes, full: as for ``run_gold_set``.
    """
    pool = retrieve_pool(query, vector, engine)
    reply = engine.answer_from(pool) if full else None
    return judge_outcome(query, pool, reply, engine, notes)


def judge_outcome(
    query: GoldQuery,
    pool: RetrievalResult,
    reply: Reply | None,
    engine: Engine,
    notes: Mapping[str, str],
) -> Verdict:
    """Judge what was retrieved for a query and, in the full tier, the reply.

    ProviderError where the reply stands in the place of a model's, and so says nothing of the
    model.
    """
    if reply and isinstance(reply.failure, ProviderError):
        raise reply.failure
    items = merge_streams(pool.truncate(TOP_K))
    public = select_public_sources(query, engine.store)
    issues = judge_retrieval(query, items, partial(matches_source, notes=notes), public)
    if reply:
        judged = summarize_reply(reply, engine.store.site.route, notes)
        issues += judge_answer(query, judged, public)
    ranks = _rank_sources(query, items, notes)
    # A failure that only an answer shows is not disproved by a retrieval without issues.
    is_known = reply is not None or bool(issues) or query.is_judged_by_retrieval_alone
    return Verdict(
        query.id,
        query.query,
        tuple(issue.private for issue in issues),
        items[0].id if items else None,
        below_floors=not items,
        tags=query.tags,
        note=query.note,
        expected_modes=query.expected_modes,
        known_failure=query.known_failure if is_known else None,
        mode=reply.answer.mode if reply else None,
        reason=reply.reason if reply else None,
        ranks=ranks,
        retrieved=len(items),
        relevant=sum(
            any(matches_source(item, source, notes) for source in query.sources) for item in items
        ),
        claims=len(reply.answer.claims) if reply else 0,
        dropped=reply.answer.dropped if reply else 0,
        answer=_record_answer(reply) if reply else None,
        near_misses=_list_near_misses(engine.store.manifest.profile, pool),
        top_expected=any(p.rank == 1 and p.source in query.expect_sources for p in ranks),
        public_issues=tuple(issue.public for issue in issues),
    )


def merge_streams(retrieved: RetrievalResult) -> list[EvidenceItem]:
    """Merge both streams into one list, best score first; on equal scores passages lead."""
    scored: list[Scored[Passage] | Scored[RoutingHint]] = [*retrieved.passages, *retrieved.hints]
    return [candidate.item for candidate in sorted(scored, key=lambda candidate: -candidate.score)]


def _rank_sources(
    query: GoldQuery, items: Sequence[EvidenceItem], notes: Mapping[str, str]
) -> tuple[SourceRank, ...]:
    """Rank each required source, and of the sources of which one is enough the best."""

    def rank(source: str) -> SourceRank:
        numbers = (n for n, item in enumerate(items, 1) if matches_source(item, source, notes))
        return SourceRank(source, next(numbers, None))

    ranks = list(map(rank, query.required_sources))
    if alternatives := list(map(rank, query.expect_any_source)):
        best = min(alternatives, key=lambda ranked: ranked.rank or len(items) + 1)
        ranks += [] if best in ranks else [best]
    return tuple(ranks)


def _record_answer(reply: Reply) -> RecordedAnswer:
    citations = tuple(
        RecordedCitation("record", c.id, c.url, c.title, c.quote)
        if isinstance(c, RecordCitation)
        else RecordedCitation("hint", c.id, c.url, c.label)
        for c in reply.citations
    )
    return RecordedAnswer(reply.text, citations, round(reply.confidence, _SCORE_DIGITS))


def _list_near_misses(profile: Profile, retrieved: RetrievalResult) -> tuple[NearMiss, ...]:
    """List the best candidates under the floors of both streams, by what floors are held to."""
    scores = [
        (choose_floored_score(profile, passage.base, passage.boost), passage.item.id)
        for passage in retrieved.near_passages
    ]
    scores += [(hint.score, hint.item.id) for hint in retrieved.near_hints]
    best = sorted(scores, key=lambda row: -row[0])[:_MAX_NEAR_MISSES]
    return tuple(NearMiss(name, round(score, _SCORE_DIGITS)) for score, name in best)


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

    notes: from a note's path to its id. One call embeds all questions. KeyboardInterrupt comes
    after the verdicts that are there already; calls under way are cancelled.
    """
    task = _GoldTask(engine, notes, options)
    vectors: Sequence[Floats | AnswerableError]
    try:
        vectors = list(embed_queries(queries, engine))
    except AnswerableError as error:
        vectors = [_require_failed_call(error)] * len(queries)
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
            for future in pending:
                if not future.cancel() and future.exception() is None:
                    yield future.result()
            raise
        finally:
            task.cancel()
            executor.shutdown(cancel_futures=True)


def _take_first(pending: deque[Future[Verdict]]) -> Verdict:
    """Wait for the first verdict; it stays in line if the wait is interrupted."""
    verdict = pending[0].result()
    pending.popleft()
    return verdict


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
        self._abandoned: Future[None] = Future()

    def cancel(self) -> None:
        """Stop the calls under way, and those that would begin: CancelledError in each."""
        with self._lock:
            if not self._abandoned.done():
                self._abandoned.set_result(None)
            contexts = list(self._contexts)
        for context in contexts:
            context.cancel()

    def judge(self, query: GoldQuery, vector: Floats | AnswerableError) -> Verdict:
        """Judge a query by all of its runs. vector: its question's, or why there is none.

        CancelledError if the run was cancelled.
        """
        if isinstance(vector, AnswerableError):
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
                error=f"embedding: {vector}",
                cause=vector.cause,
            )
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
                verdict = judge_outcome(query, pool, reply, engine, self._notes)
                claims = reply.answer.claims
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
        if failed := [claim for claim in supports if claim.support == "error"]:
            error = f"judge: the call of {judge.model} failed ({failed[0].cause})"
            return replace(verdict, error=error, cause=failed[0].cause)
        unsupported = [
            f"the judge does not find claim {number} supported by its quotes ({claim.support})"
            for number, claim in enumerate(supports, 1)
            if claim.support in ("no", "unclear")
        ]
        return replace(
            verdict,
            issues=(*verdict.issues, *unsupported),
            public_issues=(*verdict.public_issues, *unsupported),
        )

    @contextmanager
    def _use_context(self) -> Iterator[RequestContext]:
        context = RequestContext(abandoned=self._abandoned)
        with self._lock:
            self._contexts.add(context)
            if self._abandoned.done():
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
    leading = min(verdicts, key=lambda verdict: (verdict.error is None, not verdict.issues))
    runs = tuple(
        RepeatedRun(
            verdict.issues,
            verdict.error,
            verdict.cause,
            verdict.mode,
            verdict.answer.text if verdict.answer else "",
        )
        for verdict in verdicts
    )
    return replace(
        leading,
        usage=sum_usages([verdict.usage for verdict in verdicts]),
        judge_usage=sum_usages([verdict.judge_usage for verdict in verdicts]),
        runs=runs,
    )


def _require_failed_call(error: AnswerableError) -> AnswerableError:
    """Return the error of a call that failed; raise any other, and that of a cancelled run."""
    if error.cause is None or isinstance(error, CancelledError):
        raise error
    return error


def _read_usage(context: RequestContext, start: float) -> CallUsage | None:
    """Read what the calls of a query took; None if they have counted no token."""
    if not context.tokens_in + context.tokens_out:
        return None
    seconds = round(time.monotonic() - start, 3)
    return CallUsage(context.tokens_in, context.tokens_out, seconds)
