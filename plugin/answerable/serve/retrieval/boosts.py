"""Score boosts: of pages by names, themes, titles, best passages, newness; of hints by labels."""

import datetime as dt
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.site_data import PhraseIndex
from ..text.tokenization import extract_terms, split_lowercase_words
from .bm25 import compute_idf
from .question import Idfs, QuestionReading
from .store import Floats, Store, memoize_per_store

# How many of a page's best passages count for the page.
BEST_PASSAGES = 3
HALF_LIFE_DAYS = 365
# Two questions of the same terms, but for rounding; a known question that has other words is never
# nearer than the second of these.
SAME_QUESTION, OTHER_QUESTION = 0.999, 0.99
KEY_MODULUS = 65_521


def score_name_boosts(store: Store, reading: QuestionReading) -> Floats:
    """Score the authored names in a question for each record that bears them. Returns (records,).

    A record gets the boost of its best name and that of its best theme, each faded by how many
    records the phrase occurs in. In the hybrid recipe only an alias is a name: ``score_pages``
    counts titles and file names.
    """
    profile, records = store.manifest.profile, len(store.weights)
    names = (store.aliases,) if profile.hybrid else (store.aliases, store.names)
    boosts = np.zeros(records, dtype=np.float32)
    for indexes, boost in ((names, profile.name_boost), ((store.themes,), profile.theme_boost)):
        best = np.zeros(records, dtype=np.float32)
        for index in indexes:
            for phrase in index.rows.keys() & reading.phrases:
                entry = index.entry(phrase)
                fade = fade_common_phrase(entry.frequency, records) if profile.theme_fade else 1.0
                rows = list(entry.records)
                best[rows] = np.maximum(best[rows], boost * fade)
        boosts += best
    return boosts


def score_pages(store: Store, reading: QuestionReading, lexical: Floats) -> Floats:
    """Score every record's title and words against a question. Returns (records,).

    lexical: of each passage, (n,).
    """
    profile = store.manifest.profile
    own = {tag: _mark_records_in_language(store, tag) for tag in reading.idfs}
    norms = store.title_norms.astype(np.float64)
    scores = profile.title_cosine * _compute_cosines(store.title_terms, norms, reading.idfs, own)
    scores += profile.title_share * _compute_title_shares(store, reading)
    scores += profile.page_words * _average_best_passages(store, lexical)
    return scores.astype(np.float32)


def score_questions(store: Store, reading: QuestionReading) -> Floats:
    """Score the best question that each passage's section is known to answer. Returns (n,).

    It is the cosine of the idf vectors of its distinct terms and of the asked question's. 1 is for
    the very same words, since "not" or "after" is no term.
    """
    passages = store.question_passages
    own = {
        rows.tag: (rows.first <= passages) & (passages < rows.end) for rows in store.site.languages
    }
    cosines = _compute_cosines(store.question_terms, store.question_norms, reading.idfs, own)
    is_same = (cosines > SAME_QUESTION) & (store.question_keys == hash_words(reading.question))
    cosines = np.where(is_same, 1.0, np.minimum(cosines, OTHER_QUESTION))
    best = np.zeros(len(store.passage_records))
    np.maximum.at(best, passages, cosines)
    return best[store.passage_sections].astype(np.float32)


def hash_words(question: str) -> int:
    """Hash the words of a question in lower case, in their order, to a number above 0."""
    key = 0
    for character in " ".join(split_lowercase_words(question)):
        key = (31 * key + ord(character)) % KEY_MODULUS
    return key + 1


@memoize_per_store
def score_freshness(store: Store) -> Floats:
    """Score how new each record is, (records,): 1 for the newest date, half of it a year before.

    No clock is read, so that a bundle answers tomorrow as it does today. 0 without a date.
    """
    days = [dt.date.fromisoformat(date).toordinal() if date else None for date in store.dates]
    newest = max((day for day in days if day is not None), default=0)
    fresh = [0.0 if day is None else 0.5 ** ((newest - day) / HALF_LIFE_DAYS) for day in days]
    return np.array(fresh, dtype=np.float32)


def score_hint_labels(store: Store, idfs: Idfs) -> Floats:
    """Score the terms that a question shares with each hint's label and locator. Returns (hints,).

    A term counts its idf among the hints where that is less, so that a word of every label finds
    none of them. The language with the best share counts, and 1 is the whole question. 0 where
    words do not count.
    """
    count = store.manifest.counts["hints"]
    best = np.zeros(count, dtype=np.float32)
    if not store.manifest.profile.hybrid:
        return best
    terms = store.label_terms
    for weights in idfs.values():
        total = sum(weights.values())
        shares = np.zeros(count, dtype=np.float32)
        # In the question's order: sums of the same numbers in another order may differ.
        for term in filter(terms.rows.__contains__, weights):
            rows = list(terms.entry(term).records)
            shares[rows] += min(weights[term], compute_idf(count, len(rows))) / total
        best = np.maximum(best, shares)
    return np.float32(store.manifest.profile.label_words) * best


def fade_common_phrase(frequency: int, records: int) -> float:
    """Reduce a boost by the number of records that a phrase occurs in.

    Returns 1 for a phrase of one record, falling linearly to 0 at half of the records, so that a
    name that every page uses lifts nothing.
    """
    return max(0.0, 1.0 - 2.0 * max(0, frequency - 1) / max(records, 2))


def _compute_cosines(
    index: PhraseIndex,
    norms: NDArray[np.float64],
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
        for term in filter(index.rows.__contains__, weights):
            rows = [row for row in index.entry(term).records if own[row]]
            products[rows] += weights[term] ** 2 / norm
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def _compute_title_shares(store: Store, reading: QuestionReading) -> NDArray[np.float64]:
    """Compute each record's share of the question's idf, by the best of its names.

    A title or a file name counts where the question contains it as a whole phrase.
    """
    shares = np.zeros(len(store.weights))
    for phrase in store.names.rows.keys() & reading.phrases:
        rows = list(store.names.entry(phrase).records)
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
    records, scores = store.passage_records[rows], lexical[rows]
    order = np.lexsort((-scores, records))
    records, scores = records[order], scores[order]
    # Passages before this one in its record: records stand together now.
    places = np.arange(len(records)) - np.searchsorted(records, records)
    best = places < BEST_PASSAGES
    return np.bincount(records[best], scores[best], len(store.weights)) / BEST_PASSAGES


@memoize_per_store
def _mark_records_in_language(store: Store, language: str) -> NDArray[np.bool_]:
    """Mark the records that have passages in a language. Returns (records,)."""
    own = np.zeros(len(store.weights), dtype=np.bool_)
    for each in store.site.languages:
        if each.tag == language:
            own[store.passage_records[each.first : each.end]] = True
    return own
