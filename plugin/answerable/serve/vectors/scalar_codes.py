"""Estimate a query's cosines with float32, int8 or int4 rows; compute how far off they can be."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .kernel import WholeFloats, choose_kernel

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
        return kernel.multiply_rows(self.codes, query)

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
