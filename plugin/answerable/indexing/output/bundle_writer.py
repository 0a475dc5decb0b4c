"""Write a bundle's files under hashed names, its manifest last; delete files of older bundles."""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from ...serve.bundle_format.manifest import (
    MANIFEST_FILE,
    BundleFile,
    Manifest,
    compute_bundle_id,
    is_stored_file_name,
    read_manifest,
    stored_file_name,
)
from ...serve.bundle_format.profile import Profile
from ...serve.embedders.embedder import EmbedderIdentity
from ...serve.errors import BundleError, SiteError
from .atomic_files import lock_folder, remove_leftovers, write_private_file
from .bundle_contents import BundleContents


def write_bundle(
    contents: BundleContents,
    folder: Path,
    identity: EmbedderIdentity,
    profile: Profile,
    now: dt.datetime,
) -> Manifest:
    """Write a bundle, which its owner alone can read.

    now: the time of the build; that of the last bundle stays if nothing changed. The manifest is
    replaced last, in one step; files that no manifest names are removed after. Of two builds at
    once, one waits for the other.
    """
    manifest = make_manifest(contents, identity, profile, now)
    with lock_folder(folder):
        return _write_files(_reuse_manifest(manifest, folder), contents.files, folder)


def make_manifest(
    contents: BundleContents, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> Manifest:
    """Make a bundle's manifest from its contents."""
    files = {
        name: BundleFile(len(data), hashlib.sha256(data).hexdigest())
        for name, data in contents.files.items()
    }
    return Manifest(
        id=compute_bundle_id(identity, profile, contents.encoding, files),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        encoding=contents.encoding,
        counts=contents.counts,
        files=files,
    )


def parse_build_time(epoch: str | None) -> dt.datetime:
    """Parse a reproducible build's SOURCE_DATE_EPOCH, None for now; SiteError if not a number."""
    if epoch is None:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise SiteError(
            f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds; correct or unset it"
        ) from None


def _reuse_manifest(manifest: Manifest, folder: Path) -> Manifest:
    """Return the last manifest if the bundle is the same: an unchanged build changes nothing."""
    try:
        last = read_manifest(folder)
    except BundleError:
        return manifest
    return last if last.id == manifest.id and last.generator == manifest.generator else manifest


def _write_files(manifest: Manifest, files: Mapping[str, bytes], folder: Path) -> Manifest:
    remove_leftovers(folder)
    current = {MANIFEST_FILE}
    for name, data in files.items():
        stored = stored_file_name(name, manifest.files[name].sha256)
        write_private_file(folder / stored, data)
        current.add(stored)
    text = json.dumps(manifest.as_json(), indent=1, sort_keys=True) + "\n"
    write_private_file(folder / MANIFEST_FILE, text.encode())
    _remove_stale_files(folder, current)
    return manifest


def _remove_stale_files(folder: Path, current: set[str]) -> None:
    """Remove the files of earlier bundles, and nothing else that lies beside them."""
    for path in folder.iterdir():
        if path.name not in current and is_stored_file_name(path.name):
            try:
                path.unlink()
            except OSError:
                # On Windows a file that a reader has mapped stays until the next build.
                continue
