"""The words of hints: labels and locators are public, and so they are searched as words."""

from collections.abc import Mapping

import numpy as np

from . import scan
from .store import Floats, Store


def score_labels(store: Store, idfs: Mapping[str, Mapping[str, float]]) -> Floats:
    """Weigh the terms that a question shares with each hint's label and locator. Returns (hints,).

    idfs: of the question's terms, by language. A term weighs its idf among the hints where that is
    less, so that a word of every label finds none of them. The language with the best share counts,
    and 1 is the whole question.
    """
    count = store.manifest.counts["hints"]
    best = np.zeros(count, dtype=np.float32)
    terms = store.label_terms
    for weights in idfs.values():
        total = sum(weights.values())
        shares = np.zeros(count, dtype=np.float32)
        for term in weights.keys() & terms.rows.keys():
            rows = list(terms.named(term).records)
            shares[rows] += min(weights[term], scan.idf(count, len(rows))) / total
        best = np.maximum(best, shares)
    return np.float32(store.manifest.profile.label_words) * best
