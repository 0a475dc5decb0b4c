"""What a site publishes of an index for its readers' browsers, and the model beside it."""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..engine.embedders.local_embedder import MODEL_ID, read_model_files
from ..engine.index.columns import PRIVATE_KINDS
from ..engine.index.format import Container, deflate, join_content
from ..engine.index.manifest import name_file
from .files import remove_leftovers, remove_path, write_file, write_folder
from .local_model import PACKAGED_MODEL
from .write import IndexFiles, describe_manifest

# Where the model lies below the widget's folder, on every site of this version.
MODEL_FOLDER = f"model/{MODEL_ID}"

_FOLDER = re.compile(r"(?:engine|index|model)/[0-9a-f]{16}")
_INDEX_FILE = re.compile(r"index/[A-Za-z0-9-]+/[a-z]+-[0-9a-f]{16}\.bin")


@dataclass(frozen=True, slots=True)
class BrowserIndex:
    """What a site publishes of an index: its files by name, their folder, and the first one.

    ``size``: of the manifest, which the first file begins with, compressed and decompressed.
    """

    folder: str
    files: Mapping[str, bytes]
    manifest: str
    size: tuple[int, int]


def list_browser_files(packed: IndexFiles, language: str) -> BrowserIndex:
    """List what a site publishes of an index. language: the site's own."""
    # The other files stay with the function: a name alone is the hash of what it holds.
    packs = tuple(pack for pack in packed.manifest.packs if pack.kind not in PRIVATE_KINDS)
    content = join_content(Container(describe_manifest(replace(packed.manifest, packs=packs))))
    data = deflate(content)
    files = {pack.name: packed.files[pack.name] for pack in packs}
    # What is needed at once is fetched at once.
    (core,) = (pack.name for pack in packs if pack.kind == "core")
    first = data + files.pop(core)
    name = name_file("manifest", first)
    folder = f"index/{re.sub('[^A-Za-z0-9-]', '-', language)}"
    return BrowserIndex(folder, {**files, name: first}, name, (len(data), len(content)))


def name_index(index: BrowserIndex) -> dict[str, Any]:
    """Name what a reader's browser opens an index by, as the widget's configuration has it."""
    return {
        "manifest": f"{index.folder}/{index.manifest}",
        "size": index.size,
        "model": MODEL_FOLDER,
    }


def write_browser_index(index: BrowserIndex, parent: Path) -> None:
    """Write an index and the model below a parent; files that are there already stay.

    Those of the last build stay too, until nothing names them.
    """
    write_folder(parent / MODEL_FOLDER, read_model_files(PACKAGED_MODEL))
    for name, data in index.files.items():
        write_file(parent / index.folder / name, data)


def remove_stale_files(parent: Path, current: Collection[str]) -> None:
    """Remove what earlier builds have written below a parent, and what a killed build has left.

    current: the folders and the files of indexes that stay. Nothing else in the parent is touched.
    """
    folders = (*parent.glob("index/*/"), *(parent / kind for kind in ("engine", "index", "model")))
    for folder in folders:
        remove_leftovers(folder)
    for path in list(_list_written(parent)):
        if path.relative_to(parent).as_posix() not in current:
            remove_path(path)
    for folder in folders:
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
