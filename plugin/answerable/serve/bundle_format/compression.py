"""Compress a bundle's files by zlib, decompress them within a size limit, hash them (SHA-256)."""

import mmap
import zlib
from pathlib import Path

from ..errors import BUILD_AGAIN, BundleError

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
