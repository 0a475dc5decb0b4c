"""Vectors of texts: who embeds them, their 8-bit codes, and exact cosines with a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import EmbedderError

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

INT8_TOP = 127
# Rows decoded at a time: few enough to stay in a core's cache.
_ROWS_PER_BLOCK = 64


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The name of a vector space: its provider, model and number of dimensions."""

    provider: str
    model: str
    dimensions: int

    @property
    def label(self) -> str:
        """Format the identity on one line, such as ``openai/model@256``."""
        return f"{self.provider}/{self.model}@{self.dimensions}"


class Embedder(Protocol):
    """What turns texts into vectors of one identity."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name the vector space."""

    @property
    def max_question_tokens(self) -> int:
        """The tokens that a question counts for where a call counts none, or 0 if it is free."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Embed as unit vectors (zeros for a text without tokens), (len(texts), dimensions)."""

    def word_rank(self, word: str) -> int | None:
        """Rank a lower-case word by how common it is; None if unknown, 1 without a list."""


def check_vectors(vectors: object, count: int, identity: EmbedderIdentity) -> Floats:
    """Return vectors of ``count`` texts as an array of float32; EmbedderError names the defect."""
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except (RuntimeError, TypeError, ValueError):
        raise EmbedderError(
            f"the embedder {identity.label} returned a {type(vectors).__name__} that is not a "
            "table of numbers; correct it to return an array of float32 with a row for each text",
            cause="reply",
        ) from None
    shape = (count, identity.dimensions)
    if array.shape != shape:
        raise EmbedderError(
            f"the embedder gave {array.shape} for {shape}: check its model", cause="reply"
        )
    if not np.isfinite(array).all():
        raise EmbedderError(
            "the embedder gave a number that is not finite: check its model", cause="reply"
        )
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Int8Codes:
    """Codes, (n, d) int8; ``inverse_norms``, (n,), is 1 / the length of each row, or 0."""

    codes: NDArray[np.int8]
    inverse_norms: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def select_rows(self, rows: Rows | Sequence[int]) -> "Int8Codes":
        """Select the codes of some rows."""
        return Int8Codes(self.codes[rows], self.inverse_norms[rows])

    def score(self, query: Floats) -> Floats:
        """Compute the cosine of a question, (d,) of length 1, with every row. Returns (n,)."""
        # In float64 any order of a sum comes to the same float32. So equal rows have equal cosines,
        # and the engine in the browser has the same ones.
        weights = query.astype(np.float64)
        dots = np.empty(len(self), dtype=np.float64)
        decoded = np.empty((_ROWS_PER_BLOCK, len(query)), dtype=np.float64)
        for start in range(0, len(self), _ROWS_PER_BLOCK):
            block = self.codes[start : start + _ROWS_PER_BLOCK]
            np.copyto(decoded[: len(block)], block)
            np.matmul(decoded[: len(block)], weights, out=dots[start : start + len(block)])
        cosines: Floats = (dots * self.inverse_norms).astype(np.float32)
        return cosines


def normalize_rows(vectors: Floats) -> Floats:
    """Scale each row to length 1, in place; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def quantize_int8(rows: Floats) -> Int8Codes:
    """Quantize rows (n, d) to 8-bit codes with the inverse norms of the codes."""
    codes = round_symmetric(rows)
    return Int8Codes(codes, invert_row_norms(codes))


def round_symmetric(rows: Floats) -> NDArray[np.int8]:
    """Round to whole numbers from -127 to 127, the largest value of each row at one end.

    Halves go to the even number. A row of zeros stays one.
    """
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    shares = np.divide(rows, peaks, out=np.zeros_like(rows), where=peaks > 0)
    codes: NDArray[np.int8] = np.rint(shares * INT8_TOP).astype(np.int8)
    return codes


def invert_row_norms(codes: NDArray[np.int8]) -> Floats:
    """Return 1 / the length of each row (n, d), or 0 for a row of zeros, (n,)."""
    norms = np.linalg.norm(codes.astype(np.float32), axis=1)
    inverse: Floats = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return inverse.astype("<f4")
