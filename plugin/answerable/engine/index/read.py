"""Reader of an index: everything is checked here, once, before the first question."""

import mmap
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from stat import S_ISREG
from typing import Any, overload

from ..errors import BUILD_AGAIN, BundleError
from ..vectors import Int8Codes
from .columns import COLUMNS, Index, check_index, list_columns, unpack_columns
from .format import MALFORMED, Container, hash_file, parse_content, unpack_container
from .manifest import IndexFile, Manifest, read_manifest
from .places import expand_places

# Returns the bytes of a file of the index.
ReadFile = Callable[[IndexFile], bytes | memoryview]

# Passages are read file by file when they are asked for; some files stay in memory.
LAZY_KIND = "texts"
_CACHED_FILES = 64


def read_index(folder: Path, *, verify: bool = True) -> tuple[Manifest, Index]:
    """Read the index in a folder; BundleError if anything is not what its manifest says.

    ``verify`` compares the hash of every file and of the manifest; sizes are always compared.
    """
    last_id = None
    while True:
        manifest = read_manifest(folder, verify=verify)
        try:
            return manifest, _read_folder(folder, manifest, verify=verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if last_id == manifest.id:
                raise BundleError(f"{error.filename} is missing: {BUILD_AGAIN}") from None
            last_id = manifest.id
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): check its permissions, or build again"
            ) from None


def _read_folder(folder: Path, manifest: Manifest, *, verify: bool) -> Index:
    for file in manifest.files:
        path = folder / file.name
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise BundleError(f"{path} is not a file: delete it and {BUILD_AGAIN}")
        if status.st_size != file.bytes:
            raise BundleError(
                f"{path} has {status.st_size} bytes, its manifest says {file.bytes}: {BUILD_AGAIN}"
            )
        if verify and hash_file(path)[:16] not in file.name:
            raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")
    return load_index(manifest, partial(_read_file, folder))


def _read_file(folder: Path, file: IndexFile) -> bytes | memoryview:
    """Read a file, or map one that is not compressed or is read later."""
    if (file.content and file.kind != LAZY_KIND) or not file.bytes:
        return (folder / file.name).read_bytes()
    with (folder / file.name).open("rb") as opened:
        return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))


def load_index(manifest: Manifest, read: ReadFile, *, is_public: bool = False) -> Index:
    """Read and check an index; BundleError.

    is_public: without the columns that no site publishes, which are empty then.
    """
    columns = [column for column in COLUMNS if not (is_public and column.private)]
    values: dict[str, Any] = {}
    try:
        for kind in dict.fromkeys(column.file for column in columns):
            files = manifest.files_of(kind)
            if kind == LAZY_KIND:
                # Opened now: the next build removes them from the folder.
                opened = {file: read(file) for file in files}
                unpack = partial(_unpack, opened.__getitem__)
                values["texts"] = LazyTexts(manifest, unpack)
            elif files:
                parts = [_unpack(read, file) for file in files]
                values |= unpack_columns(list_columns(kind), parts)
        expand_places(values)
        index = Index(**values)
        check_index(index, manifest.counts, columns)
        return replace(
            index,
            codes=_shape_codes(index.codes, manifest.dimensions),
            hint_codes=_shape_codes(index.hint_codes, manifest.dimensions),
        )
    except MALFORMED as error:
        raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def _shape_codes(codes: Int8Codes, dimensions: int) -> Int8Codes:
    """Give each vector its dimensions, where there are none too; ValueError for others."""
    return Int8Codes(codes.codes.reshape(len(codes), dimensions), codes.inverse_norms)


def _unpack(read: ReadFile, file: IndexFile) -> Container:
    data = read(file)
    if not file.content:
        return parse_content(data, file.name)
    return unpack_container(bytes(data), file.name, file.content)


class LazyTexts(Sequence[str]):
    """The texts of passages, read from their files when they are asked for."""

    def __init__(self, manifest: Manifest, unpack: Callable[[IndexFile], Container]) -> None:
        self._length = manifest.counts["passages"]
        self._files = manifest.files_of(LAZY_KIND)
        starts = [row for row in manifest.starts.get(LAZY_KIND, ()) if isinstance(row, int)]
        self._starts = [*starts, self._length]
        rises = all(a < b for a, b in zip(self._starts, self._starts[1:], strict=False))
        if len(self._starts) != len(self._files) + 1 or self._starts[0] != 0 or not rises:
            raise ValueError("the files of its texts do not cover its passages")
        self._read_part = lru_cache(maxsize=_CACHED_FILES)(partial(self._read, unpack))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(self._length))]
        if not 0 <= row < self._length:
            raise IndexError(row)
        number = bisect_right(self._starts, row) - 1
        return self._read_part(number)[row - self._starts[number]]

    def _read(self, unpack: Callable[[IndexFile], Container], number: int) -> Sequence[str]:
        file = self._files[number]
        try:
            texts: Sequence[str] = unpack_columns(list_columns(LAZY_KIND), [unpack(file)])["texts"]
            if len(texts) != self._starts[number + 1] - self._starts[number]:
                raise ValueError(f"{len(texts)} texts")
        except MALFORMED as error:
            raise BundleError(f"{file.name} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
        return texts
