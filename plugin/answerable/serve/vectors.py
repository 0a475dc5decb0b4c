"""Vectors and their codes: encodings, quantization, and the products of a query with every row."""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# The best passages by the estimate that are scored exactly.
CANDIDATES = 128
# By how much an estimate may miss the floor.
ESTIMATE_SLACK = 0.07
# A site of no more passages needs no estimate: the codes of all are few files.
EXACT_PASSAGES = 128


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
SCALAR_POOL = 64

# Rows whose halves are masked together: few enough to stay in a core's cache.
_ROWS_PER_MASK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Float32Codes:
    """Hold rows in full: (n, d) float32; ``inverse_norms`` (n,) is 1, or 0 for a row of zeros."""

    rows: Floats
    inverse_norms: Floats
    pool: int = SCALAR_POOL

    def __len__(self) -> int:
        return len(self.rows)

    def slack(self, query: Floats) -> float:
        """Bound the error of adding up in another order."""
        del query
        return 1e-5

    def estimate(self, query: Floats) -> Floats:
        """Compute the scores, but for the order in which numbers are added up."""
        cosines: Floats = (self.rows @ query) * self.inverse_norms
        return cosines

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Return some rows as they are, (k, dimensions)."""
        return self.rows[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Int8Codes:
    """Hold codes (n, d) int8; ``inverse_norms`` (n,) is 1 / norm of each row's codes, or 0."""

    codes: NDArray[np.int8]
    inverse_norms: Floats
    pool: int = SCALAR_POOL

    def __len__(self) -> int:
        return len(self.codes)

    def slack(self, query: Floats) -> float:
        """Bound the error of rounding the query."""
        return _rounding_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """Compute the cosine with the query rounded to 8 bits, in whole numbers."""
        return _estimate_rounded(self.dots, query, self.inverse_norms)

    def dots(self, query: NDArray[np.int8]) -> WholeFloats:
        """Compute the exact dot product of a query (d,) with every row. Returns (n,)."""
        return multiply_rows(self.codes, query)

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to their codes, (k, dimensions)."""
        return self.codes[rows].astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Int4Codes:
    """Hold two codes a byte: ``nibbles`` (n, h) uint8 with h = (dimensions + 1) // 2.

    The low half of byte j holds code j plus 8, the high half code h + j in two's complement. So
    each half is a whole number after one mask, the high one times 16.
    """

    nibbles: NDArray[np.uint8]
    inverse_norms: Floats
    dimensions: int
    pool: int = SCALAR_POOL

    def __len__(self) -> int:
        return len(self.nibbles)

    def slack(self, query: Floats) -> float:
        """Bound the error of rounding the query."""
        return _rounding_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """Compute the cosine with the query rounded to 8 bits, in whole numbers."""
        return _estimate_rounded(self.dots, query, self.inverse_norms)

    def dots(self, query: NDArray[np.int8]) -> WholeFloats:
        """Compute the exact dot product of a query (dimensions,) with every row. Returns (n,)."""
        half = self.nibbles.shape[1]
        low = query[:half]
        high = np.zeros(half, dtype=np.int8)
        high[: self.dimensions - half] = query[half:]
        dots: WholeFloats = np.empty(len(self))
        offset = 8 * int(low.sum(dtype=np.int64))
        multiply = choose_kernel(self.nibbles.nbytes)
        buffer = np.empty((_ROWS_PER_MASK, half), dtype=np.uint8)
        for start in range(0, len(self), _ROWS_PER_MASK):
            block = self.nibbles[start : start + _ROWS_PER_MASK]
            masked = buffer[: len(block)]
            lows = multiply(np.bitwise_and(block, 0x0F, out=masked).view(np.int8), low)
            highs = multiply(np.bitwise_and(block, 0xF0, out=masked).view(np.int8), high)
            dots[start : start + _ROWS_PER_MASK] = lows - offset + highs / 16
        return dots

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to their codes, (k, dimensions)."""
        nibbles = self.nibbles[rows]
        low = (nibbles & 0x0F).astype(np.float32) - 8
        high = (nibbles & 0xF0).view(np.int8).astype(np.float32) / 16
        codes: Floats = np.concatenate([low, high], axis=1)
        return codes[:, : self.dimensions]


def _estimate_rounded(
    multiply: Callable[[NDArray[np.int8]], WholeFloats], query: Floats, inverse_norms: Floats
) -> Floats:
    """Round a query to 8 bits and compute its cosines; 0 for a query of zeros."""
    peak = _largest_magnitude(query)
    floats = np.rint(query * np.float32(127 / peak) if peak else query)
    norm = math.sqrt(float(floats @ floats))
    scale = inverse_norms * np.float32(1 / norm if norm else 0.0)
    cosines: Floats = (multiply(floats.astype(np.int8)) * scale).astype(np.float32)
    return cosines


def _rounding_slack(query: Floats) -> float:
    """Compute seven standard deviations of what rounding a query does to a cosine.

    Every coordinate is off by up to half a step, evenly: by step / sqrt(12) on average.
    """
    return 7 * _largest_magnitude(query) / 127 / math.sqrt(12)


def _largest_magnitude(query: Floats) -> float:
    return float(max(query.max(initial=0.0), -query.min(initial=0.0)))


Arrays = Mapping[str, NDArray[Any]]

INVERSE_NORMS = "inverse-norms"
# Bound of inverse norms, and of codes that are floats: whole numbers have norms from 1, and a
# vector of length 1 may be rounded.
MAX_UNIT_VALUE = 1 + 1e-5
DEFAULT_ENCODING = "int8"


class Codes(Protocol):
    """Score the quantized rows of one stream with queries: (dimensions,) float32 of length 1."""

    @property
    def pool(self) -> int:
        """Count the best estimates that are worth scoring."""

    def slack(self, query: Floats) -> float:
        """Bound how far an estimate lies under its score."""

    def estimate(self, query: Floats) -> Floats:
        """Estimate the cosine of the query with every row. Returns (n,)."""

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to the codes that a query is multiplied with, (k, dimensions)."""

    @property
    def inverse_norms(self) -> Floats:
        """Return 1 / the length of each row's codes, or 0, (n,)."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class EncodingKind:
    """Describe an encoding, beside its arithmetic.

    ``open``: makes codes from arrays, inverse norms and dimensions. ``arrays``: those that each
    stream has beside the inverse norms, by name the type of a number and how many dimensions go
    into one. ``is_lossless``: no gold set has ever told it from full precision while all
    dimensions are kept. ``is_whole``: its codes are whole numbers of 8 bits, which a database
    holds in half precision. ``is_scanned``: the compiled kernel multiplies them.
    """

    open: Callable[[Arrays, Floats, int], Codes]
    arrays: Mapping[str, tuple[str, int]]
    is_lossless: bool = False
    is_whole: bool = True
    is_scanned: bool = False


ENCODING_KINDS = {
    "float32": EncodingKind(
        lambda arrays, norms, _: Float32Codes(arrays["codes"], norms),
        {"codes": ("<f4", 1)},
        is_lossless=True,
        is_whole=False,
    ),
    "int8": EncodingKind(
        lambda arrays, norms, _: Int8Codes(arrays["codes"], norms),
        {"codes": ("|i1", 1)},
        is_lossless=True,
        is_scanned=True,
    ),
    "int4": EncodingKind(
        lambda arrays, norms, dimensions: Int4Codes(arrays["codes"], norms, dimensions),
        {"codes": ("|u1", 2)},
        is_scanned=True,
    ),
}
ENCODING_NAMES = tuple(ENCODING_KINDS)
# Encodings that are gone, and what to use instead.
REMOVED_ENCODINGS = {"binary": "int4", "binary+int8": "int8"}


@dataclass(frozen=True, slots=True)
class Encoding:
    """Choose the kind of number of vectors and how many of the leading dimensions are kept.

    ValueError for a name that is none of ``ENCODING_NAMES`` or for no dimension at all.
    """

    name: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.name not in ENCODING_KINDS:
            raise ValueError(f"{self.name!r:.80} is none of {', '.join(ENCODING_NAMES)}")
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions carry nothing")

    def as_json(self) -> dict[str, Any]:
        """Return the encoding as a manifest holds it."""
        return {"encoding": self.name, "dimensions": self.dimensions}

    @property
    def kind(self) -> EncodingKind:
        """Look up the description of the encoding."""
        return ENCODING_KINDS[self.name]

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """List the arrays of each stream: the type of each, and the shape of one row."""
        own = {
            name: (dtype, (-(-self.dimensions // packed),))
            for name, (dtype, packed) in self.kind.arrays.items()
        }
        return {INVERSE_NORMS: ("<f4", ()), **own}

    def needs_certificate(self, dimensions: int) -> bool:
        """Test whether a gold set has to admit it. dimensions: of the embedder's vectors."""
        return not self.kind.is_lossless or self.dimensions < dimensions

    def label(self, dimensions: int) -> str:
        """Format a short name such as ``int8@1024``; without the number where all are kept."""
        return self.name if self.dimensions == dimensions else f"{self.name}@{self.dimensions}"


def encode_all_dimensions(dimensions: int, name: str = DEFAULT_ENCODING) -> Encoding:
    """Return the encoding that keeps all dimensions of an embedder's vectors."""
    return Encoding(name, dimensions)


def open_codes(encoding: Encoding, arrays: Arrays) -> Codes:
    """Open the rows of a stream by the arrays of its encoding."""
    return encoding.kind.open(arrays, arrays[INVERSE_NORMS], encoding.dimensions)


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
