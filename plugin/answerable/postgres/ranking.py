"""Passages that may rank among the best though they are not among the nearest."""

import math

import numpy as np
from numpy.typing import NDArray

from ..engine.index.manifest import Profile
from ..engine.retrieval.rank import Ranking, score_rows
from ..engine.retrieval.store import Candidates, PassageQuery
from ..engine.retrieval.terms import select_top_rows


def merge_candidates(first: Candidates, second: Candidates) -> Candidates:
    """Merge two sets of candidates, each row once."""
    rows, places = np.unique(np.concatenate([first.rows, second.rows]), return_index=True)
    return Candidates(rows, np.concatenate([first.cosines, second.cosines])[places])


def find_reachable(
    profile: Profile, query: PassageQuery, candidates: Candidates, bounds: Ranking
) -> NDArray[np.bool_]:
    """Find the passages that may be among the best, (n,), some candidates among them.

    bounds: the scores of all passages, (n,), with cosines that none of them exceeds. Passages under
    the floor are wanted only where there are too few above it.
    """
    signals = query.signals.select(candidates.rows)
    scores = score_rows(profile, candidates.rows, candidates.cosines, signals)
    reachable = np.zeros(len(bounds.rows), dtype=np.bool_)
    for wanted in (np.ones_like(query.readable), query.readable):
        known = wanted[candidates.rows]
        lowest = _find_lowest_score(scores, scores.above_floor & known, query.top_k)
        reachable |= wanted & bounds.above_floor & (bounds.score >= lowest)
        if query.near and lowest == -math.inf:
            is_near = ~scores.above_floor & (scores.base >= query.near_floor)
            lowest = _find_lowest_score(scores, is_near & known, query.near)
            may_be_near = (bounds.base >= query.near_floor) & (bounds.score >= lowest)
            reachable |= wanted & may_be_near
    return reachable


def _find_lowest_score(scores: Ranking, among: NDArray[np.bool_], count: int) -> float:
    """Find the score of the last of the best ``count``; -inf where there are fewer."""
    best = select_top_rows(scores.score, count, among)
    return float(scores.score[best[-1]]) if len(best) == count else -math.inf
