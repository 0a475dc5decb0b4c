"""The packages of a lock, unpacked for a machine, without what never runs there."""

import shutil
from pathlib import Path

from . import pip
from .targets import Machine

# Types, headers and libraries to link with: for who develops against a package.
_UNUSED_SUFFIXES = frozenset({".a", ".h", ".pyi", ".pyx", ".pxd", ".c", ".cpp", ".f90"})
_UNUSED_FOLDERS = frozenset({"__pycache__", "tests"})
# Scripts of pip's making name this machine's Python; the others tell how pip was called.
_SCRIPTS = "bin"
_RECORDS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})


def unpack(lock: Path, machine: Machine, folder: Path) -> None:
    """Install a lock's wheels into a new folder, as their platform would."""
    pip.install(lock, machine, folder)


def slim(folder: Path) -> None:
    """Remove what a function never uses from unpacked packages; their licences stay."""
    shutil.rmtree(folder / _SCRIPTS, ignore_errors=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and _is_unused(path.relative_to(folder)):
            path.unlink()


def _is_unused(path: Path) -> bool:
    if path.parts[0].endswith(".dist-info"):
        return path.name in _RECORDS
    folders = _UNUSED_FOLDERS.intersection(path.parts[1:-1])
    return bool(folders) or path.suffix in _UNUSED_SUFFIXES
