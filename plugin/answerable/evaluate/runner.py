"""Ask an engine each gold query and judge the outcome: a verdict with issues, ranks and scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..serve.answers.contract import EvidenceItem
from ..serve.embedders.embedder import Vectors
from ..serve.engine import Engine
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.retrieve import TOP_K, RetrievalResult, retrieve
from ..serve.retrieval.scoring import Scored
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.types import Mode, Passage, Reason, RoutingHint
from .bundle_scores import compute_hint_floor_scores, compute_passage_floor_scores
from .gold import GoldQuery
from .gold_sources import matches_source
from .judge import judge_answer, judge_retrieval, summarize_reply

_SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one gold query; a report holds all of it but ``top_expected``.

    ``id``, ``query``, ``tags``, ``note`` and ``expected_mode`` are the gold query's. ``issues``
    say what is wrong; a verdict without issues has passed. ``mode`` and ``reason`` are those of
    the answer, None where no answer was asked for. ``below_floors``: nothing was above the floors
    (``refused`` in a report). ``top``: the id of the best candidate. The scores are the best of
    either stream, with no floor applied, as the floors are compared with them. ``ranks``: the place
    of each expected source among the retrieved items, from 1; None for one that was not retrieved.
    ``claims`` and ``dropped`` count claims that the contract has accepted and rejected.
    ``top_expected``: the best candidate is one of ``expectSources``.
    """

    id: str
    query: str
    issues: tuple[str, ...]
    top: str | None
    below_floors: bool
    tags: tuple[str, ...] = ()
    note: str = ""
    expected_mode: Mode | None = None
    mode: Mode | None = None
    reason: Reason | None = None
    passage_score: float = 0.0
    hint_score: float = 0.0
    ranks: tuple[int | None, ...] = ()
    claims: int = 0
    dropped: int = 0
    top_expected: bool = False

    @property
    def passed(self) -> bool:
        return not self.issues

    @property
    def is_answerable(self) -> bool:
        """Tell whether the query requires an answer, by its mode or by an expected source."""
        return self.expected_mode != "not-found" and bool(self.expected_mode or self.ranks)

    @property
    def is_refused(self) -> bool:
        """Tell whether it was refused; where no answer was asked for, by the floors."""
        return self.below_floors if self.mode is None else self.mode == "not-found"

    @property
    def is_answered(self) -> bool:
        """Tell whether it was answered as required; where no answer was asked for, not refused."""
        if self.mode is None or self.expected_mode is None:
            return not self.is_refused
        return self.mode == self.expected_mode


def run_gold_set(
    queries: Sequence[GoldQuery], engine: Engine[Bundle], notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; one call embeds them all.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    for query, vector in zip(queries, embed_queries(queries, engine), strict=True):
        reading = engine.parse_question(clean_question(query.query))
        passage_scores = compute_passage_floor_scores(engine.store, reading, vector)
        hint_scores = compute_hint_floor_scores(engine.store, reading, vector)
        yield replace(
            judge_query(query, vector, engine, notes, full=full),
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
    question = clean_question(query.query)
    pool = retrieve(
        engine.store, engine.parse_question(question), vector, POOL_SIZE, query.language, near=TOP_K
    )
    items = merge_streams(pool.truncate(TOP_K))
    issues = judge_retrieval(query, items, partial(matches_source, notes=notes))
    reply = engine.answer_from(pool) if full else None
    if reply:
        issues += judge_answer(query, summarize_reply(reply, engine.store.site.route))
    ranks = {source: _rank_source(items, source, notes) for source in query.sources}
    return Verdict(
        query.id,
        query.query,
        tuple(issues),
        items[0].id if items else None,
        below_floors=not items,
        tags=query.tags,
        note=query.note,
        expected_mode=query.expect_answer_mode,
        mode=reply.answer.mode if reply else None,
        reason=reply.reason if reply else None,
        ranks=tuple(ranks.values()),
        claims=len(reply.answer.claims) if reply else 0,
        dropped=reply.answer.dropped if reply else 0,
        top_expected=any(ranks[source] == 1 for source in query.expect_sources),
    )


def merge_streams(retrieved: RetrievalResult) -> list[EvidenceItem]:
    """Merge both streams into one list, best score first; on equal scores passages lead."""
    scored: list[Scored[Passage] | Scored[RoutingHint]] = [*retrieved.passages, *retrieved.hints]
    return [each.item for each in sorted(scored, key=lambda each: -each.score)]


def _rank_source(
    items: Sequence[EvidenceItem], source: str, notes: Mapping[str, str]
) -> int | None:
    ranks = (rank for rank, item in enumerate(items, 1) if matches_source(item, source, notes))
    return next(ranks, None)
