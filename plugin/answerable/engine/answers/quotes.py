"""Find a quote, or its parts, in a passage: verbatim except for typography, at whole words."""

import re
from bisect import bisect_left
from functools import lru_cache

from ..text.markdown import CELL_SEPARATOR
from ..text.sentences import list_units
from ..text.tokenization import FoldedText, fold_typography
from ..types import Passage

# How many occurrences of a quote are considered.
MAX_QUOTE_PLACES = 8
# Two characters of one word; scripts without spaces have no such edges.
_WITHIN_WORD = re.compile(r"[A-Za-z0-9_]{2}")
# What a copy of a command or of a Python session leaves out. "$ 5" is a price.
_PROMPT = re.compile(r"^ *(?:\$ (?=[^\W\d]|[./~])|(?:>>>|\.\.\.) )", re.MULTILINE)


def find_quotes(quote: str, text: str) -> list[tuple[int, int]]:
    """Find the first few (start, end) in a text where a quote occurs verbatim after folding.

    It has to contain a word and to begin and end at whole words, where the script divides words:
    "able to" is not a quote from "unable to".
    """
    needle = fold_quote(quote).text.strip()
    folded = fold_passage(text)
    ranges: list[tuple[int, int]] = []
    at = folded.text.find(needle) if re.search(r"\w", needle) else -1
    while at >= 0 and len(ranges) < MAX_QUOTE_PLACES:
        end = at + len(needle)
        edges = (folded.text[max(at - 1, 0) : at + 1], folded.text[end - 1 : end + 1])
        if not any(map(_WITHIN_WORD.fullmatch, edges)):
            ranges.append(_unfold_range(folded, at, end))
        at = folded.text.find(needle, at + 1)
    return ranges


def _unfold_range(folded: FoldedText, at: int, end: int) -> tuple[int, int]:
    """Map a range back to the text that was folded, with the marks of a name: `__name__`."""
    start, stop = folded.offsets[at], folded.offsets[end - 1] + 1
    # A page's text has no emphasis, so marks at the edges of a quote are part of its words.
    while start - 1 in folded.marks:
        start -= 1
    while stop in folded.marks:
        stop += 1
    return start, stop


@lru_cache(maxsize=64)
def fold_passage(text: str) -> FoldedText:
    """Fold a passage's text once for all the claims that are compared with it."""
    return fold_quote(text)


def fold_quote(text: str) -> FoldedText:
    """Fold the typography of a text and the prompts of its commands."""
    prompts = frozenset(n for match in _PROMPT.finditer(text) for n in range(*match.span()))
    folded = fold_typography(_PROMPT.sub(lambda match: " " * len(match[0]), text))
    return FoldedText(folded.text, folded.offsets, folded.marks | prompts) if prompts else folded


# What a model puts around code, and in the place of words that it leaves out.
_FENCE = re.compile(r"^ *(?:```|~~~).*$", re.MULTILINE)
_DOTS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
# This many words at the start of a quote stand in a passage by no accident.
MIN_VERBATIM_WORDS = 5


def split_quote(quote: str, passage: Passage) -> list[str]:
    """Split a quote at dots and rows, without fences, and cut each part to the words of a passage.

    A part that does not begin with a whole sentence or five words of the passage stays as it is.
    """
    parts = [
        part
        for words in _DOTS.split(_FENCE.sub("", quote))
        # A model may leave out rows of a table.
        for part in (words.split("\n") if CELL_SEPARATOR in words else [words])
    ]
    return [_cut_part(part.strip(), passage) for part in parts if re.search(r"\w", part)]


def _cut_part(part: str, passage: Passage) -> str:
    """Cut a part of a quote to its longest start that stands in a passage, if that is enough."""
    text = fold_passage(passage.text).text
    words = part.split()[: len(text.split()) + 1]

    def read_start(length: int) -> str:
        return fold_quote(" ".join(words[:length])).text.strip()

    longest = bisect_left(
        range(1, len(words) + 1), True, key=lambda length: read_start(length) not in text
    )
    # The last word may be the beginning of a longer one.
    for start in map(read_start, range(longest, max(0, longest - 2), -1)):
        for place in find_quotes(start, passage.text):
            if len(start.split()) >= MIN_VERBATIM_WORDS or place in list_units(passage):
                return start
    return part
