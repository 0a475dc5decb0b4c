"""Rank passages and hints above their floors for a question; add page siblings and near misses."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.languages import match_languages
from ..types import Evidence, Passage, RoutingHint
from ..vectors import Floats
from .bm25 import select_top_rows
from .question import NO_QUESTION, QuestionReading
from .rank import Ranking, Scored, compute_signals, score_hint_labels, score_rows
from .store import Candidates, PassageQuery, Signals, Store

TOP_K: int = RULES["retrieve"]["TOP_K"]
# The siblings of a pool: other passages of its best pages, whose score misses the floor by this
# much at most. Measured on two sites.
SIBLING_PAGES: int = RULES["retrieve"]["SIBLING_PAGES"]
MAX_SIBLINGS: int = RULES["retrieve"]["MAX_SIBLINGS"]
SIBLING_SLACK: float = RULES["retrieve"]["SIBLING_SLACK"]
# A query without tokens is all zeros, and is divided by this.
_TINY: float = RULES["retrieve"]["TINY"]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Hold both streams, best first, and the best candidates under each floor (for maintainers).

    ``siblings`` are other passages of the best pages, a little under the floor: the floor tells
    whether a page answers, and the section score which of its sections does. ``reading``: of the
    question. ``vector``: of the reading's text, None where nothing was embedded.
    """

    passages: tuple[Scored[Passage], ...] = ()
    hints: tuple[Scored[RoutingHint], ...] = ()
    near_passages: tuple[Scored[Passage], ...] = ()
    near_hints: tuple[Scored[RoutingHint], ...] = ()
    siblings: tuple[Scored[Passage], ...] = ()
    reading: QuestionReading = field(default=NO_QUESTION, compare=False)
    vector: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def evidence(self) -> Evidence:
        """Build the evidence of all that was retrieved."""
        return Evidence(
            tuple(scored.item for scored in self.passages),
            tuple(scored.item for scored in self.hints),
            max((hint.dense for hint in self.hints), default=0.0)
            - max((passage.dense for passage in self.passages), default=0.0),
        )

    def truncate(self, count: int) -> "RetrievalResult":
        """Return what a smaller ``top_k`` would have retrieved."""
        return replace(
            self,
            passages=self.passages[:count],
            hints=self.hints[:count],
            near_passages=self.near_passages[:count],
            near_hints=self.near_hints[:count],
        )


def retrieve(
    store: Store,
    reading: QuestionReading,
    vector: Floats,
    top_k: int = TOP_K,
    language: str | None = None,
    near: int = 0,
    near_floor: float = -np.inf,
) -> RetrievalResult:
    """Rank both streams for a question; one without content terms retrieves nothing.

    vector: (d,) float32, of the bundle's identity, of the reading's text; its length does not
    matter. language: of the question. Where passages in it are above the floor, all others are left
    out. near: how many candidates under each floor to return too. near_floor: the least score of
    such a passage before boosts.
    """
    if not reading.terms:
        return RetrievalResult(reading=reading)
    unit = normalize_query(store, vector)
    readable = _mark_readable(store, language)
    signals = compute_signals(store, reading)
    query = PassageQuery(unit, signals, readable, top_k, near, near_floor)
    candidates = store.passage_candidates(query)
    passages = _score_candidates(store, candidates, signals)
    hints = _score_hints(store, reading, unit)
    eligible = passages.above_floor & readable[passages.rows]
    if not eligible.any():
        eligible = passages.above_floor
    best = passages.top_rows(eligible, top_k)
    under_floor = ~passages.above_floor & (passages.base >= near_floor)
    is_near = under_floor & readable[passages.rows]
    if not is_near.any():
        is_near = under_floor
    near_best = passages.top_rows(is_near, near)
    siblings = _rank_siblings(store, signals, unit, passages, best)
    all_siblings = np.ones(len(siblings.rows), dtype=np.bool_)
    texts = store.passages_at([*best, *near_best, *siblings.top_rows(all_siblings, MAX_SIBLINGS)])
    return RetrievalResult(
        passages.top_items(eligible, top_k, texts.__getitem__),
        hints.top_items(hints.above_floor, top_k, store.index.make_hint),
        passages.top_items(is_near, near, texts.__getitem__),
        hints.top_items(~hints.above_floor, near, store.index.make_hint),
        siblings.top_items(all_siblings, MAX_SIBLINGS, texts.__getitem__),
        reading,
        vector,
    )


def normalize_query(store: Store, vector: Floats) -> Floats:
    """Cut an embedded question to the dimensions of a site's codes and scale it to length 1."""
    if vector.shape != (store.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {store.manifest.identity.dimensions}-d rows"
        )
    if not np.isfinite(vector).all():
        raise ValueError("a query with a number that is not finite")
    truncated = vector[: store.manifest.dimensions]
    unit: Floats = truncated / max(float(np.linalg.norm(truncated)), _TINY)
    return unit


def _score_candidates(store: Store, candidates: Candidates, signals: Signals) -> Ranking:
    rows, profile = candidates.rows, store.manifest.profile
    return score_rows(profile, rows, candidates.cosines, signals.select(rows))


def _rank_siblings(
    store: Store, signals: Signals, unit: Floats, ranked: Ranking, best: Sequence[int]
) -> Ranking:
    """Score the passages beside the best ones on their pages that have a word of the question.

    best: rows, best first.
    """
    profile, records = store.manifest.profile, store.index.passage_records
    pages = list(dict.fromkeys(records[best].tolist()))[:SIBLING_PAGES]
    beside = np.isin(records, pages) & (signals.lexical > 0)
    beside[ranked.rows[ranked.above_floor]] = False
    rows = np.sort(select_top_rows(signals.lexical, MAX_SIBLINGS, beside))
    scored = _score_candidates(store, store.passage_cosines(unit, rows), signals)
    return scored.select_rows(scored.base >= profile.floor - SIBLING_SLACK)


def _score_hints(store: Store, reading: QuestionReading, unit: Floats) -> Ranking:
    index = store.index
    lexical = score_hint_labels(store, reading.idfs)
    # Of the best window of each hint.
    dense = np.full(len(lexical), -1.0, dtype=np.float32)
    np.maximum.at(dense, index.hint_owners, index.hint_codes.score(unit))
    rows, zeros, score = np.arange(len(dense)), np.zeros_like(dense), dense + lexical
    above_floor = score >= store.manifest.profile.note_floor
    return Ranking(rows, score, score, lexical, dense, zeros, zeros, zeros, above_floor)


def _mark_readable(store: Store, language: str | None) -> NDArray[np.bool_]:
    """Mark the passages in a language that the asker can read, (n,); none if none is known."""
    readable = np.zeros(len(store.index.passage_records), dtype=np.bool_)
    if language is None:
        return readable
    tags = match_languages(language, store.index.site.tags)
    for each in store.index.site.languages:
        if each.tag in tags:
            readable[each.first : each.end] = True
    return readable
