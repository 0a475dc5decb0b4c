"""Rows as one bit a dimension, alone or before codes that are scored."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .scalar_codes import Floats, Int8Codes, Rows

# One bit a dimension estimates so coarsely that more candidates have to be looked at.
BINARY_POOL = 320

# Rows looked at together: few enough for what is made of them to stay in a core's cache.
_ROWS_PER_BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class BinaryCodes:
    """One bit a dimension: ``bits`` (n, ceil(dimensions / 8)) uint8, set where a value is above 0.

    ``inverse_norms`` (n,) is 1 / sqrt(dimensions), or 0 for a row of zeros.
    """

    bits: NDArray[np.uint8]
    inverse_norms: Floats
    dimensions: int
    pool: int = BINARY_POOL

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """What one bit a dimension can do."""
        return _sign_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """What the score is on average at so many equal bits."""
        # The signs of a vector have the cosine sqrt(2 / pi) with it, if it is Gaussian.
        return _estimate_cosines(self.bits, query, self.inverse_norms) * np.float32(
            math.sqrt(2 / math.pi)
        )

    def numbers(self, rows: Rows | slice) -> Floats:
        """The signs of some rows, 1 or -1 each, (k, dimensions)."""
        bits = np.unpackbits(self.bits[rows], axis=1, count=self.dimensions)
        return bits.astype(np.float32) * 2 - 1


@dataclass(frozen=True, slots=True, eq=False)
class BinaryInt8Codes:
    """One bit a dimension to find candidates by, and int8 codes to score them by."""

    bits: NDArray[np.uint8]
    inner: Int8Codes
    pool: int = BINARY_POOL

    def __len__(self) -> int:
        return len(self.bits)

    def slack(self, query: Floats) -> float:
        """What one bit a dimension can do."""
        return _sign_slack(query)

    def estimate(self, query: Floats) -> Floats:
        """What the cosine is on average at so many equal bits."""
        return _estimate_cosines(self.bits, query, self.inner.inverse_norms)

    def numbers(self, rows: Rows | slice) -> Floats:
        """The int8 codes of some rows, (k, dimensions)."""
        return self.inner.numbers(rows)

    @property
    def inverse_norms(self) -> Floats:
        """Those of the int8 codes."""
        return self.inner.inverse_norms


def _sign_slack(query: Floats) -> float:
    """Two and a half standard deviations of a cosine that is told from equal signs."""
    return 4 / math.sqrt(len(query))


def _estimate_cosines(bits: NDArray[np.uint8], query: Floats, inverse_norms: Floats) -> Floats:
    """The cosine that two Gaussian vectors have on average at so many equal signs.

    cos = sin(pi / 2 * (1 - 2 * differing / dimensions)): the arcsine law.
    """
    differing = hamming_distances(bits, np.packbits(query > 0)).astype(np.float32)
    found = np.sin(np.float32(math.pi / 2) * (1 - 2 * differing / len(query)))
    return np.where(inverse_norms > 0, found, np.float32(0))


def hamming_distances(bits: NDArray[np.uint8], query: NDArray[np.uint8]) -> NDArray[np.int32]:
    """In how many bits each row differs from the query. Returns (n,)."""
    words = np.dtype(np.uint64 if bits.shape[1] % 8 == 0 else np.uint8)
    wide, wanted = bits.view(words), query.view(words)
    found = np.empty(len(bits), dtype=np.int32)
    for start in range(0, len(bits), _ROWS_PER_BLOCK):
        block = wide[start : start + _ROWS_PER_BLOCK]
        found[start : start + _ROWS_PER_BLOCK] = np.bitwise_count(block ^ wanted).sum(
            axis=1, dtype=np.int32
        )
    return found
