"""Zip archives, whatever their name and whatever stands before, between and after their members."""

import io
import zipfile
from dataclasses import dataclass

# Where the record lies that ends an archive: it is followed by a comment at most.
TAIL = 22 + 65_535
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


def has_end(tail: bytes) -> bool:
    """Tell whether the last bytes of a file hold the record that ends an archive."""
    return _END in tail[-TAIL:]


def open_archive(data: bytes) -> ZipArchive | None:
    """Open an archive by its end record; None for what is none, or is damaged."""
    if not has_end(data):
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
