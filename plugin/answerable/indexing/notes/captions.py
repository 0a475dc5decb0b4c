"""Strip times and tags from caption text, every line kept in place; decode character references."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

# Stands for a tag within a line, which may divide two words or interrupt one.
SOFT_BREAK = "\x01"
# Each stops at the next bracket: a file of nothing but `<` is read in linear time.
CUE_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[0-9][0-9:.]*>|\{\\[^{}]*\}")

# A reference to a line feed adds no line to the file that holds it.
_LINE_ENDS = str.maketrans("\n\r", "  ")
# A number has no end but its last digit: `&#1001` is one character, and not `&#10` and `01`.
_REFERENCE = re.compile(r"&(?:#(?:[xX][0-9a-fA-F]++|[0-9]++)|[a-zA-Z][a-zA-Z0-9]{0,31}+);?")
_REPLACEMENT = "\ufffd"
# More digits than the highest code point has, which int() need not read.
_MAX_DIGITS = 8

_CUE_TIMES = re.compile(r"\s*[0-9][0-9:.,]*\s*(?:-->|\u2192)\s*[0-9]")
_CUE_ARROW = re.compile(r"-->[ \t]*[0-9]")
_NOT_PROSE = re.compile(r"(?:WEBVTT|STYLE|REGION)\b")

# Hours, minutes, seconds and frames, with the fraction that may follow.
_TIME = re.compile(r"(?<![\w:])\d{1,3}(?::\d\d){1,3}(?:[.,]\d{1,3})?(?![\w:])")
# Of every time, the colon and what follows: a pattern that begins with a letter is fast.
_MINUTE = re.compile(r":\d\d(?<=\d:\d\d)")
# A single time may be of anything; two may be of cues.
_MIN_TIMES = 2
# Events of SubStation Alpha: fields before the text, which is the last one.
_EVENT = re.compile(r"^[ \t]*(?:Dialogue|Comment):", re.M)
_FORMAT = re.compile(r"^[ \t]*Format:(.*),[ \t]*Text[ \t]*\r?$", re.M)
_DEFAULT_FIELDS = 9
_OVERRIDE = re.compile(r"\{[^{}\n]*\}")
_LINE_BREAK = re.compile(r"\\[Nnh]")


def decode_character_references(text: str) -> str:
    """Decode every HTML character reference once, as a browser does.

    One to a line feed becomes a space. Numbers are read as in HTML 13.2.5.80: those from 0x80 to
    0x9f are of Windows-1252.
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
    if not digits or len(digits) > _MAX_DIGITS:
        return _REPLACEMENT
    code = int(digits, base)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:
        # The five bytes that Windows-1252 leaves free are controls, as in Latin-1.
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code).translate(_LINE_ENDS)


def has_cue_times(text: str) -> bool:
    """Tell whether a text has times with arrows, as WebVTT and SubRip have them."""
    return _CUE_ARROW.search(text) is not None


def classify_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Pair every line of a WebVTT or SubRip file with True if it is prose: a caption or comment.

    The arrow of a time line may be `→`.
    """
    lines = text.split("\n")
    has_times = [_CUE_TIMES.match(line) is not None for line in lines]
    # By line: whether the next line that is not empty has times.
    precedes_times = [False] * len(lines)
    is_followed = False
    for row in range(len(lines) - 1, -1, -1):
        precedes_times[row] = is_followed
        is_followed = has_times[row] if lines[row].strip() else is_followed
    is_style = False
    for row, line in enumerate(lines):
        stripped = line.strip()
        begins_block = row == 0 or not lines[row - 1].strip()
        if has_times[row]:
            is_style = False
        elif begins_block:
            is_style = _NOT_PROSE.match(stripped) is not None
        is_cue_id = precedes_times[row] and (
            stripped.isdigit() or (begins_block and has_times[row + 1])
        )
        yield line, bool(stripped) and not (is_style or has_times[row] or is_cue_id)


def strip_cue_times(text: str) -> str:
    """Keep the prose of a WebVTT or SubRip file on the lines where it stands, without tags."""
    prose = "\n".join(line if is_prose else "" for line, is_prose in classify_lines(text))
    without_tags = CUE_TAG.sub(lambda tag: "\n" * tag[0].count("\n"), prose)
    return decode_character_references(without_tags)


def has_caption_times(text: str) -> bool:
    """Tell whether a text may hold captions with times of any format."""
    # Few texts have what looks like minutes, and only those are looked at closely.
    return all(
        len(list(islice(pattern.finditer(text), _MIN_TIMES))) == _MIN_TIMES
        for pattern in (_MINUTE, _TIME)
    )


def strip_caption_times(text: str) -> str:
    """Remove times, and the fields and styles of SubStation Alpha; every line stays in place."""
    if _EVENT.search(text):
        formats = _FORMAT.findall(text)
        count = formats[-1].count(",") + 1 if formats else _DEFAULT_FIELDS
        fields = re.compile(rf"{_EVENT.pattern}(?:[^,\n]*,){{{count}}}", re.M)
        text = fields.sub("", text)
        text = _LINE_BREAK.sub(" ", _OVERRIDE.sub(SOFT_BREAK, text))
    return _TIME.sub("", text)
