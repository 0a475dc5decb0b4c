"""Rows as numbers: whole ones of 8 or 4 bits, or as they are."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .kernel import WholeFloats, choose_kernel

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

# How many candidates of a stream are scored against the float query.
SCALAR_POOL = 64

# Rows whose halves are masked together: few enough to stay in a core's cache.
_ROWS_PER_MASK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Float32Codes:
    """Rows as they are: (n, d) float32; ``inverse_norms`` (n,) is 1, or 0 for a row of zeros."""

    rows: Floats
    inverse_norms: Floats
    pool: int = SCALAR_POOL

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


@dataclass(frozen=True, slots=True, eq=False)
class Int8Codes:
    """Codes (n, d) int8; ``inverse_norms`` (n,) is 1 / norm of each row's codes, or 0."""

    codes: NDArray[np.int8]
    inverse_norms: Floats
    pool: int = SCALAR_POOL

    def __len__(self) -> int:
        return len(self.codes)

    def slack(self, query: Floats) -> float:
        """What rounding the query can do."""
        return _rounding_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """The cosine with the query rounded to 8 bits, in whole numbers."""
        rounded, unit = _round_query(query)
        return _scale_dots(kernel.multiply_rows(self.codes, rounded), self.inverse_norms * unit)

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, (k, dimensions)."""
        return self.codes[rows].astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Int4Codes:
    """Two codes a byte: ``nibbles`` (n, h) uint8 with h = (dimensions + 1) // 2.

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
        """What rounding the query can do."""
        return _rounding_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """The cosine with the query rounded to 8 bits, in whole numbers."""
        rounded, unit = _round_query(query)
        return _scale_dots(self.dots(rounded), self.inverse_norms * unit)

    def dots(self, query: NDArray[np.int8]) -> WholeFloats:
        """The exact dot product of a query (dimensions,) with every row's codes. Returns (n,)."""
        half = self.nibbles.shape[1]
        low = query[:half]
        high = np.zeros(half, dtype=np.int8)
        high[: self.dimensions - half] = query[half:]
        found: WholeFloats = np.empty(len(self))
        offset = 8 * int(low.sum(dtype=np.int64))
        multiply = choose_kernel(self.nibbles.nbytes)
        masked = np.empty((_ROWS_PER_MASK, half), dtype=np.uint8)
        for start in range(0, len(self), _ROWS_PER_MASK):
            block = self.nibbles[start : start + _ROWS_PER_MASK]
            part = masked[: len(block)]
            lows = multiply(np.bitwise_and(block, 0x0F, out=part).view(np.int8), low)
            highs = multiply(np.bitwise_and(block, 0xF0, out=part).view(np.int8), high)
            found[start : start + _ROWS_PER_MASK] = lows - offset + highs / 16
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


def _scale_dots(dots: WholeFloats, norms: Floats) -> Floats:
    found: Floats = (dots * norms).astype(np.float32)
    return found


def _round_query(query: Floats) -> tuple[NDArray[np.int8], np.float32]:
    """A query rounded to 8 bits and 1 / norm of what it has become; 0 for one of zeros."""
    peak = _largest_magnitude(query)
    floats = np.rint(query * np.float32(127 / peak) if peak else query)
    norm = math.sqrt(float(floats @ floats))
    return floats.astype(np.int8), np.float32(1 / norm if norm else 0.0)


def _rounding_slack(query: Floats) -> float:
    """Seven standard deviations of what rounding a query does to a cosine.

    Every coordinate is off by up to half a step, evenly: by step / sqrt(12) on average.
    """
    return 7 * _largest_magnitude(query) / 127 / math.sqrt(12)


def _largest_magnitude(query: Floats) -> float:
    return float(max(query.max(initial=0.0), -query.min(initial=0.0)))
