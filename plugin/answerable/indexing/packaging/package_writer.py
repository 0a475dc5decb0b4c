"""Build a function's package (code, packages, bytecode) in a temporary folder, and swap it in."""

import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...serve.settings import BUNDLE_FOLDER, MODEL_FOLDER
from ..output.atomic_files import (
    PRIVATE_FILE_MODE,
    make_private_folder,
    replace_folder,
    restrict_mode,
    temporary_path,
)
from .function_contents import (
    CODE_FOLDER,
    REQUIREMENTS_FILE,
    FunctionContents,
    read_function_contents,
)
from .package_folder import (
    check_package_folder,
    copy_foreign_files,
    remove_package_leftovers,
    write_marker,
)
from .packages import (
    PACKAGE_EXTRAS,
    PinnedPackage,
    compile_bytecode,
    find_older_versions,
    format_lock,
    install_wheels,
    resolve_packages,
    slim_packages,
)
from .platforms import ZIP_FILE, Machine, Platform, render_entry_files

# The earliest time that a zip can hold; times of files differ from one machine to the next.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# By a folder of the function: the row of the report that its files count in.
_PARTS = {BUNDLE_FOLDER: "bundle", MODEL_FOLDER: "model", CODE_FOLDER: "code"}

ReportStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PackageOrder:
    """An order to package a function folder for a platform and a machine, with extras."""

    target: Platform
    machine: Machine
    function: Path
    out: Path
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionPackage:
    """A written package.

    parts: bytes where it runs, by row of the report. zipped: bytes of the archive, None without
    one. is_compiled: whether it carries bytecode, None where the platform would drop it. keys: the
    environment's variables of its providers' keys. older: pinned packages that an older version
    stands in for, each as (name, pinned, locked).
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
        """Add up the bytes of all parts."""
        return sum(self.parts.values())


def write_package(order: PackageOrder, report: ReportStep = lambda _: None) -> FunctionPackage:
    """Write a package; SiteError, BundleError or EmbedderError names what has to change.

    report: is called with the name of each step that takes a while.
    """
    check_package_folder(order.out, order.target.name, order.function)
    contents = read_function_contents(order.function, order.target.adapter)
    report("Resolving the packages")
    extras = (PACKAGE_EXTRAS[name] for name in sorted(set(order.extras)))
    requirements = (*contents.requirements, *order.target.requirements, *extras)
    pins = resolve_packages(requirements, order.machine)
    out = order.out.resolve()
    remove_package_leftovers(out)
    with _temporary_folder(out) as folder:
        package = _fill(order, contents, pins, folder, report)
        write_marker(folder, order.target.name)
        _set_modes(folder)
        copy_foreign_files(out, folder)
        replace_folder(folder, out)
    return package


def write_zip(folder: Path, target: Path) -> None:
    """Write every file below a folder into a zip, sorted by name: same files, same bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # As Unix writes it, with the right to read for everybody.
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, path.read_bytes(), compresslevel=9)


@contextmanager
def _temporary_folder(out: Path) -> Iterator[Path]:
    """Make a private folder beside a path, and remove it unless it was moved."""
    folder = temporary_path(out)
    make_private_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(
    order: PackageOrder,
    contents: FunctionContents,
    pins: tuple[PinnedPackage, ...],
    folder: Path,
    report: ReportStep,
) -> FunctionPackage:
    """Fill a package's folder; its packages are unpacked apart, where they are not vendored."""
    platform = order.target
    lock = folder / REQUIREMENTS_FILE
    lock.write_bytes(format_lock(pins))
    with _temporary_folder(order.out.resolve()) as unpacked:
        report(f"Unpacking {len(pins)} packages")
        install_wheels(lock, order.machine, unpacked)
        if platform.installs_alone:
            slim_packages(unpacked)
        parts = {"packages": _measure(unpacked)}
        root = unpacked if platform.vendored else folder
        parts |= _copy_function(contents, order, root)
        is_compiled, zipped = None, None
        if platform.keeps_bytecode:
            report("Compiling")
            size = _measure(root)
            # Where the entry point can be edited, its bytecode must not win over its code.
            code = root if platform.vendored else root / CODE_FOLDER
            is_compiled = compile_bytecode(code, root, order.machine)
            parts["bytecode"] = _measure(root) - size
        if platform.vendored:
            report("Compressing")
            write_zip(root, folder / ZIP_FILE)
            restrict_mode(folder / ZIP_FILE, PRIVATE_FILE_MODE)
            zipped = (folder / ZIP_FILE).stat().st_size
    older = find_older_versions(contents.requirements, pins)
    keys, is_stored = contents.keys, contents.is_stored
    return FunctionPackage(pins, parts, zipped, is_compiled, keys, is_stored, older)


def _copy_function(contents: FunctionContents, order: PackageOrder, folder: Path) -> dict[str, int]:
    """Write the function's own files and the entry point; returns their bytes by part."""
    parts = {"code": 0, "bundle": 0, "model": 0}
    for name, source in contents.files.items():
        path = folder / order.target.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        parts[_PARTS.get(name.partition("/")[0], "code")] += path.stat().st_size
    for name, data in render_entry_files(order.target, order.machine).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        parts["code"] += len(data)
    return parts


def _set_modes(folder: Path) -> None:
    """Set the modes of the files in a package, whatever the umask and the function's modes.

    A platform runs it as a user of its own, who has to read it there. Here the package's own
    folder keeps all others out of it.
    """
    for path in folder.rglob("*"):
        if path.name != ZIP_FILE and not path.is_symlink():
            restrict_mode(path, 0o755 if path.is_dir() else 0o644)


def _measure(folder: Path) -> int:
    """Add up the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
