"""Run gold queries and judge each, one by one or several at once."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from multiprocessing.pool import ThreadPool

from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.errors import AnswerableError, ProviderError
from ..engine.retrieval.question import clean_question
from ..engine.retrieval.rank import Scored
from ..engine.retrieval.retrieve import POOL_SIZE, TOP_K, RetrievalResult, retrieve
from ..engine.types import Passage, RecordCitation, Reply, RoutingHint
from ..engine.vectors import Floats
from .gold import GoldQuery
from .judge import judge_answer, judge_retrieval, summarize_reply
from .report import RecordedAnswer, RecordedCitation, Verdict
from .sources import select_public_sources


def run_gold_queries(
    queries: Sequence[GoldQuery],
    engine: Engine[Bundle],
    notes: Mapping[str, str],
    *,
    full: bool,
    jobs: int = 1,
) -> Iterator[Verdict]:
    """Judge queries, in their order; a call that fails makes the status ``error``.

    notes: from a note's path to its id. full: judge answers as well as retrieval. jobs: how many
    queries are asked at once. One call embeds all questions. KeyboardInterrupt comes after the
    verdicts that are there already; calls under way are not awaited.
    """
    try:
        vectors = embed_queries(queries, engine)
    except AnswerableError as error:
        cause = _require_failed_call(error)
        issues = (f"embedding: {cause}",)
        yield from (Verdict(q.id, q.query, "error", issues, q.note) for q in queries)
        return
    judge = partial(judge_query, engine=engine, notes=notes, full=full)
    pairs = zip(queries, vectors, strict=True)
    # Its threads are daemons: a call that hangs keeps no interrupted process alive.
    with ThreadPool(jobs) as pool:
        # Enough to keep every thread busy, and so few that the end of a run wastes no call.
        pending = deque(pool.apply_async(judge, pair) for pair in islice(pairs, 2 * jobs))
        try:
            while pending:
                verdict = pending[0].get()
                pending.popleft()
                pending.extend(pool.apply_async(judge, pair) for pair in islice(pairs, 1))
                yield verdict
        except KeyboardInterrupt:
            for result in pending:
                if result.ready() and result.successful():
                    yield result.get()
            raise


def embed_queries(queries: Sequence[GoldQuery], engine: Engine) -> Floats:
    """Embed the questions as a site reads them, (len(queries), dimensions), by one call."""
    return engine.embedder.embed(
        [engine.parse_question(clean_question(query.query)).question for query in queries]
    )


def judge_query(
    query: GoldQuery,
    vector: Floats,
    engine: Engine[Bundle],
    notes: Mapping[str, str],
    *,
    full: bool,
) -> Verdict:
    """Judge what is retrieved for a query and, in the full tier, its answer.

    vector: that of its question, (dimensions,). notes, full: as for ``run_gold_queries``.
    """
    reading = engine.parse_question(clean_question(query.query))
    pool = retrieve(engine.store, reading, vector, POOL_SIZE, query.language, near=POOL_SIZE)
    best = pool.truncate(TOP_K)
    # On equal scores passages lead.
    scored: list[Scored[Passage] | Scored[RoutingHint]] = [*best.passages, *best.hints]
    items = [found.item for found in sorted(scored, key=lambda found: -found.score)]
    public = select_public_sources(query, engine.store)
    issues = judge_retrieval(query, items, notes, public)
    verdict = Verdict(
        query.id,
        query.query,
        note=query.note,
        top=items[0].id if items else None,
        score=_find_floored_score(query, pool, public),
    )
    if full:
        try:
            reply = engine.answer_from(pool)
            # The keyless reply that stands in for a failed model says nothing about the model.
            if isinstance(reply.failure, ProviderError):
                raise reply.failure
        except AnswerableError as error:
            cause = _require_failed_call(error)
            return replace(verdict, status="error", issues=(f"answer: {cause}",))
        issues += judge_answer(
            query, summarize_reply(reply, engine.store.index.site.route, notes), public
        )
        verdict = replace(verdict, answer=_record_answer(reply))
    if not query.known_failure:
        return replace(verdict, status="fail" if issues else "pass", issues=tuple(issues))
    if issues:
        reason = f"known failure: {query.known_failure}"
        return replace(verdict, status="known-failure", issues=(*issues, reason))
    # A failure that only an answer shows is not disproved by what was retrieved.
    if full:
        issue = "it passes: drop knownFailure"
        return replace(verdict, status="unexpected-pass", issues=(issue,))
    return verdict


def _find_floored_score(
    query: GoldQuery, pool: RetrievalResult, public: frozenset[str]
) -> float | None:
    """Find the best score that the floor sees, of an expected page if a source is expected.

    None where only notes are expected. public: the query's sources that are pages or passages.
    """
    expected = () if query.expected_modes == ("not-found",) else query.sources
    pages = public.intersection(expected)
    if query.expected_modes == ("related-material",) or (expected and not pages):
        return None
    scores = [
        scored.floored
        for scored in (*pool.passages, *pool.near_passages)
        if not pages or {scored.item.id, scored.item.record}.intersection(pages)
    ]
    return round(max(scores, default=0.0), 6)


def _record_answer(reply: Reply) -> RecordedAnswer:
    citations = tuple(
        RecordedCitation("record", c.id, c.url, c.title, c.quote)
        if isinstance(c, RecordCitation)
        else RecordedCitation("hint", c.id, c.url, c.label)
        for c in reply.citations
    )
    return RecordedAnswer(reply.answer.mode, reply.text, reply.reason, citations)


def _require_failed_call(error: AnswerableError) -> str:
    """Describe a call that failed; raise any other error."""
    if error.cause is None:
        raise error
    return f"{error} ({error.cause})"
