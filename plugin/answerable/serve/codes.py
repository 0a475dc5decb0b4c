"""The rows of one stream in their encoding: estimated all at once, scored where it matters."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .encoding import INVERSE_NORMS, Encoding
from .rounded import Float32, Floats, Int4, Int8, Rows
from .signs import Binary, BinaryInt8

# Rows scored together: few enough for what is made of them to stay in a core's cache.
_BLOCK = 64


class Codes(Protocol):
    """The quantized rows of one stream. Queries are (dimensions,) float32 and of length 1."""

    @property
    def pool(self) -> int:
        """How many of the best estimates are worth scoring."""

    def slack(self, query: Floats) -> float:
        """How far an estimate may lie under the score that it stands for."""

    def estimate(self, query: Floats) -> Floats:
        """The cosine of the query with every row, roughly. Returns (n,)."""

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, which the query is multiplied with. Returns (k, dimensions)."""

    @property
    def inverse_norms(self) -> Floats:
        """(n,) 1 / the length of each row's codes, or 0."""

    def __len__(self) -> int: ...


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


def score(codes: Codes, query: Floats, rows: Rows) -> Floats:
    """The cosine of the float query with the codes of some rows. Returns (len(rows),)."""
    # Added up in one order, so that equal rows have equal ones.
    dots: Floats = np.einsum("ij,j->i", codes.numbers(rows), query)
    return dots * codes.inverse_norms[rows]


def cosines(codes: Codes, query: Floats) -> Floats:
    """The score of every row, some at a time. Returns (n,)."""
    found = np.empty(len(codes), dtype=np.float32)
    for start in range(0, len(codes), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(codes)))
        found[rows] = score(codes, query, rows)
    return found
