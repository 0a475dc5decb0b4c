"""Which folders are packages of ours, and which files in them are not."""

import glob
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from ...serve.errors import SiteError
from .. import files, places

MARKER = ".answerable-package.json"

_BYTECODE = "__pycache__"


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a packaging has written: for which target, and the names of all files."""

    target: str | None = None
    files: frozenset[str] = frozenset()


def check(out: Path, target: str, function: Path) -> None:
    """Refuse a folder that holds what no packaging for the target has written; SiteError."""
    places.check_outside("--out", out, {"the function folder": function})
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise SiteError(f"--out: {out} is no folder; choose another")
    if not out.exists() or not any(out.iterdir()):
        return
    written_for = _read(out).target
    if written_for is None:
        raise SiteError(f"--out: {out} holds files that no packaging has written; choose another")
    if written_for != target:
        raise SiteError(f"--out: {out} holds the package for {written_for}; choose another")


def mark(folder: Path, target: str) -> None:
    """Leave a list of all that was written in a package's folder."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    text = json.dumps({"target": target, "files": names}, indent=1) + "\n"
    (folder / MARKER).write_text(text, encoding="utf-8")


def carry_over(out: Path, fresh: Path) -> None:
    """Copy what others have put into a package, such as a platform's own settings, to a fresh one.

    Bytecode is left behind: the code that it belongs to may be another.
    """
    if not out.is_dir():
        return
    ours = {MARKER, *_read(out).files}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out)
        if name.as_posix() in ours or _BYTECODE in name.parts:
            continue
        place = fresh / name
        if path.is_dir() and not path.is_symlink():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            shutil.copy2(path, place, follow_symlinks=False)


def remove_leftovers(out: Path) -> None:
    """Remove what a packaging that was killed has left beside its place."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.*"):
        if path.is_dir() and files.is_ours(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _read(out: Path) -> _Mark:
    """A folder's mark; an empty one where there is none that can be read."""
    try:
        data = json.loads((out / MARKER).read_bytes())
        return _Mark(str(data["target"]), frozenset(map(str, data["files"])))
    except (OSError, ValueError, LookupError, TypeError):
        return _Mark()
