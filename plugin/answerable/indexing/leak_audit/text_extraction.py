"""Every text that a file gives away, by its content and its name."""

import codecs
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from ..notes.transcripts import has_cue_times, strip_cue_times
from . import archives
from .archives import (
    InflateBudget,
    ZipArchive,
    decompress_streams,
    inflate_stream,
    open_zip_archive,
    read_member,
)
from .captions import has_caption_times, strip_caption_times
from .json_strings import extract_json_strings, join_adjacent_strings
from .markup import decode_escapes, iter_markup_variants, strip_markdown

NAME_PLACE = "its name"
# How deep archives in archives are opened.
_DEPTH = 3
# Characters of a long text that are read at a time, and that are read twice: no run is as long.
_PIECE = 4_000_000
_OVERLAP = 100_000
# Longer JSON is read as any text: its values take many times its space.
_JSON = 32_000_000

MEDIA_SUFFIXES = frozenset(
    """.avif .bmp .eot .flac .gif .ico .jpeg .jpg .m4a .mov .mp3 .mp4 .oga .ogg .ogv .otf .pdf .png
    .safetensors .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2""".split()
)
_MARKDOWN = frozenset((".md", ".markdown", ".txt"))
_TRANSCRIPTS = frozenset((".vtt", ".srt"))
_NUMBERS = re.compile(
    rb"\x93NUMPY.{4,6}\{'descr': '[<>|=]?[biufc?](\d{0,9})', 'fortran_order': (?:True|False), "
    rb"'shape': \(((?:\d{1,15}(?:, |,)?){0,8})\), \} *\n",
    re.S,
)
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z][\w.:-]{1,30})", re.I)
# Not as a charset: some take quadratic time, and none is one of the web.
_NO_CHARSETS = frozenset(("idna", "punycode", "undefined"))
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\f\r")
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WHITE = re.compile(r"\s")
# What a page tells its scripts, as JSON.
_TOLD = re.compile(r"<script\b[^<>]*+>\s*+([\[{][^<]*+(?:<(?!/script)[^<]*+)*+)</script", re.I)


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """One way to read a file. place: where in the file the text stands, "" for the whole;
    has_lines: whether its lines are the file's, so that a line tells more; first: the number of
    its first line.
    """

    text: str
    place: str = ""
    has_lines: bool = True
    first: int = 1


def extract_name_texts(name: str) -> Iterator[ExtractedText]:
    """What a file's relative path says."""
    for text in dict.fromkeys((name, unquote(name))):
        for spaced in dict.fromkeys((text, text.replace("_", " "))):
            yield ExtractedText(spaced, NAME_PLACE, has_lines=False)


def extract_texts(name: str, data: bytes) -> Iterator[ExtractedText]:
    """What a file's content says. It raises on no bytes; what inflates to more is read in part."""
    yield from _read(name, data, "", _DEPTH, InflateBudget())


def _read(
    name: str, data: bytes, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    archive = open_zip_archive(data) if depth else None
    if archive:
        yield from _zipped(name, archive, place, depth, budget)
        return
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            yield from _texts(name, data.decode(encoding, "replace"), place)
            return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if PurePosixPath(name).suffix.lower() not in MEDIA_SUFFIXES and (
            data := data[_numbers(data) :]
        ):
            yield from _binary(name, data, place, depth, budget)
        return
    if _numbers(data) >= len(data) > 0:
        return
    yield from _texts(name, text, place)
    if (charset := _charset(data)) and (other := data.decode(charset, "replace")) != text:
        yield from _texts(name, other, place)
    if b"\0" in data:
        yield from _texts(name, _without_nulls(data), place)


def _binary(
    name: str, data: bytes, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    for mark, suffix, decompressor in archives.COMPRESSED_FORMATS:
        if not depth or not data.startswith(mark):
            continue
        if content := decompress_streams(data, decompressor, budget):
            yield from _read(name.removesuffix(suffix), content, place, depth - 1, budget)
            return
    rest = bytearray()
    at = count = 0
    while depth and (match := archives.STREAM_START.search(data, at)):
        content, end = inflate_stream(data, match.start(), budget)
        rest += data[at : match.start()]
        at = end
        if not content:
            rest += data[match.start() : end]
            continue
        count += 1
        inside = f"stream {count}" if count > 1 or end < len(data) else ""
        inner = PurePosixPath(name)
        stem = inner.stem if inner.suffix in (".gz", ".z") else inner.name
        yield from _read(stem, content, _join(place, inside), depth - 1, budget)
    rest += data[at:]
    if rest:
        yield from _texts(name, rest.decode("utf-8", "replace"), place)
    if charset := _charset(rest) or ("" if rest.translate(None, _CONTROL) != rest else "cp1252"):
        yield from _texts(name, rest.decode(charset, "replace"), place)
    if b"\0" in rest:
        yield from _texts(name, _without_nulls(bytes(rest)), place)


def _numbers(data: bytes) -> int:
    """How many bytes of a file of NumPy's are its head and the numbers that it declares."""
    head = _NUMBERS.match(data)
    if not head:
        return 0
    counts = [int(count) for count in head[2].decode().replace(",", " ").split()]
    return head.end() + math.prod(counts) * int(head[1] or 1)


def _charset(data: bytes | bytearray) -> str:
    """The charset that a text declares, if it is one of bytes and not UTF-8."""
    found = _CHARSET.search(data, 0, 1024)
    try:
        charset = codecs.lookup(found[1].decode()).name if found else ""
        b"".decode(charset or "ascii")
    except (LookupError, ValueError):
        return ""
    return "" if charset in _NO_CHARSETS or charset in ("utf-8", "ascii") else charset


def _zipped(
    name: str, archive: ZipArchive, place: str, depth: int, budget: InflateBudget
) -> Iterator[ExtractedText]:
    with archive.file:
        for number, member in enumerate(archive.file.infolist(), 1):
            inside = _join(place, f"member {number}")
            for reading in extract_name_texts(member.filename):
                yield ExtractedText(reading.text, _join(inside, NAME_PLACE), has_lines=False)
            content = read_member(archive.file, member, budget)
            yield from _read(member.filename, content, inside, depth - 1, budget)
    if archive.comments:
        yield from _texts("", archive.comments.decode("utf-8", "replace"), place)
    if archive.outside:
        yield from _read(name, archive.outside, place, depth - 1, budget)


def _without_nulls(data: bytes) -> str:
    """Text of wide characters without a mark; four nulls are the padding between two texts."""
    return re.sub(rb"\0{4,}", b" ", data).replace(b"\0", b"").decode("utf-8", "replace")


def _texts(name: str, text: str, place: str) -> Iterator[ExtractedText]:
    strings = extract_json_strings(text) if len(text) < _JSON else []
    if strings:
        for string in strings:
            for variant in iter_markup_variants(string.text):
                yield from _timed(variant, _join(place, string.path), has_lines=False)
        for sequence in join_adjacent_strings(strings):
            yield from _timed(sequence, place, has_lines=False)
        # Markup is read string by string; what remains are words that many strings share out.
        yield ExtractedText(decode_escapes(text), place)
        return
    suffix = PurePosixPath(name).suffix.lower()
    for first, piece in _pieces(text):
        for variant in iter_markup_variants(piece):
            yield from _timed(variant, place, first=first)
        if suffix in _TRANSCRIPTS or has_cue_times(piece):
            yield ExtractedText(strip_cue_times(piece), place, first=first)
        if suffix in _MARKDOWN:
            # Brackets are signs of the text there, and what they hold is no tag.
            yield from _timed(piece, place, first=first)
            yield ExtractedText(strip_markdown(piece), place, has_lines=False)
        for told in _TOLD.finditer(piece):
            for sequence in join_adjacent_strings(extract_json_strings(told[1])):
                yield from _timed(sequence, place, has_lines=False)


def _timed(
    text: str, place: str, has_lines: bool = True, first: int = 1
) -> Iterator[ExtractedText]:
    """A text, and without its times if it may be one of captions."""
    yield ExtractedText(text, place, has_lines, first)
    if has_caption_times(text):
        yield ExtractedText(strip_caption_times(text), place, has_lines, first)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A long text in parts that overlap, each with the number of its first line."""
    if len(text) <= _PIECE:
        yield 1, text
        return
    first, start = 1, 0
    while True:
        end = _gap(text, start + _PIECE)
        yield first, text[start:end]
        if end >= len(text):
            return
        after = _gap(text, end - 2 * _OVERLAP)
        first += text.count("\n", start, after)
        start = after


def _gap(text: str, at: int) -> int:
    """The next white space, or a place not far from there."""
    found = _WHITE.search(text, at, at + _OVERLAP)
    return found.start() if found else min(at + _OVERLAP, len(text))


def _join(place: str, inside: str) -> str:
    return ", ".join(part for part in (place, inside) if part)
