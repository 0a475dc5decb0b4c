"""From a bundle to a running engine: the embedder and answerer that fit it."""

from pathlib import Path

from . import local_embedder
from .bundle import Bundle, open_bundle
from .embedder import Embedder
from .engine import Engine
from .errors import EmbedderError
from .extractive import ExtractiveAnswerer

# The two folders of data in a function folder.
BUNDLE = "bundle"
MODEL = "model"


def open_function(folder: Path) -> Engine:
    """The engine of a published function folder."""
    bundle = open_bundle(folder / BUNDLE)
    return engine(bundle, query_embedder(bundle, folder / MODEL))


def query_embedder(bundle: Bundle, model: Path) -> Embedder:
    """The embedder whose vectors a bundle holds; model: the folder of the local one."""
    provider = bundle.manifest.identity.provider
    if provider == "local":
        return local_embedder.load(model)
    raise EmbedderError(
        f"embedder provider {provider!r} is unknown to this version: upgrade mkdocs-answerable"
    )


def engine(bundle: Bundle, embedder: Embedder) -> Engine:
    """An engine with the keyless answerer."""
    return Engine(bundle, embedder, ExtractiveAnswerer(bundle, embedder))
