"""Yield each file of a published folder as an Artifact: its name, its page and how to read it."""

import os
import posixpath
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from ...serve.errors import SiteError
from .archives import ZIP_TAIL_BYTES, has_end_record
from .text_extraction import HEAD_BYTES, MEDIA_SUFFIXES, is_text

_NO_PAGES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file that is published or served.

    name: its path in an error, with forward slashes; data: reads its bytes; page: the page that
    it is (a path in the docs folder), None for a file that is no page: an index, an asset; file:
    its path in the site's folder, None for what is no file of the site.
    """

    name: str
    data: Callable[[], bytes]
    page: str | None = None
    file: str | None = None

    @property
    def public_names(self) -> frozenset[str]:
        """Names by which a note's ``published_in`` may list it, normalized."""
        return frozenset(normalize_page(name) for name in (self.page, self.file) if name)


def walk_artifacts(
    folder: Path, name: str, pages: Mapping[str, str] = _NO_PAGES
) -> Iterator[Artifact]:
    """Yield every file below a folder, sorted, as an artifact ``name/…``; links are followed.

    pages: from a file's path in the folder to the page that it is. A missing folder has no files.
    Of media only the first bytes are read. SiteError for a file that cannot be read.
    """
    for inner in sorted(_walk_files(folder)):
        yield Artifact(f"{name}/{inner}", _make_reader(folder / inner), pages.get(inner), inner)


def normalize_page(page: str) -> str:
    """Normalize the path of a page in the docs folder: no leading slash, no `.` and `..`."""
    return posixpath.normpath("/" + page).lstrip("/")


def _walk_files(folder: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise SiteError(f"{error.filename} cannot be read ({error.strerror}); make it readable")

    visited: set[str] = set()
    roots = [folder]
    # Links come last: a folder that lies here gets its own name.
    for root in roots:
        if os.path.realpath(root) in visited:
            continue
        for parent, folders, names in os.walk(root, onerror=fail if root.exists() else None):
            visited.add(os.path.realpath(parent))
            paths = (Path(parent, name) for name in sorted(folders))
            roots += [path for path in paths if path.is_symlink()]
            for name in names:
                yield Path(parent, name).relative_to(folder).as_posix()


def _make_reader(path: Path) -> Callable[[], bytes]:
    def read_bytes() -> bytes:
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                # Reading a named pipe would wait for someone to write into it.
                raise SiteError(f"{path} is neither a file nor a folder; remove it")
            with path.open("rb") as file:
                head = file.read(HEAD_BYTES) if path.suffix.lower() in MEDIA_SUFFIXES else b""
                is_media = bool(head) and not is_text(head)
                return head if is_media and not _is_archive(file) else head + file.read()
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None

    return read_bytes


def _is_archive(file: BinaryIO) -> bool:
    """Tell whether a picture or a film is a zip archive, too; the position stays."""
    at = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(max(at, size - ZIP_TAIL_BYTES))
    tail = file.read()
    file.seek(at)
    return has_end_record(tail)
