"""A package, put together in a folder beside its place and moved there as a whole."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...serve.settings import BUNDLE, MODEL
from .. import files, swap
from . import archive, bytecode, contents, entries, extras, ownership, resolving, wheels
from .contents import CODE, REQUIREMENTS, Contents
from .resolving import Pin
from .targets import Machine, Target

ZIP = "function.zip"
# What platforms expect of files that another user has deployed.
_FILE = 0o644
_FOLDER = 0o755


@dataclass(frozen=True, slots=True)
class Order:
    """What to package: for which platform and machine, from where, to where, with which extras."""

    target: Target
    machine: Machine
    function: Path
    out: Path
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """What was written.

    parts: bytes where it runs, by what they are. zipped: bytes of the archive, None without one.
    is_compiled: whether it carries bytecode, None where the platform would drop it. keys: the
    environment's variables of its providers' keys. older: pinned packages that an older version
    stands in for, each as (name, pinned, taken).
    """

    pins: tuple[Pin, ...]
    parts: dict[str, int]
    zipped: int | None
    is_compiled: bool | None
    keys: tuple[str, ...]
    is_stored: bool
    older: tuple[tuple[str, str, str], ...]

    @property
    def unpacked(self) -> int:
        """Bytes of all of it where it runs."""
        return sum(self.parts.values())


def write(order: Order, tell: Callable[[str], None] = lambda _: None) -> Package:
    """Write a package; SiteError, BundleError or EmbedderError names what has to change.

    tell: is told each step that takes a while.
    """
    ownership.check(order.out, order.target.name, order.function)
    found = contents.read(order.function, order.target.adapter)
    tell("Resolving the packages")
    needed = (*found.requirements, *order.target.requirements, *extras.of(order.extras))
    left_out = resolving.NEVER_IMPORTED if order.target.installs_alone else ()
    pins = resolving.resolve(needed, order.machine, left_out)
    out = order.out.resolve()
    ownership.remove_leftovers(out)
    folder = files.temporary_for(out)
    files.make_private(folder)
    try:
        package = _fill(order, found, pins, folder, tell)
        ownership.mark(folder, order.target.name)
        _set_modes(folder)
        ownership.carry_over(out, folder)
        swap.replace(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return package


def _fill(
    order: Order,
    found: Contents,
    pins: tuple[Pin, ...],
    folder: Path,
    tell: Callable[[str], None],
) -> Package:
    lock = folder / REQUIREMENTS
    lock.write_bytes(resolving.lock(pins))
    scratch = files.temporary_for(order.out.resolve())
    files.make_private(scratch)
    try:
        tell(f"Unpacking {len(pins)} packages")
        wheels.unpack(lock, order.machine, scratch)
        if order.target.installs_alone:
            wheels.slim(scratch)
        parts = {"packages": _size(scratch)}
        own = scratch if order.target.vendored else folder
        parts |= _put(found, entries.render(order.target, order.machine), order.target, own)
        is_compiled, zipped = None, None
        if order.target.keeps_bytecode:
            tell("Compiling")
            before = _size(own)
            # Where the entry point can be edited, it has to count as it is.
            code = own if order.target.vendored else own / CODE
            is_compiled = bytecode.compile_all(code, own, order.machine)
            parts["bytecode"] = _size(own) - before
        if order.target.vendored:
            tell("Compressing")
            archive.write(own, folder / ZIP)
            files.restrict(folder / ZIP, files.PRIVATE_FILE)
            zipped = (folder / ZIP).stat().st_size
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    older = resolving.older(found.requirements, pins)
    return Package(pins, parts, zipped, is_compiled, found.keys, found.is_stored, older)


def _put(
    found: Contents, rendered: dict[str, bytes], target: Target, folder: Path
) -> dict[str, int]:
    """Write the function's own files and the entry point; bytes by what they are."""
    parts = {"code": 0, "bundle": 0, "model": 0}
    kinds = {BUNDLE: "bundle", MODEL: "model", CODE: "code"}
    for name, path in found.files.items():
        place = folder / target.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        parts[kinds.get(name.partition("/")[0], "code")] += place.stat().st_size
    for name, data in rendered.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        parts["code"] += len(data)
    return parts


def _set_modes(folder: Path) -> None:
    """Set the modes of what is in a package, whatever the umask and the function's modes.

    A platform runs it as a user of its own, who has to read it there. Here the package's own
    folder keeps all others out of it.
    """
    for path in folder.rglob("*"):
        if path.name != ZIP and not path.is_symlink():
            files.restrict(path, _FOLDER if path.is_dir() else _FILE)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
