"""A folder as a zip archive: the same files give the same bytes.

Which folders are packages of ours, and which files in them are not.

A package, put together in a folder beside its place and moved there as a whole.
"""

import glob
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...serve.errors import SiteError
from ...serve.settings import BUNDLE_FOLDER, MODEL_FOLDER
from ..output import atomic_files
from ..output.atomic_files import (
    is_lock_or_leftover,
    make_private_folder,
    replace_folder,
    restrict_mode,
    temporary_path,
)
from ..output.folder_overlap import check_private_location
from . import lockfile
from .bytecode import compile_bytecode
from .function_contents import (
    CODE_FOLDER,
    REQUIREMENTS_FILE,
    FunctionContents,
    read_function_contents,
)
from .lockfile import (
    PinnedPackage,
    find_older_versions,
    format_lock,
    list_extra_requirements,
    resolve_packages,
)
from .platforms import Machine, Platform, render_entry_files
from .wheels import slim_packages, unpack_wheels

# The earliest time that a zip can hold; times of files differ from one machine to the next.
_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644
_UNIX = 3


def write_zip(folder: Path, target: Path) -> None:
    """Write every file below a folder into a zip, sorted by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = _UNIX
            entry.external_attr = _READABLE << 16
            archive.writestr(entry, path.read_bytes(), compresslevel=9)


PACKAGE_MARKER = ".answerable-package.json"

_BYTECODE = "__pycache__"


@dataclass(frozen=True, slots=True)
class _Marker:
    """What a packaging has written: for which target, and the names of all files."""

    target: str | None = None
    files: frozenset[str] = frozenset()


def check_package_folder(out: Path, target: str, function: Path) -> None:
    """Refuse a folder that holds what no packaging for the target has written; SiteError."""
    check_private_location("--out", out, {"the function folder": function})
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise SiteError(f"--out: {out} is no folder; choose another")
    if not out.exists() or not any(out.iterdir()):
        return
    written_for = _read_marker(out).target
    if written_for is None:
        raise SiteError(f"--out: {out} holds files that no packaging has written; choose another")
    if written_for != target:
        raise SiteError(f"--out: {out} holds the package for {written_for}; choose another")


def write_marker(folder: Path, target: str) -> None:
    """Leave a list of all that was written in a package's folder."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    text = json.dumps({"target": target, "files": names}, indent=1) + "\n"
    (folder / PACKAGE_MARKER).write_text(text, encoding="utf-8")


def copy_foreign_files(out: Path, fresh: Path) -> None:
    """Copy what others have put into a package, such as a platform's own settings, to a fresh one.

    Bytecode is left behind: the code that it belongs to may be another.
    """
    if not out.is_dir():
        return
    ours = {PACKAGE_MARKER, *_read_marker(out).files}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out)
        if name.as_posix() in ours or _BYTECODE in name.parts:
            continue
        place = fresh / name
        if path.is_dir() and not path.is_symlink():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            shutil.copy2(path, place, follow_symlinks=False)


def remove_package_leftovers(out: Path) -> None:
    """Remove what a packaging that was killed has left beside its place."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.*"):
        if path.is_dir() and is_lock_or_leftover(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _read_marker(out: Path) -> _Marker:
    """A folder's mark; an empty one where there is none that can be read."""
    try:
        data = json.loads((out / PACKAGE_MARKER).read_bytes())
        return _Marker(str(data["target"]), frozenset(map(str, data["files"])))
    except (OSError, ValueError, LookupError, TypeError):
        return _Marker()


ZIP_FILE = "function.zip"
# What platforms expect of files that another user has deployed.
_FILE = 0o644
_FOLDER = 0o755


@dataclass(frozen=True, slots=True)
class PackageOrder:
    """What to package: for which platform and machine, from where, to where, with which extras."""

    target: Platform
    machine: Machine
    function: Path
    out: Path
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionPackage:
    """What was written.

    parts: bytes where it runs, by what they are. zipped: bytes of the archive, None without one.
    is_compiled: whether it carries bytecode, None where the platform would drop it. keys: the
    environment's variables of its providers' keys. older: pinned packages that an older version
    stands in for, each as (name, pinned, taken).
    """

    pins: tuple[PinnedPackage, ...]
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


def write_package(
    order: PackageOrder, tell: Callable[[str], None] = lambda _: None
) -> FunctionPackage:
    """Write a package; SiteError, BundleError or EmbedderError names what has to change.

    tell: is told each step that takes a while.
    """
    check_package_folder(order.out, order.target.name, order.function)
    found = read_function_contents(order.function, order.target.adapter)
    tell("Resolving the packages")
    needed = (
        *found.requirements,
        *order.target.requirements,
        *list_extra_requirements(order.extras),
    )
    left_out = lockfile.NEVER_IMPORTED if order.target.installs_alone else ()
    pins = resolve_packages(needed, order.machine, left_out)
    out = order.out.resolve()
    remove_package_leftovers(out)
    folder = temporary_path(out)
    make_private_folder(folder)
    try:
        package = _fill(order, found, pins, folder, tell)
        write_marker(folder, order.target.name)
        _set_modes(folder)
        copy_foreign_files(out, folder)
        replace_folder(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return package


def _fill(
    order: PackageOrder,
    found: FunctionContents,
    pins: tuple[PinnedPackage, ...],
    folder: Path,
    tell: Callable[[str], None],
) -> FunctionPackage:
    lock = folder / REQUIREMENTS_FILE
    lock.write_bytes(format_lock(pins))
    scratch = temporary_path(order.out.resolve())
    make_private_folder(scratch)
    try:
        tell(f"Unpacking {len(pins)} packages")
        unpack_wheels(lock, order.machine, scratch)
        if order.target.installs_alone:
            slim_packages(scratch)
        parts = {"packages": _size(scratch)}
        own = scratch if order.target.vendored else folder
        parts |= _put(found, render_entry_files(order.target, order.machine), order.target, own)
        is_compiled, zipped = None, None
        if order.target.keeps_bytecode:
            tell("Compiling")
            before = _size(own)
            # Where the entry point can be edited, it has to count as it is.
            code = own if order.target.vendored else own / CODE_FOLDER
            is_compiled = compile_bytecode(code, own, order.machine)
            parts["bytecode"] = _size(own) - before
        if order.target.vendored:
            tell("Compressing")
            write_zip(own, folder / ZIP_FILE)
            restrict_mode(folder / ZIP_FILE, atomic_files.PRIVATE_FILE_MODE)
            zipped = (folder / ZIP_FILE).stat().st_size
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    older = find_older_versions(found.requirements, pins)
    return FunctionPackage(pins, parts, zipped, is_compiled, found.keys, found.is_stored, older)


def _put(
    found: FunctionContents, rendered: dict[str, bytes], target: Platform, folder: Path
) -> dict[str, int]:
    """Write the function's own files and the entry point; bytes by what they are."""
    parts = {"code": 0, "bundle": 0, "model": 0}
    kinds = {BUNDLE_FOLDER: "bundle", MODEL_FOLDER: "model", CODE_FOLDER: "code"}
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
        if path.name != ZIP_FILE and not path.is_symlink():
            restrict_mode(path, _FOLDER if path.is_dir() else _FILE)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
