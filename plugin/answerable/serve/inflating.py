"""What is compressed in a bundle, and decompressed without trusting it."""

import zlib

from .errors import AGAIN, BundleError

# No file of a bundle holds more once it is decompressed.
MOST = 256 * 1024 * 1024
# What a compressed file may inflate to, by the bytes that it really has: deflate makes up to 1,032
# of one, a site's own files 7 at most, so what inflates to much more was made for that.
ROOM = 256 * 1024
RATIO = 32


def deflate(data: bytes) -> bytes:
    """Bytes compressed as small as ``inflate`` accepts; BundleError for more than it gives back."""
    if len(data) > MOST:
        raise BundleError(
            f"The site needs a file of {len(data)} bytes, and a bundle's holds {MOST} at most: "
            "leave pages or notes out"
        )
    packed = zlib.compress(data, 9)
    if len(data) <= _allowance(packed):
        return packed
    # Without repetitions deflate makes 8 bytes of one at most.
    plain = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    return plain.compress(data) + plain.flush()


def inflate(data: bytes, name: str, most: int = MOST) -> bytes:
    """The bytes of a compressed file; BundleError if they are damaged or more than ``most``."""
    # Room is made for what may come of the data, never for what is claimed of it.
    room = min(most, _allowance(data)) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, room)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == room:
        raise BundleError(f"{name} does not decompress: {AGAIN}")
    return text


def _allowance(packed: bytes) -> int:
    return ROOM + RATIO * len(packed)
