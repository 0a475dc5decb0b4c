"""Sentences around a quote, and lines of code, as ranges of a passage's text."""

import re
from functools import lru_cache
from itertools import pairwise

from ..types import Passage

# A longer sentence is not cited whole because of a quote from it; of 100 sentences of real
# documentation sites 99 are shorter. In characters.
MAX_WIDENED_SENTENCE = 300
LEAD_INS = (":", "：", "...", "…")

TextRange = tuple[int, int]

# Where a passage does not say where its sentences end: at a line's end, and after a stop.
_SENTENCE_ENDS = re.compile(r"\s*\n\s*|(?<=[.!?])\s+|(?<=[。！？])")


def find_surrounding_sentences(passage: Passage, start: int, end: int) -> str:
    """Find the sentences of a passage that a range touches; of code, its lines.

    A sentence that leads into code belongs together with it.
    """
    units = _split_units(passage.text, passage.sentences)
    touched = [n for n, unit in enumerate(units) if _overlap(unit, (start, end))]
    if not touched:
        return passage.text[start:end]
    first, last = touched[0], touched[-1]
    while last + 1 < len(units) and _leads_into_code(passage, units[touched[-1] : last + 2]):
        last += 1
    words = passage.text[min(start, units[first][0]) : max(end, units[last][1])]
    lead_in = first
    while lead_in and units[lead_in] not in passage.sentences:
        lead_in -= 1
    if lead_in < first and _leads_into_code(passage, units[lead_in : first + 1]):
        return f"{passage.text[slice(*units[lead_in])]}\n{words}"
    return words


def widen_to_sentences(passage: Passage, start: int, end: int) -> TextRange:
    """Extend a range to the whole sentences at its edges, each if it is short.

    So a reader sees the "not" before the words that a model has quoted.
    """
    for unit in _split_units(passage.text, passage.sentences):
        if unit[1] - unit[0] <= MAX_WIDENED_SENTENCE:
            if unit[0] < start < unit[1]:
                start = unit[0]
            if unit[0] < end < unit[1]:
                end = unit[1]
    return start, end


def is_line_of_code(passage: Passage, start: int, end: int) -> bool:
    """Test whether a range is all of one or more lines that are in no sentence."""
    units = [u for u in _split_units(passage.text, passage.sentences) if _overlap(u, (start, end))]
    if not units or (units[0][0], units[-1][1]) != (start, end):
        return False
    if passage.blocks:
        blocks = [each for each in passage.blocks if _overlap((each.start, each.end), (start, end))]
        return all(block.kind == "code" for block in blocks)
    return bool(passage.sentences) and not any(unit in passage.sentences for unit in units)


def _leads_into_code(passage: Passage, units: tuple[TextRange, ...]) -> bool:
    """Test whether the first unit is a sentence that ends in a colon, and the others are code."""
    sentence, *lines = units
    return (
        sentence in passage.sentences
        and passage.text[slice(*sentence)].endswith(LEAD_INS)
        and not any(line in passage.sentences for line in lines)
    )


@lru_cache(maxsize=64)
def _split_units(text: str, sentences: tuple[TextRange, ...]) -> tuple[TextRange, ...]:
    """Split a text into its sentences and, between them, its lines, in order."""
    edges = [(0, 0), *sentences, (len(text), len(text))]
    gaps = [(before[1], after[0]) for before, after in pairwise(edges)]
    lines = [line for gap in gaps for line in _split_lines(text, *gap)]
    return tuple(sorted({*sentences, *lines}))


def _split_lines(text: str, start: int, end: int) -> list[TextRange]:
    """Split a part of a text that has no sentences, dropping the white space between its lines."""
    cuts = [start, *(at for m in _SENTENCE_ENDS.finditer(text, start, end) for at in m.span()), end]
    lines = zip(cuts[::2], cuts[1::2], strict=True)
    return [strip_range(text, *line) for line in lines if text[slice(*line)].strip()]


def strip_range(text: str, start: int, end: int) -> TextRange:
    """Strip white space from the ends of a range; an empty one where there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), max(start, end - len(part) + len(part.rstrip()))


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one[0] < other[1] and other[0] < one[1]
