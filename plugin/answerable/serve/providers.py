"""Opening of embedders and answerers by name, those of other distributions included."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .answers.answerer import Answerer
from .answers.extractive import ExtractiveAnswerer
from .embedders.embedder import Embedder, EmbedderIdentity, Vectors, check_vectors
from .engine import Engine
from .errors import EmbedderError, SiteError
from .index.manifest import MANIFEST_FILE
from .provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS, Provider
from .request_context import current_context
from .retrieval.store import Store
from .settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from .stores.bundle import Bundle, open_bundle
from .types import Evidence


@contextmanager
def _counting(bound: int) -> Iterator[None]:
    """Count the declared bound of tokens for a block that counts none itself."""
    context = current_context()
    before = context.tokens
    try:
        yield
    finally:
        if context.tokens == before:
            context.assume_tokens(bound)


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
        with _counting(self.max_question_tokens):
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

    @property
    def max_evidence_characters(self) -> int | None:
        """See Answerer."""
        return self.inner.max_evidence_characters

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """See Answerer."""
        with _counting(self.max_question_tokens):
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
            f"{', '.join(missing)}; add them, as answerable.{protocol.__name__} describes them"
        )
    return instance


def open_function(
    folder: Path | str,
    *,
    embedder: Embedder | None = None,
    answerer: Answerer | None = None,
    verify: bool = True,
) -> Engine[Bundle]:
    """Open the engine of a published function folder, or of the bundle in one.

    embedder, answerer: instead of those that its bundle and its settings name. verify: compare
    the hashes of all its data. BundleError for a folder that cannot be served.
    """
    folder = Path(folder)
    if (folder / MANIFEST_FILE).is_file():
        folder = folder.absolute().parent
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify)
    settings = read_settings(folder)
    if embedder is None:
        identity, model = bundle.manifest.identity, folder / MODEL_FOLDER
        embedder = make_embedder(identity, model, settings, verify=verify)
    if answerer is None:
        return make_engine(bundle, embedder, settings)
    return Engine(bundle, embedder, answerer)


def make_embedder(
    identity: EmbedderIdentity, model: Path, settings: FunctionSettings, *, verify: bool = True
) -> Embedder:
    """Open the embedder of an identity. model: the folder of the local one's files.

    verify: compare their hashes. EmbedderError for a provider that is neither built in nor
    registered.
    """
    name = identity.provider
    if name in EMBEDDER_FACTORIES:
        return EMBEDDER_FACTORIES[name](identity, model, settings, verify)
    if name not in EMBEDDER_PROVIDERS:
        raise EmbedderError(EMBEDDER_PROVIDERS.describe_unknown(name))
    return make_registered_embedder(EMBEDDER_PROVIDERS[name], identity, settings)


StoreT = TypeVar("StoreT", bound=Store)


def make_engine(
    store: StoreT, embedder: Embedder, settings: FunctionSettings | None = None
) -> Engine[StoreT]:
    """Make an engine with the answerer that the settings choose, the keyless one by default.

    SiteError for an answerer that is neither built in nor registered.
    """
    settings = settings or FunctionSettings()
    return Engine(store, embedder, _make_answerer(store, embedder, settings))


def _make_answerer(store: Store, embedder: Embedder, settings: FunctionSettings) -> Answerer:
    name = settings.answers
    if name in ANSWERER_FACTORIES:
        return ANSWERER_FACTORIES[name](store, embedder, settings)
    if name not in ANSWERER_PROVIDERS:
        raise SiteError(ANSWERER_PROVIDERS.describe_unknown(name))
    return make_registered_answerer(ANSWERER_PROVIDERS[name], store, embedder, settings)


# Each provider's packages are imported only where it is chosen.


def _make_local_embedder(
    identity: EmbedderIdentity, model: Path, settings: FunctionSettings, verify: bool
) -> Embedder:
    del identity, settings
    from .embedders import local_embedder

    return local_embedder.load_local_embedder(model, verify=verify)


def _make_openai_embedder(
    identity: EmbedderIdentity, model: Path, settings: FunctionSettings, verify: bool
) -> Embedder:
    del model, verify
    from .embedders.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(
        identity,
        settings.embedding_base_url,
    )


def _make_extractive_answerer(
    store: Store, embedder: Embedder, settings: FunctionSettings
) -> Answerer:
    del store, embedder, settings
    return ExtractiveAnswerer()


def _make_openai_answerer(store: Store, embedder: Embedder, settings: FunctionSettings) -> Answerer:
    del embedder
    from .answers.openai_answerer import OpenAIAnswerer

    return OpenAIAnswerer(
        model=settings.model,
        site=store.index.site.name,
        base_url=settings.base_url,
        reasoning_effort=settings.reasoning_effort,
        deadline=settings.timeout,
        author=store.index.site.author,
        api=settings.api,
        max_evidence_characters=settings.max_evidence_characters,
        max_output_tokens=settings.max_output_tokens,
    )


# By the names of the built-in providers.
EMBEDDER_FACTORIES: Mapping[
    str, Callable[[EmbedderIdentity, Path, FunctionSettings, bool], Embedder]
] = {
    "local": _make_local_embedder,
    "openai": _make_openai_embedder,
}
ANSWERER_FACTORIES: Mapping[str, Callable[[Store, Embedder, FunctionSettings], Answerer]] = {
    "extractive": _make_extractive_answerer,
    "openai": _make_openai_answerer,
}
