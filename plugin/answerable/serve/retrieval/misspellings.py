"""Find the only word of a site near a misspelled one: by edits, or by a space too many.

Source of the distance: optimal string alignment, where two neighbors that are swapped count as one
edit (F. J. Damerau 1964; R. A. Wagner and R. Lowrance 1975).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..text.tokenization import extract_terms
from .store import Store, memoize_per_store

# A shorter word has too many neighbors.
MIN_WORD_LETTERS = 4
# From so many letters on two edits are tried.
TWO_EDITS_FROM_LETTERS = 8


@dataclass(frozen=True, slots=True, eq=False)
class _SpellingIndex:
    """Hold the site's words and, parallel, how many letters each has and which, as bits."""

    rows: dict[str, int]
    texts: list[str]
    lengths: NDArray[np.int64]
    letters: NDArray[np.uint32]


def may_be_misspelled(word: str) -> bool:
    """Test whether a lower-case word is long enough to be recognized when misspelled."""
    return len(word) >= MIN_WORD_LETTERS and word.isalpha()


def find_near_spelling(store: Store, word: str) -> str | None:
    """Find the site's only spelling near a lower-case word; None if there is none or several.

    Spellings of one stem count as one. A word is never split in two: "downtime" is not "down time".
    """
    words = _index_spellings(store)
    for max_edits in range(1, 2 if len(word) < TWO_EDITS_FROM_LETTERS else 3):
        if near := list(_find_within_edits(words, word, max_edits)):
            stems = {
                tuple(term for tag in store.site.tags for term in extract_terms(other, tag))
                for other in near
            }
            return near[0] if len(stems) == 1 else None
    return None


def find_joined_spelling(store: Store, first: str, second: str) -> str | None:
    """Find the site's word that two neighbors make together, such as "web hook"; else None."""
    return joined if (joined := first + second) in _index_spellings(store).rows else None


def _find_within_edits(words: _SpellingIndex, word: str, max_edits: int) -> Iterator[str]:
    """Yield the words at a distance of at most so many edits.

    Of two edits neither may replace a letter, and the first letter has to be right: words of eight
    letters that differ otherwise are different words more often than misspelled ones.
    """
    near = np.abs(words.lengths - len(word)) <= max_edits
    # An edit puts at most one letter in and takes one out.
    differing = np.bitwise_xor(words.letters, np.uint32(_letter_bits(word)))
    near &= np.bitwise_count(differing) <= 2 * max_edits
    for row in np.flatnonzero(near):
        other = words.texts[row]
        if max_edits > 1 and other[0] != word[0]:
            continue
        if edit_distance(word, other, max_edits, replacing=max_edits) <= max_edits:
            yield other


def edit_distance(first: str, second: str, max_edits: int, replacing: int = 1) -> int:
    """Count the edits between two words; ``max_edits + 1`` where there are more than that.

    replacing: the edits that a replaced letter counts for.
    """
    if abs(len(first) - len(second)) > max_edits:
        return max_edits + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        above, row = row, [i]
        for j, other in enumerate(second, 1):
            edits = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + replacing * (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                edits = min(edits, before[j - 2] + 1)
            row.append(edits)
        if min(row) > max_edits:
            return max_edits + 1
        before = above
    return row[-1]


@memoize_per_store
def _index_spellings(store: Store) -> _SpellingIndex:
    texts = list(store.words)
    return _SpellingIndex(
        {word: row for row, word in enumerate(texts)},
        texts,
        np.array([len(word) for word in texts], dtype=np.int64),
        np.array([_letter_bits(word) for word in texts], dtype=np.uint32),
    )


def _letter_bits(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 32)
    return bits
