"""Transcripts and captions as notes whose windows are located by time."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from webvtt import WebVTT
from webvtt.errors import MalformedCaptionError, MalformedFileError

from ...serve.errors import NotebookError
from .note_lint import ErrorCollector

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
_NOT_PROSE = re.compile(r"(?:WEBVTT|STYLE|REGION)\b")


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


TranscriptFormat = Literal["vtt", "srt"]

# The parser drops a cue whose times it cannot read and says nothing: these are all that it reads.
_TIMES = {
    "vtt": re.compile(
        r"\s*{0}\s*-->\s*{0}".format(r"(?:[0-9]{1,9}:)?[0-5]?[0-9]:[0-5]?[0-9]\.[0-9]{1,3}")
    ),
    "srt": re.compile(
        r"\s*{0}\s*-->\s*{0}".format(r"[0-9]{1,9}:[0-9]{1,2}:[0-9]{1,2}[,.][0-9]{1,9}")
    ),
}
_EXAMPLES = {"vtt": "00:01.000 --> 00:04.000", "srt": "00:00:01,000 --> 00:00:04,000"}

# It stops at the next bracket: a file of nothing but `<` is read in linear time.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]*)>")

# A line that appears again after a longer silence was said again.
_MAX_GAP_SECONDS = 1.0
# No caption rolls up more, and comparing all lines of a cue of thousands takes quadratic time.
_MAX_ROLLED_LINES = 8


@dataclass(frozen=True, slots=True)
class Cue:
    """Something said; ``start`` and ``end`` are seconds, and no end is before its start."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _SpokenLine:
    """A line of a caption and who says it, where the file tells."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class _Caption:
    """Lines that are on the screen from ``start`` to ``end``, in seconds."""

    lines: tuple[_SpokenLine, ...]
    start: float
    end: float


def parse_transcript(
    text: str, kind: TranscriptFormat, name: str, first: int = 1
) -> tuple[Cue, ...]:
    """Parse every cue in the order of time, at least one; lines of rolling captions appear once.

    A speaker that the file names is put before what he or she says. first: the number of the
    text's first line in the file. NotebookError gives the file's name and, where known, the line.
    """
    content = text.lstrip().removeprefix("\ufeff")
    first += text.count("\n", 0, len(text) - len(content))
    lines = content.split("\n")
    if kind == "srt":
        lines = [line.strip() for line in lines]
    _check_cues(lines, kind, name, first)
    try:
        parsed = WebVTT.from_buffer(lines, format=kind).captions
    except MalformedFileError:
        begin = "`WEBVTT`" if kind == "vtt" else "the number of a cue, with its times below it"
        raise NotebookError(f"{name}: line {first} has to be {begin}; correct it") from None
    except MalformedCaptionError:
        raise NotebookError(f"{name}: a cue cannot be read; correct or remove it") from None
    captions = [
        _Caption(
            tuple(_parse_lines(caption.raw_text)),
            caption.start_time.in_milliseconds() / 1000,
            max(caption.start_time, caption.end_time).in_milliseconds() / 1000,
        )
        for caption in parsed
    ]
    cues = tuple(_name_speakers(_unroll(sorted(captions, key=lambda caption: caption.start))))
    if not cues:
        raise NotebookError(f"{name}: it has no cue that says anything; remove or complete it")
    return cues


def _check_cues(lines: Sequence[str], kind: TranscriptFormat, name: str, first: int) -> None:
    """Refuse what the parser would drop; the error has a line for each such line."""
    errors = ErrorCollector()
    for row, line in enumerate(lines):
        if "-->" not in line or (kind == "vtt" and line.startswith("NOTE")):
            continue
        where = f"{name}: line {first + row}"
        has_times = _TIMES[kind].match(line) and line.count("-->") == 1
        if not has_times and (kind == "vtt" or _is_meant_as_times(lines, row)):
            errors.add_error(f"{where} has no times such as `{_EXAMPLES[kind]}`; correct it")
        if has_times and kind == "srt" and not _is_numbered(lines, row):
            errors.add_error(f"{where} has times, and no number of a cue above it; add one")
    errors.report()


def _is_meant_as_times(lines: Sequence[str], row: int) -> bool:
    """Tell whether a SubRip line with an arrow is meant as times, not spoken."""
    above = lines[row - 1] if row else ""
    before = lines[row].partition("-->")[0]
    return not above or above.isdigit() or not before.strip("0123456789:., \t")


def _is_numbered(lines: Sequence[str], row: int) -> bool:
    """Tell whether a number stands above some times, or alone above the empty lines above them."""
    at = row - 1
    while at > 0 and not lines[at]:
        at -= 1
    is_alone = at == row - 1 or at == 0 or not lines[at - 1]
    return at >= 0 and lines[at].isdigit() and is_alone


def _parse_lines(text: str) -> Iterator[_SpokenLine]:
    speaker = ""
    for line in text.split("\n"):
        # Text and speakers in turn: what stands before a voice is said by the one before it.
        first, *voices = _VOICE.split(line)
        for name, part in zip([None, *voices[::2]], [first, *voices[1::2]], strict=True):
            speaker = speaker if name is None else _strip_tags(name)
            if words := _strip_tags(part):
                yield _SpokenLine(speaker, words)


def _strip_tags(text: str) -> str:
    return " ".join(decode_character_references(CUE_TAG.sub("", text)).split())


def _unroll(captions: Iterable[_Caption]) -> Iterator[_Caption]:
    """Drop the lines that the caption before has shown already, as rolling captions repeat them."""
    last: _Caption | None = None
    pending: _Caption | None = None
    for caption in captions:
        if not caption.lines:
            continue
        lines = caption.lines
        if last and caption.start <= last.end + _MAX_GAP_SECONDS:
            lines = _new_lines(last.lines, lines)
        last = caption
        if lines or pending is None:
            if pending:
                yield pending
            pending = replace(caption, lines=lines)
        else:
            pending = replace(pending, end=max(pending.end, caption.end))
    if pending:
        yield pending


def _new_lines(
    shown: Sequence[_SpokenLine], lines: tuple[_SpokenLine, ...]
) -> tuple[_SpokenLine, ...]:
    """Select the lines that were not shown yet; the last one shown may have grown."""
    for count in range(min(len(shown), len(lines), _MAX_ROLLED_LINES), 0, -1):
        *same, grown = lines[:count]
        *old, last = shown[-count:]
        if same != old or grown.speaker != last.speaker:
            continue
        if grown.text == last.text:
            return lines[count:]
        if grown.text.startswith(f"{last.text} "):
            added = _SpokenLine(grown.speaker, grown.text[len(last.text) + 1 :])
            return (added, *lines[count:])
    return lines


def _name_speakers(captions: Iterable[_Caption]) -> Iterator[Cue]:
    """Join each caption's lines; a speaker is named once, where he or she begins."""
    speaker = ""
    for caption in captions:
        words = []
        for line in caption.lines:
            begins = line.speaker and line.speaker != speaker
            words.append(f"{line.speaker}: {line.text}" if begins else line.text)
            speaker = line.speaker
        yield Cue(" ".join(words), caption.start, caption.end)
