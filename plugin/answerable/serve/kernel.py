"""Integer dot products of one query against many rows: compiled where that is worth it."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from threading import Thread

import numpy as np
from numpy.typing import NDArray

Int8 = NDArray[np.int8]
# Whole numbers up to 2 ** 53, which is what the compiled kernel gives.
Whole = NDArray[np.float64]
Dots = Callable[[Int8, Int8], Whole]

# Rows converted to float at a time: few enough to stay in a core's cache.
BLOCK = 64
# Under so many bytes of rows numpy is done before the compiled kernel is imported.
WORTH = 1 << 20
# From so many bytes on one core waits for memory longer than a second one takes to start.
SPLIT = 1 << 24
CORES = os.cpu_count() or 1
# Up to here every whole number has a float32.
_EXACT = 1 << 24


def dots(rows: Int8, query: Int8) -> Whole:
    """The exact dot product of a query (d,) with each of the rows (n, d). Returns (n,)."""
    return chosen(rows.nbytes)(rows, query)


def chosen(size: int) -> Dots:
    """The quickest way to scan so many bytes."""
    return numpy_dots if size < WORTH else _compiled()


@cache
def _compiled() -> Dots:
    """The compiled kernel if it is installed and counts as it should, else numpy."""
    try:
        import numkong  # noqa: F401
    except ImportError:
        return numpy_dots
    # A wheel picks its instructions by the machine it runs on, which may be one of a new kind.
    numbers = np.arange(5 * 301, dtype=np.int64).reshape(5, 301) * 2_654_435_761 % 255 - 127
    rows: Int8 = numbers.astype(np.int8)
    right = np.array_equal(numkong_dots(rows, rows[3]), numpy_dots(rows, rows[3]))
    return numkong_dots if right else numpy_dots


def numkong_dots(rows: Int8, query: Int8) -> Whole:
    """The same by numkong; ImportError where that is not installed. ``rows`` are not empty."""
    if rows.nbytes < SPLIT or CORES < 2:
        return _numkong(rows, query)
    middle = len(rows) // 2
    found: dict[str, Whole] = {}
    helper = Thread(target=lambda: found.update(rest=_numkong(rows[middle:], query)))
    helper.start()
    first = _numkong(rows[:middle], query)
    helper.join()
    # What has failed in a thread fails here, where somebody hears of it.
    rest = found["rest"] if "rest" in found else _numkong(rows[middle:], query)
    return np.concatenate([first, rest])


def _numkong(rows: Int8, query: Int8) -> Whole:
    import numkong

    found: Whole = np.asarray(numkong.cdist(query[np.newaxis], rows, metric="dot")).reshape(-1)
    return found


def numpy_dots(rows: Int8, query: Int8) -> Whole:
    """The same by numpy, whose own product of whole numbers is some ten times slower.

    Columns are summed in float32 as far as no sum can leave the numbers that it holds exactly.
    """
    count, dimensions = rows.shape
    found: Whole = np.zeros(count)
    floats = np.empty((BLOCK, dimensions), dtype=np.float32)
    weights = query.astype(np.float32)
    parts = list(_parts(query))
    for start in range(0, count, BLOCK):
        block = rows[start : start + BLOCK]
        converted = floats[: len(block)]
        np.copyto(converted, block)
        for part in parts:
            found[start : start + BLOCK] += converted[:, part] @ weights[part]
    return found


def _parts(query: Int8) -> Iterator[slice]:
    """Ranges of columns in which 128 times the sum of the query's sizes stays exact."""
    sums = 128 * np.cumsum(np.abs(query.astype(np.int64)))
    start = 0
    while start < len(sums):
        before = int(sums[start - 1]) if start else 0
        # One column alone adds 128 * 128 at most, so a part is never empty.
        end = int(np.searchsorted(sums, before + _EXACT, side="right"))
        yield slice(start, end)
        start = end
