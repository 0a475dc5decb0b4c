"""Transcripts: what is said in a WebVTT or SubRip file, and when."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from webvtt import WebVTT
from webvtt.errors import MalformedCaptionError, MalformedFileError

from ...serve.errors import NotebookError
from ..leak_audit.markup import decode_character_references
from .note_lint import ErrorCollector

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

# Each stops at the next bracket: a file of nothing but `<` is read in linear time.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]*)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[0-9][0-9:.]*>|\{\\[^{}]*\}")

_TIMED = re.compile(r"\s*[0-9][0-9:.,]*\s*(?:-->|\u2192)\s*[0-9]")
_TO = re.compile(r"-->[ \t]*[0-9]")
_NOT_SAID = re.compile(r"(?:WEBVTT|STYLE|REGION)\b")

# A line that stands again after a longer silence was said again.
_GAP = 1.0
# No caption rolls up more, and comparing all lines of a cue of thousands takes quadratic time.
_ROLLED = 8


@dataclass(frozen=True, slots=True)
class Cue:
    """Something said; ``start`` and ``end`` are seconds, and no end is before its start."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a caption and who says it, where the file tells."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class _Caption:
    """What is on the screen from ``start`` to ``end``, in seconds."""

    lines: tuple[_Line, ...]
    start: float
    end: float


def parse_transcript(
    text: str, kind: TranscriptFormat, name: str, first: int = 1
) -> tuple[Cue, ...]:
    """Every cue of a transcript in the order of time, at least one; rolling captions said once.

    A speaker that the file names is put before what he or she says. first: the number of the
    text's first line in the file. NotebookError gives the file's name and, where known, the line.
    """
    told = text.lstrip().removeprefix("\ufeff")
    first += text.count("\n", 0, len(text) - len(told))
    lines = told.split("\n")
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
    cues = tuple(_read_aloud(_unroll(sorted(captions, key=lambda caption: caption.start))))
    if not cues:
        raise NotebookError(f"{name}: it has no cue that says anything; remove or complete it")
    return cues


def has_cue_times(text: str) -> bool:
    """Whether a text has times as a transcript has them."""
    return _TO.search(text) is not None


def classify_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Every line of a transcript, and whether it is prose: a caption or a comment.

    The arrow of a time line may be `→`.
    """
    lines = text.split("\n")
    timed = [_TIMED.match(line) is not None for line in lines]
    following = False
    # Whether the next line that is not empty has times, by line.
    before_times = [False] * len(lines)
    for row in range(len(lines) - 1, -1, -1):
        before_times[row] = following
        following = timed[row] if lines[row].strip() else following
    is_style = False
    for row, line in enumerate(lines):
        text = line.strip()
        begins = row == 0 or not lines[row - 1].strip()
        is_style = not timed[row] and (_NOT_SAID.match(text) is not None if begins else is_style)
        names = before_times[row] and (text.isdigit() or (begins and timed[row + 1]))
        yield line, bool(text) and not (is_style or timed[row] or names)


def strip_cue_times(text: str) -> str:
    """The prose of a transcript on the lines where it stands, without tags."""
    said = "\n".join(line if is_prose else "" for line, is_prose in classify_lines(text))
    return decode_character_references(_TAG.sub(lambda tag: "\n" * tag[0].count("\n"), said))


def _check_cues(lines: Sequence[str], kind: TranscriptFormat, name: str, first: int) -> None:
    """Refuse what the parser would drop; the error has a line for each such line."""
    mistakes = ErrorCollector()
    for row, line in enumerate(lines):
        if "-->" not in line or (kind == "vtt" and line.startswith("NOTE")):
            continue
        timed = _TIMES[kind].match(line) and line.count("-->") == 1
        if not timed and (kind == "vtt" or _is_meant_as_times(lines, row)):
            mistakes.add(
                NotebookError(
                    f"{name}: line {first + row} has no times such as `{_EXAMPLES[kind]}`; "
                    "correct it"
                )
            )
        if timed and kind == "srt" and not _is_numbered(lines, row):
            mistakes.add(
                NotebookError(
                    f"{name}: line {first + row} has times, and no number of a cue above it; "
                    "add one"
                )
            )
    mistakes.report()


def _is_meant_as_times(lines: Sequence[str], row: int) -> bool:
    """Whether a line of SubRip with an arrow is none that is said."""
    above = lines[row - 1] if row else ""
    before = lines[row].partition("-->")[0]
    return not above or above.isdigit() or not before.strip("0123456789:., \t")


def _is_numbered(lines: Sequence[str], row: int) -> bool:
    """Whether a number stands above some times, or alone above the empty lines above them."""
    at = row - 1
    while at > 0 and not lines[at]:
        at -= 1
    alone = at == row - 1 or at == 0 or not lines[at - 1]
    return at >= 0 and lines[at].isdigit() and alone


def _parse_lines(text: str) -> Iterator[_Line]:
    speaker = ""
    for line in text.split("\n"):
        # Text and speakers in turn: what stands before a voice is said by the one before it.
        told, *voices = _VOICE.split(line)
        for name, said in zip([None, *voices[::2]], [told, *voices[1::2]], strict=True):
            speaker = speaker if name is None else _plain(name)
            if plain := _plain(said):
                yield _Line(speaker, plain)


def _plain(text: str) -> str:
    return " ".join(decode_character_references(_TAG.sub("", text)).split())


def _unroll(captions: Iterable[_Caption]) -> Iterator[_Caption]:
    """Captions without the lines that the one before them has shown already."""
    last: _Caption | None = None
    kept: _Caption | None = None
    for caption in captions:
        if not caption.lines:
            continue
        lines = caption.lines
        if last and caption.start <= last.end + _GAP:
            lines = _new_lines(last.lines, lines)
        last = caption
        if lines or kept is None:
            if kept:
                yield kept
            kept = replace(caption, lines=lines)
        else:
            kept = replace(kept, end=max(kept.end, caption.end))
    if kept:
        yield kept


def _new_lines(shown: Sequence[_Line], lines: tuple[_Line, ...]) -> tuple[_Line, ...]:
    """The lines that were not shown yet; the last one shown may have grown."""
    for count in range(min(len(shown), len(lines), _ROLLED), 0, -1):
        *same, grown = lines[:count]
        *old, last = shown[-count:]
        if same != old or grown.speaker != last.speaker:
            continue
        if grown.text == last.text:
            return lines[count:]
        if grown.text.startswith(f"{last.text} "):
            rest = _Line(grown.speaker, grown.text[len(last.text) + 1 :])
            return (rest, *lines[count:])
    return lines


def _read_aloud(captions: Iterable[_Caption]) -> Iterator[Cue]:
    """Captions as they are read aloud: a speaker is named once, where he or she begins."""
    speaker = ""
    for caption in captions:
        words = []
        for line in caption.lines:
            named = line.speaker and line.speaker != speaker
            words.append(f"{line.speaker}: {line.text}" if named else line.text)
            speaker = line.speaker
        yield Cue(" ".join(words), caption.start, caption.end)
