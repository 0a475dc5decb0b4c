"""Add to the nearest passages all others whose score bound may rank them among the best (Fagin).

A passage that was not fetched lies no nearer than the last that was. That, and its words, names,
date and weight, which are known, bound its score; those whose bound is too low are never fetched.
Source: Fagin, Lotem and Naor 2003.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.profile import Profile
from ..serve.retrieval.bm25 import select_top_rows
from ..serve.retrieval.scoring import Ranking, score_rows
from ..serve.retrieval.store import Candidates, PassageQuery, Rows

ROWS_PER_FETCH = 1000

FetchCosines = Callable[[Rows], Candidates]


def complete_candidates(
    profile: Profile,
    query: PassageQuery,
    candidates: Candidates,
    ceilings: NDArray[np.float32],
    fetch: FetchCosines,
    limit: int,
) -> Candidates:
    """Add to the nearest passages all others that may be among the best.

    ceilings: (n,) bound of the cosine of each passage that is not a candidate. limit: at most so
    many others are fetched, those with the highest bounds first. Of passages under the floor only
    those better than the candidates are looked for: there may be none at all.
    """
    count = len(query.signals.weight)
    is_unseen = np.ones(count, dtype=np.bool_)
    is_unseen[candidates.rows] = False
    bounds = score_rows(profile, np.arange(count), ceilings, query.signals)
    fetched = 0
    while is_unseen.any() and fetched < limit:
        is_in_reach = is_unseen & _find_reachable(profile, query, candidates, bounds)
        rows = np.sort(select_top_rows(bounds.score, ROWS_PER_FETCH, is_in_reach))
        if not len(rows):
            break
        candidates = merge_candidates(candidates, fetch(rows))
        is_unseen[rows] = False
        fetched += len(rows)
    return candidates


def _find_reachable(
    profile: Profile, query: PassageQuery, candidates: Candidates, bounds: Ranking
) -> NDArray[np.bool_]:
    """Find the passages, (n,), that may be among the best by their bounds."""
    signals = query.signals.select(candidates.rows)
    scores = score_rows(profile, candidates.rows, candidates.cosines, signals)
    readable = query.readable
    lowest = _find_lowest_score(scores, scores.above_floor, query.top_k)
    is_in_reach = bounds.above_floor & (bounds.score >= lowest)
    if readable.any():
        lowest = _find_lowest_score(
            scores, scores.above_floor & readable[candidates.rows], query.top_k
        )
        is_in_reach |= bounds.above_floor & readable & (bounds.score >= lowest)
    if query.near:
        lowest = _find_lowest_score(scores, ~scores.above_floor, query.near)
        if lowest > -math.inf:
            is_in_reach |= bounds.score >= lowest
    return is_in_reach


def _find_lowest_score(scores: Ranking, among: NDArray[np.bool_], count: int) -> float:
    """Return the score of the last of the best ``count``; -inf where there are fewer."""
    best = select_top_rows(scores.score, count, among)
    return float(scores.score[best[-1]]) if len(best) == count else -math.inf


def merge_candidates(first: Candidates, second: Candidates) -> Candidates:
    """Merge two sets of candidates, each row once."""
    rows, places = np.unique(np.concatenate([first.rows, second.rows]), return_index=True)
    return Candidates(rows, np.concatenate([first.cosines, second.cosines])[places])
