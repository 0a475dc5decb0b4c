"""From the passages nearest to a question to all that may be wanted, with nothing left to chance.

A passage that has not been looked at lies no nearer than the last that has. That, and its words,
names, date and weight, which are known, bound its score; whoever cannot come among those wanted by
that bound need not be looked at. Source: the threshold algorithm of Fagin, Lotem and Naor 2003.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import recipe, scan
from ..profile import Profile
from ..store import Candidates, Rows, Wanted

# Rows that are looked at together.
BATCH = 1000

Fetch = Callable[[Rows], Candidates]


def complete(
    profile: Profile,
    wanted: Wanted,
    found: Candidates,
    ceiling: float,
    fetch: Fetch,
    most: int | None = None,
) -> Candidates:
    """The nearest passages, and all others that may be among those wanted.

    ceiling: the cosine that no other passage surpasses. most: so many others are looked at, those
    with the highest bounds, and then no more.
    """
    given = wanted.given
    count = len(given.weight)
    unseen = np.ones(count, dtype=np.bool_)
    unseen[found.rows] = False
    highest = np.full(count, ceiling, dtype=np.float32)
    bound = recipe.ranked(profile, np.arange(count), highest, given)
    looked = 0
    while unseen.any() and (most is None or looked < most):
        matters = unseen & _matters(profile, wanted, found, bound)
        rows = np.sort(scan.top(bound.score, BATCH, matters))
        if not len(rows):
            break
        found = _joined(found, fetch(rows))
        unseen[rows] = False
        looked += len(rows)
    return found


def _matters(
    profile: Profile, wanted: Wanted, found: Candidates, bound: recipe.Ranking
) -> NDArray[np.bool_]:
    """Which passages, (n,), may be among those wanted by their bounds."""
    seen = recipe.ranked(profile, found.rows, found.cosines, wanted.given.of(found.rows))
    readable = wanted.readable
    in_reach = bound.kept & (bound.score >= _least(seen, seen.kept, wanted.top_k))
    if readable.any():
        own = seen.kept & readable[found.rows]
        in_reach |= bound.kept & readable & (bound.score >= _least(seen, own, wanted.top_k))
    if wanted.near:
        in_reach |= bound.score >= _least(seen, ~seen.kept, wanted.near)
    return in_reach


def _least(seen: recipe.Ranking, among: NDArray[np.bool_], count: int) -> float:
    """The score of the last of the best ``count``; -inf where there are fewer."""
    best = scan.top(seen.score, count, among)
    return float(seen.score[best[-1]]) if len(best) == count else -math.inf


def _joined(found: Candidates, more: Candidates) -> Candidates:
    rows = np.concatenate([found.rows, more.rows])
    order = np.argsort(rows)
    return Candidates(rows[order], np.concatenate([found.cosines, more.cosines])[order])
