"""The recipe: what a passage's words, cosine, names and time make of its score.

The candidates of a bundle in memory: every row estimated, the best of them scored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.profile import Profile
from ..types import Passage, RoutingHint
from ..vectors.encodings import Codes, score_codes
from .bm25 import find_full_matches, score_bm25, select_top_rows
from .boosts import (
    Idfs,
    asks_about_now,
    asks_for_history,
    score_freshness,
    score_name_boosts,
    score_pages,
)
from .question import QuestionReading
from .store import Candidates, Floats, PassageQuery, Rows, Signals, Store

T = TypeVar("T", Passage, RoutingHint)
F = TypeVar("F", float, NDArray[np.float32])


# A question of so few terms is short: its cosine is low with whatever answers it.
MAX_SHORT_QUESTION_TERMS = 2


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """A candidate and the parts of its score.

    ``base`` is the score before ``boost``, which is what authored names and themes add, and
    ``page``, which is what the title and words of its page add; ``score`` also has what being new
    adds and the weight of the record. Of a hint ``lexical`` is what its label and locator add.
    ``section`` is the section score, 0 where sections are not scored. ``row`` is its row in the
    store, -1 where it is of none. ``terms`` are the question's that its retrieval text holds.
    """

    item: T
    score: float
    base: float
    lexical: float
    dense: float
    boost: float = 0.0
    page: float = 0.0
    section: float = 0.0
    row: int = -1
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores of some rows of a stream, (k,) each, and which of them are above the floor."""

    rows: Rows
    score: Floats
    base: Floats
    lexical: Floats
    dense: Floats
    boost: Floats
    page: Floats
    above_floor: NDArray[np.bool_]

    def select_rows(self, wanted: NDArray[np.bool_]) -> "Ranking":
        """The scores of the wanted rows only."""
        return Ranking(
            self.rows[wanted],
            self.score[wanted],
            self.base[wanted],
            self.lexical[wanted],
            self.dense[wanted],
            self.boost[wanted],
            self.page[wanted],
            self.above_floor[wanted],
        )

    def top_rows(self, wanted: NDArray[np.bool_], count: int) -> list[int]:
        """The rows of the best ``count`` of the wanted ones, best first."""
        return [int(row) for row in self.rows[select_top_rows(self.score, count, wanted)]]

    def top_items(
        self, wanted: NDArray[np.bool_], count: int, item: Callable[[int], T]
    ) -> tuple[Scored[T], ...]:
        """The best ``count`` of the wanted ones. item: of a row."""
        return tuple(
            Scored(
                item(int(self.rows[place])),
                score=float(self.score[place]),
                base=float(self.base[place]),
                lexical=float(self.lexical[place]),
                dense=float(self.dense[place]),
                boost=float(self.boost[place]),
                page=float(self.page[place]),
                row=int(self.rows[place]),
            )
            for place in select_top_rows(self.score, count, wanted)
        )


def compute_signals(store: Store, reading: QuestionReading) -> Signals:
    """What a question's words, names and time count for each passage."""
    records, profile = store.passage_records, store.manifest.profile
    question, idfs = reading.question, reading.idfs
    fresh = np.zeros(len(records), dtype=np.float32)
    if asks_about_now(question, store.site.tags):
        newness = np.float32(profile.recency)
        fresh = newness * score_freshness(store)[records]
    lexical = _score_bm25(store, idfs)
    is_whole = np.zeros(len(records), dtype=np.bool_)
    page = np.zeros_like(store.weights)
    weights = store.weights
    if profile.hybrid:
        is_whole = _mark_whole_matches(store, idfs)
        page = score_pages(store, question, idfs, lexical)
        if not asks_for_history(question):
            weights = np.where(store.is_history, weights * np.float32(profile.history), weights)
    return Signals(
        lexical,
        score_name_boosts(store, question)[records],
        is_whole,
        page[records],
        fresh,
        weights[records],
    )


def score_rows(
    profile: Profile, rows: Rows, dense: Floats, given: Signals, slack: float = 0
) -> Ranking:
    """Some rows by their cosines and their signals. slack: by how much one may miss the floor.

    The floor is held against the score before boosts in the hybrid recipe, and never against what
    being new or a record's weight makes of it. It does not hold a passage back that has all terms
    of a question of few.
    """
    base = dense
    if profile.hybrid:
        weighted = profile.hybrid * given.lexical + profile.dense * dense
        base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    score = (base + given.boost + given.page + given.fresh) * given.weight
    kept = choose_floored_score(profile, base, given.boost) >= profile.floor - slack
    kept |= given.is_whole
    return Ranking(rows, score, base, given.lexical, dense, given.boost, given.page, kept)


def choose_floored_score(profile: Profile, base: F, boost: F) -> F:
    """What the floor is held against: in the hybrid recipe the score before boosts."""
    return base if profile.hybrid else base + boost


def _mark_whole_matches(store: Store, idfs: Idfs) -> NDArray[np.bool_]:
    """Which passages, (n,), hold all terms of a question that has few of them."""
    is_whole = np.zeros(len(store.passage_records), dtype=np.bool_)
    postings = store.postings_of({term for weights in idfs.values() for term in weights})
    for each in store.site.languages:
        listed = idfs[each.tag].keys()
        if 1 <= len(listed) <= MAX_SHORT_QUESTION_TERMS:
            rows = (each.first, each.end)
            is_whole[each.first : each.end] = find_full_matches(postings, listed, rows)
    return is_whole


def _score_bm25(store: Store, idfs: Idfs) -> Floats:
    """Score every passage by BM25, (n,); each language is a corpus of its own."""
    postings = store.postings_of({term for weights in idfs.values() for term in weights})
    scores = np.zeros(len(postings.lengths), dtype=np.float32)
    for each in store.site.languages:
        scores[each.first : each.end] = score_bm25(postings, idfs[each.tag], (each.first, each.end))
    return scores


def find_passage_candidates(stream: Codes, profile: Profile, wanted: PassageQuery) -> Candidates:
    """The passages that may come first, by the estimate of all, scored against the float query.

    Among them the best that the asker can read, and so many of the best under the floor.
    """
    unit, given = wanted.unit, wanted.signals
    everything = np.arange(len(given.weight))
    guessed = score_rows(profile, everything, stream.estimate(unit), given, stream.slack(unit))
    likely = guessed.above_floor
    pool = max(stream.pool, wanted.top_k)
    among = (likely, likely & wanted.readable)
    chosen = [select_top_rows(guessed.score, pool, each) for each in among]
    if wanted.near:
        chosen.append(select_top_rows(guessed.score, wanted.near, ~likely))
    is_picked = np.zeros(len(everything), dtype=np.bool_)
    for rows in chosen:
        is_picked[rows] = True
    picked = np.flatnonzero(is_picked)
    return Candidates(picked, score_codes(stream, unit, picked))


def find_hint_candidates(
    stream: Codes, owners: NDArray[np.uint32], added: Floats, unit: Floats, count: int
) -> Candidates:
    """The hints that may come first, by the best cosine of their windows.

    added: (hints,) what is added to each hint's cosine.
    """
    hints = len(added)
    guessed = max_cosine_per_hint(owners, stream.estimate(unit), hints) + added
    picked = np.sort(select_top_rows(guessed, max(stream.pool, count)))
    is_picked = np.zeros(len(guessed), dtype=np.bool_)
    is_picked[picked] = True
    windows = np.flatnonzero(is_picked[owners])
    return Candidates(
        picked,
        max_cosine_per_hint(owners[windows], score_codes(stream, unit, windows), hints)[picked],
    )


def max_cosine_per_hint(owners: NDArray[np.uint32], cosines: Floats, hints: int) -> Floats:
    """The best cosine of each hint's windows, (hints,)."""
    best = np.full(hints, -1.0, dtype=np.float32)
    np.maximum.at(best, owners, cosines)
    return best
