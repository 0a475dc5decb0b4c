"""Round rows to symmetric 8-bit or 4-bit codes, and invert the lengths of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scalar_codes import Floats, Int8Codes

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
