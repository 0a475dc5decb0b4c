"""The protocol of embedders, the identity of their vectors, and the check of what they return."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import EmbedderError

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Name a vector space by its provider, model and number of dimensions."""

    provider: str
    model: str
    dimensions: int

    @property
    def label(self) -> str:
        """Format the identity on one line, such as ``openai/model@256``."""
        return f"{self.provider}/{self.model}@{self.dimensions}"


class Embedder(Protocol):
    """Turn texts into vectors of one identity."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name the vector space."""

    @property
    def max_question_tokens(self) -> int:
        """The tokens that a question counts for where a call counts none; 0 if it is free."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as unit vectors (zeros for a text without tokens), (len(texts), dimensions)."""

    def word_rank(self, word: str) -> int | None:
        """Rank a lower-case word by how common it is; None if unknown, 1 without a list."""


def check_vectors(vectors: object, count: int, identity: EmbedderIdentity) -> Vectors:
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
