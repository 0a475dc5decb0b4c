"""The protocol every embedder follows, and what names one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes two vectors comparable: provider, model and number of dimensions."""

    provider: str
    model: str
    dimensions: int

    @property
    def label(self) -> str:
        """The identity as it is told on one line, such as ``openai/model@256``."""
        return f"{self.provider}/{self.model}@{self.dimensions}"

    def as_json(self) -> dict[str, Any]:
        """The identity as a manifest holds it."""
        return asdict(self)


@runtime_checkable
class WordRanker(Protocol):
    """An embedder that has a list of ordinary words at hand."""

    def word_rank(self, word: str) -> int | None:
        """The rank of a word, in lower case, by how common it is; None if it is not listed."""


class Embedder(Protocol):
    """Turns texts into vectors of one identity."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What names this embedder's vector space."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (zeros for a text without tokens), (len(texts), dimensions) float32."""
