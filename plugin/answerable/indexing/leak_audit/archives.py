"""Decompress gzip, zlib, bzip2, xz and zip data, as far as it is sound and a budget allows."""

import bz2
import io
import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass

# Bytes of one file that are inflated at most.
INFLATE_LIMIT = 64 * 1024 * 1024
# By format: how a file begins, the suffix of its name and its decompressor.
COMPRESSED_FORMATS = (
    (b"BZh", ".bz2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", ".xz", lzma.LZMADecompressor),
    (b"\x5d\0\0", ".lzma", lzma.LZMADecompressor),
)
# How a gzip or zlib stream begins.
STREAM_START = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
# The last bytes of a file, in which the record lies that ends a zip: a comment may follow it.
ZIP_TAIL_BYTES = 22 + 65_535

_CHUNK_BYTES = 65_536
_END_RECORD = b"PK\x05\x06"
_LOCAL_HEADER_BYTES = 30


@dataclass(slots=True)
class InflateBudget:
    """Bytes that may still be inflated."""

    left: int = INFLATE_LIMIT


@dataclass(frozen=True, slots=True)
class ZipArchive:
    """An opened archive. comments: its own and its members'; outside: all other bytes that no
    member and no directory holds, such as the program that begins a self-extracting archive.
    """

    file: zipfile.ZipFile
    comments: bytes
    outside: bytes


def decompress_streams(
    data: bytes,
    decompressor: type[bz2.BZ2Decompressor | lzma.LZMADecompressor],
    budget: InflateBudget,
) -> bytes:
    """Decompress bzip2 or xz streams that follow one another, as far as they are sound."""
    content = bytearray()
    try:
        while data and budget.left > 0:
            stream = decompressor()
            while not stream.eof and budget.left > 0:
                part = stream.decompress(data, _CHUNK_BYTES)
                data = b""
                if not part and stream.needs_input:
                    return bytes(content)
                content += part
                budget.left -= len(part)
            data = stream.unused_data
    except (OSError, EOFError, ValueError, MemoryError, lzma.LZMAError):
        # The content before the damage was published all the same.
        pass
    return bytes(content)


def inflate_stream(data: bytes, start: int, budget: InflateBudget) -> tuple[bytes, int]:
    """Inflate a gzip or zlib stream; returns its content and where to read on.

    That is the stream's end, or the next byte if it has none. The content is empty if there is no
    stream, or no budget for it.
    """
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    content = bytearray()
    at = start
    try:
        # In chunks, since a stream copies the bytes after its end.
        while not stream.eof and at < len(data) and budget.left > 0:
            part = stream.decompress(data[at : at + _CHUNK_BYTES])
            at = min(at + _CHUNK_BYTES, len(data))
            content += part
            budget.left -= len(part)
    except zlib.error:
        # The content before the damage was published all the same.
        return bytes(content), start + 1
    return bytes(content), at - len(stream.unused_data) if stream.eof else start + 1


def has_end_record(tail: bytes) -> bool:
    """Tell whether the last bytes of a file hold the record that ends a zip archive."""
    return _END_RECORD in tail[-ZIP_TAIL_BYTES:]


def open_zip_archive(data: bytes) -> ZipArchive | None:
    """Open a zip archive by its end record, whatever comes before; None if there is none."""
    if not has_end_record(data):
        return None
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
        members = file.infolist()
        comments = b"\n".join((file.comment, *(member.comment for member in members)))
        return ZipArchive(file, comments.strip(), _read_outside(data, members, file.start_dir))
    except Exception:
        # A damaged archive raises whatever its decoders do.
        return None


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: InflateBudget) -> bytes:
    """Read a member of an archive; empty if it cannot be read."""
    try:
        with archive.open(info) as file:
            content = file.read(max(0, budget.left))
    except Exception:
        # One that is encrypted or damaged must not hide those after it.
        return b""
    budget.left -= len(content)
    return content


def _read_outside(data: bytes, members: list[zipfile.ZipInfo], directory: int) -> bytes:
    """Join the bytes before, between and after members, up to the archive's directory."""
    gaps: list[bytes] = []
    at = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        start = member.header_offset
        gaps.append(data[at:start])
        lengths = data[start + _LOCAL_HEADER_BYTES - 4 : start + _LOCAL_HEADER_BYTES]
        name_and_extra = sum(int.from_bytes(lengths[i : i + 2], "little") for i in (0, 2))
        end = start + _LOCAL_HEADER_BYTES + name_and_extra + member.compress_size
        at = max(at, end)
    gaps.append(data[at:directory])
    return b"".join(gaps)
