"""Whole-phrase matching of authored names in a question."""

import unicodedata
from collections.abc import Iterable, Iterator


def normalise(text: str) -> str:
    """Lower-case words divided by single spaces; all but letters and digits divides."""
    kept = (c if unicodedata.category(c)[0] in "LN" else " " for c in text.lower())
    return " ".join("".join(kept).split())


def runs(text: str, lengths: Iterable[int]) -> Iterator[str]:
    """Every run of so many words of a text, normalised: the phrases that it may contain."""
    words = normalise(text).split()
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def fade(frequency: int, records: int) -> float:
    """How much of a boost is left for a phrase that occurs in that many records.

    1 for a phrase of one record, falling linearly to 0 at half of the records, so that a name
    every page uses lifts nothing.
    """
    return max(0.0, 1.0 - 2.0 * max(0, frequency - 1) / max(records, 2))
