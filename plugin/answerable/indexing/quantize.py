"""Encode vectors in fewer dimensions as float32, int8, int4 or binary codes, with inverse norms."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve.embedders.embedder import Vectors
from ..serve.vectors.encodings import INVERSE_NORMS, Encoding

Array = NDArray[Any]


def encode_vectors(vectors: Vectors, encoding: Encoding) -> dict[str, Array]:
    """Return the arrays of an encoding by name, and the inverse norms (n,) float32.

    vectors: (n, d) with at least the encoding's dimensions. Leading dimensions are kept and a row
    is of length 1 again. Codes are symmetric per row: the scale cancels in a cosine and is not
    stored. A row of zeros stays one, with the inverse norm 0.
    """
    rows = vectors[:, : encoding.dimensions]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return ENCODERS[encoding.name](_divide(rows, norms))


def _encode_float32(rows: Vectors) -> dict[str, Array]:
    return {"codes": rows.astype("<f4"), INVERSE_NORMS: _invert_row_norms(rows)}


def _encode_int8(rows: Vectors) -> dict[str, Array]:
    codes = _round_symmetric(rows, 127)
    return {"codes": codes, INVERSE_NORMS: _invert_row_norms(codes)}


def _encode_int4(rows: Vectors) -> dict[str, Array]:
    codes = _round_symmetric(rows, 7)
    return {"codes": _pack_nibbles(codes), INVERSE_NORMS: _invert_row_norms(codes)}


def _encode_binary(rows: Vectors) -> dict[str, Array]:
    norms = np.where(rows.any(axis=1), np.float32(np.sqrt(rows.shape[1])), np.float32(0))
    return {"bits": _pack_signs(rows), INVERSE_NORMS: _invert(norms)}


def _encode_binary_int8(rows: Vectors) -> dict[str, Array]:
    return {**_encode_int8(rows), "bits": _pack_signs(rows)}


# By the names of ``serve.vectors.encodings.KINDS``: from unit rows (n, d).
ENCODERS: Mapping[str, Callable[[Vectors], dict[str, Array]]] = {
    "float32": _encode_float32,
    "int8": _encode_int8,
    "int4": _encode_int4,
    "binary": _encode_binary,
    "binary+int8": _encode_binary_int8,
}


def _divide(rows: Vectors, divisors: Vectors) -> Vectors:
    """Divide each row by its divisor, (n, 1); a divisor of 0 leaves a row of zeros."""
    quotients: Vectors = np.divide(rows, divisors, out=np.zeros_like(rows), where=divisors > 0)
    return quotients


def _pack_signs(rows: Vectors) -> NDArray[np.uint8]:
    return np.packbits(rows > 0, axis=1)


def _round_symmetric(rows: Vectors, top: int) -> NDArray[np.int8]:
    """Round to whole numbers from -top to top, the largest value of each row at one end."""
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    codes: NDArray[np.int8] = np.rint(_divide(rows, peaks) * top).astype(np.int8)
    return codes


def _pack_nibbles(codes: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Pack two 4-bit codes into a byte, as ``serve.vectors.scalar_codes`` reads them."""
    half = (codes.shape[1] + 1) // 2
    low = (codes[:, :half] + 8).astype(np.uint8)
    high = np.zeros_like(low)
    high[:, : codes.shape[1] - half] = (codes[:, half:] * 16).view(np.uint8)
    return low | high


def _invert_row_norms(rows: Array) -> NDArray[np.float32]:
    return _invert(np.linalg.norm(rows.astype(np.float32), axis=1))


def _invert(norms: NDArray[np.float32]) -> NDArray[np.float32]:
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return inverse.astype("<f4")
