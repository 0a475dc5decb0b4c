"""A whole build's last step: an index published as a bundle, with the function around it."""

import datetime as dt
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..serve import manifest as m
from ..serve.bundle import Bundle
from ..serve.embedder import Identity
from ..serve.encoding import Encoding
from ..serve.manifest import Manifest
from ..serve.opening import open_bundle
from ..serve.profile import Profile
from ..serve.settings import BUNDLE, FILE, Settings
from . import bundle_writer, files, function_writer
from .audit import Artifact
from .bundle_writer import Contents
from .index import Index

Audit = Callable[[Iterable[Artifact]], None]


@dataclass(frozen=True, slots=True)
class Staged:
    """A function that has been audited and not been written. ``contents``: its bundle's files."""

    folder: Path
    index: Index
    settings: Settings
    contents: Contents


def stage(
    index: Index, function: Path, settings: Settings, encoding: Encoding, audit: Audit
) -> Staged:
    """Make what is to be written, and have it audited; nothing is written.

    audit: is given all of it that is not the package's own, and raises what it finds. SiteError
    for a folder that no build has written.
    """
    function_writer.check(function)
    contents = bundle_writer.contents(index, encoding)
    bundle = _artifacts(f"{function.name}/{BUNDLE}", contents)
    audit([*bundle, Artifact(f"{function.name}/{FILE}", settings.as_json)])
    return Staged(function, index, settings, contents)


def publish(staged: Staged, identity: Identity, profile: Profile, now: dt.datetime) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    folder = staged.folder
    # Before the lock, which must not be left in a folder that is refused.
    function_writer.check(folder)
    with files.lock(folder):
        function_writer.write(folder, identity, staged.settings, _scanned(staged))
        bundle = folder / BUNDLE
        return bundle_writer.write(staged.index, bundle, identity, profile, now, staged.contents)


def preview(
    index: Index,
    folder: Path,
    identity: Identity,
    profile: Profile,
    encoding: Encoding,
    now: dt.datetime,
    audit: Audit,
) -> Bundle:
    """Audit an index and open it as a bundle in a folder of ours; nothing is published."""
    contents = bundle_writer.contents(index, encoding)
    audit(_artifacts(BUNDLE, contents))
    bundle_writer.write(index, folder, identity, profile, now, contents)
    return open_bundle(folder, verify=False)


def _scanned(staged: Staged) -> int:
    """The bytes of all vectors, if the compiled kernel scans them where the function runs."""
    contents = staged.contents
    if staged.settings.store or not contents.encoding.kind.is_scanned:
        return 0
    return sum(
        len(contents.files[m.array(stream, name)])
        for stream in m.STREAMS
        for name in contents.encoding.arrays
    )


def _artifacts(name: str, contents: Contents) -> list[Artifact]:
    made = contents.files.items()
    return [Artifact(f"{name}/{file}", partial(bytes, data)) for file, data in made]


def summary(manifest: Manifest, index: Index, folder: Path) -> str:
    """What an index holds and where it was written, on one line."""
    numbers = (
        count(manifest.counts["records"], "page"),
        count(manifest.counts["passages"], "passage"),
        count(manifest.counts["hints"], "hint"),
    )
    return (
        f"{', '.join(numbers)}; {count(index.embedded, 'text')} embedded; "
        f"bundle of {manifest.bytes / 1000:.1f} kB in {_near(folder)}"
    )


def _near(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)


def count(number: int, noun: str) -> str:
    """A number and what it is of, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
