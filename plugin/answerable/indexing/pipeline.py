"""A whole build's last step: an index published as a bundle, with the function around it."""

import datetime as dt
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..serve.bundle_format import manifest as manifest_module
from ..serve.bundle_format.manifest import Manifest, array_file_name
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.settings import BUNDLE_FOLDER, SETTINGS_FILE, FunctionSettings
from ..serve.stores.bundle import Bundle
from ..serve.stores.bundle_reader import open_bundle
from ..serve.vectors.encodings import Encoding
from .index import SiteIndex
from .leak_audit.artifacts import Artifact
from .output.atomic_files import lock_folder
from .output.bundle_writer import BundleContents, serialize_index, write_bundle
from .output.function_writer import check_function_folder, lacks_kernel, write_function

AuditArtifacts = Callable[[Iterable[Artifact]], None]


@dataclass(frozen=True, slots=True)
class StagedFunction:
    """A function that has been audited and not been written. ``contents``: its bundle's files."""

    folder: Path
    index: SiteIndex
    settings: FunctionSettings
    contents: BundleContents


def stage_function(
    index: SiteIndex,
    function: Path,
    settings: FunctionSettings,
    encoding: Encoding,
    audit: AuditArtifacts,
) -> StagedFunction:
    """Make what is to be written, and have it audited; nothing is written.

    audit: is given all of it that is not the package's own, and raises what it finds. SiteError
    for a folder that no build has written.
    """
    check_function_folder(function)
    contents = serialize_index(index, encoding)
    bundle = _list_bundle_artifacts(f"{function.name}/{BUNDLE_FOLDER}", contents)
    audit([*bundle, Artifact(f"{function.name}/{SETTINGS_FILE}", settings.as_json)])
    return StagedFunction(function, index, settings, contents)


def publish_function(
    staged: StagedFunction, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    folder = staged.folder
    # Before the lock, which must not be left in a folder that is refused.
    check_function_folder(folder)
    with lock_folder(folder):
        write_function(folder, identity, staged.settings, _count_scanned_bytes(staged))
        bundle = folder / BUNDLE_FOLDER
        return write_bundle(staged.index, bundle, identity, profile, now, staged.contents)


def open_preview_bundle(
    index: SiteIndex,
    folder: Path,
    identity: EmbedderIdentity,
    profile: Profile,
    encoding: Encoding,
    now: dt.datetime,
    audit: AuditArtifacts,
) -> Bundle:
    """Audit an index and open it as a bundle in a folder of ours; nothing is published."""
    contents = serialize_index(index, encoding)
    audit(_list_bundle_artifacts(BUNDLE_FOLDER, contents))
    write_bundle(index, folder, identity, profile, now, contents)
    return open_bundle(folder, verify=False)


def _count_scanned_bytes(staged: StagedFunction) -> int:
    """The bytes of all vectors, if the compiled kernel scans them where the function runs."""
    contents = staged.contents
    if staged.settings.store or not contents.encoding.kind.is_scanned:
        return 0
    return sum(
        len(contents.files[array_file_name(stream, name)])
        for stream in manifest_module.STREAMS
        for name in contents.encoding.arrays
    )


def _list_bundle_artifacts(name: str, contents: BundleContents) -> list[Artifact]:
    made = contents.files.items()
    return [Artifact(f"{name}/{file}", partial(bytes, data)) for file, data in made]


def summarize_build(manifest: Manifest, index: SiteIndex, folder: Path) -> str:
    """What an index holds and where it was written, on one line."""
    numbers = (
        format_count(manifest.counts["records"], "page"),
        format_count(manifest.counts["passages"], "passage"),
        format_count(manifest.counts["hints"], "hint"),
    )
    return (
        f"{', '.join(numbers)}; {format_count(index.embedded, 'text')} embedded; "
        f"bundle of {manifest.bytes / 1000:.1f} kB in {_relative_path(folder)}"
        f"{_suggest_kernel(manifest)}"
    )


def _suggest_kernel(manifest: Manifest) -> str:
    """Name the extra that a large bundle profits from, unless it is installed."""
    scanned = sum(
        manifest.files[array_file_name(stream, name)].bytes
        for stream in manifest_module.STREAMS
        for name in manifest.encoding.arrays
    )
    if not manifest.encoding.kind.is_scanned or not lacks_kernel(scanned):
        return ""
    return "; `pip install 'mkdocs-answerable[fast]'` makes its search faster"


def _relative_path(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)


def format_count(number: int, noun: str) -> str:
    """A number and what it is of, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
