"""Find a quote that stands verbatim in a text."""

import re
from functools import lru_cache

from .folding import Folded, fold

# Places of a quote that are looked at.
MAX_PLACES = 8
# Two characters of one word; scripts without spaces have no such edges to keep.
_WITHIN_WORD = re.compile(r"[A-Za-z0-9_]{2}")


def find_all(quote: str, text: str) -> list[tuple[int, int]]:
    """Find the first few (start, end) in a text where a quote occurs verbatim after folding.

    It has to hold a word and to begin and end at whole words, where the script divides words:
    "able to" is not a quote from "unable to".
    """
    needle = fold(quote).text.strip()
    folded = _folded(text)
    spans: list[tuple[int, int]] = []
    at = folded.text.find(needle) if re.search(r"\w", needle) else -1
    while at >= 0 and len(spans) < MAX_PLACES:
        end = at + len(needle)
        if _is_whole(folded.text, at, end):
            spans.append(_span(folded, at, end))
        at = folded.text.find(needle, at + 1)
    return spans


def _span(folded: Folded, at: int, end: int) -> tuple[int, int]:
    """The offsets in the text that was folded, with the marks that are a name's: `__name__`."""
    start, stop = folded.offsets[at], folded.offsets[end - 1] + 1
    # A page's text has no emphasis, so marks at the edges of a quote are part of its words.
    while start - 1 in folded.marks:
        start -= 1
    while stop in folded.marks:
        stop += 1
    return start, stop


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no ASCII word goes on over either edge of a span."""
    edges = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(_WITHIN_WORD.fullmatch(edge) for edge in edges)


@lru_cache(maxsize=64)
def _folded(text: str) -> Folded:
    """A passage's text, folded once for all the claims that are held against it."""
    return fold(text)
