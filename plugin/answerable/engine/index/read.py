"""Reader of an index: everything is checked here, once, before the first question."""

import mmap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import Any

from ..errors import BUILD_AGAIN, BundleError
from ..vectors import Int8Codes
from .columns import (
    COLUMNS,
    PRIVATE_KINDS,
    Index,
    LazyTexts,
    UnpackPart,
    check_index,
    expand_places,
    list_columns,
    unpack_columns,
)
from .format import MALFORMED, hash_file, parse_content, unpack_container
from .manifest import Manifest, Pack, read_manifest

# Returns the bytes of a file of the index.
ReadPack = Callable[[Pack], bytes | memoryview]
# The kind of file whose parts are read when they are asked for.
LAZY_KIND = "texts"


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
    for pack in manifest.packs:
        path = folder / pack.name
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise BundleError(f"{path} is not a file: delete it and {BUILD_AGAIN}")
        if status.st_size != pack.bytes:
            raise BundleError(
                f"{path} has {status.st_size} bytes, its manifest says {pack.bytes}: {BUILD_AGAIN}"
            )
        if verify and hash_file(path)[:16] not in pack.name:
            raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")
    return load_index(manifest, partial(_read_pack, folder))


def _read_pack(folder: Path, pack: Pack) -> bytes | memoryview:
    """Read a file, or map one that is not compressed or is read later."""
    is_mapped = pack.kind == LAZY_KIND or not all(part.content for part in pack.parts)
    if not is_mapped or not pack.bytes:
        return (folder / pack.name).read_bytes()
    with (folder / pack.name).open("rb") as opened:
        return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))


def load_index(manifest: Manifest, read: ReadPack, *, is_public: bool = False) -> Index:
    """Read and check an index; BundleError.

    is_public: without the columns that no site publishes, which are empty then.
    """
    columns = [column for column in COLUMNS if not (is_public and column.private)]
    values: dict[str, Any] = {}
    try:
        # All files are opened now: the next build removes them from the folder.
        parts = _read_parts(manifest, read, is_public=is_public)
        for kind in dict.fromkeys(column.file for column in columns):
            if kind == LAZY_KIND:
                length, rows = manifest.counts["passages"], manifest.rows_per_part
                values["texts"] = LazyTexts(length, rows, parts.get(kind, []))
            elif kind in parts:
                containers = [unpack() for unpack in parts[kind]]
                values |= unpack_columns(list_columns(kind), containers)
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


def _read_parts(
    manifest: Manifest, read: ReadPack, *, is_public: bool
) -> dict[str, list[UnpackPart]]:
    """Read the parts of all files by kind, or of those that a site publishes."""
    parts: dict[str, list[UnpackPart]] = {}
    for pack in manifest.packs:
        if is_public and pack.kind in PRIVATE_KINDS:
            continue
        data, end = memoryview(read(pack)), 0
        for part in pack.parts:
            start, end = end, end + part.bytes
            unpack: UnpackPart = partial(parse_content, data[start:end], pack.name)
            if part.content:
                unpack = partial(unpack_container, data[start:end], pack.name, part.content)
            parts.setdefault(part.kind, []).append(unpack)
    return parts
