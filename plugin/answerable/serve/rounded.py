"""Rows as numbers: whole ones of 8 or 4 bits, or as they are."""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .frozen import frozen

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

# How many candidates of a stream are scored against the float query.
POOL = 64

# Rows whose halves are masked together: few enough to stay in a core's cache.
_MASKED = 256


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
        multiply = kernel.chosen(self.nibbles.nbytes)
        masked = np.empty((_MASKED, half), dtype=np.uint8)
        for start in range(0, len(self), _MASKED):
            block = self.nibbles[start : start + _MASKED]
            part = masked[: len(block)]
            lows = multiply(np.bitwise_and(block, 0x0F, out=part).view(np.int8), low)
            highs = multiply(np.bitwise_and(block, 0xF0, out=part).view(np.int8), high)
            found[start : start + _MASKED] = lows - offset + highs / 16
        return found

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


def _peak(query: Floats) -> float:
    return float(max(query.max(initial=0.0), -query.min(initial=0.0)))
