"""Cut private notes into runs of words (eight, or a short note's all), and find these in a text."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ...serve.embedders.local_embedder import SPACE
from ...serve.text.tokenization import UNSPACED
from ..local_model import open_local_embedder
from ..notes.notebook import Note
from ..notes.transcripts import (
    SOFT_BREAK,
    classify_lines,
    has_caption_times,
    strip_caption_times,
    strip_cue_times,
)
from .markup import HIDDEN_LINE_END, strip_markdown, strip_tags

WordRun = tuple[str, ...]

# Eight words, or as much of a script without spaces, whose characters weigh a third of a word.
RUN_WEIGHT = 24
_WORD_WEIGHT = 3
# A note's whole text is a short run if it has fewer words or characters than these.
_SHORT_WORDS = 5
_SHORT_CHARACTERS = 24
# A shorter word is an abbreviation or a number that could stand anywhere.
_MIN_RARE_LETTERS = 4
_MAX_GRAM_LENGTH = 3

_UNSPACED_CHARACTER = re.compile(f"([{UNSPACED}])")
_LINE_END = re.compile(f"[\n{HIDDEN_LINE_END}]")
# Every ASCII byte as it is compared: lower case, and a space for what is no word.
_FOLDED_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b in b"_\x01" else ord(" ")
    for b in bytes(range(256)).lower()
)
# What may divide two words, and need not: soft breaks and characters without width.
_SOFT = rf"{SOFT_BREAK}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_MAY_BE_DIVIDED = re.compile(rf"[{_SOFT}](?<=\w.)[{_SOFT}]*+(?=\w)", re.S)
# Soft breaks beside a space divide nothing more.
_BESIDE_SPACE = re.compile(rb"(?<= )\x01++|\x01++(?= )")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class RunOwner:
    """The place of a run in a note. note: its index; part: what an error calls the text;
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
    gram_length: int = 1
    stride: int = 1
    grams: frozenset[WordRun] = frozenset()
    shortest: int = 0
    words: frozenset[str] = frozenset()
    longest_word: int = 0

    def find(self, text: str) -> Iterator[tuple[int, WordRun]]:
        """Find every run in a text; yields the number of its first token with it."""
        if not self.owners or (len(text) < self.shortest and text.isascii()):
            return
        tokens = split_tokens(text)
        yield from self._find_in(tokens)
        if "_" in text and "_" in (joined := " ".join(tokens)):
            # Words in an id or a link may be joined by it.
            parts = joined.replace("_", " ").split(" ")
            # Where each token ends is counted only for a text that holds a run.
            if runs := list(self._find_in(parts)):
                ends = list(accumulate(token.count("_") + 1 for token in tokens))
                yield from ((bisect_right(ends, start), run) for start, run in runs)
        if _MAY_BE_DIVIDED.search(text):
            yield from self._find_divided(_fold_and_space(text, b"").decode().split())

    def _find_in(self, tokens: Sequence[str]) -> Iterator[tuple[int, WordRun]]:
        sampled = zip(*(tokens[i :: self.stride] for i in range(self.gram_length)), strict=False)
        for at in [n * self.stride for n, gram in enumerate(sampled) if gram in self.grams]:
            for start in range(max(0, at - self.stride + 1), at + 1):
                for length in self.lengths:
                    run = tuple(tokens[start : start + length])
                    if run in self.owners:
                        yield start, run

    def _find_divided(self, tokens: Sequence[str]) -> Iterator[tuple[int, WordRun]]:
        """Find every run in tokens with soft breaks, each of which may divide two words or none."""
        longest = self.lengths[-1]
        pieces: dict[int, list[str]] = {}
        for at, token in enumerate(tokens):
            if SOFT_BREAK in token:
                for near in range(max(0, at - longest + 1), min(at + longest, len(tokens))):
                    if near not in pieces:
                        pieces[near] = tokens[near].split(SOFT_BREAK)
        for start, parts in pieces.items():
            if len(parts) == 1 and parts[0] not in self.words:
                continue
            for piece in range(len(parts)):
                if piece == len(parts) - 1 and parts[piece].strip("_") not in self.words:
                    continue
                for run in self._runs_from(pieces, start, piece):
                    yield start, run

    def _runs_from(
        self, pieces: Mapping[int, Sequence[str]], start: int, first: int
    ) -> Iterator[WordRun]:
        """Find the runs that begin with a piece of a token, however its soft breaks are read."""
        stack: list[tuple[WordRun, int, int]] = [((), start, first)]
        while stack:
            words, token, piece = stack.pop()
            joined = ""
            for end in range(piece + 1, len(pieces[token]) + 1):
                joined += pieces[token][end - 1]
                if len(joined) > self.longest_word:
                    break
                run = (*words, joined.strip("_"))
                gram = run[-self.gram_length :]
                if run[-1] not in self.words or (
                    len(run) >= self.gram_length and gram not in self.grams
                ):
                    continue
                if run in self.owners:
                    yield run
                following = (token + 1, 0) if end == len(pieces[token]) else (token, end)
                if len(run) < self.lengths[-1] and following[0] in pieces:
                    stack.append((run, *following))


def index_runs(notes: Sequence[Note]) -> RunIndex:
    """Index the runs of every note's body, and of a title that is as long as a run."""
    owners: dict[WordRun, list[RunOwner]] = {}
    for number, note in enumerate(notes):
        for part, words, weights in _iter_parts(note):
            for start, run in cut_runs(words, weights, min(RUN_WEIGHT, sum(weights))):
                run_owners = owners.setdefault(run, [])
                if all(owner.note != number for owner in run_owners):
                    run_owners.append(RunOwner(number, part, start + 1, start + len(run)))
    if not owners:
        return RunIndex()
    lengths = sorted({len(run) for run in owners})
    gram_length = min(_MAX_GRAM_LENGTH, lengths[0])
    vocabulary = frozenset(word for run in owners for word in run)
    return RunIndex(
        owners=owners,
        lengths=tuple(lengths),
        gram_length=gram_length,
        stride=lengths[0] - gram_length + 1,
        grams=frozenset(
            run[i : i + gram_length] for run in owners for i in range(len(run) - gram_length + 1)
        ),
        shortest=min(sum(map(len, run)) for run in owners),
        words=vocabulary,
        longest_word=max(map(len, vocabulary)),
    )


def _iter_parts(note: Note) -> Iterator[tuple[str, list[str], list[int]]]:
    """Yield the texts of a note: a name for errors, the words and the weight of each."""
    body = split_tokens(note.body)
    yield "the note", body, weigh_tokens(body)
    visible = split_tokens(strip_markdown(note.body))
    if visible != body:
        yield "the note as a page shows it", visible, weigh_tokens(visible)
    if has_caption_times(note.body):
        untimed = split_tokens(strip_caption_times(strip_markdown(note.body)))
        yield "the note without its times", untimed, weigh_tokens(untimed)
    title = split_tokens(note.title)
    if sum(weigh_tokens(title)) >= RUN_WEIGHT:
        yield "the note's title", title, weigh_tokens(title)
    if note.raw:
        untimed = split_tokens(strip_cue_times(note.raw))
        yield "the note without its times", untimed, weigh_tokens(untimed)
        yield "the note with its times", *_weigh_timed(note.raw)


def _weigh_timed(raw: str) -> tuple[list[str], list[int]]:
    """Split a transcript with its times. They weigh nothing: other transcripts have the same."""
    words: list[str] = []
    weights: list[int] = []
    for line, is_prose in classify_lines(strip_tags(raw.replace("-->", " \u2192 "))):
        tokens = split_tokens(line)
        words += tokens
        weights += weigh_tokens(tokens) if is_prose else [0] * len(tokens)
    return words, weights


def cut_runs(
    words: Sequence[str], weights: Sequence[int], least: int
) -> Iterator[tuple[int, WordRun]]:
    """Cut every shortest sequence of words with a least weight; yields the start of each with it.

    None begins with a word that weighs nothing.
    """
    end = weight = 0
    for start, own_weight in enumerate(weights):
        if not own_weight:
            continue
        while weight < least:
            if end == len(words):
                return
            weight += weights[end]
            end += 1
        yield start, tuple(words[start:end])
        weight -= own_weight


def weigh_tokens(tokens: Iterable[str]) -> list[int]:
    """Weigh a character of a script without spaces as a third of a word."""
    return [1 if _UNSPACED_CHARACTER.match(token) else _WORD_WEIGHT for token in tokens]


def is_short(run: WordRun) -> bool:
    """Tell whether a run, a short note's all, may stand anywhere by chance."""
    weights = weigh_tokens(run)
    if sum(weights) >= RUN_WEIGHT:
        return False
    spaces = weights.count(_WORD_WEIGHT) - 1
    return len(run) < _SHORT_WORDS or sum(map(len, run)) + spaces < _SHORT_CHARACTERS


def find_rare_words(words: Iterable[str], pages: Mapping[str, Iterable[str]]) -> set[str]:
    """Find words that no ordinary language has and no two pages; pages: the texts of each."""
    pieces = frozenset(open_local_embedder().pieces.list_pieces())
    rare = {word for word in words if not _is_ordinary(word, pieces)}
    counts = Counter(
        word
        for texts in pages.values()
        for word in {token for text in texts for token in split_tokens(text)} & rare
    )
    return {word for word in rare if counts[word] < 2}


def _is_ordinary(word: str, pieces: frozenset[str]) -> bool:
    if len(word) < _MIN_RARE_LETTERS and not _UNSPACED_CHARACTER.match(word):
        return True
    spellings = (word, word.capitalize(), word.upper())
    return any(spelling in pieces or SPACE + spelling in pieces for spelling in spellings)


def find_line(text: str, token: int) -> int:
    """Find the line, from 1, in which a text's token of that number ends."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return 1 + bisect_right(ends, token, key=lambda end: len(split_tokens(text[:end])))


def split_tokens(text: str) -> list[str]:
    """Split a text into words as they are compared: NFKC, case folded, nothing invisible.

    In a script without spaces every character is a word.
    """
    return _fold_and_space(text, b"\x01").decode().split()


def _fold_and_space(text: str, dropped: bytes) -> bytes:
    """Fold a text and divide its words by spaces. dropped: the soft breaks, or nothing."""
    if not text.isascii():
        text = _fold(text)
        if _UNSPACED_CHARACTER.search(text):
            text = " ".join(_UNSPACED_CHARACTER.split(text))
    # A pattern would do the same at a tenth of the speed, and every build reads whole sites.
    spaced = b" %b " % text.encode().translate(_FOLDED_BYTES, dropped)
    if not dropped:
        spaced = _BESIDE_SPACE.sub(b"", spaced)
    if b"_" in spaced:
        while b"__" in spaced:
            spaced = spaced.replace(b"__", b"_")
        # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
        spaced = spaced.replace(b" _", b" ").replace(b"_ ", b" ")
    return spaced


def _fold(text: str) -> str:
    """Fold case and replace what is beyond ASCII and no part of a word."""
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    signs = (
        character
        for character in set(_NOT_ASCII.findall(text))
        if not (character.isalnum() or _UNSPACED_CHARACTER.match(character))
    )
    replacements = {sign: _replace_sign(sign) for sign in signs}
    # Few different characters are faster replaced one by one.
    if len(replacements) > 200:
        return text.translate({ord(c): other for c, other in replacements.items()})
    for character, other in replacements.items():
        text = text.replace(character, other)
    return text


def _replace_sign(character: str) -> str:
    """Give a soft break for what is invisible; nothing for marks, which Hindi has within words."""
    category = unicodedata.category(character)
    if category == "Cf" or character == SOFT_BREAK:
        return SOFT_BREAK
    return "" if category[0] == "M" else " "
