"""Embedder protocol: texts to unit vectors, how common a word is; provider, model, dimensions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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

    def as_json(self) -> dict[str, Any]:
        """Return the identity as a manifest holds it."""
        return asdict(self)


class Embedder(Protocol):
    """Turn texts into vectors of one identity."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name the vector space."""

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that one question costs; 0 only for an embedder that costs nothing."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as unit vectors (zeros for a text without tokens), (len(texts), dimensions)."""

    def word_rank(self, word: str) -> int | None:
        """Rank a lower-case word by how common it is; None if unknown, or without a word list."""
