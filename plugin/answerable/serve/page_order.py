"""The order of pages: what a page's title and its passages' words add to its score."""

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from . import terms
from .derived import once
from .phrases import normalise, runs
from .store import Floats, Store
from .vocabulary import phrase_lengths

# How many of a page's best passages its words are judged by.
BEST = 3

Idfs = Mapping[str, Mapping[str, float]]

_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+|(?<!\w)v\d")
_HISTORY = frozenset("release released releases changelog changelogs".split())


def score_pages(store: Store, question: str, idfs: Idfs, lexical: Floats) -> Floats:
    """Score every record's title and words against a question. Returns (records,).

    idfs: of the question's distinct terms, by language. lexical: of each passage, (n,).
    """
    profile = store.manifest.profile
    scores = profile.title_cosine * _title_cosines(store, idfs)
    scores += profile.title_share * _title_shares(store, question, idfs)
    scores += profile.page_words * _best_words(store, lexical)
    return scores.astype(np.float32)


def asks_for_history(question: str) -> bool:
    """Test whether a question names a version, a release or the changelog."""
    words = normalise(question).split()
    return _VERSION.search(question.lower()) is not None or not _HISTORY.isdisjoint(words)


def _title_cosines(store: Store, idfs: Idfs) -> NDArray[np.float64]:
    """Compute the cosine of the idf vectors of the question's and each title's distinct terms."""
    products = np.zeros(len(store.weights))
    for language, weights in idfs.items():
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        own = _records_of(store, language)
        for term in weights.keys() & store.title_terms.rows.keys():
            rows = [row for row in store.title_terms.named(term).records if own[row]]
            products[rows] += weights[term] ** 2 / norm
    norms = store.title_norms.astype(np.float64)
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def _title_shares(store: Store, question: str, idfs: Idfs) -> NDArray[np.float64]:
    """Compute each record's share of the question's idf, by the best of its names.

    A title or a file name counts where the question holds it as a whole phrase.
    """
    shares = np.zeros(len(store.weights))
    for phrase in store.names.rows.keys() & set(runs(question, _lengths(store))):
        rows = list(store.names.named(phrase).records)
        for language, weights in idfs.items():
            common = set(terms.read(phrase, language)) & weights.keys()
            share = sum(weights[term] for term in common) / (sum(weights.values()) or 1.0)
            own = _records_of(store, language)
            for row in rows:
                shares[row] = max(shares[row], share if own[row] else 0.0)
    return shares


def _best_words(store: Store, lexical: Floats) -> NDArray[np.float64]:
    """Average the lexical scores of each record's three best passages; a missing one counts 0."""
    rows = np.flatnonzero(lexical)
    records, scores = store.passage_records[rows], lexical[rows]
    order = np.lexsort((-scores, records))
    records, scores = records[order], scores[order]
    # Passages before this one in its record: records stand together now.
    places = np.arange(len(records)) - np.searchsorted(records, records)
    best = places < BEST
    return np.bincount(records[best], scores[best], len(store.weights)) / BEST


@once
def _lengths(store: Store) -> frozenset[int]:
    return phrase_lengths(store.names)


@once
def _records_of(store: Store, language: str) -> NDArray[np.bool_]:
    """Mark the records that have passages in a language. Returns (records,)."""
    own = np.zeros(len(store.weights), dtype=np.bool_)
    for each in store.site.languages:
        if each.tag == language:
            own[store.passage_records[each.first : each.end]] = True
    return own
