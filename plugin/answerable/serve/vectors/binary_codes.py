"""Estimate a query's cosines with rows of sign bits by Hamming distance; decode bits or int8."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .scalar_codes import Floats, Int8Codes, Rows

# One bit a dimension estimates so coarsely that more candidates have to be scored.
BINARY_POOL = 320

# Rows compared together: few enough for the results to stay in a core's cache.
_ROWS_PER_BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class BinaryCodes:
    """Hold one bit a dimension: ``bits`` (n, ceil(dimensions / 8)) uint8, set for a value above 0.

    ``inverse_norms`` (n,) is 1 / sqrt(dimensions), or 0 for a row of zeros.
    """

    bits: NDArray[np.uint8]
    inverse_norms: Floats
    dimensions: int
    pool: int = BINARY_POOL

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """Bound the error of one bit a dimension."""
        return _sign_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """Estimate the score as its average at so many equal bits."""
        # The signs of a vector have the cosine sqrt(2 / pi) with it, if it is Gaussian.
        return _estimate_cosines(self.bits, query, self.inverse_norms) * np.float32(
            math.sqrt(2 / math.pi)
        )

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to their signs, 1 or -1 each, (k, dimensions)."""
        bits = np.unpackbits(self.bits[rows], axis=1, count=self.dimensions)
        return bits.astype(np.float32) * 2 - 1


@dataclass(frozen=True, slots=True, eq=False)
class BinaryInt8Codes:
    """Hold one bit a dimension to find candidates by, and int8 codes to score them by."""

    bits: NDArray[np.uint8]
    inner: Int8Codes
    pool: int = BINARY_POOL

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """Bound the error of one bit a dimension."""
        return _sign_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """Estimate the cosine as its average at so many equal bits."""
        return _estimate_cosines(self.bits, query, self.inner.inverse_norms)

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to their int8 codes, (k, dimensions)."""
        return self.inner.decode_rows(rows)

    @property
    def inverse_norms(self) -> Floats:
        """Return those of the int8 codes."""
        return self.inner.inverse_norms


def _sign_slack(query: Floats) -> float:
    """Compute two and a half standard deviations of a cosine estimated from equal signs."""
    return 4 / math.sqrt(len(query))


def _estimate_cosines(bits: NDArray[np.uint8], query: Floats, inverse_norms: Floats) -> Floats:
    """Compute the cosine that two Gaussian vectors have on average at so many equal signs.

    cos = sin(pi / 2 * (1 - 2 * differing / dimensions)): the arcsine law.
    """
    differing = hamming_distances(bits, np.packbits(query > 0)).astype(np.float32)
    cosines = np.sin(np.float32(math.pi / 2) * (1 - 2 * differing / len(query)))
    return np.where(inverse_norms > 0, cosines, np.float32(0))


def hamming_distances(bits: NDArray[np.uint8], query: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Count the bits in which each row differs from the query. Returns (n,)."""
    words = np.dtype(np.uint64 if bits.shape[1] % 8 == 0 else np.uint8)
    wide_rows, wide_query = bits.view(words), query.view(words)
    distances = np.empty(len(bits), dtype=np.int32)
    for start in range(0, len(bits), _ROWS_PER_BLOCK):
        block = wide_rows[start : start + _ROWS_PER_BLOCK]
        distances[start : start + _ROWS_PER_BLOCK] = np.bitwise_count(block ^ wide_query).sum(
            axis=1, dtype=np.int32
        )
    return distances
