"""Encode vectors in fewer dimensions as float32, int8 or int4 codes, with inverse norms."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve.embedders.embedder import Vectors
from ..serve.vectors.encodings import INVERSE_NORMS, Encoding
from ..serve.vectors.quantization import (
    divide_rows,
    invert_row_norms,
    quantize_int8,
    round_symmetric,
)

Array = NDArray[Any]


def encode_vectors(vectors: Vectors, encoding: Encoding) -> dict[str, Array]:
    """Return the arrays of an encoding by name, and the inverse norms (n,) float32.

    vectors: (n, d) with at least the encoding's dimensions. Leading dimensions are kept and a row
    is of length 1 again. Codes are symmetric per row: the scale cancels in a cosine and is not
    stored. A row of zeros stays one, with the inverse norm 0.
    """
    rows = vectors[:, : encoding.dimensions]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return ENCODERS[encoding.name](divide_rows(rows, norms))


def _encode_float32(rows: Vectors) -> dict[str, Array]:
    return {"codes": rows.astype("<f4"), INVERSE_NORMS: invert_row_norms(rows)}


def _encode_int8(rows: Vectors) -> dict[str, Array]:
    quantized = quantize_int8(rows)
    return {"codes": quantized.codes, INVERSE_NORMS: quantized.inverse_norms}


def _encode_int4(rows: Vectors) -> dict[str, Array]:
    codes = round_symmetric(rows, 7)
    return {"codes": _pack_nibbles(codes), INVERSE_NORMS: invert_row_norms(codes)}


# By the names of ``serve.vectors.encodings.ENCODING_KINDS``: from unit rows (n, d).
ENCODERS: Mapping[str, Callable[[Vectors], dict[str, Array]]] = {
    "float32": _encode_float32,
    "int8": _encode_int8,
    "int4": _encode_int4,
}


def _pack_nibbles(codes: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Pack two 4-bit codes into a byte, as ``serve.vectors.scalar_codes`` reads them."""
    half = (codes.shape[1] + 1) // 2
    low = (codes[:, :half] + 8).astype(np.uint8)
    high = np.zeros_like(low)
    high[:, : codes.shape[1] - half] = (codes[:, half:] * 16).view(np.uint8)
    return low | high
