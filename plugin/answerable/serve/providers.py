"""Open an engine from a function folder: its bundle, embedder and answerer, by provider name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from .answers.answerer import Answerer
from .answers.extractive import ExtractiveAnswerer
from .bundle_format.manifest import MANIFEST_FILE
from .embedders.embedder import Embedder, EmbedderIdentity
from .engine import Engine
from .errors import EmbedderError, SiteError
from .provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS
from .registered_providers import make_registered_answerer, make_registered_embedder
from .retrieval.store import Store
from .settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from .stores.bundle import Bundle
from .stores.bundle_reader import open_bundle
from .stores.prefetch import Prefetch


def open_function(
    folder: Path | str,
    *,
    embedder: Embedder | None = None,
    answerer: Answerer | None = None,
    verify: bool = True,
    prefetch: Prefetch | None = None,
) -> Engine[Bundle]:
    """Open the engine of a published function folder, or of the bundle in one.

    embedder, answerer: instead of those that its bundle and its settings name. verify: compare
    the hashes of all its data. prefetch: of its bundle. BundleError for a folder that cannot be
    served.
    """
    folder = Path(folder)
    if (folder / MANIFEST_FILE).is_file():
        folder = folder.absolute().parent
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify, prefetch=prefetch)
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
        send_dimensions=settings.embedding_send_dimensions,
        batch_size=settings.embedding_batch_size,
    )


def _make_extractive_answerer(
    store: Store, embedder: Embedder, settings: FunctionSettings
) -> Answerer:
    del settings
    return ExtractiveAnswerer(store, embedder)


def _make_openai_answerer(store: Store, embedder: Embedder, settings: FunctionSettings) -> Answerer:
    del embedder
    from .answers.openai_answerer import OpenAIAnswerer

    return OpenAIAnswerer(
        model=settings.model,
        site=store.site.name,
        base_url=settings.base_url,
        reasoning_effort=settings.reasoning_effort,
        deadline=settings.timeout,
        author=store.site.author,
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
