"""Vectors and their 8-bit codes, and the products of a query with every row."""

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rules import RULES

# The best passages by the estimate that are scored exactly.
CANDIDATES: int = RULES["vectors"]["CANDIDATES"]
# By how much an estimate may miss the floor.
ESTIMATE_SLACK: float = RULES["vectors"]["ESTIMATE_SLACK"]
# A site of no more passages needs no estimate: the codes of all are few files.
EXACT_PASSAGES: int = RULES["vectors"]["EXACT_PASSAGES"]


Int8Array = NDArray[np.int8]
# Whole numbers up to 2 ** 53, the type of numkong's results.
WholeFloats = NDArray[np.float64]
DotKernel = Callable[[Int8Array, Int8Array], WholeFloats]

# Rows converted to float at a time: few enough to stay in a core's cache.
ROWS_PER_CONVERSION = 64
# For fewer bytes of rows numpy is done before numkong is imported.
COMPILED_FROM_BYTES = 1 << 20
# From so many bytes on one core waits for memory longer than a second one takes to start.
TWO_THREADS_FROM_BYTES = 1 << 24
CORES = os.cpu_count() or 1
# Every whole number up to here has a float32.
_EXACT_IN_FLOAT32 = 1 << 24


def multiply_rows(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """Compute the exact dot product of a query (d,) with each of the rows (n, d). Returns (n,)."""
    return choose_kernel(rows.nbytes)(rows, query)


def choose_kernel(size: int) -> DotKernel:
    """Choose the fastest kernel for so many bytes of rows."""
    return multiply_by_numpy if size < COMPILED_FROM_BYTES else _load_compiled_kernel()


@cache
def _load_compiled_kernel() -> DotKernel:
    """Load numkong if it is installed and computes correctly here, else numpy."""
    try:
        import numkong  # noqa: F401
    except ImportError:
        return multiply_by_numpy
    # A wheel picks its instructions by the machine it runs on, which may be one of a new kind.
    numbers = np.arange(5 * 301, dtype=np.int64).reshape(5, 301) * 2_654_435_761 % 255 - 127
    rows: Int8Array = numbers.astype(np.int8)
    is_right = np.array_equal(multiply_by_numkong(rows, rows[3]), multiply_by_numpy(rows, rows[3]))
    return multiply_by_numkong if is_right else multiply_by_numpy


def multiply_by_numkong(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """Multiply by numkong; ImportError where it is not installed. ``rows`` are not empty."""
    if rows.nbytes < TWO_THREADS_FROM_BYTES or CORES < 2:
        return _call_numkong(rows, query)
    middle = len(rows) // 2
    results: list[WholeFloats] = []
    thread = Thread(target=lambda: results.append(_call_numkong(rows[middle:], query)))
    thread.start()
    first = _call_numkong(rows[:middle], query)
    thread.join()
    # An error of the thread is raised again here, where somebody sees it.
    second = results[0] if results else _call_numkong(rows[middle:], query)
    return np.concatenate([first, second])


def _call_numkong(rows: Int8Array, query: Int8Array) -> WholeFloats:
    import numkong

    dots: WholeFloats = np.asarray(numkong.cdist(query[np.newaxis], rows, metric="dot"))
    return dots.reshape(-1)


def multiply_by_numpy(rows: Int8Array, query: Int8Array) -> WholeFloats:
    """Multiply in float32, ten times faster than numpy's own product of whole numbers.

    Columns are summed as far as no sum can leave the numbers that float32 holds exactly.
    """
    count, dimensions = rows.shape
    dots: WholeFloats = np.zeros(count)
    floats = np.empty((ROWS_PER_CONVERSION, dimensions), dtype=np.float32)
    weights = query.astype(np.float32)
    parts = list(_split_exact_columns(query))
    for start in range(0, count, ROWS_PER_CONVERSION):
        block = rows[start : start + ROWS_PER_CONVERSION]
        converted = floats[: len(block)]
        np.copyto(converted, block)
        for part in parts:
            dots[start : start + ROWS_PER_CONVERSION] += converted[:, part] @ weights[part]
    return dots


def _split_exact_columns(query: Int8Array) -> Iterator[slice]:
    """Yield ranges of columns in which 128 times the sum of the query's sizes stays exact."""
    sums = 128 * np.cumsum(np.abs(query.astype(np.int64)))
    start = 0
    while start < len(sums):
        before = int(sums[start - 1]) if start else 0
        # One column alone adds 128 * 128 at most, so a part is never empty.
        end = int(np.searchsorted(sums, before + _EXACT_IN_FLOAT32, side="right"))
        yield slice(start, end)
        start = end


def normalize_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1, in place; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

# Candidates of a stream that are scored against the float query.
SCALAR_POOL: int = RULES["vectors"]["SCALAR_POOL"]


@dataclass(frozen=True, slots=True, eq=False)
class Int8Codes:
    """Hold codes (n, d) int8; ``inverse_norms`` (n,) is 1 / norm of each row's codes, or 0."""

    codes: NDArray[np.int8]
    inverse_norms: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def slack(self, query: Floats) -> float:
        """Bound how far an estimate lies under its score."""
        # Seven standard deviations of what rounding the query does to a cosine: each coordinate is
        # off by up to half a step, evenly, which is step / sqrt(12) on average.
        return 7 * _largest_magnitude(query) / 127 / math.sqrt(12)

    def estimate(self, query: Floats) -> Floats:
        """Compute the cosine with the query rounded to 8 bits, in whole numbers; 0 for zeros."""
        peak = _largest_magnitude(query)
        floats = np.rint(query * np.float32(127 / peak) if peak else query)
        norm = math.sqrt(float(floats @ floats))
        scale = self.inverse_norms * np.float32(1 / norm if norm else 0.0)
        dots = multiply_rows(self.codes, floats.astype(np.int8))
        cosines: Floats = (dots * scale).astype(np.float32)
        return cosines

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to their codes, (k, dimensions)."""
        return self.codes[rows].astype(np.float32)


def _largest_magnitude(query: Floats) -> float:
    return float(max(query.max(initial=0.0), -query.min(initial=0.0)))


INVERSE_NORMS = "inverse-norms"
CODES = "codes"
# The arrays of each stream: the type of each, and whether a row of it has a number a dimension.
ARRAYS = {INVERSE_NORMS: ("<f4", False), CODES: ("|i1", True)}


Array = NDArray[Any]

INT8_TOP = 127


def quantize_int8(rows: Floats) -> Int8Codes:
    """Quantize rows (n, d) to 8-bit codes with the inverse norms of the codes."""
    codes = round_symmetric(rows, INT8_TOP)
    return Int8Codes(codes, invert_row_norms(codes))


def round_symmetric(rows: Floats, top: int) -> NDArray[np.int8]:
    """Round to whole numbers from -top to top, the largest value of each row at one end.

    Halves go to the even number. A row of zeros stays one.
    """
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    codes: NDArray[np.int8] = np.rint(divide_rows(rows, peaks) * top).astype(np.int8)
    return codes


def divide_rows(rows: Floats, divisors: Floats) -> Floats:
    """Divide each row by its divisor, (n, 1); a divisor of 0 leaves a row of zeros."""
    quotients: Floats = np.divide(rows, divisors, out=np.zeros_like(rows), where=divisors > 0)
    return quotients


def invert_row_norms(rows: Array) -> Floats:
    """Return 1 / the length of each row (n, d), or 0 for a row of zeros, (n,)."""
    return invert(np.linalg.norm(rows.astype(np.float32), axis=1))


def invert(norms: Floats) -> Floats:
    """Return 1 / each number, or 0 for 0."""
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return inverse.astype("<f4")
