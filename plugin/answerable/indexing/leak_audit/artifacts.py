"""What a build publishes or serves, file by file."""

import codecs
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from ...serve.errors import SiteError
from . import archives
from .archives import has_end_record
from .text_extraction import MEDIA_SUFFIXES

_NO_PAGES: Mapping[str, str] = MappingProxyType({})
# As much of a picture or a film tells that it is none of text.
_HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Artifact:
    """One thing that is published or served.

    name: how an error calls it, a path with forward slashes; data: reads its bytes; page: the
    page that it is (a path in the docs folder), None for what is no page: an index, an asset.
    """

    name: str
    data: Callable[[], bytes]
    page: str | None = None


def walk_artifacts(
    path: Path, name: str, pages: Mapping[str, str] = _NO_PAGES
) -> Iterator[Artifact]:
    """Every file below a folder, sorted, as an artifact called ``name/…``; links are followed.

    pages: from a file's path in the folder to the page that it is. A folder that is not there has
    no files. Of media only the first bytes are given. SiteError for what cannot be read.
    """
    for inner in sorted(_files(path)):
        yield Artifact(f"{name}/{inner}", _reader(path / inner), pages.get(inner))


def _files(path: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise SiteError(f"{error.filename} cannot be read ({error.strerror}); make it readable")

    seen: set[str] = set()
    waiting = [path]
    # Links come last: a folder that lies here is called by its own name.
    for root in waiting:
        if os.path.realpath(root) in seen:
            continue
        for here, folders, names in os.walk(root, onerror=fail if root.exists() else None):
            seen.add(os.path.realpath(here))
            waiting += [
                link for inner in sorted(folders) if (link := Path(here, inner)).is_symlink()
            ]
            for name in names:
                yield Path(here, name).relative_to(path).as_posix()


def _reader(path: Path) -> Callable[[], bytes]:
    def data() -> bytes:
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                # Reading a named pipe would wait for someone to write into it.
                raise SiteError(f"{path} is neither a file nor a folder; remove it")
            with path.open("rb") as file:
                head = file.read(_HEAD) if path.suffix.lower() in MEDIA_SUFFIXES else b""
                is_media = bool(head) and not _is_text(head)
                return head if is_media and not _has_archive(file) else head + file.read()
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None

    return data


def _has_archive(file: BinaryIO) -> bool:
    """Tell whether a picture or a film is a zip archive, too; the position stays."""
    at = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(max(at, size - archives.END_RECORD_TAIL))
    tail = file.read()
    file.seek(at)
    return has_end_record(tail)


def _is_text(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
