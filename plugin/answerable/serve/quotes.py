"""Whether words are somebody's own: verbatim quotes, numbers and code spans."""

import re
from collections.abc import Iterable
from functools import lru_cache

from .folding import Folded, fold

_EXACT = re.compile(r"`([^`]+)`|(?<!\w)(?<!\d[.,:])(v?\d\w*(?:[.,:]\d\w*)*)")


# Two characters of one word; scripts without spaces have no such edges to keep.
_WITHIN_WORD = re.compile(r"[A-Za-z0-9_]{2}")


def find(quote: str, text: str) -> tuple[int, int] | None:
    """The (start, end) in a text of a quote that occurs verbatim after folding, else None.

    It has to hold a word and to begin and end at whole words, where the script divides words:
    "able to" is not a quote from "unable to".
    """
    needle = fold(quote).text.strip()
    folded = _folded(text)
    if not re.search(r"\w", needle):
        return None
    at = folded.text.find(needle)
    while at >= 0 and not _is_whole(folded.text, at, at + len(needle)):
        at = folded.text.find(needle, at + 1)
    if at < 0:
        return None
    start, end = folded.offsets[at], folded.offsets[at + len(needle) - 1] + 1
    # A page's text has no emphasis: at the edges of a quote these are a name's, as in `__name__`.
    while start - 1 in folded.marks:
        start -= 1
    while end in folded.marks:
        end += 1
    return start, end


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no ASCII word goes on over either edge of a span."""
    edges = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(_WITHIN_WORD.fullmatch(edge) for edge in edges)


def exact_parts(claim: str) -> tuple[str, ...]:
    """The numbers, versions and code spans of a claim: what may not be paraphrased."""
    return tuple(code or number for code, number in _EXACT.findall(claim))


def holds(texts: Iterable[str], part: str) -> bool:
    """Whether a number, version or code span occurs whole in one of the texts."""
    needle = fold(part).text.strip()
    if not needle:
        return any(part in text for text in texts)
    # Neither 3.1 nor 10 is in 3.10: a number goes on where another digit follows its mark.
    pattern = rf"(?<!\w)(?<!\d[.,:]){re.escape(needle)}(?!\w)(?![.,:]\d)"
    folded = (_folded(text).text for text in texts)
    # A needle that is nowhere is not compiled: it may be as long as a model likes.
    return any(needle in text and re.search(pattern, text) is not None for text in folded)


@lru_cache(maxsize=64)
def _folded(text: str) -> Folded:
    """A passage's text, folded once for all the claims that are held against it."""
    return fold(text)
