"""What a build publishes or serves, file by file."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..serve.errors import SiteError

_NO_PAGES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Artifact:
    """One thing that is published or served.

    name: how an error calls it, a path with forward slashes; data: reads its bytes; page: the
    page that it is (a path in the docs folder), None for what is no page: an index, an asset.
    """

    name: str
    data: Callable[[], bytes]
    page: str | None = None


def folder(
    path: Path,
    name: str,
    pages: Mapping[str, str] = _NO_PAGES,
    skip: Collection[str] = (),
) -> Iterator[Artifact]:
    """Every file below a folder, sorted, as an artifact called ``name/…``.

    pages: from a file's path in the folder to the page that it is; skip: paths in the folder,
    of files or of whole folders, that are left out. A folder that is not there has no files.
    SiteError for what cannot be read.
    """
    for inner in sorted(_files(path)):
        if not any(inner == left or inner.startswith(f"{left.rstrip('/')}/") for left in skip):
            yield Artifact(f"{name}/{inner}", _reader(path / inner), pages.get(inner))


def _files(path: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise SiteError(f"{error.filename} cannot be read ({error.strerror}); make it readable")

    for here, _, names in os.walk(path, onerror=fail if path.exists() else None):
        for name in names:
            yield Path(here, name).relative_to(path).as_posix()


def _reader(path: Path) -> Callable[[], bytes]:
    def data() -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None

    return data
