"""Repair a quote that a model has shortened: its parts that stand in the passage word by word."""

import re
from bisect import bisect_left

from ..types import Passage
from .quotes import find_quotes, fold_passage, fold_quote
from .units import list_units

# What a model puts around code, and in the place of words that it leaves out.
_FENCE = re.compile(r"^ *(?:```|~~~).*$", re.MULTILINE)
_DOTS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
# This many words at the start of a quote stand in a passage by no accident.
MIN_VERBATIM_WORDS = 5


def split_quote(quote: str, passage: Passage) -> list[str]:
    """Split a quote at its dots, without fences, and cut each part to the words that stand there.

    A part that does not begin with a whole sentence or five words of the passage stays as it is.
    """
    parts = _DOTS.split(_FENCE.sub("", quote))
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
