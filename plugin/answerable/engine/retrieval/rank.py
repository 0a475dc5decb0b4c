"""The one formula that ranks passages and hints, whose numbers are a profile's.

``base = (hybrid * lexical + dense * cosine) / (hybrid + dense)`` is compared with the floor, and
``score = (base + boost + page + questions * question) * weight`` orders the passages.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..index.columns import PhraseIndex
from ..index.manifest import Profile
from ..rules import RULES
from ..text.tokenization import STOPWORDS, extract_terms, split_lowercase_words
from ..types import Passage, RoutingHint
from ..vectors import Floats, Rows
from .question import FRAMING_WORDS, Idfs, QuestionReading
from .store import Candidates, Signals, Store, compute_idf, memoize_per_store, score_bm25

T = TypeVar("T", Passage, RoutingHint)

# How many of a page's best passages count for the page.
BEST_PASSAGES: int = RULES["rank"]["BEST_PASSAGES"]
# Two questions of the same terms, but for rounding; a known question that has other words is never
# nearer than the second of these.
SAME_QUESTION: float = RULES["rank"]["SAME_QUESTION"]
OTHER_QUESTION: float = RULES["rank"]["OTHER_QUESTION"]
# From here on a known question is so like the asked one that its section is above the floor. Of
# the 114 real questions that five sites with 825 to 3,451 known questions each refuse, and of which
# their pages answer 38, none comes nearer than .68 to a known question.
LIKE_QUESTION: float = RULES["rank"]["LIKE_QUESTION"]
# No question whose section has changed is nearer, so that it never passes the floor.
STALE_QUESTION: float = RULES["rank"]["STALE_QUESTION"]
KEY_MODULUS: int = RULES["rank"]["KEY_MODULUS"]
# Words that say nothing about a subject, but for those that turn what is asked around.
_SILENT_WORDS = (STOPWORDS | FRAMING_WORDS) - frozenset(RULES["polar"].split())
# Added to the score of a section that is known to answer the very question: more than all else, so
# that no other passage takes its place among the candidates.
KNOWN_QUESTION_BONUS: float = RULES["rank"]["KNOWN_QUESTION_BONUS"]


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """A candidate and the parts of its score.

    ``base`` is the score of its words and its vector, and ``floored`` what of it and of authored
    names the floor is compared with. ``page`` is what the title and the words of its page add, and
    ``question`` how near the best question is that its section is known to answer; ``score`` has
    all of these and the weight of the record. Of a hint ``lexical`` is what its label and locator
    add. ``section`` is the section score, 0 where sections are not scored. ``row`` is its row in
    the store, -1 for none.
    """

    item: T
    score: float
    base: float
    lexical: float
    dense: float
    floored: float = 0.0
    page: float = 0.0
    question: float = 0.0
    section: float = 0.0
    row: int = -1


def select_top_rows(
    scores: NDArray[np.float32], count: int, among: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Select the best ``count`` rows, best first; equal scores keep the order of rows.

    among: (n,) the rows to select from.
    """
    rows = np.flatnonzero(among)
    if 0 < count < len(rows):
        lowest = np.partition(scores[rows], -count)[-count]
        rows = rows[scores[rows] >= lowest]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The scores of some rows of a stream, (k,) each, and which are above the floor."""

    rows: Rows
    score: Floats
    base: Floats
    lexical: Floats
    dense: Floats
    floored: Floats
    page: Floats
    question: Floats
    above_floor: NDArray[np.bool_]

    def select_rows(self, rows: Rows | NDArray[np.bool_]) -> "Ranking":
        """Select the scores of some places, or of those of a mask, (k,)."""
        return Ranking(*(getattr(self, each.name)[rows] for each in fields(self)))

    def select_top(self, mask: NDArray[np.bool_], count: int) -> "Ranking":
        """Select the scores of the best rows of a mask, (k,), best first."""
        return self.select_rows(select_top_rows(self.score, count, mask))

    def list_items(self, item: Callable[[int], T]) -> tuple[Scored[T], ...]:
        """List the items of all rows with their scores. item: returns that of a row."""
        # All but ``above_floor``.
        columns = [getattr(self, each.name).tolist() for each in fields(self)[:-1]]
        return tuple(
            Scored(item(row), score, base, lexical, dense, floored, page, question, row=row)
            for row, score, base, lexical, dense, floored, page, question in zip(
                *columns, strict=True
            )
        )


def compute_signals(store: Store, reading: QuestionReading) -> Signals:
    """Score all but the cosine of every passage: words, names, pages and known questions."""
    records, profile = store.index.passage_records, store.manifest.profile
    idfs = reading.idfs
    postings = store.postings_of({term for weights in idfs.values() for term in weights})
    lexical = np.zeros(len(records), dtype=np.float32)
    for each in store.index.site.languages:
        rows = (each.first, each.end)
        lexical[each.first : each.end] = score_bm25(postings, idfs[each.tag], rows)
    weights = store.index.weights
    if not reading.asks_for_history:
        weights = np.where(store.index.is_history, weights * np.float32(profile.history), weights)
    return Signals(
        lexical,
        score_name_boosts(store, reading)[records],
        score_pages(store, reading, lexical)[records],
        weights[records],
        score_questions(store, reading),
    )


def score_candidates(profile: Profile, candidates: Candidates, passages: Signals) -> Ranking:
    """Score candidates by their cosines and the signals of all passages.

    The floor is compared with neither the page nor the weight of a passage, and a section that
    is known to answer the very question, or one like it, is above any floor.
    """
    rows, dense, signals = candidates.rows, candidates.cosines, passages.select(candidates.rows)
    weighted = profile.hybrid * signals.lexical + profile.dense * dense
    base = (weighted / (profile.hybrid + profile.dense)).astype(np.float32)
    is_known = signals.question > SAME_QUESTION
    questions = np.where(
        is_known,
        np.float32(KNOWN_QUESTION_BONUS),
        np.float32(profile.questions) * signals.question,
    )
    score = (base + signals.boost + signals.page + questions) * signals.weight
    floored = base + profile.floored_boost * signals.boost
    above_floor = (floored >= profile.floor) | (signals.question >= LIKE_QUESTION)
    parts = (signals.lexical, dense, floored, signals.page, signals.question)
    return Ranking(rows, score, base, *parts, above_floor)


def score_name_boosts(store: Store, reading: QuestionReading) -> Floats:
    """Score the authored names in a question for each record that bears them. Returns (records,).

    A record gets the boost of its best alias, title or file name and that of its best theme, each
    faded by how many records the phrase occurs in.
    """
    profile, records = store.manifest.profile, len(store.index.weights)
    names = ((store.index.aliases, profile.name_boost), (store.index.names, profile.title_boost))
    boosts = np.zeros(records, dtype=np.float32)
    for indexes in (names, ((store.index.themes, profile.theme_boost),)):
        best = np.zeros(records, dtype=np.float32)
        for index, boost in indexes:
            for phrase in index.rows.keys() & reading.phrases:
                # Of one record 1, at half of the records 0: a name that every page uses lifts none.
                others = max(0, index.count_records(phrase) - 1)
                rarity = max(0.0, 1.0 - 2.0 * others / max(records, 2))
                fade = 1 - profile.theme_fade * (1 - rarity)
                rows = index.find_records(phrase)
                best[rows] = np.maximum(best[rows], boost * fade)
        boosts += best
    return boosts


def score_pages(store: Store, reading: QuestionReading, lexical: Floats) -> Floats:
    """Score every record's title and words against a question. Returns (records,).

    lexical: of each passage, (n,).
    """
    profile = store.manifest.profile
    own = {tag: _mark_records_in_language(store, tag) for tag in reading.idfs}
    index = store.index
    cosines = _compute_cosines(index.title_terms, index.title_norms, reading.idfs, own)
    scores = profile.title_cosine * cosines
    scores += profile.title_share * _compute_title_shares(store, reading)
    scores += profile.page_words * _average_best_passages(store, lexical)
    return scores.astype(np.float32)


def score_questions(store: Store, reading: QuestionReading) -> Floats:
    """Score the best question that each passage's section is known to answer. Returns (n,).

    It is the cosine of the idf vectors of its distinct terms and of the asked question's. 1 is for
    the same words, but for those by which people ask.
    """
    passages = store.index.question_passages
    own = {
        rows.tag: (rows.first <= passages) & (passages < rows.end)
        for rows in store.index.site.languages
    }
    cosines = _compute_cosines(
        store.index.question_terms, store.index.question_norms, reading.idfs, own
    )
    keys = store.index.question_keys
    is_same = (cosines > SAME_QUESTION) & (keys == hash_words(reading.question))
    nearest = np.where(keys > 0, OTHER_QUESTION, STALE_QUESTION)
    cosines = np.where(is_same, 1.0, np.minimum(cosines, nearest))
    best = np.zeros(len(store.index.passage_records))
    np.maximum.at(best, passages, cosines)
    return best[store.index.passage_sections].astype(np.float32)


def hash_words(question: str) -> int:
    """Hash the words of a question in lower case, in their order, to a number above 0.

    Two questions that differ only by words by which people ask have the same hash.
    """
    words = split_lowercase_words(question)
    key = 0
    for character in " ".join(word for word in words if word not in _SILENT_WORDS) or question:
        key = (31 * key + ord(character)) % KEY_MODULUS
    return key + 1


def score_hint_labels(store: Store, idfs: Idfs) -> Floats:
    """Score the terms that a question shares with each hint's label and locator. Returns (hints,).

    A term counts its idf among the hints where that is less, so that a word of every label finds
    none of them. The language with the best share counts, and 1 is the whole question.
    """
    count = store.manifest.counts["hints"]
    best = np.zeros(count, dtype=np.float32)
    terms = store.index.label_terms
    for weights in idfs.values():
        total = sum(weights.values())
        shares = np.zeros(count, dtype=np.float32)
        # In the question's order: sums of the same numbers in another order may differ.
        for term, weight in weights.items():
            rows = terms.find_records(term)
            shares[rows] += min(weight, compute_idf(count, len(rows))) / total
        best = np.maximum(best, shares)
    return np.float32(store.manifest.profile.label_words) * best


def _compute_cosines(
    index: PhraseIndex,
    norms: Floats,
    idfs: Idfs,
    marks: Mapping[str, NDArray[np.bool_]],
) -> NDArray[np.float64]:
    """Compute the cosine of the idf vectors of a question's distinct terms and each short text's.

    index: of the terms of texts, such as titles. norms: (n,) of their idf vectors. marks: by
    language which of them are in it, (n,). Returns (n,).
    """
    products = np.zeros(len(norms))
    for language, weights in idfs.items():
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        own = marks[language]
        for term, weight in weights.items():
            rows = [row for row in index.find_records(term) if own[row]]
            products[rows] += weight**2 / norm
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def _compute_title_shares(store: Store, reading: QuestionReading) -> NDArray[np.float64]:
    """Compute each record's share of the question's idf, by the best of its names.

    A title or a file name counts where the question contains it as a whole phrase.
    """
    shares = np.zeros(len(store.index.weights))
    for phrase in store.index.names.rows.keys() & reading.phrases:
        rows = store.index.names.find_records(phrase)
        for language, weights in reading.idfs.items():
            common = dict.fromkeys(extract_terms(phrase, language, reading.forms[language]))
            shared = sum(weights.get(term, 0.0) for term in common)
            share = shared / (sum(weights.values()) or 1.0)
            own = _mark_records_in_language(store, language)
            for row in rows:
                shares[row] = max(shares[row], share if own[row] else 0.0)
    return shares


def _average_best_passages(store: Store, lexical: Floats) -> NDArray[np.float64]:
    """Average the lexical scores of each record's three best passages; a missing one counts 0."""
    rows = np.flatnonzero(lexical)
    records, scores = store.index.passage_records[rows], lexical[rows]
    order = np.lexsort((-scores, records))
    records, scores = records[order], scores[order]
    # Passages before this one in its record: records stand together now.
    places = np.arange(len(records)) - np.searchsorted(records, records)
    best = places < BEST_PASSAGES
    return np.bincount(records[best], scores[best], len(store.index.weights)) / BEST_PASSAGES


@memoize_per_store
def _mark_records_in_language(store: Store, language: str) -> NDArray[np.bool_]:
    """Mark the records that have passages in a language. Returns (records,)."""
    own = np.zeros(len(store.index.weights), dtype=np.bool_)
    for each in store.index.site.languages:
        if each.tag == language:
            own[store.index.passage_records[each.first : each.end]] = True
    return own
