"""The function's folder as a package that a platform takes."""

import glob
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...serve import settings
from ...serve.bundle_format.manifest import MANIFEST_FILE, stored_file_name
from ...serve.embedders import local_embedder
from ...serve.errors import SiteError
from ...serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS, list_key_variables
from ...serve.settings import BUNDLE_FOLDER, MODEL_FOLDER, FunctionSettings, read_settings
from ...serve.stores.bundle import open_bundle
from ..output.files import (
    PRIVATE_FILE_MODE,
    check_private_location,
    is_lock_or_leftover,
    make_private_folder,
    replace_folder,
    restrict_mode,
    temporary_path,
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

PACKAGE_MARKER = ".answerable-package.json"


@dataclass(frozen=True, slots=True)
class _Marker:
    """The target that a package was written for, and the names of all its files."""

    target: str | None = None
    files: frozenset[str] = frozenset()


def check_package_folder(out: Path, target: str, function: Path) -> None:
    """Refuse a folder that holds anything but a package for the target; SiteError."""
    check_private_location("--out", out, {"the function folder": function})
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise SiteError(f"--out: {out} is not a folder; choose another")
    if not out.exists() or not any(out.iterdir()):
        return
    written_for = _read_marker(out).target
    if written_for is None:
        raise SiteError(f"--out: {out} holds files that are not of a package; choose another")
    if written_for != target:
        raise SiteError(f"--out: {out} holds the package for {written_for}; choose another")


def write_marker(folder: Path, target: str) -> None:
    """List all files of a package in its marker file."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    text = json.dumps({"target": target, "files": names}, indent=1) + "\n"
    (folder / PACKAGE_MARKER).write_text(text, encoding="utf-8")


def copy_foreign_files(out: Path, fresh: Path) -> None:
    """Copy files that others put into a package, such as a platform's settings, to a fresh one.

    Bytecode is left behind: the code that it belongs to may be another.
    """
    if not out.is_dir():
        return
    own_files = {PACKAGE_MARKER, *_read_marker(out).files}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out)
        if name.as_posix() in own_files or "__pycache__" in name.parts:
            continue
        target = fresh / name
        if path.is_dir() and not path.is_symlink():
            target.mkdir(parents=True, exist_ok=True)
        elif not target.exists():
            shutil.copy2(path, target, follow_symlinks=False)


def remove_package_leftovers(out: Path) -> None:
    """Remove the temporary folders that a killed packaging left beside its package."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.*"):
        if path.is_dir() and is_lock_or_leftover(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _read_marker(out: Path) -> _Marker:
    """Read a package's marker; an empty one where none can be read."""
    try:
        data = json.loads((out / PACKAGE_MARKER).read_bytes())
        return _Marker(str(data["target"]), frozenset(map(str, data["files"])))
    except (OSError, ValueError, LookupError, TypeError):
        return _Marker()


CODE_FOLDER = "answerable"
REQUIREMENTS_FILE = "requirements.txt"

_REBUILD = "run `answerable build` again"


@dataclass(frozen=True, slots=True)
class FunctionContents:
    """A function's own files: from the name in its folder to where each lies.

    requirements: the lines of its requirements.txt. keys: the environment's variables of its
    providers' keys. is_stored: a database serves it, and its bundle stays where it was built.
    """

    files: dict[str, Path]
    requirements: tuple[str, ...]
    keys: tuple[str, ...]
    is_stored: bool


def read_function_contents(folder: Path, adapter: str) -> FunctionContents:
    """List the files of a function folder, its data compared with their hashes.

    adapter: the module of ``serve/http/adapters/`` that has to be there. SiteError or BundleError
    for a folder that cannot be packaged.
    """
    if not (folder / BUNDLE_FOLDER / MANIFEST_FILE).is_file():
        raise SiteError(
            f"{folder} is not a function folder: name the one that holds "
            f"{BUNDLE_FOLDER}/{MANIFEST_FILE} with --function"
        )
    if not (folder / CODE_FOLDER).is_dir():
        raise SiteError(
            f"{folder} holds no function, since readers' browsers answer this site: set the option "
            "function to a folder, such as function: function, and build again"
        )
    manifest = open_bundle(folder / BUNDLE_FOLDER).manifest
    function_settings = read_settings(folder)
    embedder, answerer = manifest.identity.provider, function_settings.answers
    for registry, name in ((EMBEDDER_PROVIDERS, embedder), (ANSWERER_PROVIDERS, answerer)):
        if name not in registry:
            raise SiteError(f"{folder}: {registry.describe_unknown(name)}")
    _check_addresses(folder, function_settings)
    # Bytecode is made for another Python, so only the code itself is listed.
    code = [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / CODE_FOLDER).rglob("*"))
        if path.suffix in (".py", ".jinja", ".json") and path.is_file()
    ]
    # An earlier build's files may still lie beside those that the manifest names.
    data = [stored_file_name(name, file.sha256) for name, file in manifest.files.items()]
    bundle_files = [f"{BUNDLE_FOLDER}/{name}" for name in (MANIFEST_FILE, *data)]
    names = [*code, *(() if function_settings.store else bundle_files), settings.SETTINGS_FILE]
    if embedder == "local":
        local_embedder.load_local_embedder(folder / MODEL_FOLDER)
        model_files = (*local_embedder.read_model_files(folder / MODEL_FOLDER), "LICENSE")
        names += [f"{MODEL_FOLDER}/{name}" for name in model_files]
    # The code is listed from the folder, so the adapter may be missing there unnoticed.
    for name in (*names, f"{CODE_FOLDER}/serve/http/adapters/{adapter}.py"):
        if not (folder / name).is_file():
            raise SiteError(f"{folder / name} is missing: {_REBUILD}")
    path = folder / REQUIREMENTS_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise SiteError(f"{path} cannot be read: {_REBUILD}") from None
    return FunctionContents(
        {name: folder / name for name in names},
        tuple(line.strip() for line in lines if line.strip() and not line.startswith("#")),
        list_key_variables(embedder, function_settings),
        function_settings.store is not None,
    )


def _check_addresses(folder: Path, function_settings: FunctionSettings) -> None:
    """Refuse a provider's address that carries a password: a package holds no secret."""
    addresses = {
        "base_url": function_settings.base_url,
        "embedding_base_url": function_settings.embedding_base_url,
    }
    for option, address in addresses.items():
        parts = urlsplit(address or "")
        if parts.username or parts.password:
            raise SiteError(
                f"{folder / settings.SETTINGS_FILE}: {option} holds a user name or a password, and "
                "a package holds no secret; take it out of mkdocs.yml and build again"
            )


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
