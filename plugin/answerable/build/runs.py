"""Runs of a note's words, and where a text holds one."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..serve import terms
from . import markup, transcripts
from .notebook import Note

Run = tuple[str, ...]

# Eight words, or as much of a script without spaces, whose characters weigh a third of a word.
WEIGHT = 24
_WORD = 3
# Up to as many characters are faster replaced one by one.
_FEW = 200

_IS_UNSPACED = re.compile(f"([{terms.UNSPACED}])")
# Every ASCII byte to what it is compared as: lower case, and a space for what is no word.
_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b == ord("_") else ord(" ")
    for b in bytes(range(256)).lower()
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
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


def tokens(text: str) -> list[str]:
    """A text's words as they are compared: NFKC, without case, no invisible characters.

    In a script without spaces every character is one.
    """
    if not text.isascii():
        text = _folded(text)
        if _IS_UNSPACED.search(text):
            text = " ".join(_IS_UNSPACED.split(text))
    # A pattern would do the same at a tenth of the speed, and every build reads whole sites.
    spaced = b" %b " % text.encode().translate(_BYTES)
    if b"_" in spaced:
        while b"__" in spaced:
            spaced = spaced.replace(b"__", b"_")
        # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
        spaced = spaced.replace(b" _", b" ").replace(b"_ ", b" ")
    return spaced.decode().split()


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
    return Runs(
        owners=owners,
        lengths=tuple(lengths),
        gram=gram,
        stride=lengths[0] - gram + 1,
        grams=frozenset(run[i : i + gram] for run in owners for i in range(len(run) - gram + 1)),
        shortest=min(sum(map(len, run)) for run in owners),
    )


def _parts(note: Note) -> Iterator[tuple[str, list[str], list[int]]]:
    """The texts of a note, each as its words and what every word weighs."""
    body = tokens(note.body)
    yield "the note", body, _weights(body)
    shown = tokens(markup.plain(note.body))
    if shown != body:
        yield "the note as a page shows it", shown, _weights(shown)
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
    return [1 if _IS_UNSPACED.match(word) else _WORD for word in words]


def _folded(text: str) -> str:
    """A text whose only characters beyond ASCII are those of words, without case."""
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    others = {c: _other(c) for c in set(_NOT_ASCII.findall(text)) if not _is_word(c)}
    if len(others) > _FEW:
        return text.translate({ord(c): other for c, other in others.items()})
    for character, other in others.items():
        text = text.replace(character, other)
    return text


def _is_word(character: str) -> bool:
    return character.isalnum() or _IS_UNSPACED.match(character) is not None


def _other(character: str) -> str:
    """Nothing for what is invisible, and for marks, which would break a word of Hindi or Arabic."""
    category = unicodedata.category(character)
    return "" if category == "Cf" or category[0] == "M" else " "
