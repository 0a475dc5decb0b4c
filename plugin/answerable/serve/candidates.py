"""The candidates of a bundle in memory: every row estimated, the best of them scored."""

import numpy as np
from numpy.typing import NDArray

from . import codes, recipe, scan
from .codes import Codes
from .profile import Profile
from .store import Candidates, Floats, Wanted


def of_passages(stream: Codes, profile: Profile, wanted: Wanted) -> Candidates:
    """The passages that may come first, by the estimate of all, scored against the float query.

    Among them the best that the asker can read, and so many of the best under the floor.
    """
    unit, given = wanted.unit, wanted.given
    everything = np.arange(len(given.weight))
    guessed = recipe.ranked(profile, everything, stream.estimate(unit), given, stream.slack(unit))
    likely = guessed.kept
    pool = max(stream.pool, wanted.top_k)
    among = (likely, likely & wanted.readable)
    chosen = [scan.top(guessed.score, pool, each) for each in among]
    if wanted.near:
        chosen.append(scan.top(guessed.score, wanted.near, ~likely))
    is_picked = np.zeros(len(everything), dtype=np.bool_)
    for rows in chosen:
        is_picked[rows] = True
    picked = np.flatnonzero(is_picked)
    return Candidates(picked, codes.score(stream, unit, picked))


def of_hints(
    stream: Codes, owners: NDArray[np.uint32], added: Floats, unit: Floats, count: int
) -> Candidates:
    """The hints that may come first, by the best cosine of their windows.

    added: (hints,) what is added to each hint's cosine.
    """
    hints = len(added)
    guessed = best_of(owners, stream.estimate(unit), hints) + added
    picked = np.sort(scan.top(guessed, max(stream.pool, count)))
    is_picked = np.zeros(len(guessed), dtype=np.bool_)
    is_picked[picked] = True
    windows = np.flatnonzero(is_picked[owners])
    return Candidates(
        picked, best_of(owners[windows], codes.score(stream, unit, windows), hints)[picked]
    )


def best_of(owners: NDArray[np.uint32], cosines: Floats, hints: int) -> Floats:
    """The best cosine of each hint's windows, (hints,)."""
    best = np.full(hints, -1.0, dtype=np.float32)
    np.maximum.at(best, owners, cosines)
    return best
