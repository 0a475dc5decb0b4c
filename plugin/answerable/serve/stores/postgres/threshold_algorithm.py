"""From the passages nearest to a question to all that may be wanted, with nothing left to chance.

A passage that has not been looked at lies no nearer than the last that has. That, and its words,
names, date and weight, which are known, bound its score; whoever cannot come among those wanted by
that bound need not be looked at. Source: the threshold algorithm of Fagin, Lotem and Naor 2003.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...bundle_format.profile import Profile
from ...retrieval.bm25 import select_top_rows
from ...retrieval.scoring import Ranking, score_rows
from ...retrieval.store import Candidates, PassageQuery, Rows

# Rows that are looked at together.
ROWS_PER_FETCH = 1000

FetchCosines = Callable[[Rows], Candidates]


def complete_candidates(
    profile: Profile,
    wanted: PassageQuery,
    found: Candidates,
    ceilings: NDArray[np.float32],
    fetch: FetchCosines,
    most: int,
) -> Candidates:
    """The nearest passages, and all others that may be among those wanted.

    ceilings: (n,) the cosine that a passage which is not found does not surpass. most: so many
    others are looked at, those with the highest bounds, and then no more. Of passages under the
    floor only those better than what is at hand are looked for: there may be none at all.
    """
    given = wanted.given
    count = len(given.weight)
    unseen = np.ones(count, dtype=np.bool_)
    unseen[found.rows] = False
    bound = score_rows(profile, np.arange(count), ceilings, given)
    looked = 0
    while unseen.any() and looked < most:
        matters = unseen & _find_reachable(profile, wanted, found, bound)
        rows = np.sort(select_top_rows(bound.score, ROWS_PER_FETCH, matters))
        if not len(rows):
            break
        found = merge_candidates(found, fetch(rows))
        unseen[rows] = False
        looked += len(rows)
    return found


def _find_reachable(
    profile: Profile, wanted: PassageQuery, found: Candidates, bound: Ranking
) -> NDArray[np.bool_]:
    """Which passages, (n,), may be among those wanted by their bounds."""
    seen = score_rows(profile, found.rows, found.cosines, wanted.given.of(found.rows))
    readable = wanted.readable
    in_reach = bound.above_floor & (
        bound.score >= _find_lowest_score(seen, seen.above_floor, wanted.top_k)
    )
    if readable.any():
        own = seen.above_floor & readable[found.rows]
        in_reach |= (
            bound.above_floor
            & readable
            & (bound.score >= _find_lowest_score(seen, own, wanted.top_k))
        )
    if (
        wanted.near
        and (least := _find_lowest_score(seen, ~seen.above_floor, wanted.near)) > -math.inf
    ):
        in_reach |= bound.score >= least
    return in_reach


def _find_lowest_score(seen: Ranking, among: NDArray[np.bool_], count: int) -> float:
    """The score of the last of the best ``count``; -inf where there are fewer."""
    best = select_top_rows(seen.score, count, among)
    return float(seen.score[best[-1]]) if len(best) == count else -math.inf


def merge_candidates(found: Candidates, more: Candidates) -> Candidates:
    """Both, each row once."""
    rows, places = np.unique(np.concatenate([found.rows, more.rows]), return_index=True)
    return Candidates(rows, np.concatenate([found.cosines, more.cosines])[places])
