"""Embedder that is opened when it is first used: most builds have nothing to embed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..serve.embedders.embedder import Embedder, EmbedderIdentity, Vectors


@dataclass(frozen=True, slots=True)
class LazyEmbedder:
    """Defer opening an embedder of a known identity. ``open``: returns it, opened once."""

    identity: EmbedderIdentity
    open: Callable[[], Embedder]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, with the embedder opened if it is not yet."""
        return self.open().embed(texts)

    @property
    def max_question_tokens(self) -> int:
        """Return the bound of the opened embedder."""
        return self.open().max_question_tokens

    def word_rank(self, word: str) -> int | None:
        """Return the rank that the opened embedder gives a word."""
        return self.open().word_rank(word)
