"""Readings of a file: HTML as text, JSON unescaped, archives unpacked."""

import base64
import bz2
import codecs
import io
import json
import lzma
import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from ...serve.index.format import split_content
from ..notes.transcripts import (
    SOFT_BREAK,
    has_caption_times,
    has_cue_times,
    strip_caption_times,
    strip_cue_times,
)
from .markup import decode_escapes, iter_markup_variants, strip_markdown, strip_tags

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
    return b"PK\x05\x06" in tail[-ZIP_TAIL_BYTES:]


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


_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,30}", re.A)
_NUMBER = re.compile(r"\d+")
# Characters at either end of a string, in which a sentence may begin or end that others share.
_EDGE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string of a JSON value and the path to it. is_key: whether it is the key of a member."""

    text: str
    path: str
    is_key: bool = False


def extract_json_strings(text: str) -> list[JsonString]:
    """List every string of JSON or of JSON lines, in order; none if the text is neither."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
        return []
    value = _parse(text)
    if value is not None:
        return list(_iter_strings(value, ""))
    values = [_parse(line) if line.strip() else "" for line in text.split("\n")]
    if any(value is None for value in values):
        return []
    strings: list[JsonString] = []
    for number, value in enumerate(values, 1):
        identity = value.get("id") if isinstance(value, dict) else None
        line = f"line {number}"
        place = f"{line} (id {identity})" if isinstance(identity, str) else line
        strings += _iter_strings(value, place)
    return strings


def join_adjacent_strings(strings: Sequence[JsonString]) -> Iterator[str]:
    """Join the strings of each path, its numbers aside, and then all that are not keys.

    So a transcript is read whose words stand in many segments. The middle of a long string is
    left out; where it was, the next text begins.
    """
    by_path: dict[str, list[str]] = {}
    for string in strings:
        if not string.is_key and string.text:
            by_path.setdefault(_NUMBER.sub("", string.path), []).append(string.text)
    for texts in by_path.values():
        yield from _join(texts)
    if len(by_path) > 1:
        yield from _join(string.text for string in strings if not string.is_key)


def _join(texts: Iterable[str]) -> Iterator[str]:
    parts: list[str] = []
    for text in texts:
        visible = strip_tags(text) if "<" in text or "&" in text else text
        if len(visible) <= 2 * _EDGE_LENGTH:
            parts.append(visible)
            continue
        yield SOFT_BREAK.join((*parts, visible[:_EDGE_LENGTH]))
        parts = [visible[-_EDGE_LENGTH:]]
    if len(parts) > 1:
        yield SOFT_BREAK.join(parts)


def _parse(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _iter_strings(root: Any, line: str) -> Iterator[JsonString]:
    """Yield every string of a JSON value, keys too. line: where it stands in JSON lines."""
    stack: list[tuple[Any, str, bool]] = [(root, "", False)]
    while stack:
        value, path, is_key = stack.pop()
        if isinstance(value, str):
            yield JsonString(value, ", ".join(part for part in (line, path) if part), is_key)
        elif isinstance(value, list):
            stack += [(item, f"{path}[{n}]", False) for n, item in enumerate(value)][::-1]
        elif isinstance(value, dict):
            members = enumerate(value.items(), 1)
            keys = [(key, f"{path} key {n}".strip(), True) for n, key in enumerate(value, 1)]
            values = []
            for n, (key, item) in members:
                # A key that is prose is numbered, since it could be the note's.
                is_plain = _PLAIN_KEY.fullmatch(key) is not None
                inner = f"{path}.{key}".lstrip(".") if is_plain else f"{path}{{{n}}}"
                values.append((item, inner, False))
            stack += (keys + values)[::-1]


NAME_PLACE = "its name"
MEDIA_SUFFIXES = frozenset(
    """.avif .bmp .eot .flac .gif .ico .jpeg .jpg .m4a .mov .mp3 .mp4 .oga .ogg .ogv .otf .pdf .png
    .safetensors .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2""".split()
)

# The first bytes of a picture or a film tell that it is not text.
HEAD_BYTES = 65_536

# How deep archives in archives are opened.
_MAX_DEPTH = 3
# Characters of a long text that are read at a time, and that are read twice: no run is as long.
_PIECE_LENGTH = 4_000_000
_OVERLAP = 100_000
# Longer JSON is read as any text: its values take many times its space.
_MAX_JSON_LENGTH = 32_000_000
_TRANSCRIPT_SUFFIXES = frozenset((".vtt", ".srt"))
_NUMPY_HEADER = re.compile(
    rb"\x93NUMPY.{4,6}\{'descr': '[<>|=]?[biufc?](\d{0,9})', 'fortran_order': (?:True|False), "
    rb"'shape': \(((?:\d{1,15}(?:, |,)?){0,8})\), \} *\n",
    re.S,
)
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z][\w.:-]{1,30})", re.I)
# Not read as a charset: some take quadratic time, and none is used on the web.
_IGNORED_CHARSETS = frozenset(("idna", "punycode", "undefined", "utf-8", "ascii"))
_CONTROL_BYTES = bytes(b for b in range(32) if b not in b"\t\n\f\r")
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WHITE_SPACE = re.compile(r"\s")
# So long in the alphabet of base64, also that of urls, on one line or several.
_BASE64 = re.compile(
    r"(?<![\w+/-])[A-Za-z0-9+/_-]{64,}+(?:\r?\n[A-Za-z0-9+/_-]++(?![^=\r\n<\"']))*+={0,2}", re.A
)
# JSON that a page hands to its scripts.
_SCRIPT_JSON = re.compile(
    r"<script\b[^<>]*+>\s*+([\[{][^<]*+(?:<(?!/script)[^<]*+)*+)</script", re.I
)


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A text of a file in one of the ways to read it.

    place: where in the file the text stands, "" for the whole; has_lines: whether its lines are
    the file's, so that a line number helps; first_line: the number of its first line.
    """

    text: str
    place: str = ""
    has_lines: bool = True
    first_line: int = 1


def extract_name_texts(name: str) -> Iterator[ExtractedText]:
    """Extract the texts of a file's relative path: as it is and percent-decoded."""
    for text in dict.fromkeys((name, unquote(name))):
        yield ExtractedText(text, NAME_PLACE, has_lines=False)


def extract_texts(name: str, data: bytes) -> Iterator[ExtractedText]:
    """Extract the texts of a file's content. No bytes raise; what inflates too far is cut."""
    yield from _extract(name, data, "", _MAX_DEPTH, InflateBudget())


def _extract(
    name: str, data: bytes, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    archive = open_zip_archive(data) if depth else None
    if archive:
        yield from _extract_zip(name, archive, place, depth, budget)
        return
    # Before the byte order marks, since the length that a container begins with may look like one.
    if depth and (parts := split_content(data)):
        header, arrays = parts
        yield from _read_text(name, header.decode("utf-8", "replace"), place)
        # What its header calls numbers could be anything.
        yield from _extract(name, arrays, place, depth - 1, budget)
        return
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            yield from _read_text(name, data.decode(encoding, "replace"), place)
            return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        data = data[_measure_numpy(data) :]
        if data and PurePosixPath(name).suffix.lower() not in MEDIA_SUFFIXES:
            yield from _extract_binary(name, data, place, depth, budget)
        return
    if _measure_numpy(data) >= len(data) > 0:
        return
    yield from _read_text(name, text, place)
    for encoded in _BASE64.findall(text) if depth else ():
        content = _decode_base64(encoded)
        if is_text(content[:HEAD_BYTES]) or STREAM_START.match(content):
            yield from _extract(name, content, place, depth - 1, budget)
    if (charset := _find_charset(data)) and (other := data.decode(charset, "replace")) != text:
        yield from _read_text(name, other, place)
    if b"\0" in data:
        yield from _read_text(name, _decode_without_nulls(data), place)


def _extract_binary(
    name: str, data: bytes, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    """Extract the texts of compressed streams, and of the bytes around them."""
    for mark, suffix, decompressor in COMPRESSED_FORMATS:
        if not depth or not data.startswith(mark):
            continue
        if content := decompress_streams(data, decompressor, budget):
            yield from _extract(name.removesuffix(suffix), content, place, depth - 1, budget)
            return
    path = PurePosixPath(name)
    stem = path.stem if path.suffix in (".gz", ".z") else path.name
    outside = bytearray()
    at = count = 0
    while depth and (match := STREAM_START.search(data, at)):
        content, end = inflate_stream(data, match.start(), budget)
        outside += data[at : match.start()]
        at = end
        if not content:
            outside += data[match.start() : end]
            continue
        count += 1
        stream = f"stream {count}" if count > 1 or end < len(data) else ""
        yield from _extract(stem, content, _join_places(place, stream), depth - 1, budget)
    outside += data[at:]
    if outside:
        yield from _read_text(name, outside.decode("utf-8", "replace"), place)
    has_control_bytes = outside.translate(None, _CONTROL_BYTES) != outside
    if charset := _find_charset(outside) or ("" if has_control_bytes else "cp1252"):
        yield from _read_text(name, outside.decode(charset, "replace"), place)
    if b"\0" in outside:
        yield from _read_text(name, _decode_without_nulls(bytes(outside)), place)


def _extract_zip(
    name: str, archive: ZipArchive, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    with archive.file:
        for number, member in enumerate(archive.file.infolist(), 1):
            member_place = _join_places(place, f"member {number}")
            for text in extract_name_texts(member.filename):
                name_place = _join_places(member_place, NAME_PLACE)
                yield ExtractedText(text.text, name_place, has_lines=False)
            content = read_member(archive.file, member, budget)
            yield from _extract(member.filename, content, member_place, depth - 1, budget)
    if archive.comments:
        yield from _read_text("", archive.comments.decode("utf-8", "replace"), place)
    if archive.outside:
        yield from _extract(name, archive.outside, place, depth - 1, budget)


def _measure_numpy(data: bytes) -> int:
    """Count the bytes of a NumPy file's header and of the numbers that it declares."""
    header = _NUMPY_HEADER.match(data)
    if not header:
        return 0
    shape = [int(size) for size in header[2].decode().replace(",", " ").split()]
    return header.end() + math.prod(shape) * int(header[1] or 1)


def _decode_base64(text: str) -> bytes:
    letters = re.sub(r"[\s=]", "", text).replace("-", "+").replace("_", "/")
    # A letter too many, as of a word beside it, would be refused.
    whole = letters[: len(letters) - (len(letters) % 4 == 1)]
    return base64.b64decode(whole + "=" * (-len(whole) % 4))


def is_text(head: bytes) -> bool:
    """Tell whether the first bytes of a file or a picture are those of a text."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _find_charset(data: bytes | bytearray) -> str:
    """Find the charset that a text declares, if it is one of bytes and not UTF-8."""
    match = _CHARSET.search(data, 0, 1024)
    try:
        charset = codecs.lookup(match[1].decode()).name if match else ""
        b"".decode(charset or "ascii")
    except (LookupError, ValueError):
        return ""
    return "" if charset in _IGNORED_CHARSETS else charset


def _decode_without_nulls(data: bytes) -> str:
    """Decode wide characters without a mark; four nulls are the padding between two texts."""
    return re.sub(rb"\0{4,}", b" ", data).replace(b"\0", b"").decode("utf-8", "replace")


def _read_text(name: str, text: str, place: str) -> Iterator[ExtractedText]:
    """Read a decoded text in every way: as JSON, markup, Markdown and captions."""
    strings = extract_json_strings(text) if len(text) < _MAX_JSON_LENGTH else []
    if strings:
        for string in strings:
            for variant in iter_markup_variants(string.text):
                yield from _with_untimed(variant, _join_places(place, string.path), False)
        for joined in join_adjacent_strings(strings):
            yield from _with_untimed(joined, place, False)
        # Markup is read string by string; what remains are words that many strings share out.
        yield ExtractedText(decode_escapes(text), place)
        return
    suffix = PurePosixPath(name).suffix.lower()
    for first_line, piece in _pieces(text):
        for variant in iter_markup_variants(piece):
            yield from _with_untimed(variant, place, first_line=first_line)
        if suffix in _TRANSCRIPT_SUFFIXES or has_cue_times(piece):
            yield ExtractedText(strip_cue_times(piece), place, first_line=first_line)
        if suffix in (".md", ".markdown", ".txt"):
            # Brackets are signs of the text there, and what they enclose is no tag.
            yield from _with_untimed(piece, place, first_line=first_line)
            yield ExtractedText(strip_markdown(piece), place, has_lines=False)
        for script in _SCRIPT_JSON.finditer(piece):
            for joined in join_adjacent_strings(extract_json_strings(script[1])):
                yield from _with_untimed(joined, place, False)


def _with_untimed(
    text: str, place: str, has_lines: bool = True, first_line: int = 1
) -> Iterator[ExtractedText]:
    """Yield a text, and without its times if it may be one of captions."""
    yield ExtractedText(text, place, has_lines, first_line)
    if has_caption_times(text):
        yield ExtractedText(strip_caption_times(text), place, has_lines, first_line)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Cut a long text into pieces that overlap, each with the number of its first line."""
    if len(text) <= _PIECE_LENGTH:
        yield 1, text
        return
    first_line, start = 1, 0
    while True:
        end = _find_gap(text, start + _PIECE_LENGTH)
        yield first_line, text[start:end]
        if end >= len(text):
            return
        next_start = _find_gap(text, end - 2 * _OVERLAP)
        first_line += text.count("\n", start, next_start)
        start = next_start


def _find_gap(text: str, at: int) -> int:
    """Find the next white space, or a place not far from there."""
    gap = _WHITE_SPACE.search(text, at, at + _OVERLAP)
    return gap.start() if gap else min(at + _OVERLAP, len(text))


def _join_places(place: str, inner: str) -> str:
    return ", ".join(part for part in (place, inner) if part)
