"""An embedder that is opened when it is first asked: most builds have nothing to embed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..serve.embedders.embedder import Embedder, EmbedderIdentity, Vectors, WordRanker


@dataclass(frozen=True, slots=True)
class LazyEmbedder:
    """An embedder that is known and not opened yet."""

    identity: EmbedderIdentity
    opened: Callable[[], Embedder]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, by the embedder, which is opened for the first of them."""
        return self.opened().embed(texts)

    def word_rank(self, word: str) -> int | None:
        """The rank that the opened embedder gives a word, None where it ranks none."""
        embedder = self.opened()
        return embedder.word_rank(word) if isinstance(embedder, WordRanker) else None
