"""Integer dot products of one query against many rows: compiled where that is worth it."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from threading import Thread

import numpy as np
from numpy.typing import NDArray

Int8Array = NDArray[np.int8]
# Whole numbers up to 2 ** 53, which is what the compiled kernel gives.
WholeFloats = NDArray[np.float64]
DotKernel = Callable[[Int8Array, Int8Array], WholeFloats]

# Rows converted to float at a time: few enough to stay in a core's cache.
ROWS_PER_CONVERSION = 64
# Under so many bytes of rows numpy is done before the compiled kernel is imported.
COMPILED_FROM_BYTES = 1 << 20
# From so many bytes on one core waits for memory longer than a second one takes to start.
TWO_THREADS_FROM_BYTES = 1 << 24
CORES = os.cpu_count() or 1
# Up to here every whole number has a float32.
_EXACT_IN_FLOAT32 = 1 << 24


def multiply_rows(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """The exact dot product of a query (d,) with each of the rows (n, d). Returns (n,)."""
    return choose_kernel(rows.nbytes)(rows, query)


def choose_kernel(size: int) -> DotKernel:
    """The quickest way to scan so many bytes."""
    return multiply_by_numpy if size < COMPILED_FROM_BYTES else _load_compiled_kernel()


@cache
def _load_compiled_kernel() -> DotKernel:
    """The compiled kernel if it is installed and counts as it should, else numpy."""
    try:
        import numkong  # noqa: F401
    except ImportError:
        return multiply_by_numpy
    # A wheel picks its instructions by the machine it runs on, which may be one of a new kind.
    numbers = np.arange(5 * 301, dtype=np.int64).reshape(5, 301) * 2_654_435_761 % 255 - 127
    rows: Int8Array = numbers.astype(np.int8)
    right = np.array_equal(multiply_by_numkong(rows, rows[3]), multiply_by_numpy(rows, rows[3]))
    return multiply_by_numkong if right else multiply_by_numpy


def multiply_by_numkong(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """The same by numkong; ImportError where that is not installed. ``rows`` are not empty."""
    if rows.nbytes < TWO_THREADS_FROM_BYTES or CORES < 2:
        return _call_numkong(rows, query)
    middle = len(rows) // 2
    found: dict[str, WholeFloats] = {}
    helper = Thread(target=lambda: found.update(rest=_call_numkong(rows[middle:], query)))
    helper.start()
    first = _call_numkong(rows[:middle], query)
    helper.join()
    # What has failed in a thread fails here, where somebody hears of it.
    rest = found["rest"] if "rest" in found else _call_numkong(rows[middle:], query)
    return np.concatenate([first, rest])


def _call_numkong(rows: Int8Array, query: Int8Array) -> WholeFloats:
    import numkong

    found: WholeFloats = np.asarray(numkong.cdist(query[np.newaxis], rows, metric="dot")).reshape(
        -1
    )
    return found


def multiply_by_numpy(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """The same by numpy, whose own product of whole numbers is some ten times slower.

    Columns are summed in float32 as far as no sum can leave the numbers that it holds exactly.
    """
    count, dimensions = rows.shape
    found: WholeFloats = np.zeros(count)
    floats = np.empty((ROWS_PER_CONVERSION, dimensions), dtype=np.float32)
    weights = query.astype(np.float32)
    parts = list(_split_exact_columns(query))
    for start in range(0, count, ROWS_PER_CONVERSION):
        block = rows[start : start + ROWS_PER_CONVERSION]
        converted = floats[: len(block)]
        np.copyto(converted, block)
        for part in parts:
            found[start : start + ROWS_PER_CONVERSION] += converted[:, part] @ weights[part]
    return found


def _split_exact_columns(query: Int8Array) -> Iterator[slice]:
    """Ranges of columns in which 128 times the sum of the query's sizes stays exact."""
    sums = 128 * np.cumsum(np.abs(query.astype(np.int64)))
    start = 0
    while start < len(sums):
        before = int(sums[start - 1]) if start else 0
        # One column alone adds 128 * 128 at most, so a part is never empty.
        end = int(np.searchsorted(sums, before + _EXACT_IN_FLOAT32, side="right"))
        yield slice(start, end)
        start = end
