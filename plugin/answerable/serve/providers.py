"""Factories of engines: the embedder of a store's identity and the answerer of its settings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from .answers.draft_loop import Answerer
from .answers.extractive import ExtractiveAnswerer
from .embedders.embedder import Embedder, EmbedderIdentity
from .engine import Engine
from .errors import EmbedderError
from .retrieval.store import Store
from .settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from .stores.bundle import Bundle
from .stores.bundle_reader import open_bundle
from .stores.prefetch import Prefetch


def open_function(
    folder: Path, *, verify: bool = True, prefetch: Prefetch | None = None
) -> Engine[Bundle]:
    """Open the engine of a published function folder.

    verify: compare the hashes of all its data. prefetch: of its bundle.
    """
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify, prefetch=prefetch)
    settings = read_settings(folder)
    model = folder / MODEL_FOLDER
    embedder = make_embedder(bundle.manifest.identity, model, settings, verify=verify)
    return make_engine(bundle, embedder, settings)


def make_embedder(
    identity: EmbedderIdentity, model: Path, settings: FunctionSettings, *, verify: bool = True
) -> Embedder:
    """Open the embedder of an identity. model: the folder of the local one's files.

    verify: compare their hashes. EmbedderError for a provider that this version does not know.
    """
    if identity.provider not in EMBEDDER_FACTORIES:
        raise EmbedderError(
            f"embedder provider {identity.provider!r} is unknown to this version: upgrade "
            "mkdocs-answerable"
        )
    return EMBEDDER_FACTORIES[identity.provider](identity, model, settings, verify)


StoreT = TypeVar("StoreT", bound=Store)


def make_engine(
    store: StoreT, embedder: Embedder, settings: FunctionSettings | None = None
) -> Engine[StoreT]:
    """Combine a store with the answerer of the settings, the keyless one by default."""
    settings = settings or FunctionSettings()
    answerer = ANSWERER_FACTORIES[settings.answers](store, embedder, settings)
    return Engine(store, embedder, answerer)


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

    return OpenAIEmbedder(identity, settings.embedding_base_url)


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
    )


# By the names of ``settings.EMBEDDER_PROVIDERS`` and ``settings.ANSWERER_PROVIDERS``.
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
