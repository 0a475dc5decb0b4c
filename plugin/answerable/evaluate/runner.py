"""Ask an engine each gold query and judge the outcome: a verdict with issues, ranks and scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..serve.answers.contract import EvidenceItem
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Vectors
from ..serve.engine import Engine
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.retrieve import TOP_K, RetrievalResult, retrieve
from ..serve.retrieval.scoring import Scored, choose_floored_score
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.types import Citation, Passage, RecordCitation, Reply, RoutingHint
from .bundle_scores import compute_hint_floor_scores, compute_passage_floor_scores
from .gold import GoldQuery
from .gold_sources import matches_source, select_public_sources
from .judge import judge_answer, judge_retrieval, summarize_reply
from .verdict import NearMiss, RecordedAnswer, RecordedCitation, SourceRank, Verdict

_SCORE_DIGITS = 6
_MAX_NEAR_MISSES = 5


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


def embed_queries(queries: Sequence[GoldQuery], engine: Engine) -> Vectors:
    """Embed the questions as a site reads them, (len(queries), dimensions), by one call."""
    return engine.embedder.embed(
        [engine.parse_question(clean_question(query.query)).text for query in queries]
    )


def judge_query(
    query: GoldQuery, vector: Floats, engine: Engine, notes: Mapping[str, str], *, full: bool
) -> Verdict:
    """Judge one query; its scores, which take every row of the bundle, are left at 0.

    vector: of its question, (dimensions,). notes, full: as for ``run_gold_set``.
    """
    pool = retrieve_pool(query, vector, engine)
    return judge_outcome(query, pool, engine.answer_from(pool) if full else None, engine, notes)


def retrieve_pool(query: GoldQuery, vector: Floats, engine: Engine) -> RetrievalResult:
    """Retrieve what a query is answered from. vector: of its question, (dimensions,)."""
    reading = engine.parse_question(clean_question(query.query))
    return retrieve(engine.store, reading, vector, POOL_SIZE, query.language, near=TOP_K)


def judge_outcome(
    query: GoldQuery,
    pool: RetrievalResult,
    reply: Reply | None,
    engine: Engine,
    notes: Mapping[str, str],
) -> Verdict:
    """Judge what was retrieved for a query and, in the full tier, the reply."""
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
        top_expected=any(each.rank == 1 and each.source in query.expect_sources for each in ranks),
        public_issues=tuple(issue.public for issue in issues),
    )


def merge_streams(retrieved: RetrievalResult) -> list[EvidenceItem]:
    """Merge both streams into one list, best score first; on equal scores passages lead."""
    scored: list[Scored[Passage] | Scored[RoutingHint]] = [*retrieved.passages, *retrieved.hints]
    return [each.item for each in sorted(scored, key=lambda each: -each.score)]


def _rank_sources(
    query: GoldQuery, items: Sequence[EvidenceItem], notes: Mapping[str, str]
) -> tuple[SourceRank, ...]:
    """Rank each required source, and of the sources of which one is enough the best."""
    ranks = [
        SourceRank(source, _rank_source(items, source, notes)) for source in query.required_sources
    ]
    alternatives = [
        SourceRank(source, _rank_source(items, source, notes)) for source in query.expect_any_source
    ]
    if alternatives:
        best = min(alternatives, key=lambda each: each.rank or len(items) + 1)
        ranks += [] if best in ranks else [best]
    return tuple(ranks)


def _rank_source(
    items: Sequence[EvidenceItem], source: str, notes: Mapping[str, str]
) -> int | None:
    ranks = (rank for rank, item in enumerate(items, 1) if matches_source(item, source, notes))
    return next(ranks, None)


def _record_answer(reply: Reply) -> RecordedAnswer:
    return RecordedAnswer(
        reply.text,
        tuple(map(_record_citation, reply.citations)),
        round(reply.confidence, _SCORE_DIGITS),
    )


def _record_citation(citation: Citation) -> RecordedCitation:
    if isinstance(citation, RecordCitation):
        return RecordedCitation("record", citation.id, citation.url, citation.title, citation.quote)
    return RecordedCitation("hint", citation.id, citation.url, citation.label)


def _list_near_misses(profile: Profile, retrieved: RetrievalResult) -> tuple[NearMiss, ...]:
    """List the best candidates under the floors of both streams, by what floors are held to."""
    near_misses = [
        NearMiss(each.item.id, choose_floored_score(profile, each.base, each.boost))
        for each in retrieved.near_passages
    ]
    near_misses += [NearMiss(each.item.id, each.score) for each in retrieved.near_hints]
    return tuple(
        NearMiss(each.id, round(each.score, _SCORE_DIGITS))
        for each in sorted(near_misses, key=lambda each: -each.score)[:_MAX_NEAR_MISSES]
    )
