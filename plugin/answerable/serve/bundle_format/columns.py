"""Compressed files and mapped arrays of a bundle, and how much memory they may take."""

import math
import mmap
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from ..structure import UNSAFE_IN_URL, is_safe_url
from ..vectors import INVERSE_NORMS, MAX_UNIT_VALUE

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


def check_vectors(arrays: Mapping[str, NDArray[Any]], stream: str) -> None:
    """Refuse numbers that are not finite, and norms that no row of codes has."""
    norms = arrays[INVERSE_NORMS]
    if not ((norms >= 0) & (norms <= MAX_UNIT_VALUE)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")
    codes = arrays.get("codes", norms)
    is_float = len(codes) and codes.dtype.kind == "f"
    # A NaN is neither the least nor the most of anything.
    if is_float and not -MAX_UNIT_VALUE <= codes.min() <= codes.max() <= MAX_UNIT_VALUE:
        raise ValueError(f"{stream}-codes holds a number that is not in [-1, 1]")


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
