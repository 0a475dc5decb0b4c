"""Make registered providers: check their protocol, charge their bound, check their vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .answers.answerer import Answerer
from .embedders.embedder import Embedder, EmbedderIdentity, Vectors
from .embedders.vector_check import check_vectors
from .errors import SiteError
from .provider_registry import Provider
from .request_context import current_context
from .types import Evidence


@dataclass(frozen=True, slots=True)
class RegisteredEmbedder:
    """Embed by a registered embedder; a call that counts no tokens costs the declared bound."""

    inner: Embedder

    @property
    def identity(self) -> EmbedderIdentity:
        """See Embedder."""
        return self.inner.identity

    @property
    def max_question_tokens(self) -> int:
        """See Embedder."""
        return self.inner.max_question_tokens

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder; EmbedderError for anything but such vectors."""
        with current_context().bounding("embedder", self.max_question_tokens):
            vectors = self.inner.embed(texts)
        return check_vectors(vectors, len(texts), self.identity)

    def word_rank(self, word: str) -> int | None:
        """See Embedder."""
        return self.inner.word_rank(word)


@dataclass(frozen=True, slots=True)
class RegisteredAnswerer:
    """Draft by a registered answerer; a call that counts no tokens costs the declared bound."""

    inner: Answerer

    @property
    def label(self) -> str:
        """See Answerer."""
        return self.inner.label

    @property
    def max_question_tokens(self) -> int:
        """See Answerer."""
        return self.inner.max_question_tokens

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """See Answerer."""
        with current_context().bounding("answerer", self.max_question_tokens):
            return self.inner.draft(question, evidence, violation)


def make_registered_embedder(provider: Provider, *args: object) -> RegisteredEmbedder:
    """Make the embedder of a registered provider; SiteError if it lacks a part."""
    return RegisteredEmbedder(_make_instance(provider, Embedder, args))


def make_registered_answerer(provider: Provider, *args: object) -> RegisteredAnswerer:
    """Make the answerer of a registered provider; SiteError if it lacks a part."""
    return RegisteredAnswerer(_make_instance(provider, Answerer, args))


def _make_instance(provider: Provider, protocol: type, args: Sequence[object]) -> Any:
    """Call the factory of a registered provider; SiteError names what its protocol requires.

    A bound of tokens that is forgotten would count as nothing, and escape the daily cap.
    """
    assert provider.factory is not None, "the registry returns none without a factory"
    instance = provider.factory(*args)
    required = (name for name in vars(protocol) if not name.startswith("_"))
    if missing := [name for name in required if not hasattr(instance, name)]:
        raise SiteError(
            f"{type(instance).__name__} is not an answerable.{protocol.__name__}: it lacks "
            f"{', '.join(missing)}; add what the page Python of the manual lists"
        )
    return instance
