"""HTML character references, numeric and named, decoded as a browser does.

What a text says beneath its markup and escapes, line by line as it stands.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

# A reference to a break of a line adds no line to the file that holds it.
_LINE_ENDS = str.maketrans("\n\r", "  ")
# A number has no end but its last digit: `&#1001` is one character, and not `&#10` and `01`.
_REFERENCE = re.compile(r"&(?:#(?:[xX][0-9a-fA-F]++|[0-9]++)|[a-zA-Z][a-zA-Z0-9]{0,31}+);?")
_REPLACEMENT = "\ufffd"
# More digits than the highest code point has, which int() need not read.
_DIGITS = 8


def decode_character_references(text: str) -> str:
    """Decode every character reference once; one to a line feed becomes a space.

    Numbers are read as in HTML 13.2.5.80: those from 0x80 to 0x9f are of Windows-1252.
    """
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda reference: _decode_reference(reference[0]), text)


@lru_cache(maxsize=8192)
def _decode_reference(reference: str) -> str:
    if reference[1] != "#":
        return html.unescape(reference).translate(_LINE_ENDS)
    digits = reference[2:].rstrip(";")
    base = 16 if digits[0] in "xX" else 10
    digits = digits.lstrip("xX").lstrip("0")
    if not digits or len(digits) > _DIGITS:
        return _REPLACEMENT
    code = int(digits, base)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:
        # The five bytes that Windows-1252 leaves free are controls, as in Latin-1.
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code).translate(_LINE_ENDS)


# Stands for a tag within a line, which may divide two words or interrupt one.
SOFT_BREAK = "\x01"
# A soft break that counts as the end of a line, too.
HIDDEN_LINE_END = "\u2063"

# Comments and scripts are opened, not dropped: what they hold is published too.
_TAG = re.compile(
    r"""(<!--|-->|<!\[CDATA\[|\]\]>|</?[a-zA-Z]"""
    # A bracket in a quoted value is one of text where it begins no tag.
    r"""(?:[^<>"']++|"(?:[^"<]++|<(?![a-zA-Z/!]))*+"|'(?:[^'<]++|<(?![a-zA-Z/!]))*+')*+>"""
    # Other brackets are signs of a text, but for a time within a caption.
    r"|<[a-zA-Z/!?][^<>]*+>|<[0-9]++:[0-9:.]*+>)"
)
_BLOCKS = frozenset(
    """address article aside blockquote body br button caption dd details dialog div dl dt
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li link
    main meta nav ol option p pre script section select style summary table tbody td textarea
    tfoot th thead title tr ul""".split()
)
_NAME = re.compile(r"</?([a-zA-Z][\w:-]*)")
_ESCAPE = re.compile(
    r"""\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbfv"'`/\\]))"""
)
# Escapes that would otherwise add letters to words.
_SPACING = re.compile(r"\\(?:[nrtbfv]|u\{?[0-9a-fA-F]{1,4}|x[0-9a-fA-F]{2})")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_LEVELS = 3

# What begins and ends a part of a page that is not shown.
_UNSHOWN = re.compile(r"<(!--|script\b|style\b)", re.I)
_RAW = re.compile(r"<(script\b|style\b)", re.I)
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\b[^<>]*+>?", re.I),
    "style": re.compile(r"</style\b[^<>]*+>?", re.I),
}
_FOOTNOTE = re.compile(r"<sup\b[^<>]*+>\s*+<a\b[^<>]*footnote[^<>]*+>[^<>]*+</a>\s*+</sup>", re.I)
# Characters beside what interrupts a text that are read without it.
_BESIDE = 600

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
_EMPHASIS = re.compile(r"(\*{1,3}|~~|`+)(?=\S)([^\n*~`]+?)(?<=\S)\1")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")


def iter_markup_variants(text: str) -> Iterator[str]:
    """Every way to read a text: without tags, with its escapes decoded.

    What may divide two words, and need not, is a soft break.
    """
    yield from _iter_tagless(text)
    if "<" in text:
        yield from _unbroken(text)
    decoded = decode_escapes(text)
    if decoded != text:
        yield from _iter_tagless(decoded)
        yield from _deeper(decoded)
    # Percent-encoding is that of urls, which stand within tags or among words.
    decoded = _unquoted(text)
    if decoded != text:
        yield decode_character_references(decoded)
        if decoded.count("<") > text.count("<"):
            yield from _iter_tagless(decoded)


def strip_tags(text: str) -> str:
    """A text as it is read without its tags."""
    return decode_character_references(_joined(_TAG.split(text)))


def _unbroken(text: str) -> Iterator[str]:
    """What stands around comments, scripts, styles and marks of footnotes, without them."""
    spans = [*_parts(text, _UNSHOWN)]
    if "footnote" in text:
        spans = sorted([*spans, *(mark.span() for mark in _FOOTNOTE.finditer(text))])
    yield from _without(text, spans)
    if "<!--" in text:
        # A comment may be one around elements that its author has switched off.
        yield from _without(text, [*_parts(text, _RAW)])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What stands around spans of a text, without them."""
    kept: list[str] = []
    places: list[int] = []
    at = size = 0
    for start, end in spans:
        if start >= at:
            kept.append(text[at:start])
            size += start - at
            places.append(size)
            size += len(SOFT_BREAK)
        at = max(at, end)
    for near in _near(SOFT_BREAK.join((*kept, text[at:])), places):
        yield from _iter_tagless(near)


def _near(text: str, places: Iterable[int]) -> Iterator[str]:
    """The parts of a text that lie around places in it, which are in order."""
    first = last = -1
    for place in places:
        if first < 0:
            first = place
        elif place - last > 2 * _BESIDE:
            yield text[max(0, first - _BESIDE) : last + _BESIDE]
            first = place
        last = place
    if first >= 0:
        yield text[max(0, first - _BESIDE) : last + _BESIDE]


def _deeper(text: str) -> Iterator[str]:
    """What stands around the escapes that an escaped text holds, as in JSON within JSON."""
    for _ in range(_LEVELS - 1):
        if "\\" not in text:
            return
        near = _near(text, (found.start() for found in _SPACING.finditer(text)))
        text = "\n".join(map(decode_escapes, near))
        if text:
            yield from _iter_tagless(text)


def _parts(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where parts of a text begin and end, in linear time whatever is left open."""
    at = 0
    endless: set[str] = set()
    while found := begins.search(text, at):
        at, kind = found.end(), found[1].lower()
        if kind in endless:
            continue
        if end := _ENDS[kind].search(text, at):
            at = end.end()
            yield found.start(), at
        else:
            endless.add(kind)


def strip_markdown(text: str) -> str:
    """Markdown as a page shows it: without tags and the targets of links and images."""
    shown = _DROPPED.sub("", text)
    for _ in range(_LEVELS):
        shown, found = _LINK.subn(r"\1", shown)
        if not found:
            break
    shown = _EMPHASIS.sub(r"\2", _TAG.sub(lambda tag: _unseen(tag[0]), shown))
    return decode_character_references(_BACKSLASH.sub(r"\1", shown))


def _iter_tagless(text: str) -> Iterator[str]:
    """A text as a browser shows it, and what its tags say."""
    parts = _TAG.split(text)
    if len(parts) > 1:
        yield from _decoded(_tags(parts))
        text = _joined(parts)
    yield from _decoded(text)


def _decoded(text: str) -> Iterator[str]:
    """A text with its entities decoded; markup that was escaped, as in a feed, is read again."""
    for _ in range(_LEVELS):
        shown = decode_character_references(text)
        yield shown
        parts = _TAG.split(shown) if shown != text else []
        if len(parts) < 2:
            return
        text = _joined(parts)


def _tags(parts: list[str]) -> str:
    """What the tags themselves say, each that differs once, on the lines where they stand."""
    seen: set[str] = set()
    said: list[str] = []
    for number, part in enumerate(parts):
        if number % 2 and part not in seen:
            seen.add(part)
            said.append(part.strip("<>"))
        else:
            said.append("\n" * part.count("\n"))
    return " ".join(said)


def _joined(parts: list[str]) -> str:
    # A page's tags are many, and few that differ.
    instead = {tag: _unseen(tag) for tag in set(parts[1::2])}
    parts[1::2] = [instead[tag] for tag in parts[1::2]]
    return "".join(parts)


def _unseen(tag: str) -> str:
    """A soft break for a tag within a line; a break for one that begins or ends a block."""
    name = _NAME.match(tag)
    if name and name[1].lower() in _BLOCKS:
        return "\n" * tag.count("\n") or " "
    return HIDDEN_LINE_END * tag.count("\n") or SOFT_BREAK


def decode_escapes(text: str) -> str:
    """JSON's and JavaScript's string escapes decoded; a break of a line becomes a space."""
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(escape: re.Match[str]) -> str:
    if escape[4]:
        return " " if escape[4] in "nrtbfv" else escape[4]
    code = int(escape[1] or escape[2] or escape[3], 16)
    return chr(code) if 13 < code < 0x110000 else " "


def _unquoted(text: str) -> str:
    """Percent-encoding decoded."""
    if "%" not in text:
        return text
    return _PERCENT.sub(lambda found: unquote(found[0]).replace("\n", " "), text)
