"""An embedder that is opened when it is first asked: most builds have nothing to embed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..serve.embedders.embedder import Embedder, EmbedderIdentity, Vectors


@dataclass(frozen=True, slots=True)
class LazyEmbedder:
    """An embedder that is known and not opened yet."""

    identity: EmbedderIdentity
    opened: Callable[[], Embedder]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, by the embedder, which is opened for the first of them."""
        return self.opened().embed(texts)

    @property
    def max_question_tokens(self) -> int:
        """Return the bound of the opened embedder."""
        return self.opened().max_question_tokens

    def word_rank(self, word: str) -> int | None:
        """Return the rank that the opened embedder gives a word."""
        return self.opened().word_rank(word)
