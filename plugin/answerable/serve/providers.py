"""From a store and its settings to a running engine: the embedder and answerer that fit them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from . import settings
from .ahead import Ahead
from .answerer import Answerer
from .embedder import Embedder, Identity, WordRanker
from .engine import Engine
from .errors import EmbedderError
from .extractive import ExtractiveAnswerer
from .opening import open_bundle
from .question_reading import WordRank, unranked
from .settings import BUNDLE, MODEL, Settings
from .store import Store


def open_function(folder: Path, *, verify: bool = True, ahead: Ahead | None = None) -> Engine:
    """The engine of a published function folder.

    verify: compare the hashes of all its data. ahead: what reads its bundle already.
    """
    bundle = open_bundle(folder / BUNDLE, verify=verify, ahead=ahead)
    chosen = settings.read(folder)
    found = embedder(bundle.manifest.identity, folder / MODEL, chosen, verify=verify)
    return engine(bundle, found, chosen)


def embedder(identity: Identity, model: Path, chosen: Settings, *, verify: bool = True) -> Embedder:
    """The embedder of an identity. model: the folder of the local one's files.

    verify: compare their hashes. EmbedderError for a provider that this version does not know.
    """
    if identity.provider not in EMBEDDERS:
        raise EmbedderError(
            f"embedder provider {identity.provider!r} is unknown to this version: upgrade "
            "mkdocs-answerable"
        )
    return EMBEDDERS[identity.provider](identity, model, chosen, verify)


def engine(store: Store, embedder: Embedder, chosen: Settings | None = None) -> Engine:
    """An engine with the answerer that the settings choose, the keyless one by default."""
    chosen = chosen or Settings()
    answerer = ANSWERERS[chosen.answers](store, embedder, chosen)
    return Engine(store, embedder, answerer, _word_rank(embedder))


def _word_rank(embedder: Embedder) -> WordRank:
    """How common a word is, where the embedder's vocabulary is in this process."""
    return embedder.word_rank if isinstance(embedder, WordRanker) else unranked


# Each provider's packages are imported only where it is chosen.


def _local(identity: Identity, model: Path, chosen: Settings, verify: bool) -> Embedder:
    del identity, chosen
    from . import local_embedder

    return local_embedder.load(model, verify=verify)


def _openai_embedder(identity: Identity, model: Path, chosen: Settings, verify: bool) -> Embedder:
    del model, verify
    from .openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(identity, chosen.embedding_base_url)


def _extractive(store: Store, embedder: Embedder, chosen: Settings) -> Answerer:
    del chosen
    return ExtractiveAnswerer(store, embedder)


def _openai_answerer(store: Store, embedder: Embedder, chosen: Settings) -> Answerer:
    del embedder
    from .openai_answerer import OpenAIAnswerer

    return OpenAIAnswerer(
        model=chosen.model,
        site=store.site.name,
        base_url=chosen.base_url,
        reasoning_effort=chosen.reasoning_effort,
        deadline=chosen.timeout,
    )


# By the names of ``provided``.
EMBEDDERS: Mapping[str, Callable[[Identity, Path, Settings, bool], Embedder]] = {
    "local": _local,
    "openai": _openai_embedder,
}
ANSWERERS: Mapping[str, Callable[[Store, Embedder, Settings], Answerer]] = {
    "extractive": _extractive,
    "openai": _openai_answerer,
}
