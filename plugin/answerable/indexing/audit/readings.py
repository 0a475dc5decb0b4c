"""Readings of a published file: without tags, decoded, and what is packed in it."""

import base64
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from pathlib import PurePosixPath
from urllib.parse import unquote

from ..notes.transcripts import TRANSCRIPT_SUFFIXES

NAME_PLACE = "its name"
# Files of pictures, fonts, sound, films and models, of which only the names are read.
MEDIA_SUFFIXES = frozenset(
    """.avif .bmp .eot .flac .gif .ico .jpeg .jpg .m4a .mov .mp3 .mp4 .oga .ogg .ogv .otf .pdf .png
    .safetensors .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2""".split()
)
# Bytes of one file that are inflated at most.
INFLATE_LIMIT = 64 * 1024 * 1024

_STREAM_START = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
# Words among the numbers of a binary file.
_WORDS_AMONG_BYTES = re.compile(r"[^\x00-\x08\x0b\x0e-\x1f\ufffd]{6,}")
# Characters of a long text that are read at a time, and twice: no run is as long as the second.
_PIECE_LENGTH, _OVERLAP = 4_000_000, 100_000
# How often a text is read again whose markup was escaped, as that of a feed is.
_MAX_LEVELS = 3

# What may interrupt a sentence without being shown; longer ones stand between sentences.
_UNSHOWN = r"<!--.{0,500}?-->|<(?i:(script|style))\b.{0,500}?</(?i:\1)\s*+>"
_TAG = (
    r"""<!--|-->|<!\[CDATA\[|\]\]>|</?[a-zA-Z]"""
    # A bracket in a quoted value is one of text where it begins no tag.
    r"""(?:[^<>"']++|"(?:[^"<]++|<(?![a-zA-Z/!]))*+"|'(?:[^'<]++|<(?![a-zA-Z/!]))*+')*+>"""
    # Other brackets are signs of a text, but for a time within a caption.
    r"|<[a-zA-Z/!?][^<>]*+>|<[0-9]++:[0-9:.]*+>"
)
_TAGS = re.compile(_TAG)
_HIDDEN = re.compile(rf"{_UNSHOWN}|{_TAG}", re.S)
# Escapes of JSON, JavaScript, urls and HTML.
_ESCAPE = re.compile(
    r"\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbfv])"
    r"|%[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*+"
    # A number of more digits is no character, and int() need not read it.
    r"|&(?:\#(?:[xX][0-9a-fA-F]{1,32}+|[0-9]{1,32}+)|[a-zA-Z][a-zA-Z0-9]{0,31}+);?"
)
_ESCAPED_AGAIN = re.compile(r"(?:&amp;|%25)#?\w")
# Base64, also that of urls, of at least so many characters, on one line or several.
_MIN_BASE64 = 64
_BASE64 = re.compile(rb"[\w+/-]+(?:\r?\n[\w+/-]++(?![^=\r\n<\"']))*+")
_BASE64_MAP = bytes(
    ord("x") if re.match(rb"[\w+/-]", bytes([byte])) else ord(" ") for byte in range(256)
)

_CUE_TIMES = re.compile(r"(?:(?:\A|(?<=\n\n))[^\n]+\n)?^[^\n]*-->[^\n]*$", re.M)
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])"
)
_DROPPED = re.compile(
    r"^[ \t>]*(?:`{3,}|~{3,}).*$"  # fences
    r"|^[ \t]*\[(?!\^)[^\]\n]+\]:[ \t]*\S+.*$"  # targets of reference links
    r"|\[\^[^\]\s]+\]:?"  # footnotes
    r"|(?<![\w:]):[a-z+-][\w+-]*:(?![\w:])"  # emoji
    r"|^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[[ xX]\](?=[ \t])"  # boxes of tasks
    r"|^[ \t>]*(?:!!!|\?\?\?\+?)[ \t]+[\w -]*"  # kinds of admonitions
    r"|^[ \t>]*\d+[.)](?=[ \t])"  # numbers of list items
    r"|\{:?[ \t]*[.#][^{}\n]*\}",  # attributes
    re.M,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text of a file. place: where it stands, "" for one that has the lines of the file."""

    text: str
    place: str = ""


def read_name(name: str) -> Iterator[Reading]:
    """Read a file's path."""
    for text in dict.fromkeys((name, unquote(name))):
        yield Reading(text, NAME_PLACE)


def read_file(name: str, data: bytes) -> Iterator[Reading]:
    """Read a file in every way, and what is packed in it, one level deep; no bytes raise."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in MEDIA_SUFFIXES:
        return
    yield from _read_members(data)
    text = _decode_text(data)
    yield from _read_text(text, "")
    if suffix in (".md", ".markdown", ".txt"):
        yield Reading(strip_markdown(text))
    if suffix in TRANSCRIPT_SUFFIXES:
        yield Reading(strip_cue_times(text))
    for content in _inflate_streams(data):
        yield from _read_text(_decode_text(content), "a compressed part")
    encoded = "\n".join(map(_decode_text, _decode_base64(f"{text}\n{decode_escapes(text)}")))
    yield from _read_text(encoded, "its base64")


def strip_tags(text: str) -> str:
    """Remove the tags of a text and decode it; its lines stay."""
    return decode_escapes(_TAGS.sub(_keep_lines, text))


def strip_markdown(text: str) -> str:
    """Read Markdown as a page shows it: without marks, tags and the targets of links."""
    visible = _DROPPED.sub("", text)
    # An image within a link.
    for _ in range(2):
        visible = _LINK.sub(r"\1", visible)
    return strip_tags(visible)


def strip_cue_times(text: str) -> str:
    """Remove the times of a WebVTT or SubRip file, the numbers and names of cues, and its tags."""
    lines = text.replace("\r\n", "\n")
    return strip_tags(_CUE_TIMES.sub(_keep_lines, lines))


def decode_escapes(text: str) -> str:
    """Decode the escapes of JSON, JavaScript, urls and HTML once; no line is added."""
    return _ESCAPE.sub(lambda escape: _decode_escape(escape[0]), text)


@lru_cache(maxsize=16_384)
def _decode_escape(escape: str) -> str:
    if escape[0] == "\\":
        # A letter behind the backslash stands for white space.
        code = int(escape.strip("\\{}ux"), 16) if escape[-2] != "\\" else 0
        return chr(code) if 32 < code < 0x110000 else " "
    return (unquote(escape) if escape[0] == "%" else unescape(escape)).replace("\n", " ")


def _keep_lines(tag: re.Match[str]) -> str:
    return "\n" * tag[0].count("\n") or " "


def _read_text(text: str, place: str) -> Iterator[Reading]:
    """Read a text without what it hides, and what it hides; again while that shows more markup."""
    for start in range(0, len(text), _PIECE_LENGTH):
        piece = text[start : start + _PIECE_LENGTH + _OVERLAP]
        part = place or (f"after character {start}" if start else "")
        for _ in range(_MAX_LEVELS):
            decoded = decode_escapes(piece)
            if not piece.startswith("<"):
                yield Reading(decoded, part)
            if "<" in piece:
                yield Reading(decode_escapes(_HIDDEN.sub(_keep_lines, piece)), part)
                # A page's tags are many, and few that differ.
                hidden = "\n".join(dict.fromkeys(found[0] for found in _HIDDEN.finditer(piece)))
                yield Reading(decode_escapes(hidden), place or "a tag")
                yield Reading(strip_tags(hidden), place or "a comment or script")
            if decoded.count("<") == piece.count("<") and not _ESCAPED_AGAIN.search(piece):
                break
            piece = decoded


def _decode_text(data: bytes) -> str:
    """Decode a text of UTF-8, UTF-16 or Windows-1252, or the words in a binary file."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    with suppress(UnicodeDecodeError):
        return data.decode()
    if not re.search(rb"[\x00-\x08\x0b\x0e-\x1f]", data):
        return data.decode("cp1252", "replace")
    return "\n".join(_WORDS_AMONG_BYTES.findall(data.decode("utf-8", "replace")))


def _read_members(data: bytes) -> Iterator[Reading]:
    """Read the names and the contents of a zip archive's members; nothing of another file."""
    left = INFLATE_LIMIT
    # A damaged archive raises whatever its decoders do.
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for number, member in enumerate(archive.infolist(), 1):
            place = f"member {number}"
            for reading in read_name(member.filename):
                yield Reading(reading.text, f"{place}, {NAME_PLACE}")
            # One that is encrypted or damaged must not hide those after it.
            with suppress(Exception):
                content = archive.open(member).read(left)
                left -= len(content)
                yield from _read_text(_decode_text(content), place)


def _inflate_streams(data: bytes) -> Iterator[bytes]:
    """Inflate the gzip and zlib streams of a file, as far as they are sound."""
    left, at = INFLATE_LIMIT, 0
    while left > 0 and (match := _STREAM_START.search(data, at)):
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        content = bytearray()
        at = match.start()
        # What stands before a damage was published all the same.
        with suppress(zlib.error):
            # In chunks, since a stream copies the bytes after its end.
            while not stream.eof and at < len(data) and left > 0:
                content += stream.decompress(data[at : at + 65_536])
                at = min(at + 65_536, len(data))
                left -= len(content)
        at = at - len(stream.unused_data) if stream.eof else match.start() + 1
        if content:
            yield bytes(content)


def _decode_base64(text: str) -> Iterator[bytes]:
    """Decode base64, also that at the end of a url's path, and inflate it."""
    data = text.encode("utf-8", "replace")
    # Searching for a pattern takes ten times as long.
    is_letter = data.translate(_BASE64_MAP)
    at = 0
    while (at := is_letter.find(b"x" * _MIN_BASE64, at)) >= 0:
        # A diagram of draw.io follows this sign in a url.
        start = at + (data[at - 1 : at + 1] == b"#R")
        match = _BASE64.match(data, start)
        assert match
        at, encoded = match.end(), match[0]
        for part in {encoded, encoded.rpartition(b"/")[2]}:
            letters = re.sub(rb"\s", b"", part).translate(bytes.maketrans(b"-_", b"+/"))
            # A letter too many, as of a word beside it, would be refused.
            whole = letters[: len(letters) - (len(letters) % 4 == 1)]
            content = base64.b64decode(whole + b"=" * (-len(whole) % 4))
            yield content
            for wbits in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
                with suppress(zlib.error):
                    yield zlib.decompressobj(wbits).decompress(content, INFLATE_LIMIT)
