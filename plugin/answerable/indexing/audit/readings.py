"""Readings of a published file: as text, without tags, decoded, and what is packed in it."""

import base64
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from ..notes.transcripts import decode_character_references

NAME_PLACE = "its name"
# Files of pictures, fonts, sound, films and models, of which only the names are read.
MEDIA_SUFFIXES = frozenset(
    """.avif .bmp .eot .flac .gif .ico .jpeg .jpg .m4a .mov .mp3 .mp4 .oga .ogg .ogv .otf .pdf .png
    .safetensors .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2""".split()
)
# Bytes of one file that are inflated at most.
INFLATE_LIMIT = 64 * 1024 * 1024

_CHUNK_BYTES = 65_536
_STREAM_START = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_ZIP_END = b"PK\x05\x06"
_ZIP_TAIL_BYTES = 22 + 65_535
_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r")
# Words among the numbers of a binary file.
_WORDS_IN_BYTES = re.compile(rb"[^%b]{6,}" % re.escape(_CONTROL_BYTES))
# Characters of a long text that are read at a time, and twice: no run is as long as the second.
_PIECE_LENGTH, _OVERLAP = 4_000_000, 100_000
# How often a text is read again whose markup was escaped, as that of a feed is.
_MAX_LEVELS = 3

_TAG = re.compile(
    r"""(<!--|-->|<!\[CDATA\[|\]\]>|</?[a-zA-Z]"""
    # A bracket in a quoted value is one of text where it begins no tag.
    r"""(?:[^<>"']++|"(?:[^"<]++|<(?![a-zA-Z/!]))*+"|'(?:[^'<]++|<(?![a-zA-Z/!]))*+')*+>"""
    # Other brackets are signs of a text, but for a time within a caption.
    r"|<[a-zA-Z/!?][^<>]*+>|<[0-9]++:[0-9:.]*+>)"
)
# What may interrupt a sentence without being shown; longer ones stand between sentences.
_UNSHOWN = re.compile(r"<!--.{0,500}?-->|<(script|style)\b.{0,500}?</\1\s*+>", re.S | re.I)
# Escapes that would add letters to words, however often they were escaped themselves.
_PERCENT = r"%(?:25)*[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    # It begins with a character, so that the next one is found fast.
    r"\\\\*+(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrtbfv])"
    rf"|{_PERCENT}(?:{_PERCENT})*+"
)
_PERCENT_AGAIN = re.compile(r"%(?:25)+(?=[0-9a-fA-F]{2})")
_ESCAPED_AGAIN = re.compile(r"&amp;#?\w")
# Characters on either side of an escape or a comment that are read with it.
_CONTEXT = 600
# Base64, also that of urls, of at least so many characters, on one line or several.
_MIN_BASE64 = 64
_BASE64 = re.compile(rb"[\w+/-]+(?:\r?\n[\w+/-]++(?![^=\r\n<\"']))*+")
_BASE64_MAP = bytes(
    ord("x") if re.match(rb"[\w+/-]", bytes([byte])) else ord(" ") for byte in range(256)
)

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
    """A text of a file. place: where it stands; has_lines: whether its lines are the file's."""

    text: str
    place: str = ""
    has_lines: bool = False


def read_name(name: str) -> Iterator[Reading]:
    """Read a file's path as it is and percent-decoded."""
    for text in dict.fromkeys((name, unquote(name))):
        yield Reading(text, NAME_PLACE)


def read_file(name: str, data: bytes) -> Iterator[Reading]:
    """Read a file in every way, and what is packed in it, one level deep; no bytes raise."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in MEDIA_SUFFIXES:
        return
    if _ZIP_END in data[-_ZIP_TAIL_BYTES:]:
        yield from _read_members(data)
    text = _decode_text(data)
    yield from _read_text(text, "", has_lines=len(text) <= _PIECE_LENGTH)
    if suffix in (".md", ".markdown", ".txt"):
        yield Reading(strip_markdown(text))
    for content in _inflate_streams(data):
        yield from _read_text(_decode_text(content), "a compressed part")
    encoded = "\n".join(map(_decode_text, _decode_base64(f"{text}\n{_decode_escapes(text)}")))
    yield from _read_text(encoded, "its base64")


def strip_tags(text: str) -> str:
    """Remove the tags of a text and decode its character references; its lines stay."""
    return _split_tags(text)[0]


def strip_markdown(text: str) -> str:
    """Read Markdown as a page shows it: without marks, tags and the targets of links."""
    visible = _DROPPED.sub("", text)
    # An image within a link.
    for _ in range(2):
        visible = _LINK.sub(r"\1", visible)
    return strip_tags(visible)


def _read_text(text: str, place: str, *, has_lines: bool = False) -> Iterator[Reading]:
    for start in range(0, len(text), _PIECE_LENGTH):
        piece = text[start : start + _PIECE_LENGTH + _OVERLAP]
        yield from _read_markup(piece, place, has_lines=has_lines)
        yield from _read_markup(_decode_escapes(piece), place, has_lines=False)


def _read_markup(text: str, place: str, *, has_lines: bool) -> Iterator[Reading]:
    """Read a text with its tags and without them, its character references decoded."""
    for level in range(_MAX_LEVELS):
        shown = decode_character_references(text)
        if "<" in text:
            outside, tags = _split_tags(text)
            yield Reading(outside, place, has_lines)
            yield Reading(tags, place or "a tag")
            for unshown in _UNSHOWN.finditer(text):
                context = text[max(0, unshown.start() - _CONTEXT) : unshown.end() + _CONTEXT]
                yield Reading(strip_tags(_UNSHOWN.sub(" ", context)), place)
        if not text.startswith("<") and (level == 0 or shown != text):
            yield Reading(shown, place, has_lines)
        if shown.count("<") == text.count("<") and not _ESCAPED_AGAIN.search(text):
            return
        text = shown


def _split_tags(text: str) -> tuple[str, str]:
    """Split a text into what stands outside of tags, and its tags, each that differs once."""
    parts = _TAG.split(text)
    # A page's tags are many, and few that differ.
    lines = {tag: "\n" * tag.count("\n") or " " for tag in parts[1::2]}
    parts[1::2] = [lines[tag] for tag in parts[1::2]]
    outside, tags = "".join(parts), "\n".join(lines)
    return decode_character_references(outside), decode_character_references(tags)


def _decode_escapes(text: str) -> str:
    """Decode the escapes of JSON, of JavaScript and of urls, with the text around them."""
    contexts: list[str] = []
    start = end = 0
    for escape in _ESCAPE.finditer(text):
        if escape.start() - _CONTEXT > end:
            contexts.append(text[start:end])
            start = escape.start() - _CONTEXT
        end = escape.end() + _CONTEXT
    contexts.append(text[start:end])
    return _ESCAPE.sub(_decode_escape, "\n".join(contexts)) if end else ""


def _decode_escape(escape: re.Match[str]) -> str:
    if escape[0][0] == "%":
        return unquote(_PERCENT_AGAIN.sub("%", escape[0]))
    digits = escape[1] or escape[2] or escape[3]
    code = int(digits, 16) if digits else 0
    return chr(code) if 32 < code < 0x110000 else " "


def _decode_text(data: bytes) -> str:
    """Decode a text of UTF-8, UTF-16 or Windows-1252, or the words in a binary file."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    if data.translate(None, _CONTROL_BYTES) == data:
        return data.decode("cp1252", "replace")
    return b"\n".join(_WORDS_IN_BYTES.findall(data)).decode("utf-8", "replace")


def _read_members(data: bytes) -> Iterator[Reading]:
    """Read the names and the contents of a zip archive's members."""
    left = INFLATE_LIMIT
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for number, member in enumerate(archive.infolist(), 1):
                place = f"member {number}"
                for reading in read_name(member.filename):
                    yield Reading(reading.text, f"{place}, {NAME_PLACE}")
                try:
                    content = archive.open(member).read(left)
                except Exception:
                    # One that is encrypted or damaged must not hide those after it.
                    continue
                left -= len(content)
                yield from _read_text(_decode_text(content), place)
    except Exception:
        # A damaged archive raises whatever its decoders do.
        return


def _inflate_streams(data: bytes) -> Iterator[bytes]:
    """Inflate the gzip and zlib streams of a file, as far as they are sound."""
    left, at = INFLATE_LIMIT, 0
    while left > 0 and (match := _STREAM_START.search(data, at)):
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        content = bytearray()
        at = match.start()
        try:
            # In chunks, since a stream copies the bytes after its end.
            while not stream.eof and at < len(data) and left > 0:
                content += stream.decompress(data[at : at + _CHUNK_BYTES])
                at = min(at + _CHUNK_BYTES, len(data))
                left -= len(content)
        except zlib.error:
            # What stands before the damage was published all the same.
            pass
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
                try:
                    yield zlib.decompressobj(wbits).decompress(content, INFLATE_LIMIT)
                except zlib.error:
                    continue
