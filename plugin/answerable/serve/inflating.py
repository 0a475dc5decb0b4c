"""What is compressed in a bundle, decompressed without trusting it."""

import zlib

from .errors import AGAIN, BundleError

# Texts, however they repeat themselves, come from no less than this share and a small rest.
_RATIO = 128
_ROOM = 1 << 20
# Deflate never makes more than this of one byte (zlib's technical notes).
_MAX_RATIO = 1032


def inflate(data: bytes, name: str, most: int | None = None) -> bytes:
    """The bytes of a compressed file; BundleError if they are damaged or more than ``most``."""
    # Room is made for what can come of the data, never for what is claimed of it.
    likely = _RATIO * len(data) + _ROOM
    room = min(likely if most is None else most, _MAX_RATIO * len(data)) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, room)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == room:
        raise BundleError(f"{name} does not decompress: {AGAIN}")
    return text
