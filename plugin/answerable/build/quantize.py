"""Full-precision vectors to the encodings of a bundle."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve.embedder import Vectors
from ..serve.encoding import INVERSE_NORMS, Encoding

Array = NDArray[Any]


def encode(vectors: Vectors, encoding: Encoding) -> dict[str, Array]:
    """The arrays of an encoding by name, and the inverse norms (n,) float32.

    vectors: (n, d) with at least the encoding's dimensions. Leading dimensions are kept and a row
    is of length 1 again. Codes are symmetric per row: the scale cancels in a cosine and is not
    kept. A row of zeros stays one, with the inverse norm 0.
    """
    rows = _unit(vectors[:, : encoding.dimensions])
    return MADE[encoding.name](rows)


def _float32(rows: Vectors) -> dict[str, Array]:
    return {"codes": rows.astype("<f4"), INVERSE_NORMS: _inverse_norms(rows)}


def _int8(rows: Vectors) -> dict[str, Array]:
    codes = _rounded(rows, 127)
    return {"codes": codes, INVERSE_NORMS: _inverse_norms(codes)}


def _int4(rows: Vectors) -> dict[str, Array]:
    codes = _rounded(rows, 7)
    return {"codes": _packed(codes), INVERSE_NORMS: _inverse_norms(codes)}


def _binary(rows: Vectors) -> dict[str, Array]:
    return {"bits": _bits(rows), INVERSE_NORMS: _sign_norms(rows)}


def _binary_int8(rows: Vectors) -> dict[str, Array]:
    return {**_int8(rows), "bits": _bits(rows)}


# By the names of ``serve.encoding.KINDS``: from unit rows (n, d).
MADE: Mapping[str, Callable[[Vectors], dict[str, Array]]] = {
    "float32": _float32,
    "int8": _int8,
    "int4": _int4,
    "binary": _binary,
    "binary+int8": _binary_int8,
}


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit


def _bits(rows: Vectors) -> NDArray[np.uint8]:
    return np.packbits(rows > 0, axis=1)


def _rounded(rows: Vectors, top: int) -> NDArray[np.int8]:
    """Whole numbers from -top to top, the largest value of each row at one end."""
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(rows, peaks, out=np.zeros_like(rows), where=peaks > 0)
    codes: NDArray[np.int8] = np.rint(scaled * top).astype(np.int8)
    return codes


def _packed(codes: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Two 4-bit codes a byte, as ``serve.rounded.Int4`` reads them."""
    half = (codes.shape[1] + 1) // 2
    low = (codes[:, :half] + 8).astype(np.uint8)
    high = np.zeros_like(low)
    high[:, : codes.shape[1] - half] = (codes[:, half:] * 16).view(np.uint8)
    return low | high


def _inverse_norms(rows: Array) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows.astype(np.float32), axis=1)
    return _inverse(norms)


def _sign_norms(rows: Vectors) -> NDArray[np.float32]:
    norms = np.where(rows.any(axis=1), np.float32(np.sqrt(rows.shape[1])), np.float32(0))
    return _inverse(norms)


def _inverse(norms: NDArray[np.float32]) -> NDArray[np.float32]:
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return inverse.astype("<f4")
