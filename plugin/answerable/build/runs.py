"""Runs of a note's words, and where a text holds one."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from . import captions, markup, transcripts
from .notebook import Note
from .tokens import MAY_BE_DIVIDED, UNSPACED, divided_tokens, tokens

Run = tuple[str, ...]

# Eight words, or as much of a script without spaces, whose characters weigh a third of a word.
WEIGHT = 24
_WORD = 3
_LINE_END = re.compile(f"[\n{markup.HIDDEN_LINE_END}]")


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a run stands in a note. note: its index; part: what an error calls the text;
    start and end: its first and last word in it, counted from 1.
    """

    note: int
    part: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of all notes. owners: of each run; shortest: the least characters a run has.

    Every run holds at least one of ``grams`` at a multiple of ``stride``: only there is it looked
    for.
    """

    owners: dict[Run, list[Owner]] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    gram: int = 1
    stride: int = 1
    grams: frozenset[Run] = frozenset()
    shortest: int = 0
    words: frozenset[str] = frozenset()
    longest_word: int = 0

    def find(self, text: str) -> Iterator[tuple[int, Run]]:
        """Every run in a text and the number of its first token."""
        if not self.owners or (len(text) < self.shortest and text.isascii()):
            return
        found = tokens(text)
        sampled = zip(*(found[i :: self.stride] for i in range(self.gram)), strict=False)
        for at in [n * self.stride for n, gram in enumerate(sampled) if gram in self.grams]:
            for start in range(max(0, at - self.stride + 1), at + 1):
                for length in self.lengths:
                    run = tuple(found[start : start + length])
                    if run in self.owners:
                        yield start, run
        if MAY_BE_DIVIDED.search(text):
            yield from self._find_divided(divided_tokens(text))

    def _find_divided(self, divided: Sequence[str]) -> Iterator[tuple[int, Run]]:
        """Every run in tokens with soft breaks, each of which may divide two words or none."""
        longest = self.lengths[-1]
        pieces: dict[int, list[str]] = {}
        for at, token in enumerate(divided):
            if markup.SOFT_BREAK in token:
                for near in range(max(0, at - longest + 1), min(at + longest, len(divided))):
                    if near not in pieces:
                        pieces[near] = divided[near].split(markup.SOFT_BREAK)
        for start, parts in pieces.items():
            if len(parts) == 1 and parts[0] not in self.words:
                continue
            for piece in range(len(parts)):
                for run in self._runs_from(pieces, start, piece):
                    yield start, run

    def _runs_from(
        self, pieces: Mapping[int, Sequence[str]], start: int, first: int
    ) -> Iterator[Run]:
        """Every run that begins with a piece of a token, however its soft breaks are read."""
        waiting: list[tuple[Run, int, int]] = [((), start, first)]
        while waiting:
            words, token, piece = waiting.pop()
            joined = ""
            for end in range(piece + 1, len(pieces[token]) + 1):
                joined += pieces[token][end - 1]
                if len(joined) > self.longest_word:
                    break
                run = (*words, joined.strip("_"))
                if run[-1] not in self.words or not self._may_begin(run):
                    continue
                if run in self.owners:
                    yield run
                after = (token + 1, 0) if end == len(pieces[token]) else (token, end)
                if len(run) < self.lengths[-1] and after[0] in pieces:
                    waiting.append((run, *after))

    def _may_begin(self, words: Run) -> bool:
        return len(words) < self.gram or words[-self.gram :] in self.grams


def line(text: str, token: int) -> int:
    """The line, from 1, that a text's token of that number ends in."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return 1 + bisect_right(ends, token, key=lambda end: len(tokens(text[:end])))


def of(notes: Sequence[Note]) -> Runs:
    """The runs of every note's body and of a title that is as long as one."""
    owners: dict[Run, list[Owner]] = {}
    for number, note in enumerate(notes):
        for part, words, weights in _parts(note):
            for start, run in _cut(words, weights):
                held = owners.setdefault(run, [])
                if all(owner.note != number for owner in held):
                    held.append(Owner(number, part, start + 1, start + len(run)))
    if not owners:
        return Runs()
    lengths = sorted({len(run) for run in owners})
    gram = min(3, lengths[0])
    vocabulary = frozenset(word for run in owners for word in run)
    return Runs(
        owners=owners,
        lengths=tuple(lengths),
        gram=gram,
        stride=lengths[0] - gram + 1,
        grams=frozenset(run[i : i + gram] for run in owners for i in range(len(run) - gram + 1)),
        shortest=min(sum(map(len, run)) for run in owners),
        words=vocabulary,
        longest_word=max(map(len, vocabulary)),
    )


def _parts(note: Note) -> Iterator[tuple[str, list[str], list[int]]]:
    """The texts of a note, each as its words and what every word weighs."""
    body = tokens(note.body)
    yield "the note", body, _weights(body)
    shown = tokens(markup.plain(note.body))
    if shown != body:
        yield "the note as a page shows it", shown, _weights(shown)
    if captions.is_timed(note.body):
        untimed = tokens(captions.untimed(markup.plain(note.body)))
        yield "the note without its times", untimed, _weights(untimed)
    title = tokens(note.title)
    if sum(_weights(title)) >= WEIGHT:
        yield "the note's title", title, _weights(title)
    if note.raw:
        untimed = tokens(transcripts.untimed(note.raw))
        yield "the note without its times", untimed, _weights(untimed)
        yield "the note with its times", *_timed(note.raw)


def _timed(raw: str) -> tuple[list[str], list[int]]:
    """A transcript as it stands. Times weigh nothing: other transcripts have the same."""
    words: list[str] = []
    weights: list[int] = []
    for line, is_prose in transcripts.told(markup.untagged(raw.replace("-->", " \u2192 "))):
        held = tokens(line)
        words += held
        weights += _weights(held) if is_prose else [0] * len(held)
    return words, weights


def _cut(words: Sequence[str], weights: Sequence[int]) -> Iterator[tuple[int, Run]]:
    """Every shortest sequence that weighs a run; all words of a text that weighs less."""
    least = min(WEIGHT, sum(weights))
    end = weight = 0
    for start, own in enumerate(weights):
        if not own:
            continue
        while weight < least:
            if end == len(words):
                return
            weight += weights[end]
            end += 1
        yield start, tuple(words[start:end])
        weight -= own


def _weights(words: Iterable[str]) -> list[int]:
    return [1 if UNSPACED.match(word) else _WORD for word in words]
