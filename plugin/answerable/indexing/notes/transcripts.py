"""Transcripts: WebVTT and SubRip files, read as what is said and when."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape

from ...engine.errors import NotebookError
from ...engine.text.tokenization import count_words

TRANSCRIPT_SUFFIXES = (".vtt", ".srt")

_TIME = r"(?:([0-9]{1,9}):)?([0-5]?[0-9]):([0-5]?[0-9][.,][0-9]{1,9})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s[^>]*)?")
# Blocks of WebVTT in which nothing is said.
_UNSPOKEN = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b")
# Each stops at the next bracket: a file of nothing but `<` is read in linear time.
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[0-9][0-9:.]*>|\{\\[^{}]*\}")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]*)>")
# No number has more digits, and int() need not read them.
_REFERENCE = re.compile(r"&#?\w{1,32};")

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

    @property
    def words(self) -> int:
        """Count its words."""
        return count_words(self.text)


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


def parse_transcript(text: str, name: str, first: int = 1) -> tuple[Cue, ...]:
    """Parse every cue in the order of time, at least one; lines of rolling captions appear once.

    A speaker that the file names is put before what he or she says. first: the number of the
    text's first line in the file. NotebookError gives the file's name and, where known, the line.
    """
    captions = sorted(_read_captions(text, name, first), key=lambda caption: caption.start)
    cues = tuple(_name_speakers(_unroll(captions)))
    if not cues:
        raise NotebookError(f"{name}: it has no cue that says anything; remove or complete it")
    return cues


def _read_captions(text: str, name: str, first: int) -> Iterator[_Caption]:
    """Read the blocks of a file, which empty lines divide: times, and what is said then."""
    lines = text.replace("\ufeff", "").split("\n")
    start = 0
    for end in (row for row, line in enumerate([*lines, ""]) if not line):
        block, start, number = lines[start:end], end + 1, first + start
        arrows = [row for row, line in enumerate(block) if "-->" in line]
        is_unspoken = not block or _UNSPOKEN.match(block[0])
        if is_unspoken and (not arrows or block[0].startswith("NOTE")):
            continue
        at = arrows[0] if arrows else 0
        times = _TIMES.fullmatch(block[at])
        if times is None or len(arrows) > 1:
            wrong = arrows[1] if times else at
            raise NotebookError(
                f"{name}, line {number + wrong}: write times such as `00:00:01.000 --> "
                "00:00:04.000`, the words on the lines below them, and then an empty line"
            )
        begins, ends = _count_seconds(*times.groups()[:3]), _count_seconds(*times.groups()[3:])
        yield _Caption(tuple(_parse_lines(block[at + 1 :])), begins, max(begins, ends))


def _count_seconds(hours: str | None, minutes: str, seconds: str) -> float:
    milliseconds = round(float(seconds.replace(",", ".")) * 1000)
    return (int(hours or 0) * 3_600_000 + int(minutes) * 60_000 + milliseconds) / 1000


def _parse_lines(lines: Iterable[str]) -> Iterator[_SpokenLine]:
    speaker = ""
    for line in lines:
        # Text and speakers in turn: what stands before a voice is said by the one before it.
        first, *voices = _VOICE.split(line)
        for name, part in zip([None, *voices[::2]], [first, *voices[1::2]], strict=True):
            speaker = speaker if name is None else _strip_tags(name)
            if words := _strip_tags(part):
                yield _SpokenLine(speaker, words)


def _strip_tags(text: str) -> str:
    shown = _REFERENCE.sub(lambda reference: unescape(reference[0]), _TAG.sub("", text))
    return " ".join(shown.split())


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
