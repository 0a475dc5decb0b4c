"""From a store and its settings to a running engine: the embedder and answerer that fit them."""

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
    folder: Path, *, verify: bool = True, ahead: Prefetch | None = None
) -> Engine[Bundle]:
    """The engine of a published function folder.

    verify: compare the hashes of all its data. ahead: what reads its bundle already.
    """
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify, ahead=ahead)
    chosen = read_settings(folder)
    found = make_embedder(bundle.manifest.identity, folder / MODEL_FOLDER, chosen, verify=verify)
    return make_engine(bundle, found, chosen)


def make_embedder(
    identity: EmbedderIdentity, model: Path, chosen: FunctionSettings, *, verify: bool = True
) -> Embedder:
    """The embedder of an identity. model: the folder of the local one's files.

    verify: compare their hashes. EmbedderError for a provider that this version does not know.
    """
    if identity.provider not in EMBEDDER_FACTORIES:
        raise EmbedderError(
            f"embedder provider {identity.provider!r} is unknown to this version: upgrade "
            "mkdocs-answerable"
        )
    return EMBEDDER_FACTORIES[identity.provider](identity, model, chosen, verify)


StoreT = TypeVar("StoreT", bound=Store)


def make_engine(
    store: StoreT, embedder: Embedder, chosen: FunctionSettings | None = None
) -> Engine[StoreT]:
    """An engine with the answerer that the settings choose, the keyless one by default."""
    chosen = chosen or FunctionSettings()
    answerer = ANSWERER_FACTORIES[chosen.answers](store, embedder, chosen)
    return Engine(store, embedder, answerer)


# Each provider's packages are imported only where it is chosen.


def _make_local_embedder(
    identity: EmbedderIdentity, model: Path, chosen: FunctionSettings, verify: bool
) -> Embedder:
    del identity, chosen
    from .embedders import local_embedder

    return local_embedder.load_local_embedder(model, verify=verify)


def _make_openai_embedder(
    identity: EmbedderIdentity, model: Path, chosen: FunctionSettings, verify: bool
) -> Embedder:
    del model, verify
    from .embedders.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(identity, chosen.embedding_base_url)


def _make_extractive_answerer(
    store: Store, embedder: Embedder, chosen: FunctionSettings
) -> Answerer:
    del chosen
    return ExtractiveAnswerer(store, embedder)


def _make_openai_answerer(store: Store, embedder: Embedder, chosen: FunctionSettings) -> Answerer:
    del embedder
    from .answers.openai_answerer import OpenAIAnswerer

    return OpenAIAnswerer(
        model=chosen.model,
        site=store.site.name,
        base_url=chosen.base_url,
        reasoning_effort=chosen.reasoning_effort,
        deadline=chosen.timeout,
    )


# By the names of ``provided``.
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
