"""The local embedder where a site is built, with the model that the package holds."""

from importlib.resources import files
from pathlib import Path

from ..engine.embedders.local_embedder import LocalEmbedder, load_local_embedder
from ..engine.errors import EmbedderError
from ..engine.settings import FunctionSettings
from ..engine.vectors import Embedder, EmbedderIdentity

# Derived by `plugin/model/hatch_build.py` when the package is built, or installed from its source.
PACKAGED_MODEL = Path(str(files("answerable") / "model"))


def make_build_embedder(identity: EmbedderIdentity, settings: FunctionSettings) -> Embedder:
    """Make the embedder of an identity where a site is built: the local one of the package."""
    if identity.provider == "local":
        return open_local_embedder()
    # Imported late: the local one needs nothing of what opens others.
    from ..engine.providers import make_embedder

    return make_embedder(identity, Path(), settings)


def open_local_embedder() -> LocalEmbedder:
    """Open the local embedder; EmbedderError if the package holds no model."""
    if not PACKAGED_MODEL.is_dir():
        raise EmbedderError(
            f"{PACKAGED_MODEL} is missing: run `pip install --force-reinstall mkdocs-answerable`, "
            "or `make model` in a checkout"
        )
    return load_local_embedder(PACKAGED_MODEL, verify=False)
