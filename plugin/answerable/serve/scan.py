"""Scores of one query against every row: dense over codes, lexical over postings."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .bundle import Postings, Vectors

# BM25's usual constants, without the (k1 + 1) factor, so that a term adds at most its idf.
K1 = 1.2
B = 0.75

# Values converted to float at a time: small enough to stay in a core's cache.
_CHUNK = 196_608


def cosines(vectors: Vectors, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of a unit query against every row. query: (d,) float32. Returns (n,) float32."""
    count, dimensions = vectors.codes.shape
    scores = np.empty(count, dtype=np.float32)
    step = max(64, _CHUNK // max(dimensions, 1))
    for start in range(0, count, step):
        rows = vectors.codes[start : start + step].astype(np.float32)
        scores[start : start + step] = rows @ query
    return scores * vectors.inverse_norms


def lexical(postings: Postings, terms: Sequence[str]) -> NDArray[np.float32]:
    """BM25 over the distinct terms, divided by the sum of their idf. Returns (n,) in [0, 1].

    A term that no passage holds counts in the sum, so that unknown words lower every score.
    Source: Robertson & Zaragoza 2009; idf = ln(1 + (N - df + .5) / (df + .5)).
    """
    count = len(postings.lengths)
    scores = np.zeros(count, dtype=np.float64)
    distinct = dict.fromkeys(terms)
    if not count or not distinct:
        return scores.astype(np.float32)
    lengths = postings.lengths.astype(np.float64)
    penalty = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
    total = 0.0
    for term in distinct:
        weight = idf(postings, term)
        total += weight
        index = postings.terms.get(term)
        if index is None:
            continue
        span = slice(int(postings.offsets[index]), int(postings.offsets[index + 1]))
        rows = postings.passages[span]
        counts = postings.counts[span].astype(np.float64)
        scores[rows] += weight * counts / (counts + penalty[rows])
    return (scores / total).astype(np.float32)


def idf(postings: Postings, term: str) -> float:
    """The inverse document frequency of a term; of one that no passage holds, the highest."""
    count = len(postings.lengths)
    index = postings.terms.get(term)
    found = 0 if index is None else int(postings.offsets[index + 1] - postings.offsets[index])
    return math.log(1 + (count - found + 0.5) / (found + 0.5))
