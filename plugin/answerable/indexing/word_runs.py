"""Runs of words, compared by their letters, whatever their case and what divides them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from ..engine.text.tokenization import UNSPACED

WordRun = tuple[str, ...]

# A character of a script without spaces weighs a third of a word.
WORD_WEIGHT = 3
# A label or a prompt that shares a run of this weight with a text repeats its prose, and no name.
SHARED_WEIGHT = 5 * WORD_WEIGHT

# Bytes by which a run is looked up: hardly a word in a thousand begins with those of one.
_HEAD_BYTES = 16
_UNSPACED_CHARACTER = re.compile(f"([{UNSPACED}])")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Every ASCII byte as it is compared: lower case, and a space for what is no word.
_FOLDED_BYTES = bytes(
    b if b >= 128 or chr(b).isalnum() or b == ord("_") else ord(" ")
    for b in bytes(range(256)).lower()
)
_DIVIDED_BYTES = _FOLDED_BYTES.replace(b"_", b" ")


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


def cut_runs(words: Sequence[str], least: int) -> Iterator[tuple[int, WordRun]]:
    """Cut every shortest sequence of words that weighs enough; yields the start of each with it."""
    end = weight = 0
    for start, word in enumerate(words):
        while weight < least:
            if end == len(words):
                return
            weight += weigh_word(words[end])
            end += 1
        yield start, tuple(words[start:end])
        weight -= weigh_word(word)


def weigh_word(word: str) -> int:
    """Weigh a word, or a character of a script without spaces."""
    return 1 if _UNSPACED_CHARACTER.match(word) else WORD_WEIGHT


def split_words(text: str) -> list[str]:
    """Split a text into words as they are compared: NFKC, case folded, nothing invisible.

    In a script without spaces every character is a word.
    """
    words = _fold(text).translate(_FOLDED_BYTES).decode().split()
    # At the ends of a word they are Markdown's emphasis; inside it they are the word's.
    return [stripped for word in words if (stripped := word.strip("_"))]


def _fold(text: str) -> bytes:
    """Fold what is beyond ASCII, and encode all of it."""
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        text = _NOT_ASCII.sub(lambda others: _fold_others(others[0]), composed)
    return text.encode()


@lru_cache(maxsize=16_384)
def _fold_others(text: str) -> str:
    """Fold case beyond ASCII, and replace what is no part of a word by a space."""
    parts = (c if _is_letter(c) or unicodedata.category(c)[0] == "M" else " " for c in text)
    folded = unicodedata.normalize("NFKC", "".join(parts)).casefold()
    # Marks that are left are dropped, since Hindi has them within words.
    letters = "".join(c for c in folded if c.isascii() or _is_letter(c))
    return _UNSPACED_CHARACTER.sub(r" \1 ", letters)


def _is_letter(character: str) -> bool:
    return character.isalnum() or _UNSPACED_CHARACTER.match(character) is not None
