"""Write folders of a site that are named by their contents, and remove those of earlier builds."""

import contextlib
import json
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from ..browser_index.addressed_files import AddressedFiles
from ..browser_index.index_files import MANIFEST_FILE
from .atomic_files import remove_leftovers, replace_folder, temporary_path

_FOLDER = re.compile(r"(?:engine|index|model)/[0-9a-f]{16}")


def write_addressed_files(files: AddressedFiles, parent: Path) -> None:
    """Write a folder of files below a parent in one step; one that is there already stays.

    Whoever links to it does so after.
    """
    folder = parent / files.folder
    if _has_files(folder, files):
        return
    fresh = temporary_path(folder)
    try:
        for path, data in files.files.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_bytes(data)
        replace_folder(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def remove_stale_folders(parent: Path, current: Collection[str]) -> None:
    """Remove the folders of earlier builds below a parent, and what a killed build has left.

    current: folders that stay, such as ``index/0123456789abcdef``; the model that an index names
    stays too. Nothing else in the parent is touched.
    """
    published = {
        *current,
        *(model for folder in current if (model := _read_model(parent / folder))),
    }
    for kind in ("engine", "index", "model"):
        remove_leftovers(parent / kind)
    for folder in list(_list_folders(parent)):
        if folder not in published:
            shutil.rmtree(parent / folder, ignore_errors=True)
    for kind in ("engine", "index", "model"):
        # One that has other files stays.
        with contextlib.suppress(OSError):
            (parent / kind).rmdir()


def _list_folders(parent: Path) -> Iterator[str]:
    """List what a build has written: other files there are the author's own."""
    for path in sorted(parent.glob("*/*")):
        folder = path.relative_to(parent).as_posix()
        if _FOLDER.fullmatch(folder) and path.is_dir() and not path.is_symlink():
            yield folder


def _read_model(folder: Path) -> str | None:
    """Read the folder of the model from an index's manifest; None for a folder without one."""
    try:
        model = json.loads((folder / MANIFEST_FILE).read_bytes())["model"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return model if isinstance(model, str) else None


def _has_files(folder: Path, files: AddressedFiles) -> bool:
    """Test whether a folder holds these files and no others."""
    existing = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    return existing == files.files.keys() and all(
        (folder / path).read_bytes() == data for path, data in files.files.items()
    )
