"""What the floors are held against, for every row of a bundle.

The gold set, run: retrieval alone or the whole engine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..serve.embedders.embedder import Vectors
from ..serve.engine import Engine
from ..serve.retrieval import selection
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.retrieve import TOP_K, RetrievalResult
from ..serve.retrieval.retrieve import retrieve as retrieve_retrieve
from ..serve.retrieval.scoring import Scored, choose_floored_score
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.types import Mode, Passage, Reason, RoutingHint
from .bundle_scores import rank_all_hints, rank_all_passages
from .gold import GoldQuery
from .judge import EvidenceItem, judge_answer, judge_retrieval, matches_source, summarize_reply

# The score of a question that retrieves nothing, whatever the floor: no cosine is lower.
NO_MATCH_SCORE = -1.0


def score_all_passages(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """What the floor is held against for every passage, (n,); (0,) without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    ranking = rank_all_passages(bundle, reading, vector)
    return choose_floored_score(bundle.manifest.profile, ranking.base, ranking.boost)


def score_all_hints(bundle: Bundle, reading: QuestionReading, vector: Floats) -> Floats:
    """The score of every hint, (n,); (0,) for a question without content terms."""
    if not reading.terms:
        return np.empty(0, dtype=np.float32)
    return rank_all_hints(bundle, reading, vector)


ScoredItem = Scored[Passage] | Scored[RoutingHint]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one query. ``mode`` is None where no answer was asked for.

    ``refused``: nothing was above the floors. ``top_expected``: the best candidate is one of the
    sources that the query expects. ``ranks``: where each of its sources stands among what was
    retrieved, from 1, None if it was not. The scores are the best of either stream, floor or no
    floor, as the floors are held against them. ``claims`` survived the contract, ``dropped`` did
    not.
    """

    query: GoldQuery
    issues: tuple[str, ...]
    top_id: str | None
    mode: Mode | None
    refused: bool
    top_expected: bool
    passage_score: float = 0.0
    hint_score: float = 0.0
    ranks: tuple[int | None, ...] = ()
    reason: Reason | None = None
    claims: int = 0
    dropped: int = 0

    @property
    def passed(self) -> bool:
        return not self.issues


def run_gold_set(
    queries: Sequence[GoldQuery], engine: Engine[Bundle], notes: Mapping[str, str], *, full: bool
) -> Iterator[Verdict]:
    """Judge queries one by one; all of them are embedded in one call.

    notes: from a note's path to its id. full: judge answers as well as retrieval.
    """
    for query, vector in zip(queries, embed_queries(queries, engine), strict=True):
        asked = engine.store, engine.parse_question(clean_question(query.query)), vector
        yield replace(
            judge_query(query, vector, engine, notes, full=full),
            passage_score=_best_score(score_all_passages(*asked)),
            hint_score=_best_score(score_all_hints(*asked)),
        )


def embed_queries(queries: Sequence[GoldQuery], engine: Engine) -> Vectors:
    """Embed the questions as a site reads them, (len(queries), dimensions), by one call."""
    return engine.embedder.embed(
        [engine.parse_question(clean_question(query.query)).text for query in queries]
    )


def judge_query(
    query: GoldQuery,
    vector: NDArray[np.float32],
    engine: Engine,
    notes: Mapping[str, str],
    *,
    full: bool,
) -> Verdict:
    """Judge one query by what it retrieves; its scores, which take every row, are left at 0.

    vector: of its question, (dimensions,).
    """
    question = clean_question(query.query)
    reading = engine.parse_question(question)
    pool = retrieve_retrieve(
        engine.store, reading, vector, selection.POOL_SIZE, query.language, near=TOP_K
    )
    retrieved = pool.truncate(TOP_K)
    items = merge_streams(retrieved)

    def is_source(item: EvidenceItem, source: str) -> bool:
        return matches_source(item, source, notes)

    issues = judge_retrieval(query, items, is_source)
    reply = engine.answer_from(pool) if full else None
    if reply:
        issues += judge_answer(query, summarize_reply(reply, engine.store.site.route))
    ranks = {source: _rank_of_source(items, source, notes) for source in query.sources}
    return Verdict(
        query,
        tuple(issues),
        items[0].id if items else None,
        reply.answer.mode if reply else None,
        refused=not items,
        top_expected=any(ranks[source] == 1 for source in query.expect_sources),
        ranks=tuple(ranks.values()),
        reason=reply.reason if reply else None,
        claims=len(reply.answer.claims) if reply else 0,
        dropped=reply.answer.dropped if reply else 0,
    )


def merge_streams(retrieved: RetrievalResult) -> list[EvidenceItem]:
    """Both streams as one list, best score first; on equal scores passages lead."""
    scored: list[ScoredItem] = [*retrieved.passages, *retrieved.hints]
    return [item.item for item in sorted(scored, key=lambda item: -item.score)]


def _rank_of_source(
    items: Sequence[EvidenceItem], source: str, notes: Mapping[str, str]
) -> int | None:
    found = (n for n, item in enumerate(items, 1) if matches_source(item, source, notes))
    return next(found, None)


def _best_score(found: Vectors) -> float:
    """The best score of a stream, 0 where there is none."""
    return float(found.max(initial=0.0))


def list_source_names(bundle: Bundle, notes: Mapping[str, str]) -> frozenset[str]:
    """Every name that a gold source may have: records, passages, paths of notes."""
    return frozenset(bundle.record_ids) | set(bundle.passage_ids) | set(notes)
