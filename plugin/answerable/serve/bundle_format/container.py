"""Containers and mapped arrays of an index's files, and how much memory they may take."""

import json
import math
import mmap
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from ..text.urls import UNSAFE_IN_URL, is_safe_url
from ..vectors import INVERSE_NORMS

# No file of a bundle is larger once it is decompressed.
MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
# Bound of the decompressed size by the size on disk: deflate makes up to 1,032 bytes of one, a
# site's own files 7 at most, so a file that inflates to much more was made for that.
RATIO_FREE_BYTES = 256 * 1024
MAX_COMPRESSION_RATIO = 32


def deflate(data: bytes) -> bytes:
    """Compress as small as ``inflate`` accepts; BundleError for more than it gives back."""
    if len(data) > MAX_DECOMPRESSED_BYTES:
        raise BundleError(
            f"The site needs a file of {len(data)} bytes, and a bundle's holds "
            f"{MAX_DECOMPRESSED_BYTES} at most: leave pages or notes out"
        )
    packed = zlib.compress(data, 9)
    if len(data) <= bound_inflated_size(len(packed)):
        return packed
    # Without repetitions deflate makes 8 bytes of one at most.
    plain = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    return plain.compress(data) + plain.flush()


def inflate(data: bytes, name: str, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Decompress a file; BundleError if it is damaged or has more than ``max_bytes``."""
    # Allocated by the size on disk, never by what the data claims.
    limit = min(max_bytes, bound_inflated_size(len(data))) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, limit)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == limit:
        raise BundleError(f"{name} does not decompress: {BUILD_AGAIN}")
    return text


def bound_inflated_size(packed_bytes: int) -> int:
    """Bound what so many compressed bytes may become."""
    return min(MAX_DECOMPRESSED_BYTES, RATIO_FREE_BYTES + MAX_COMPRESSION_RATIO * packed_bytes)


class Allowance:
    """Count what an index takes once it is expanded, against what its files may become.

    Bytes that decompress and texts that many passages share would else take any amount of memory
    for a few bytes on disk or of a stranger's site.
    """

    def __init__(self, packed_bytes: int) -> None:
        self.left = bound_inflated_size(packed_bytes)

    def spend(self, count: int) -> None:
        """Take bytes or characters; BundleError if no more of them are left."""
        self.left -= count
        if self.left < 0:
            raise BundleError(f"the index takes far more memory than its files: {BUILD_AGAIN}")


def hash_file(path: Path) -> str:
    """Compute a file's SHA-256 in hexadecimal digits; OSError."""
    # OpenSSL's library takes a while to load: only where something is verified.
    import hashlib

    with path.open("rb") as file:
        if not path.stat().st_size:
            return hashlib.sha256(b"").hexdigest()
        # In one call: every other one waits for the interpreter again.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return hashlib.sha256(data).hexdigest()


def hash_files(files: Mapping[str, bytes]) -> str:
    """Hash the names and contents of files to 16 hexadecimal digits."""
    import hashlib

    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        digest.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_NPY_HEADER = 1024


def map_array(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map the array of a .npy file; ValueError unless it has exactly this type and shape.

    numpy evaluates a header as Python and allocates what it claims. Our own is known to the letter:
    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
    """
    expected = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    with path.open("rb") as file:
        magic, length = file.read(8), int.from_bytes(file.read(2), "little")
        header = file.read(min(length, _MAX_NPY_HEADER))
        start = file.tell()
    count = math.prod(shape)
    size = start + np.dtype(dtype).itemsize * count
    has_expected_size = length <= _MAX_NPY_HEADER and path.stat().st_size == size
    if magic != _NPY_MAGIC or header.rstrip() != expected.encode() or not has_expected_size:
        raise ValueError(f"{path.name} is not an array of {shape} {dtype}")
    if not count:
        return np.empty(shape, dtype)
    return np.memmap(path, np.dtype(dtype), "r", start, shape)


def check_norms(norms: NDArray[Any], stream: str) -> None:
    """Refuse inverse norms that no row of whole numbers has, and those that are not finite."""
    if not ((norms >= 0) & (norms <= 1)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")


_UNSAFE_BYTES = bytes(byte for byte in range(128) if UNSAFE_IN_URL.match(chr(byte)))


def check_urls(urls: Sequence[str], name: str) -> None:
    """Refuse an unsafe url in a bundle's file; BundleError names both."""
    # All of them at once: a large notebook has ten thousand, and a cold start waits for this.
    lines = "\n".join(("", *urls)).encode("utf-8", "surrogatepass")
    rooted = lines.count(b"\n/") - lines.count(b"\n//")
    absolute = lines.count(b"\nhttps://") + lines.count(b"\nhttp://")
    visible = lines.translate(None, _UNSAFE_BYTES)
    is_safe = rooted + absolute == len(urls) == len(lines) - len(visible)
    if not is_safe or not (visible.isascii() or all(map(is_safe_url, urls))):
        url = next((url for url in urls if not is_safe_url(url)), "")
        raise BundleError(f"{name} holds the unsafe url {url!r:.80}: {BUILD_AGAIN}")


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
