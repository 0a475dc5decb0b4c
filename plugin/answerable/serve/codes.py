"""The rows of one stream in their encoding: estimated all at once, scored where it matters."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .encoding import INVERSE_NORMS, Encoding
from .frozen import frozen

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

# How many candidates of a stream are scored against the float query.
POOL = 64
# One bit a dimension estimates so coarsely that more of them have to be looked at.
PREFILTERED = 320

# Rows looked at together: few enough for what is made of them to stay in a core's cache.
_BLOCK = 64
_HAMMING_BLOCK = 4096
_MASKED = 256


class Codes(Protocol):
    """The quantized rows of one stream. Queries are (dimensions,) float32 and of length 1."""

    @property
    def pool(self) -> int:
        """How many of the best estimates are worth scoring."""

    def slack(self, query: Floats) -> float:
        """How far an estimate may lie under the score that it stands for."""

    def estimate(self, query: Floats) -> Floats:
        """The cosine of the query with every row, roughly. Returns (n,)."""

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with the codes of some rows. Returns (len(rows),)."""

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, which the query is multiplied with. Returns (k, dimensions)."""

    @property
    def inverse_norms(self) -> Floats:
        """(n,) 1 / the length of each row's codes, or 0."""

    def __len__(self) -> int: ...


@frozen(eq=False)
class Float32:
    """Rows as they are: (n, d) float32; ``inverse_norms`` (n,) is 1, or 0 for a row of zeros."""

    rows: Floats
    inverse_norms: Floats
    pool: int = POOL

    def __len__(self) -> int:
        return len(self.rows)

    def slack(self, query: Floats) -> float:
        """What adding up in another order can do."""
        del query
        return 1e-5

    def estimate(self, query: Floats) -> Floats:
        """As the score, but for the order in which numbers are added up."""
        found: Floats = (self.rows @ query) * self.inverse_norms
        return found

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with some rows."""
        return _dots(self.numbers(rows), query) * self.inverse_norms[rows]

    def numbers(self, rows: Rows | slice) -> Floats:
        """Some rows."""
        return self.rows[rows]


@frozen(eq=False)
class Int8:
    """Codes (n, d) int8; ``inverse_norms`` (n,) is 1 / norm of each row's codes, or 0."""

    codes: NDArray[np.int8]
    inverse_norms: Floats
    pool: int = POOL

    def __len__(self) -> int:
        return len(self.codes)

    def slack(self, query: Floats) -> float:
        """What rounding the query can do."""
        return _rounding(query)

    def estimate(self, query: Floats) -> Floats:
        """The cosine with the query rounded to 8 bits, in whole numbers."""
        rounded, unit = _rounded(query)
        return _scaled(kernel.dots(self.codes, rounded), self.inverse_norms * unit)

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with the codes of some rows."""
        return _dots(self.numbers(rows), query) * self.inverse_norms[rows]

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, (k, dimensions)."""
        return self.codes[rows].astype(np.float32)


@frozen(eq=False)
class Int4:
    """Two codes a byte: ``nibbles`` (n, h) uint8 with h = (dimensions + 1) // 2.

    The low half of byte j holds code j plus 8, the high half code h + j in two's complement. So
    each half is a whole number after one mask, the high one times 16.
    """

    nibbles: NDArray[np.uint8]
    inverse_norms: Floats
    dimensions: int
    pool: int = POOL

    def __len__(self) -> int:
        return len(self.nibbles)

    def slack(self, query: Floats) -> float:
        """What rounding the query can do."""
        return _rounding(query)

    def estimate(self, query: Floats) -> Floats:
        """The cosine with the query rounded to 8 bits, in whole numbers."""
        rounded, unit = _rounded(query)
        return _scaled(self.dots(rounded), self.inverse_norms * unit)

    def dots(self, query: NDArray[np.int8]) -> kernel.Whole:
        """The exact dot product of a query (dimensions,) with every row's codes. Returns (n,)."""
        half = self.nibbles.shape[1]
        low = query[:half]
        high = np.zeros(half, dtype=np.int8)
        high[: self.dimensions - half] = query[half:]
        found: kernel.Whole = np.empty(len(self))
        offset = 8 * int(low.sum(dtype=np.int64))
        dots = kernel.chosen(self.nibbles.nbytes)
        # Halves that stay in a core's cache between the mask and the product.
        masked = np.empty((_MASKED, half), dtype=np.uint8)
        for start in range(0, len(self), _MASKED):
            block = self.nibbles[start : start + _MASKED]
            part = masked[: len(block)]
            lows = dots(np.bitwise_and(block, 0x0F, out=part).view(np.int8), low)
            highs = dots(np.bitwise_and(block, 0xF0, out=part).view(np.int8), high)
            found[start : start + _MASKED] = lows - offset + highs / 16
        return found

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with the codes of some rows."""
        return _dots(self.numbers(rows), query) * self.inverse_norms[rows]

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, (k, dimensions)."""
        picked = self.nibbles[rows]
        codes: Floats = np.concatenate(
            [
                (picked & 0x0F).astype(np.float32) - 8,
                (picked & 0xF0).view(np.int8).astype(np.float32) / 16,
            ],
            axis=1,
        )
        return codes[:, : self.dimensions]


@frozen(eq=False)
class Binary:
    """One bit a dimension: ``bits`` (n, ceil(dimensions / 8)) uint8, set where a value is above 0.

    ``inverse_norms`` (n,) is 1 / sqrt(dimensions), or 0 for a row of zeros.
    """

    bits: NDArray[np.uint8]
    inverse_norms: Floats
    dimensions: int
    pool: int = PREFILTERED

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """What one bit a dimension can do."""
        return _coarseness(query)

    def estimate(self, query: Floats) -> Floats:
        """What the score is on average at so many equal bits."""
        # The signs of a vector have the cosine sqrt(2 / pi) with it, if it is Gaussian.
        return _agreement(self.bits, query, self.inverse_norms) * np.float32(math.sqrt(2 / math.pi))

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with the signs of some rows."""
        return _dots(self.numbers(rows), query) * self.inverse_norms[rows]

    def numbers(self, rows: Rows | slice) -> Floats:
        """The signs of some rows, 1 or -1 each, (k, dimensions)."""
        bits = np.unpackbits(self.bits[rows], axis=1, count=self.dimensions)
        return bits.astype(np.float32) * 2 - 1


@frozen(eq=False)
class BinaryInt8:
    """One bit a dimension to find candidates by, and int8 codes to score them by."""

    bits: NDArray[np.uint8]
    inner: Int8
    pool: int = PREFILTERED

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """What one bit a dimension can do."""
        return _coarseness(query)

    def estimate(self, query: Floats) -> Floats:
        """What the cosine is on average at so many equal bits."""
        return _agreement(self.bits, query, self.inner.inverse_norms)

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The cosine of the float query with the codes of some rows."""
        return self.inner.score(query, rows)

    def numbers(self, rows: Rows | slice) -> Floats:
        """The int8 codes of some rows, (k, dimensions)."""
        return self.inner.numbers(rows)

    @property
    def inverse_norms(self) -> Floats:
        """Those of the int8 codes."""
        return self.inner.inverse_norms


Arrays = Mapping[str, NDArray[Any]]

# By the names of ``encoding.KINDS``: from the arrays, the inverse norms and the dimensions.
OPENED: Mapping[str, Callable[[Arrays, Floats, int], Codes]] = {
    "float32": lambda arrays, norms, _: Float32(arrays["codes"], norms),
    "int8": lambda arrays, norms, _: Int8(arrays["codes"], norms),
    "int4": lambda arrays, norms, dimensions: Int4(arrays["codes"], norms, dimensions),
    "binary": lambda arrays, norms, dimensions: Binary(arrays["bits"], norms, dimensions),
    "binary+int8": lambda arrays, norms, _: BinaryInt8(
        arrays["bits"], Int8(arrays["codes"], norms)
    ),
}


def of(encoding: Encoding, arrays: Arrays) -> Codes:
    """The rows of a stream by the arrays of its encoding."""
    return OPENED[encoding.name](arrays, arrays[INVERSE_NORMS], encoding.dimensions)


def cosines(codes: Codes, query: Floats) -> Floats:
    """The score of every row, some at a time. Returns (n,)."""
    found = np.empty(len(codes), dtype=np.float32)
    for start in range(0, len(codes), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(codes)))
        found[rows] = codes.score(query, rows)
    return found


def _dots(rows: Floats, query: Floats) -> Floats:
    """The dot product of each row, added up in one order, so that equal rows have equal ones."""
    found: Floats = np.einsum("ij,j->i", rows, query)
    return found


def _scaled(dots: kernel.Whole, norms: Floats) -> Floats:
    found: Floats = (dots * norms).astype(np.float32)
    return found


def _rounded(query: Floats) -> tuple[NDArray[np.int8], np.float32]:
    """A query rounded to 8 bits and 1 / norm of what it has become; 0 for one of zeros."""
    peak = _peak(query)
    floats = np.rint(query * np.float32(127 / peak) if peak else query)
    norm = math.sqrt(float(floats @ floats))
    return floats.astype(np.int8), np.float32(1 / norm if norm else 0.0)


def _rounding(query: Floats) -> float:
    """Seven standard deviations of what rounding a query does to a cosine.

    Every coordinate is off by up to half a step, evenly: by step / sqrt(12) on average.
    """
    return 7 * _peak(query) / 127 / math.sqrt(12)


def _coarseness(query: Floats) -> float:
    """Two and a half standard deviations of a cosine that is told from equal signs."""
    return 4 / math.sqrt(len(query))


def _peak(query: Floats) -> float:
    return float(max(query.max(initial=0.0), -query.min(initial=0.0)))


def _agreement(bits: NDArray[np.uint8], query: Floats, inverse_norms: Floats) -> Floats:
    """The cosine that two Gaussian vectors have on average at so many equal signs.

    cos = sin(pi / 2 * (1 - 2 * differing / dimensions)): the arcsine law.
    """
    differing = hamming(bits, np.packbits(query > 0)).astype(np.float32)
    found = np.sin(np.float32(math.pi / 2) * (1 - 2 * differing / len(query)))
    return np.where(inverse_norms > 0, found, np.float32(0))


def hamming(bits: NDArray[np.uint8], query: NDArray[np.uint8]) -> NDArray[np.int32]:
    """In how many bits each row differs from the query. Returns (n,)."""
    words = np.dtype(np.uint64 if bits.shape[1] % 8 == 0 else np.uint8)
    wide, wanted = bits.view(words), query.view(words)
    found = np.empty(len(bits), dtype=np.int32)
    for start in range(0, len(bits), _HAMMING_BLOCK):
        block = wide[start : start + _HAMMING_BLOCK]
        found[start : start + _HAMMING_BLOCK] = np.bitwise_count(block ^ wanted).sum(
            axis=1, dtype=np.int32
        )
    return found
