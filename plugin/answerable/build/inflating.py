"""What is packed in bytes, inflated as far as it is sound and a budget allows."""

import bz2
import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass

# How much of one file is inflated.
INFLATED = 64 * 1024 * 1024
_CHUNK = 65_536
# How a file begins, its name ends and its streams are read.
PACKED = (
    (b"BZh", ".bz2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", ".xz", lzma.LZMADecompressor),
    (b"\x5d\0\0", ".lzma", lzma.LZMADecompressor),
)
STREAM = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


@dataclass(slots=True)
class Budget:
    """How many bytes may still be inflated."""

    left: int = INFLATED


def unpacked(
    data: bytes, decompressor: type[bz2.BZ2Decompressor | lzma.LZMADecompressor], budget: Budget
) -> bytes:
    """The content of streams that follow one another, as far as they are sound."""
    content = bytearray()
    try:
        while data and budget.left > 0:
            stream = decompressor()
            while not stream.eof and budget.left > 0:
                part = stream.decompress(data, _CHUNK)
                data = b""
                if not part and stream.needs_input:
                    return bytes(content)
                content += part
                budget.left -= len(part)
            data = stream.unused_data
    except (OSError, EOFError, ValueError, MemoryError, lzma.LZMAError):
        # What came before the damage was written all the same.
        pass
    return bytes(content)


def inflate(data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    """The content of a stream and where to read on: its end, or the next byte if it has none.

    Nothing if there is no stream, or no room for it.
    """
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    content = bytearray()
    at = start
    try:
        # In parts, since what a stream leaves over is copied.
        while not stream.eof and at < len(data) and budget.left > 0:
            part = stream.decompress(data[at : at + _CHUNK])
            at = min(at + _CHUNK, len(data))
            content += part
            budget.left -= len(part)
    except zlib.error:
        # What came before the damage was written all the same.
        return bytes(content), start + 1
    return bytes(content), at - len(stream.unused_data) if stream.eof else start + 1


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> bytes:
    """The content of a member of an archive, nothing if it cannot be read."""
    try:
        with archive.open(info) as file:
            content = file.read(max(0, budget.left))
    except Exception:
        # One that is encrypted or damaged must not hide those after it.
        return b""
    budget.left -= len(content)
    return content
