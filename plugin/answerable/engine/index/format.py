"""Containers, the files of an index: compressed JSON values and arrays of numbers."""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError

# No file of an index is larger once it is decompressed.
MAX_FILE_BYTES = 256 * 1024 * 1024

# The types of numbers, by their names in the header, which are those of JavaScript's arrays.
ARRAY_TYPES: Mapping[str, np.dtype[Any]] = {
    "Int8Array": np.dtype("|i1"),
    "Uint8Array": np.dtype("|u1"),
    "Uint16Array": np.dtype("<u2"),
    "Uint32Array": np.dtype("<u4"),
    "Float32Array": np.dtype("<f4"),
}
# Typed arrays start at a multiple of the size of their numbers.
ALIGNMENT = 8
# Distinguishes a container from other data, in front of the header's values.
CONTAINER_FORMAT = "answerable-1"

_LENGTH = struct.Struct("<I")
_HEADER_START = f'{{"format":"{CONTAINER_FORMAT}",'.encode()
_TYPE_NAMES = {dtype: name for name, dtype in ARRAY_TYPES.items()}
# Errors of data that is not what a build writes.
MALFORMED = (
    LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
    struct.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Container:
    """JSON values by name, and one-dimensional arrays by name."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


def deflate(data: bytes) -> bytes:
    """Compress data; BundleError for more than ``inflate`` gives back."""
    if len(data) > MAX_FILE_BYTES:
        raise BundleError(
            f"The site needs a file of {len(data)} bytes, and a bundle's holds "
            f"{MAX_FILE_BYTES} at most: leave pages or notes out"
        )
    return zlib.compress(data, 9)


def inflate(data: bytes | memoryview, name: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Decompress a file; BundleError if it is damaged or has more than ``max_bytes``."""
    limit = min(max_bytes, MAX_FILE_BYTES) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, limit)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == limit:
        raise BundleError(f"{name} does not decompress: {BUILD_AGAIN}")
    return text


def pack_container(container: Container) -> bytes:
    """Pack a container, whose arrays are of ``ARRAY_TYPES``."""
    return deflate(join_content(container))


def join_content(container: Container) -> bytes:
    """Join the header of a container and its arrays, as they are before they are compressed."""
    header = {
        "format": CONTAINER_FORMAT,
        "values": container.values,
        "arrays": [
            [name, _TYPE_NAMES[array.dtype], len(array)] for name, array in container.arrays.items()
        ],
    }
    # A lone surrogate has no UTF-8: it stays an escape, which JSON reads.
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    data = bytearray(text.encode("utf-8", "backslashreplace"))
    data[:0] = _LENGTH.pack(len(data))
    for array in container.arrays.values():
        data += bytes(-len(data) % ALIGNMENT)
        data += np.ascontiguousarray(array).tobytes()
    return bytes(data)


def unpack_container(
    data: bytes | memoryview, name: str, max_bytes: int = MAX_FILE_BYTES
) -> Container:
    """Unpack a container; BundleError with the name of its file if it is damaged.

    max_bytes: the most that it may take decompressed.
    """
    return parse_content(inflate(data, name, max_bytes), name)


def parse_content(content: bytes | memoryview, name: str) -> Container:
    """Parse a container that is not compressed; BundleError. Its arrays are views of it."""
    arrays: dict[str, NDArray[Any]] = {}
    try:
        start = _LENGTH.size
        end = start + int(_LENGTH.unpack_from(content)[0])
        text = bytes(content[start:end])
        if not text.startswith(_HEADER_START):
            raise ValueError(f"its format is not {CONTAINER_FORMAT}")
        header = json.loads(text)
        for array, type_name, count in header["arrays"]:
            start = end + -end % ALIGNMENT
            dtype = ARRAY_TYPES[type_name]
            if type(count) is not int or not 0 <= count * dtype.itemsize <= len(content) - start:
                raise ValueError(f"{array!r:.80} does not fit")
            arrays[array] = np.frombuffer(content, dtype, count, start)
            end = start + arrays[array].nbytes
        if end != len(content):
            raise ValueError(f"it has {len(content)} bytes instead of {end}")
        return Container(header["values"], arrays)
    except MALFORMED as error:
        raise BundleError(f"{name} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def join_containers(parts: Sequence[Container]) -> Container:
    """Join the parts of a file: of each array and list, the values of one part after another."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return Container(
        {name: _join_values([part.values[name] for part in parts]) for name in first.values},
        {name: np.concatenate([part.arrays[name] for part in parts]) for name in first.arrays},
    )


def _join_values(values: Sequence[Any]) -> Any:
    """Join lists, or the lists of mappings by their keys."""
    if isinstance(values[0], Mapping):
        return {key: _join_values([value[key] for value in values]) for key in values[0]}
    return [*chain(*values)]


def hash_files(files: Mapping[str, bytes]) -> str:
    """Hash the names and contents of files to 16 hexadecimal digits."""
    import hashlib

    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        digest.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
