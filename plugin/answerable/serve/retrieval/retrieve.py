"""A question's evidence: both streams scored, floored, boosted and ranked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..text.languages import match_languages
from ..types import Evidence, Passage, RoutingHint
from .bm25 import select_top_rows
from .boosts import score_hint_labels
from .question import NO_QUESTION, QuestionReading
from .scoring import Ranking, Scored, compute_signals, score_rows
from .store import Floats, PassageQuery, Signals, Store

TOP_K = 8
# Of so many pages, so many other passages are looked at, and those are siblings whose score misses
# the floor by this much at most. Measured on two sites: docs/tune.md has the table.
SIBLING_PAGES = 3
MAX_SIBLINGS = 24
SIBLING_SLACK = 0.16
# Keeps a query without tokens, which is all zeros, from being divided by zero.
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Both streams, best first, and the best candidates under each floor (for maintainers).

    ``siblings`` are other passages of the best pages, a little under the floor: the floor tells
    whether a page answers, and the section score which of its sections does.
    ``reading``: of the question. ``vector``: of the reading's text, None where nothing was
    embedded.
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
        """What an answerer may see of this."""
        lead = max((hint.dense for hint in self.hints), default=0.0) - max(
            (passage.dense for passage in self.passages), default=0.0
        )
        return Evidence(
            tuple(scored.item for scored in self.passages),
            tuple(scored.item for scored in self.hints),
            lead,
        )

    def truncate(self, count: int) -> "RetrievalResult":
        """What so small a ``top_k`` would have retrieved."""
        return RetrievalResult(
            self.passages[:count],
            self.hints[:count],
            self.near_passages[:count],
            self.near_hints[:count],
            self.siblings,
            self.reading,
            self.vector,
        )


def retrieve(
    store: Store,
    reading: QuestionReading,
    vector: Floats,
    top_k: int = TOP_K,
    language: str | None = None,
    near: int = 0,
) -> RetrievalResult:
    """Rank both streams for a question.

    vector: (d,) float32, of the bundle's identity, of the reading's text; its length does not
    matter.
    language: what is asked in. Where passages in it are above the floor, all others are left out.
    near: how many candidates under each floor are wanted too.
    A question without content terms retrieves nothing.
    """
    if not reading.terms:
        return RetrievalResult(reading=reading)
    unit = normalize_query(store, vector)
    readable = _mark_readable(store, language)
    given = compute_signals(store, reading)
    found = store.passage_candidates(PassageQuery(unit, given, readable, top_k, near))
    profile = store.manifest.profile
    passages = score_rows(profile, found.rows, found.cosines, given.select(found.rows))
    hints = _score_hints(store, reading, unit, top_k + near)
    wanted = passages.above_floor & readable[passages.rows]
    if not wanted.any():
        wanted = passages.above_floor
    siblings = _rank_siblings(store, given, unit, passages, passages.top_rows(wanted, top_k))
    everything = np.ones(len(siblings.rows), dtype=np.bool_)
    texts = store.passages_at(
        [
            *passages.top_rows(wanted, top_k),
            *passages.top_rows(~passages.above_floor, near),
            *siblings.top_rows(everything, MAX_SIBLINGS),
        ]
    )
    surfaces = store.hints_at(
        [*hints.top_rows(hints.above_floor, top_k), *hints.top_rows(~hints.above_floor, near)]
    )
    return RetrievalResult(
        passages.top_items(wanted, top_k, texts.__getitem__),
        hints.top_items(hints.above_floor, top_k, surfaces.__getitem__),
        passages.top_items(~passages.above_floor, near, texts.__getitem__),
        hints.top_items(~hints.above_floor, near, surfaces.__getitem__),
        siblings.top_items(everything, MAX_SIBLINGS, texts.__getitem__),
        reading,
        vector,
    )


def _rank_siblings(
    store: Store, given: Signals, unit: Floats, ranked: Ranking, first: Sequence[int]
) -> Ranking:
    """Score the passages beside the best ones on their pages. first: rows, best first.

    Only those that hold a word of the question, in the hybrid recipe, where the floor is of words.
    """
    profile = store.manifest.profile
    records = store.passage_records
    pages = list(dict.fromkeys(records[first].tolist()))[:SIBLING_PAGES] if profile.hybrid else []
    beside = np.isin(records, pages) & (given.lexical > 0)
    beside[ranked.rows[ranked.above_floor]] = False
    rows = np.sort(select_top_rows(given.lexical, MAX_SIBLINGS, beside))
    found = store.passage_cosines(unit, rows)
    scored = score_rows(profile, found.rows, found.cosines, given.select(found.rows))
    return scored.select_rows(scored.base >= profile.floor - SIBLING_SLACK)


def normalize_query(store: Store, vector: Floats) -> Floats:
    """An embedded question as a site's codes are asked: their dimensions, of length 1."""
    if vector.shape != (store.manifest.identity.dimensions,):
        raise ValueError(
            f"a query of shape {vector.shape} against {store.manifest.identity.dimensions}-d rows"
        )
    if not np.isfinite(vector).all():
        raise ValueError("a query with a number that is not finite")
    kept = vector[: store.manifest.encoding.dimensions]
    unit: Floats = kept / max(float(np.linalg.norm(kept)), _TINY)
    return unit


def _mark_readable(store: Store, language: str | None) -> NDArray[np.bool_]:
    """Which passages are in a language that the asker can read, (n,); none if none is given."""
    own = np.zeros(len(store.passage_records), dtype=np.bool_)
    tags = match_languages(language, store.site.tags)
    for each in store.site.languages:
        if each.tag in tags:
            own[each.first : each.end] = True
    return own


def _score_hints(store: Store, reading: QuestionReading, unit: Floats, count: int) -> Ranking:
    """The hints that may come first, by their cosines and the words of what is public of them."""
    added = score_hint_labels(store, reading.idfs)
    found = store.hint_candidates(unit, added, count)
    dense, nothing = found.cosines, np.zeros_like(found.cosines)
    lexical = added[found.rows]
    score = dense + lexical
    kept = score >= store.manifest.profile.note_floor
    return Ranking(found.rows, score, score, lexical, dense, nothing, nothing, kept)
