"""Zip archives, whatever their name and whatever stands before, between and after their members.

What is packed in bytes, inflated as far as it is sound and a budget allows.
"""

import bz2
import io
import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass

# Where the record lies that ends an archive: it is followed by a comment at most.
END_RECORD_TAIL = 22 + 65_535
_END = b"PK\x05\x06"
_LOCAL_HEADER = 30


@dataclass(frozen=True, slots=True)
class ZipArchive:
    """An opened archive. comments: its own and its members'; outside: all other bytes that no
    member and no directory holds, such as the program that begins a self-extracting archive.
    """

    file: zipfile.ZipFile
    comments: bytes
    outside: bytes


def has_end_record(tail: bytes) -> bool:
    """Tell whether the last bytes of a file hold the record that ends an archive."""
    return _END in tail[-END_RECORD_TAIL:]


def open_zip_archive(data: bytes) -> ZipArchive | None:
    """Open an archive by its end record; None for what is none, or is damaged."""
    if not has_end_record(data):
        return None
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
        members = file.infolist()
        comments = b"\n".join((file.comment, *(member.comment for member in members)))
        return ZipArchive(file, comments.strip(), _outside(data, members, file.start_dir))
    except Exception:
        # A damaged archive raises whatever its decoders do.
        return None


def _outside(data: bytes, members: list[zipfile.ZipInfo], directory: int) -> bytes:
    gaps: list[bytes] = []
    at = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        start = member.header_offset
        gaps.append(data[at:start])
        lengths = data[start + _LOCAL_HEADER - 4 : start + _LOCAL_HEADER]
        named = int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        at = max(at, start + _LOCAL_HEADER + named + member.compress_size)
    gaps.append(data[at:directory])
    return b"".join(gaps)


# How much of one file is inflated.
INFLATE_LIMIT = 64 * 1024 * 1024
_CHUNK = 65_536
# How a file begins, its name ends and its streams are read.
COMPRESSED_FORMATS = (
    (b"BZh", ".bz2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", ".xz", lzma.LZMADecompressor),
    (b"\x5d\0\0", ".lzma", lzma.LZMADecompressor),
)
STREAM_START = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


@dataclass(slots=True)
class InflateBudget:
    """How many bytes may still be inflated."""

    left: int = INFLATE_LIMIT


def decompress_streams(
    data: bytes,
    decompressor: type[bz2.BZ2Decompressor | lzma.LZMADecompressor],
    budget: InflateBudget,
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


def inflate_stream(data: bytes, start: int, budget: InflateBudget) -> tuple[bytes, int]:
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


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: InflateBudget) -> bytes:
    """The content of a member of an archive, nothing if it cannot be read."""
    try:
        with archive.open(info) as file:
            content = file.read(max(0, budget.left))
    except Exception:
        # One that is encrypted or damaged must not hide those after it.
        return b""
    budget.left -= len(content)
    return content
