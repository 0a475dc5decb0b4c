"""Yield every reading of a text as markup: tags stripped, escapes decoded; also strip Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from ..notes.transcripts import SOFT_BREAK, decode_character_references

# A soft break that counts as the end of a line, too.
HIDDEN_LINE_END = "\u2063"

# Comments and scripts are opened, not dropped: their content is published too.
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
_TAG_NAME = re.compile(r"</?([a-zA-Z][\w:-]*)")
_ESCAPE = re.compile(
    r"""\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbfv"'`/\\]))"""
)
# Escapes that would otherwise add letters to words.
_LETTER_ESCAPE = re.compile(r"\\(?:[nrtbfv]|u\{?[0-9a-fA-F]{1,4}|x[0-9a-fA-F]{2})")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
# How often a text is decoded that was encoded several times.
_MAX_LEVELS = 3

# The beginning and the end of a part of a page that is not shown.
_UNSHOWN = re.compile(r"<(!--|script\b|style\b)", re.I)
_RAW = re.compile(r"<(script\b|style\b)", re.I)
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\b[^<>]*+>?", re.I),
    "style": re.compile(r"</style\b[^<>]*+>?", re.I),
}
_FOOTNOTE = re.compile(r"<sup\b[^<>]*+>\s*+<a\b[^<>]*footnote[^<>]*+>[^<>]*+</a>\s*+</sup>", re.I)
# Characters on either side of an interruption that are read without it.
_CONTEXT = 600

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
    """Yield every way to read a text: without tags, and with its escapes decoded.

    What may divide two words, and need not, is a soft break.
    """
    yield from _iter_tagless(text)
    if "<" in text:
        yield from _iter_uninterrupted(text)
    decoded = decode_escapes(text)
    if decoded != text:
        yield from _iter_tagless(decoded)
        yield from _iter_deeper_escapes(decoded)
    # Percent-encoding is that of urls, which stand within tags or among words.
    decoded = _PERCENT.sub(lambda match: unquote(match[0]).replace("\n", " "), text)
    if decoded != text:
        yield decode_character_references(decoded)
        if decoded.count("<") > text.count("<"):
            yield from _iter_tagless(decoded)


def strip_tags(text: str) -> str:
    """Remove the tags of a text and decode its character references."""
    return decode_character_references(_join_text(_TAG.split(text)))


def strip_markdown(text: str) -> str:
    """Read Markdown as a page shows it: without tags and the targets of links and images."""
    visible = _DROPPED.sub("", text)
    for _ in range(_MAX_LEVELS):
        visible, count = _LINK.subn(r"\1", visible)
        if not count:
            break
    visible = _EMPHASIS.sub(r"\2", _TAG.sub(lambda tag: _replace_tag(tag[0]), visible))
    return decode_character_references(_BACKSLASH.sub(r"\1", visible))


def decode_escapes(text: str) -> str:
    """Decode string escapes of JSON and JavaScript; a line break becomes a space."""
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _iter_uninterrupted(text: str) -> Iterator[str]:
    """Yield the text around comments, scripts, styles and footnote marks, without these."""
    spans = [*_find_spans(text, _UNSHOWN)]
    if "footnote" in text:
        spans = sorted([*spans, *(mark.span() for mark in _FOOTNOTE.finditer(text))])
    yield from _without_spans(text, spans)
    if "<!--" in text:
        # A comment may be one around elements that its author has switched off.
        yield from _without_spans(text, [*_find_spans(text, _RAW)])


def _find_spans(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Find where unshown parts begin and end, in linear time whatever is left open."""
    at = 0
    unclosed: set[str] = set()
    while match := begins.search(text, at):
        at, kind = match.end(), match[1].lower()
        if kind in unclosed:
            continue
        if end := _ENDS[kind].search(text, at):
            at = end.end()
            yield match.start(), at
        else:
            unclosed.add(kind)


def _without_spans(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield the text around some spans, with a soft break for each span."""
    parts: list[str] = []
    places: list[int] = []
    at = size = 0
    for start, end in spans:
        if start >= at:
            parts.append(text[at:start])
            size += start - at
            places.append(size)
            size += len(SOFT_BREAK)
        at = max(at, end)
    for context in _iter_contexts(SOFT_BREAK.join((*parts, text[at:])), places):
        yield from _iter_tagless(context)


def _iter_contexts(text: str, places: Iterable[int]) -> Iterator[str]:
    """Yield the parts of a text around places in it, which are in order."""
    first = last = -1
    for place in places:
        if first < 0:
            first = place
        elif place - last > 2 * _CONTEXT:
            yield text[max(0, first - _CONTEXT) : last + _CONTEXT]
            first = place
        last = place
    if first >= 0:
        yield text[max(0, first - _CONTEXT) : last + _CONTEXT]


def _iter_deeper_escapes(text: str) -> Iterator[str]:
    """Yield the text around escapes that remain in a decoded text, as in JSON within JSON."""
    for _ in range(_MAX_LEVELS - 1):
        if "\\" not in text:
            return
        contexts = _iter_contexts(text, (match.start() for match in _LETTER_ESCAPE.finditer(text)))
        text = "\n".join(map(decode_escapes, contexts))
        if text:
            yield from _iter_tagless(text)


def _iter_tagless(text: str) -> Iterator[str]:
    """Yield a text as a browser shows it, and the content of its tags."""
    parts = _TAG.split(text)
    if len(parts) > 1:
        yield from _iter_decoded(_join_tags(parts))
        text = _join_text(parts)
    yield from _iter_decoded(text)


def _iter_decoded(text: str) -> Iterator[str]:
    """Decode character references; markup that was escaped, as in a feed, is read again."""
    for _ in range(_MAX_LEVELS):
        decoded = decode_character_references(text)
        yield decoded
        parts = _TAG.split(decoded) if decoded != text else []
        if len(parts) < 2:
            return
        text = _join_text(parts)


def _join_tags(parts: list[str]) -> str:
    """Join the tags themselves, each that differs once, on the lines where they stand."""
    distinct: set[str] = set()
    tags: list[str] = []
    for number, part in enumerate(parts):
        if number % 2 and part not in distinct:
            distinct.add(part)
            tags.append(part.strip("<>"))
        else:
            tags.append("\n" * part.count("\n"))
    return " ".join(tags)


def _join_text(parts: list[str]) -> str:
    """Join the text between tags."""
    # A page's tags are many, and few that differ.
    replacements = {tag: _replace_tag(tag) for tag in set(parts[1::2])}
    parts[1::2] = [replacements[tag] for tag in parts[1::2]]
    return "".join(parts)


def _replace_tag(tag: str) -> str:
    """Give a soft break for a tag within a line, a break for one that begins or ends a block."""
    name = _TAG_NAME.match(tag)
    if name and name[1].lower() in _BLOCKS:
        return "\n" * tag.count("\n") or " "
    return HIDDEN_LINE_END * tag.count("\n") or SOFT_BREAK


def _decode_escape(escape: re.Match[str]) -> str:
    if escape[4]:
        return " " if escape[4] in "nrtbfv" else escape[4]
    code = int(escape[1] or escape[2] or escape[3], 16)
    return chr(code) if 13 < code < 0x110000 else " "
