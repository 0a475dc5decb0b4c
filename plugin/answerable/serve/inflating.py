"""What is compressed in a bundle, and decompressed without trusting it."""

import zlib

from .errors import AGAIN, BundleError

# No file of a bundle holds more once it is decompressed.
MOST = 256 * 1024 * 1024
# Deflate never makes more than this of one byte (zlib's technical notes).
_MAX_RATIO = 1032


def deflate(data: bytes) -> bytes:
    """Bytes compressed as small as can be; BundleError for more than ``inflate`` gives back."""
    if len(data) > MOST:
        raise BundleError(
            f"The site needs a file of {len(data)} bytes, and a bundle's holds {MOST} at most: "
            "leave pages or notes out"
        )
    return zlib.compress(data, 9)


def inflate(data: bytes, name: str, most: int = MOST) -> bytes:
    """The bytes of a compressed file; BundleError if they are damaged or more than ``most``."""
    # Room is made for what can come of the data, never for what is claimed of it.
    room = min(most, _MAX_RATIO * len(data)) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, room)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == room:
        raise BundleError(f"{name} does not decompress: {AGAIN}")
    return text
