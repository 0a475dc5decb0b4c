"""The browser's index and model as a build stages and publishes them."""

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from ...serve.bundle_format.manifest import Profile
from ...serve.embedders.local_embedder import MODEL_ID, read_model_files
from ...serve.errors import SiteError
from ..index import SiteIndex
from ..local_model import PACKAGED_MODEL
from ..output.files import remove_leftovers, replace_folder, temporary_path
from .index_files import (
    AddressedFiles,
    BrowserIndex,
    select_public_index,
    serialize_browser_index,
)

# Where the model lies below the widget's folder, on every site of this version.
MODEL_FOLDER = f"model/{MODEL_ID}"

_FOLDER = re.compile(r"(?:engine|index|model)/[0-9a-f]{16}")
_INDEX_FILE = re.compile(r"index/[A-Za-z0-9-]+/[a-z]+-[0-9a-f]{12}\.bin")


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


def write_browser_index(index: BrowserIndex, parent: Path) -> None:
    """Write an index and the model below a parent; files that are there already stay.

    Those of the last build stay too, until nothing names them.
    """
    write_addressed_files(AddressedFiles(MODEL_FOLDER, read_model_files(PACKAGED_MODEL)), parent)
    folder = parent / index.folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in index.files.items():
        path = folder / name
        if not (path.is_file() and path.read_bytes() == data):
            fresh = temporary_path(path)
            fresh.write_bytes(data)
            fresh.replace(path)


def remove_stale_files(parent: Path, current: Collection[str]) -> None:
    """Remove what earlier builds have written below a parent, and what a killed build has left.

    current: the folders and the files of indexes that stay. Nothing else in the parent is touched.
    """
    for folder in [parent / kind for kind in ("engine", "model", "index")]:
        for place in (folder, *folder.glob("*/")):
            remove_leftovers(place)
    for path in list(_list_written(parent)):
        if path.relative_to(parent).as_posix() not in current:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    for folder in (*parent.glob("index/*/"), *(parent / k for k in ("engine", "index", "model"))):
        # One that has other files stays.
        with contextlib.suppress(OSError):
            folder.rmdir()


def _list_written(parent: Path) -> Iterator[Path]:
    """List what a build has written: other files there are the author's own."""
    for path in sorted((*parent.glob("*/*"), *parent.glob("index/*/*"))):
        name = path.relative_to(parent).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if (_FOLDER if is_folder else _INDEX_FILE).fullmatch(name):
            yield path


def _has_files(folder: Path, files: AddressedFiles) -> bool:
    """Test whether a folder holds these files and no others."""
    existing = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    return existing == files.files.keys() and all(
        (folder / path).read_bytes() == data for path, data in files.files.items()
    )


def stage_browser_index(index: SiteIndex, profile: Profile, bundle_id: str) -> BrowserIndex:
    """Stage an index; SiteError for one with notes, of which nothing may reach a browser."""
    if index.hints:
        raise SiteError(
            "notebook: a site with private notes cannot answer in the browser; set answers_in to "
            "function"
        )
    return serialize_browser_index(select_public_index(index), profile, bundle_id)
