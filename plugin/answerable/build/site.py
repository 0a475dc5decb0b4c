"""A whole build's last step: an index published as a bundle, with the function around it."""

import datetime as dt
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from ..serve.embedder import Identity
from ..serve.manifest import Manifest
from ..serve.profile import Profile
from ..serve.providers import BUNDLE
from ..serve.settings import FILE, Settings
from . import bundle_writer, files, function_writer
from .audit import Artifact
from .index import Index

Audit = Callable[[Iterable[Artifact]], None]


def publish(
    index: Index,
    function: Path,
    identity: Identity,
    profile: Profile,
    settings: Settings,
    now: dt.datetime,
    audit: Audit,
) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    audit: is given all that is about to be written and is not the package's own; what it raises
    leaves the folder as it is. Of two builds at once, one waits for the other to be published.
    """
    # Before the lock, which must not be left in a folder that is refused.
    function_writer.check(function)
    made = bundle_writer.contents(index)
    audit([
        *(Artifact(f"{function.name}/{BUNDLE}/{name}", partial(bytes, data))
          for name, data in made.items()),
        Artifact(f"{function.name}/{FILE}", settings.as_json),
    ])  # fmt: skip
    with files.lock(function):
        function_writer.write(function, identity, settings)
        return bundle_writer.write(index, function / BUNDLE, identity, profile, now, made)


def summary(manifest: Manifest, index: Index, folder: Path) -> str:
    """What an index holds and where it was written, on one line."""
    size = sum(file.bytes for file in manifest.files.values())
    numbers = (
        count(manifest.counts["records"], "page"),
        count(manifest.counts["passages"], "passage"),
        count(manifest.counts["hints"], "hint"),
    )
    return (
        f"{', '.join(numbers)}; {count(index.embedded, 'text')} embedded; "
        f"bundle of {size / 1000:.1f} kB in {os.path.relpath(folder)}"
    )


def count(number: int, noun: str) -> str:
    """A number and what it is of, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
