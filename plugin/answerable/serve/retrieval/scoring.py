"""Score passages by words, cosine, boosts, with a floor: estimate all, score the best exactly."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.manifest import Profile
from ..bundle_format.site_data import Postings
from ..text.tokenization import extract_terms
from ..types import Passage, RoutingHint
from ..vectors import SCALAR_POOL, Int8Codes
from .bm25 import find_full_matches, score_bm25, select_top_rows
from .boosts import (
    SAME_QUESTION,
    score_freshness,
    score_name_boosts,
    score_pages,
    score_questions,
)
from .question import QuestionReading
from .store import Candidates, Floats, PassageQuery, Rows, Signals, Store

T = TypeVar("T", Passage, RoutingHint)
F = TypeVar("F", float, NDArray[np.float32])

# Names of code with at least this share of the idf of a question's words stand for all of it.
MIN_IDENTIFIER_SHARE = 0.5
# Added to the score of a section that is known to answer the very question: more than all else, so
# that no other passage takes its place among the candidates.
KNOWN_QUESTION_BONUS = 2.0
# Rows scored together: few enough for what is made of them to stay in a core's cache.
_ROWS_PER_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """Hold a candidate and the parts of its score.

    ``base`` is the score before ``boost`` (authored names and themes) and ``page`` (the title and
    words of its page); ``question`` is how near the best question is that its section is known to
    answer; ``score`` also has what recency adds and the weight of the record. Of a
    hint ``lexical`` is what its label and locator add. ``section`` is the section score, 0 where
    sections are not scored. ``row`` is its row in the store, -1 for none. ``terms``: those of the
    question that its retrieval text contains.
    """

    item: T
    score: float
    base: float
    lexical: float
    dense: float
    boost: float = 0.0
    page: float = 0.0
    question: float = 0.0
    section: float = 0.0
    row: int = -1
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hold the scores of some rows of a stream, (k,) each, and which are above the floor."""

    rows: Rows
    score: Floats
    base: Floats
    lexical: Floats
    dense: Floats
    boost: Floats
    page: Floats
    question: Floats
    above_floor: NDArray[np.bool_]

    def select_rows(self, mask: NDArray[np.bool_]) -> "Ranking":
        """Select the scores of the rows of a mask, (k,)."""
        return Ranking(*(getattr(self, each.name)[mask] for each in fields(self)))

    def top_rows(self, mask: NDArray[np.bool_], count: int) -> list[int]:
        """List the best rows of a mask, (k,), best first."""
        return [int(row) for row in self.rows[select_top_rows(self.score, count, mask)]]

    def top_items(
        self, mask: NDArray[np.bool_], count: int, item: Callable[[int], T]
    ) -> tuple[Scored[T], ...]:
        """Return the best items of a mask, (k,), best first. item: returns that of a row."""
        return tuple(
            Scored(
                item(int(self.rows[place])),
                score=float(self.score[place]),
                base=float(self.base[place]),
                lexical=float(self.lexical[place]),
                dense=float(self.dense[place]),
                boost=float(self.boost[place]),
                page=float(self.page[place]),
                question=float(self.question[place]),
                row=int(self.rows[place]),
            )
            for place in select_top_rows(self.score, count, mask)
        )


def compute_signals(store: Store, reading: QuestionReading) -> Signals:
    """Score all but the cosine of every passage: words, names, pages and recency."""
    records, profile = store.passage_records, store.manifest.profile
    idfs = reading.idfs
    fresh = np.zeros(len(records), dtype=np.float32)
    if reading.asks_about_now:
        fresh = np.float32(profile.recency) * score_freshness(store)[records]
    postings = store.postings_of({term for weights in idfs.values() for term in weights})
    lexical = np.zeros(len(records), dtype=np.float32)
    for each in store.site.languages:
        rows = (each.first, each.end)
        lexical[each.first : each.end] = score_bm25(postings, idfs[each.tag], rows)
    is_whole = np.zeros(len(records), dtype=np.bool_)
    page = np.zeros_like(store.weights)
    question = np.zeros_like(lexical)
    weights = store.weights
    if profile.hybrid:
        is_whole = _mark_full_matches(store, postings, reading)
        page = score_pages(store, reading, lexical)
        question = score_questions(store, reading)
        # Its author says that the section answers this very question.
        is_whole |= question > SAME_QUESTION
        if not reading.asks_for_history:
            weights = np.where(store.is_history, weights * np.float32(profile.history), weights)
    boost = score_name_boosts(store, reading)
    return Signals(
        lexical, boost[records], is_whole, page[records], fresh, weights[records], question
    )


def score_rows(
    profile: Profile, rows: Rows, dense: Floats, signals: Signals, slack: float = 0
) -> Ranking:
    """Score some rows by their cosines and signals. slack: by how much one may miss the floor.

    In the hybrid recipe the floor is compared with the score before boosts, and never with what
    recency or a record's weight makes of it. A passage with all terms of a question is above any
    floor.
    """
    base = dense
    if profile.hybrid:
        weighted = profile.hybrid * signals.lexical + profile.dense * dense
        base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    questions = np.where(
        signals.question > SAME_QUESTION,
        np.float32(KNOWN_QUESTION_BONUS),
        np.float32(profile.questions) * signals.question,
    )
    score = (base + signals.boost + signals.page + signals.fresh + questions) * signals.weight
    above_floor = choose_floored_score(profile, base, signals.boost) >= profile.floor - slack
    above_floor |= signals.is_whole
    parts = (signals.lexical, dense, signals.boost, signals.page, signals.question)
    return Ranking(rows, score, base, *parts, above_floor)


def choose_floored_score(profile: Profile, base: F, boost: F) -> F:
    """Choose the score that the floor is compared with: in the hybrid recipe without boosts."""
    return base if profile.hybrid else base + boost


def find_passage_candidates(stream: Int8Codes, profile: Profile, query: PassageQuery) -> Candidates:
    """Find the passages that may come first by the estimate of all, and score them exactly.

    Among them are the best that the asker can read, and ``near`` of the best under the floor.
    """
    unit, signals = query.unit, query.signals
    rows = np.arange(len(signals.weight))
    estimated = score_rows(profile, rows, stream.estimate(unit), signals, stream.slack(unit))
    likely = estimated.above_floor
    pool = max(SCALAR_POOL, query.top_k)
    is_candidate = np.zeros(len(rows), dtype=np.bool_)
    for mask in (likely, likely & query.readable):
        is_candidate[select_top_rows(estimated.score, pool, mask)] = True
    if query.near:
        is_near = ~likely & (estimated.base >= query.near_floor - stream.slack(unit))
        is_candidate[select_top_rows(estimated.score, query.near, is_near)] = True
    candidates = np.flatnonzero(is_candidate)
    return Candidates(candidates, score_codes(stream, unit, candidates))


def find_hint_candidates(
    stream: Int8Codes, owners: NDArray[np.uint32], added: Floats, unit: Floats, count: int
) -> Candidates:
    """Find the hints that may come first, by the best cosine of their windows.

    owners: (windows,) the hint of each. added: (hints,) what is added to each hint's cosine.
    """
    hints = len(added)
    estimated = max_cosine_per_hint(owners, stream.estimate(unit), hints) + added
    candidates = np.sort(select_top_rows(estimated, max(SCALAR_POOL, count)))
    windows = np.flatnonzero(np.isin(owners, candidates))
    cosines = max_cosine_per_hint(owners[windows], score_codes(stream, unit, windows), hints)
    return Candidates(candidates, cosines[candidates])


def score_codes(codes: Int8Codes, query: Floats, rows: Rows) -> Floats:
    """Compute the cosine of the float query with the codes of some rows. Returns (len(rows),)."""
    # Summed in one order, so that equal rows have equal cosines, and in float64, so that another
    # order, such as that of the engine in the browser, comes to the same float32.
    dots = np.einsum("ij,j->i", codes.decode_rows(rows), query, dtype=np.float64)
    cosines: Floats = (dots * codes.inverse_norms[rows]).astype(np.float32)
    return cosines


def score_all_codes(codes: Int8Codes, query: Floats) -> Floats:
    """Compute the cosine of the float query with every row, some at a time. Returns (n,)."""
    cosines = np.empty(len(codes), dtype=np.float32)
    for start in range(0, len(codes), _ROWS_PER_BLOCK):
        rows = np.arange(start, min(start + _ROWS_PER_BLOCK, len(codes)))
        cosines[rows] = score_codes(codes, query, rows)
    return cosines


def max_cosine_per_hint(owners: NDArray[np.uint32], cosines: Floats, hints: int) -> Floats:
    """Compute the best cosine of each hint's windows, (hints,)."""
    best = np.full(hints, -1.0, dtype=np.float32)
    np.maximum.at(best, owners, cosines)
    return best


def _mark_full_matches(
    store: Store, postings: Postings, reading: QuestionReading
) -> NDArray[np.bool_]:
    """Mark the passages, (n,), with all terms of a question, or of the names that are its subject.

    So an option, a class or an error message is found where it stands, whatever its cosine is.
    """
    is_whole = np.zeros(len(store.passage_records), dtype=np.bool_)
    identifiers = " ".join(reading.identifiers)
    for each in store.site.languages:
        weights = reading.idfs[each.tag]
        # In lower case, so that "MongoDB" counts once and not with its parts.
        words, names = (
            {
                term: weights[term]
                for term in extract_terms(text.lower(), each.tag, reading.forms[each.tag])
                if term in weights
            }
            for text in (reading.question, identifiers)
        )
        is_subject = names and (sum(names.values()) >= MIN_IDENTIFIER_SHARE * sum(words.values()))
        if terms := (names if is_subject else weights).keys():
            rows = (each.first, each.end)
            is_whole[each.first : each.end] = find_full_matches(postings, terms, rows)
    return is_whole
