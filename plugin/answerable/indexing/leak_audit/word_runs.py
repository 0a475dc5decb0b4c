"""Words as the leak audit compares them.

Runs of a note's words, and where a text holds one.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...serve.text import tokenization
from ..notes.notebook import Note
from ..notes.transcripts import classify_lines, strip_cue_times
from . import markup
from .captions import has_caption_times, strip_caption_times
from .markup import strip_markdown, strip_tags

# Up to as many characters are faster replaced one by one.
_FEW = 200

UNSPACED_CHARACTER = re.compile(f"([{tokenization.UNSPACED}])")
# Every ASCII byte to what it is compared as: lower case, and a space for what is no word.
_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b in b"_\x01" else ord(" ")
    for b in bytes(range(256)).lower()
)
# What may divide two words, and need not: soft breaks and characters without width.
_SOFT = rf"{markup.SOFT_BREAK}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
MAY_BE_DIVIDED = re.compile(rf"[{_SOFT}](?<=\w.)[{_SOFT}]*+(?=\w)", re.S)
# Soft breaks beside a space divide nothing more.
_EDGES = re.compile(rb"(?<= )\x01++|\x01++(?= )")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def split_tokens(text: str) -> list[str]:
    """A text's words as they are compared: NFKC, without case, no invisible characters.

    In a script without spaces every character is one.
    """
    return _split(text, b"\x01").decode().split()


def split_divided_tokens(text: str) -> list[str]:
    """The same words, with a soft break where something invisible may divide two of them."""
    return _split(text, b"").decode().split()


def _split(text: str, dropped: bytes) -> bytes:
    """Fold a text and divide its words by spaces. dropped: the soft breaks, or nothing."""
    if not text.isascii():
        text = _folded(text)
        if UNSPACED_CHARACTER.search(text):
            text = " ".join(UNSPACED_CHARACTER.split(text))
    # A pattern would do the same at a tenth of the speed, and every build reads whole sites.
    spaced = b" %b " % text.encode().translate(_BYTES, dropped)
    if not dropped:
        spaced = _EDGES.sub(b"", spaced)
    if b"_" in spaced:
        while b"__" in spaced:
            spaced = spaced.replace(b"__", b"_")
        # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
        spaced = spaced.replace(b" _", b" ").replace(b"_ ", b" ")
    return spaced


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
    return character.isalnum() or UNSPACED_CHARACTER.match(character) is not None


def _other(character: str) -> str:
    """A soft break for what is invisible; nothing for marks, which Hindi has within words."""
    category = unicodedata.category(character)
    if category == "Cf" or character == markup.SOFT_BREAK:
        return markup.SOFT_BREAK
    return "" if category[0] == "M" else " "


WordRun = tuple[str, ...]

# Eight words, or as much of a script without spaces, whose characters weigh a third of a word.
RUN_WEIGHT = 24
_WORD = 3
_LINE_END = re.compile(f"[\n{markup.HIDDEN_LINE_END}]")


@dataclass(frozen=True, slots=True)
class RunOwner:
    """Where a run stands in a note. note: its index; part: what an error calls the text;
    start and end: its first and last word in it, counted from 1.
    """

    note: int
    part: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RunIndex:
    """All runs of all notes. owners: of each run; shortest: the least characters a run has.

    Every run holds at least one of ``grams`` at a multiple of ``stride``: only there is it looked
    for.
    """

    owners: dict[WordRun, list[RunOwner]] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    gram: int = 1
    stride: int = 1
    grams: frozenset[WordRun] = frozenset()
    shortest: int = 0
    words: frozenset[str] = frozenset()
    longest_word: int = 0

    def find(self, text: str) -> Iterator[tuple[int, WordRun]]:
        """Every run in a text and the number of its first token."""
        if not self.owners or (len(text) < self.shortest and text.isascii()):
            return
        found = split_tokens(text)
        sampled = zip(*(found[i :: self.stride] for i in range(self.gram)), strict=False)
        for at in [n * self.stride for n, gram in enumerate(sampled) if gram in self.grams]:
            for start in range(max(0, at - self.stride + 1), at + 1):
                for length in self.lengths:
                    run = tuple(found[start : start + length])
                    if run in self.owners:
                        yield start, run
        if MAY_BE_DIVIDED.search(text):
            yield from self._find_divided(split_divided_tokens(text))

    def _find_divided(self, divided: Sequence[str]) -> Iterator[tuple[int, WordRun]]:
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
    ) -> Iterator[WordRun]:
        """Every run that begins with a piece of a token, however its soft breaks are read."""
        waiting: list[tuple[WordRun, int, int]] = [((), start, first)]
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

    def _may_begin(self, words: WordRun) -> bool:
        return len(words) < self.gram or words[-self.gram :] in self.grams


def find_line(text: str, token: int) -> int:
    """The line, from 1, that a text's token of that number ends in."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return 1 + bisect_right(ends, token, key=lambda end: len(split_tokens(text[:end])))


def index_runs(notes: Sequence[Note]) -> RunIndex:
    """The runs of every note's body and of a title that is as long as one."""
    owners: dict[WordRun, list[RunOwner]] = {}
    for number, note in enumerate(notes):
        for part, words, weights in _parts(note):
            for start, run in _cut(words, weights):
                held = owners.setdefault(run, [])
                if all(owner.note != number for owner in held):
                    held.append(RunOwner(number, part, start + 1, start + len(run)))
    if not owners:
        return RunIndex()
    lengths = sorted({len(run) for run in owners})
    gram = min(3, lengths[0])
    vocabulary = frozenset(word for run in owners for word in run)
    return RunIndex(
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
    body = split_tokens(note.body)
    yield "the note", body, _weights(body)
    shown = split_tokens(strip_markdown(note.body))
    if shown != body:
        yield "the note as a page shows it", shown, _weights(shown)
    if has_caption_times(note.body):
        untimed = split_tokens(strip_caption_times(strip_markdown(note.body)))
        yield "the note without its times", untimed, _weights(untimed)
    title = split_tokens(note.title)
    if sum(_weights(title)) >= RUN_WEIGHT:
        yield "the note's title", title, _weights(title)
    if note.raw:
        untimed = split_tokens(strip_cue_times(note.raw))
        yield "the note without its times", untimed, _weights(untimed)
        yield "the note with its times", *_timed(note.raw)


def _timed(raw: str) -> tuple[list[str], list[int]]:
    """A transcript as it stands. Times weigh nothing: other transcripts have the same."""
    words: list[str] = []
    weights: list[int] = []
    for line, is_prose in classify_lines(strip_tags(raw.replace("-->", " \u2192 "))):
        held = split_tokens(line)
        words += held
        weights += _weights(held) if is_prose else [0] * len(held)
    return words, weights


def _cut(words: Sequence[str], weights: Sequence[int]) -> Iterator[tuple[int, WordRun]]:
    """Every shortest sequence that weighs a run; all words of a text that weighs less."""
    least = min(RUN_WEIGHT, sum(weights))
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
    return [1 if UNSPACED_CHARACTER.match(word) else _WORD for word in words]
