"""Cut private notes into runs of words (eight, or a short note's all), and find these in a text."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ...serve.embedders.local_embedder import SPACE
from ...serve.text.tokenization import UNSPACED
from ..local_model import open_local_embedder
from ..notes.notebook import Note
from ..notes.transcripts import classify_lines, strip_cue_times
from .readings import strip_markdown, strip_tags

WordRun = tuple[str, ...]

# Eight words, or as much of a script without spaces, whose characters weigh a third of a word.
RUN_WEIGHT = 24
_WORD_WEIGHT = 3
# A note's whole text is a short run if it has fewer words or characters than these.
_SHORT_WORDS = 5
_SHORT_CHARACTERS = 24
# A shorter word is an abbreviation or a number that could stand anywhere.
_MIN_RARE_LETTERS = 4
# Bytes by which a run is looked up: hardly a word in a thousand begins with those of one.
_HEAD_BYTES = 16

_UNSPACED_CHARACTER = re.compile(f"([{UNSPACED}])")
# Every ASCII byte as it is compared: lower case, and a space for what is no word.
_FOLDED_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b == ord("_") else ord(" ")
    for b in bytes(range(256)).lower()
)
_DIVIDED_BYTES = _FOLDED_BYTES.replace(b"_", b" ")
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


class RunIndex:
    """Runs of words, by the first letters of each.

    They are compared by their letters alone, and begin and end where words of the text do: a
    hyphen, a tag or a character without width may divide two words, or stand within one.
    """

    def __init__(self, runs: Iterable[WordRun]) -> None:
        self._runs: dict[bytes, list[tuple[bytes, WordRun]]] = {}
        for run in runs:
            letters = "".join(run).replace("_", "").encode()
            self._runs.setdefault(letters[:_HEAD_BYTES], []).append((letters, run))
        self._head_sizes = sorted({len(head) for head in self._runs})

    def find(self, text: str) -> Iterator[tuple[int, WordRun]]:
        """Find every run in a text; yields the number of letters before it with it."""
        words = _fold(text).translate(_DIVIDED_BYTES).split()
        letters = b"".join(words)
        bounds = [*accumulate(map(len, words), initial=0)]
        for size in self._head_sizes:
            for start in [at for at in bounds if letters[at : at + size] in self._runs]:
                for run_letters, run in self._runs[letters[start : start + size]]:
                    end = start + len(run_letters)
                    if letters.startswith(run_letters, start) and (
                        bounds[bisect_left(bounds, end)] == end
                    ):
                        yield start, run


def find_line(text: str, start: int) -> int:
    """Find the line, from 1, on which a run begins that so many letters stand before."""
    letters = 0
    for number, line in enumerate(text.split("\n"), 1):
        letters += sum(map(len, _fold(line).translate(_DIVIDED_BYTES).split()))
        if letters > start:
            return number
    return 1


def cut_notes(notes: Sequence[Note]) -> dict[WordRun, list[RunOwner]]:
    """Cut every note's body, and a title that is as long as a run, into runs with their owners."""
    owners: dict[WordRun, list[RunOwner]] = {}
    for number, note in enumerate(notes):
        for part, words, weights in _iter_parts(note):
            for start, run in cut_runs(words, weights, min(RUN_WEIGHT, sum(weights))):
                run_owners = owners.setdefault(run, [])
                if all(owner.note != number for owner in run_owners):
                    run_owners.append(RunOwner(number, part, start + 1, start + len(run)))
    return owners


def _iter_parts(note: Note) -> Iterator[tuple[str, list[str], list[int]]]:
    """Yield the texts of a note: a name for errors, the words and the weight of each."""
    texts = {
        "the note": note.body,
        "the note as a page shows it": strip_markdown(note.body),
        "the note without its times": strip_cue_times(note.raw),
    }
    known: list[list[str]] = []
    for part, text in texts.items():
        words = split_tokens(text)
        if words not in known:
            known.append(words)
            yield part, words, weigh_tokens(words)
    title = split_tokens(note.title)
    if sum(weigh_tokens(title)) >= RUN_WEIGHT:
        yield "the note's title", title, weigh_tokens(title)
    # Times weigh nothing: other transcripts have the same.
    timed: list[str] = []
    weights: list[int] = []
    for line, is_prose in classify_lines(strip_tags(note.raw.replace("-->", "\u2192"))):
        tokens = split_tokens(line)
        timed += tokens
        weights += weigh_tokens(tokens) if is_prose else [0] * len(tokens)
    yield "the note with its times", timed, weights


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


def split_tokens(text: str) -> list[str]:
    """Split a text into words as they are compared: NFKC, case folded, nothing invisible.

    In a script without spaces every character is a word.
    """
    words = _fold(text).translate(_FOLDED_BYTES).decode().split()
    # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
    return [token for word in words if (token := word.strip("_"))]


def _fold(text: str) -> bytes:
    """Fold case, and replace what is beyond ASCII and no part of a word."""
    text = _replace_others(text, " ", keeps_marks=True)
    if text.isascii():
        return text.encode()
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    # Those that are left are dropped, since Hindi has them within words.
    text = _replace_others(text.casefold(), "", keeps_marks=False)
    if _UNSPACED_CHARACTER.search(text):
        text = " ".join(_UNSPACED_CHARACTER.split(text))
    return text.encode("utf-8", "replace")


def _replace_others(text: str, other: str, *, keeps_marks: bool) -> str:
    """Replace the characters beyond ASCII that are neither letters nor, if kept, marks of such."""
    if text.isascii():
        return text
    others = [
        character
        for character in set(_NOT_ASCII.findall(text))
        if not (
            character.isalnum()
            or _UNSPACED_CHARACTER.match(character)
            or (keeps_marks and unicodedata.category(character)[0] == "M")
        )
    ]
    # Few different characters are faster replaced one by one.
    if len(others) > 200:
        return text.translate(dict.fromkeys(map(ord, others), other))
    for character in others:
        text = text.replace(character, other)
    return text
