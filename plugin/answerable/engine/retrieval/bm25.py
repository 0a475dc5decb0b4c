"""Compute idfs and BM25 scores of all passages from postings; select the rows that score best."""

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.tokenization import extract_terms
from .store import TermPostings

# BM25's usual constants, without the (k1 + 1) factor, so that a term adds at most its idf.
K1: float = RULES["bm25"]["K1"]
B: float = RULES["bm25"]["B"]

# Passages of ordinary language, without the question's words, that a corpus is counted together
# with: on a site of few passages a word that it lacks would else outweigh all that it has.
BACKGROUND_PASSAGES: int = RULES["bm25"]["BACKGROUND_PASSAGES"]

RowRange = tuple[int, int]


def select_top_rows(
    scores: NDArray[np.float32], count: int, among: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Select the best ``count`` rows, best first; equal scores keep the order of rows.

    among: (n,) the rows to select from, all by default.
    """
    rows = None if among is None else np.flatnonzero(among)
    eligible = scores if rows is None else scores[rows]
    best = np.flatnonzero(eligible >= _find_threshold(eligible, count))
    best = best[np.argsort(-eligible[best], kind="stable")[:count]]
    return best if rows is None else rows[best]


def _find_threshold(scores: NDArray[np.float32], count: int) -> float:
    """Find the lowest score of the best ``count``; -inf if there are no more than those."""
    if not 0 < count < len(scores):
        return -math.inf
    # The maxima of ``count`` equal parts are ``count`` scores: all below the least of them are out.
    parts = scores[: len(scores) - len(scores) % count].reshape(count, -1)
    likely = scores[scores >= parts.max(axis=1).min()]
    return float(np.partition(likely, len(likely) - count)[len(likely) - count])


def score_bm25(
    postings: TermPostings, idfs: Mapping[str, float], rows: RowRange | None = None
) -> NDArray[np.float32]:
    """Score passages by BM25, divided by the sum of the idfs. Returns (n,) in [0, 1].

    idfs: of the query's terms, by ``compute_idfs``. A term that no passage holds counts in the
    sum, so that unknown words lower every score. rows: the (first, last + 1) passages that are
    the corpus, all by default. Source: Robertson & Zaragoza 2009.
    """
    first, end = rows or (0, len(postings.lengths))
    scores = np.zeros(end - first, dtype=np.float64)
    total = sum(idfs.values())
    if not len(scores) or not total:
        return scores.astype(np.float32)
    lengths = postings.lengths[first:end].astype(np.float64)
    penalty = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
    for term, idf in idfs.items():
        span = _find_postings_slice(postings, term, (first, end))
        holders = postings.passages[span] - np.uint32(first)
        counts = postings.counts[span].astype(np.float64)
        scores[holders] += idf * counts / (counts + penalty[holders])
    return (scores / total).astype(np.float32)


def compute_idfs(
    postings: TermPostings,
    terms: Iterable[str],
    rows: RowRange | None = None,
    names: Collection[str] = (),
) -> dict[str, float]:
    """Compute the inverse document frequency of each distinct term; an unknown one has the highest.

    rows: see ``score_bm25``. A term of ``names`` that no passage of the corpus holds is left out.
    """
    rows = rows or (0, len(postings.lengths))
    count = rows[1] - rows[0]
    idfs = {}
    for term in dict.fromkeys(terms):
        span = _find_postings_slice(postings, term, rows)
        frequency = span.stop - span.start
        if frequency or term not in names:
            idfs[term] = compute_idf(count, frequency)
    return idfs


def compute_idf(passages: int, frequency: int) -> float:
    """Compute ln(1 + (N - df + .5) / (df + .5)), with the background passages in N."""
    return math.log(1 + (passages + BACKGROUND_PASSAGES - frequency + 0.5) / (frequency + 0.5))


def compute_idf_share(
    weights: Mapping[str, float], forms: Mapping[str, str], text: str, language: str
) -> float:
    """Compute the share of the idf of a question's terms that a text holds, 0 without terms.

    forms: the term of each form of these terms.
    """
    terms = frozenset(extract_terms(text, language, forms))
    shared = sum(weight for term, weight in weights.items() if term in terms)
    return shared / (sum(weights.values()) or 1.0)


def find_indexed_terms(postings: TermPostings, terms: Collection[str]) -> frozenset[str]:
    """Find the terms that a passage holds."""
    everything = (0, len(postings.lengths))
    spans = {term: _find_postings_slice(postings, term, everything) for term in terms}
    return frozenset(term for term, span in spans.items() if span.stop > span.start)


def count_passages(postings: TermPostings, term: str) -> int:
    """Count the passages that hold a term."""
    span = _find_postings_slice(postings, term, (0, len(postings.lengths)))
    return int(span.stop) - int(span.start)


def match_terms(
    postings: TermPostings, terms: Collection[str], rows: NDArray[np.intp]
) -> list[frozenset[str]]:
    """Find the terms that each of some passages holds. rows: (k,) of the passages."""
    everything = (0, len(postings.lengths))
    holds = {
        term: np.isin(rows, postings.passages[_find_postings_slice(postings, term, everything)])
        for term in terms
    }
    return [
        frozenset(term for term, by_passage in holds.items() if by_passage[place])
        for place in range(len(rows))
    ]


def _find_postings_slice(postings: TermPostings, term: str, rows: RowRange) -> slice:
    """Locate a term's postings of a corpus: a term's passages are in the order of rows."""
    index = postings.terms.get(term)
    if index is None:
        return slice(0, 0)
    start, stop = int(postings.edges[index]), int(postings.edges[index + 1])
    if rows == (0, len(postings.lengths)):
        return slice(start, stop)
    # Of the column's own type: searching for another one converts the whole column first.
    edges = np.array(rows, dtype=np.uint32)
    inside = np.searchsorted(postings.passages[start:stop], edges)
    return slice(start + int(inside[0]), start + int(inside[1]))
