"""A package, put together in a folder beside its place and moved there as a whole."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...serve.errors import SiteError
from ...serve.settings import BUNDLE, MODEL
from .. import files, swap
from . import archive, bytecode, contents, entries, extras, resolving, wheels
from .contents import CODE, REQUIREMENTS, Contents
from .resolving import Pin
from .targets import Machine, Target

MARKER = ".answerable-package.json"
ZIP = "function.zip"

_WIRE = 1


@dataclass(frozen=True, slots=True)
class Order:
    """What to package: for which platform and machine, from where, to where and with which extras.

    """

    target: Target
    machine: Machine
    function: Path
    out: Path
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """What was written. parts: bytes unpacked, by what they are; zipped: bytes of the archive.

    is_compiled: None where the platform compiles the code itself.
    """

    pins: tuple[Pin, ...]
    parts: dict[str, int]
    zipped: int | None
    is_compiled: bool | None
    is_keyed: bool
    replaced: tuple[tuple[str, str], ...] = ()

    @property
    def unpacked(self) -> int:
        """Bytes of all of it where it runs."""
        return sum(self.parts.values())


def write(order: Order, progress: Callable[[str], None]) -> Package:
    """Write a package; SiteError or BundleError names what has to change.

    progress: told each step.
    """
    check_out(order)
    found = contents.read(order.function, order.target.adapter)
    progress("resolving packages")
    left_out = resolving.NEVER_IMPORTED if order.target.installs_alone else ()
    asked = (*found.requirements, *order.target.requirements, *extras.of(order.extras))
    pins = resolving.resolve(asked, order.machine, left_out)
    with _fresh(order.out) as folder:
        package = _fill(order, found, pins, folder, progress)
        _carry_over(order.out, folder)
        files.lock
        swap.replace(folder, order.out)
    return package
