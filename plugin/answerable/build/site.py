"""A whole build: an index published as a bundle, with the function around it."""

from dataclasses import dataclass
from pathlib import Path

from ..serve.embedder import Identity
from ..serve.manifest import Manifest
from ..serve.profile import Profile
from . import bundle_writer, function_writer
from .index import Index


@dataclass(frozen=True, slots=True)
class Published:
    """What a build has published."""

    manifest: Manifest
    embedded: int


def publish_bundle(index: Index, folder: Path, identity: Identity, profile: Profile) -> Published:
    """Write the bundle alone, as `mkdocs serve` does."""
    now = bundle_writer.build_time()
    return Published(
        bundle_writer.write(index, folder, identity, profile, now), index.embedded
    )


def publish_function(
    index: Index, folder: Path, identity: Identity, profile: Profile
) -> Published:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last."""
    function_writer.write(folder)
    return publish_bundle(index, folder / "bundle", identity, profile)
