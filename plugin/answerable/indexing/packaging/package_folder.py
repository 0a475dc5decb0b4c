"""Recognize a package's folder by its marker file, refuse others, and carry over users' files."""

import glob
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from ...serve.errors import SiteError
from ..output.atomic_files import is_lock_or_leftover
from ..output.folder_overlap import check_private_location

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
