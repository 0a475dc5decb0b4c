"""Pack JSON values and arrays of numbers into one compressed file, and unpack it again.

zlib of: uint32 the length of a JSON header, the header, padding to 8 bytes, the arrays, each
padded to 8 bytes; all little-endian. ``engine/container.js`` reads it in the browser.
"""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from .columns import MAX_DECOMPRESSED_BYTES, deflate, inflate

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
# Distinguishes a container from other compressed data, in front of the header's values.
CONTAINER_FORMAT = "answerable-1"

_LENGTH = struct.Struct("<I")
_HEADER_START = f'{{"format":"{CONTAINER_FORMAT}",'.encode()
_TYPE_NAMES = {dtype: name for name, dtype in ARRAY_TYPES.items()}
_UNSIGNED_TYPES: tuple[np.dtype[Any], ...] = tuple(np.dtype(name) for name in ("|u1", "<u2", "<u4"))


@dataclass(frozen=True, slots=True)
class Container:
    """Hold JSON values by name, and one-dimensional arrays by name."""

    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pack_container(container: Container) -> bytes:
    """Pack a container; TypeError for an array of another type than ``ARRAY_TYPES``."""
    return deflate(join_content(container))


def join_content(container: Container) -> bytes:
    """Join the header of a container and its arrays, as they are before they are compressed."""
    header = {
        "format": CONTAINER_FORMAT,
        "values": container.values,
        "arrays": [
            [name, _name_type(array), array.size] for name, array in container.arrays.items()
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
    data: bytes,
    name: str,
    spend: Callable[[int], None] = lambda _: None,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> Container:
    """Unpack a container; BundleError with the name of its file if it is damaged.

    spend: is told how many bytes it takes decompressed, before any of them is read. max_bytes: that
    it may take so.
    """
    content = inflate(data, name, max_bytes)
    spend(len(content))
    try:
        return _parse_content(content)
    except (LookupError, TypeError, ValueError, RecursionError, struct.error) as error:
        raise BundleError(f"{name} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def split_content(content: bytes) -> tuple[bytes, bytes] | None:
    """Split the decompressed bytes of a container into its header and its arrays.

    None for any other content, whatever its bytes are.
    """
    start = _LENGTH.size
    if not content.startswith(_HEADER_START, start):
        return None
    end = start + _LENGTH.unpack_from(content)[0]
    return content[start:end], content[end:]


def shrink_array(values: NDArray[Any]) -> NDArray[Any]:
    """Convert whole numbers from 0 to the smallest unsigned type that holds all of them."""
    largest = int(values.max(initial=0))
    return values.astype(next(each for each in _UNSIGNED_TYPES if largest <= np.iinfo(each).max))


def _name_type(array: NDArray[Any]) -> str:
    name = _TYPE_NAMES.get(array.dtype)
    if name is None or array.ndim != 1:
        raise TypeError(f"an array of {array.dtype} in {array.ndim} dimensions has no place")
    return name


def _parse_content(content: bytes) -> Container:
    parts = split_content(content)
    if parts is None:
        raise ValueError(f"its format is not {CONTAINER_FORMAT}")
    header = json.loads(parts[0])
    end = _LENGTH.size + len(parts[0])
    arrays: dict[str, NDArray[Any]] = {}
    for name, type_name, count in header["arrays"]:
        start = end + -end % ALIGNMENT
        arrays[name] = np.frombuffer(content, ARRAY_TYPES[type_name], count, start)
        end = start + arrays[name].nbytes
    if end != len(content):
        raise ValueError(f"it has {len(content)} bytes instead of {end}")
    return Container(header["values"], arrays)
