"""An embedder that is opened when it is first asked: most builds have nothing to embed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..serve.embedder import Embedder, Identity, Vectors, WordRanker


@dataclass(frozen=True, slots=True)
class Later:
    """An embedder that is known and not opened yet."""

    identity: Identity
    opened: Callable[[], Embedder]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, by the embedder, which is opened for the first of them."""
        return self.opened().embed(texts)

    def word_rank(self, word: str) -> int | None:
        """The rank that the opened embedder gives a word, None where it ranks none."""
        embedder = self.opened()
        return embedder.word_rank(word) if isinstance(embedder, WordRanker) else None
