"""Find a quote verbatim in a passage, and the sentences around it."""

import re
from functools import lru_cache
from itertools import pairwise

from ..text.normalization import FoldedText, fold_typography
from ..types import Passage

# How many occurrences of a quote are considered.
MAX_QUOTE_PLACES = 8
# A longer sentence is not cited whole because of a quote from it; of 100 sentences of real
# documentation sites 99 are shorter. In characters.
MAX_WIDENED_SENTENCE = 300
LEAD_INS = (":", "：", "...", "…")

TextRange = tuple[int, int]

# Two characters of one word; scripts without spaces have no such edges.
_WITHIN_WORD = re.compile(r"[A-Za-z0-9_]{2}")
# Where a passage does not say where its sentences end: at a line's end, and after a stop.
_SENTENCE_ENDS = re.compile(r"\s*\n\s*|(?<=[.!?])\s+|(?<=[。！？])")


def find_quotes(quote: str, text: str) -> list[TextRange]:
    """Find the first few (start, end) in a text where a quote occurs verbatim after folding.

    It has to contain a word and to begin and end at whole words, where the script divides words:
    "able to" is not a quote from "unable to".
    """
    needle = fold_typography(quote).text.strip()
    folded = _fold_passage(text)
    ranges: list[TextRange] = []
    at = folded.text.find(needle) if re.search(r"\w", needle) else -1
    while at >= 0 and len(ranges) < MAX_QUOTE_PLACES:
        end = at + len(needle)
        if _ends_at_words(folded.text, at, end):
            ranges.append(_unfold_range(folded, at, end))
        at = folded.text.find(needle, at + 1)
    return ranges


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


def _unfold_range(folded: FoldedText, at: int, end: int) -> TextRange:
    """Map a range back to the text that was folded, with the marks of a name: `__name__`."""
    start, stop = folded.offsets[at], folded.offsets[end - 1] + 1
    # A page's text has no emphasis, so marks at the edges of a quote are part of its words.
    while start - 1 in folded.marks:
        start -= 1
    while stop in folded.marks:
        stop += 1
    return start, stop


def _ends_at_words(text: str, start: int, end: int) -> bool:
    """Test that no ASCII word continues over either edge of a range."""
    edges = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(_WITHIN_WORD.fullmatch(edge) for edge in edges)


@lru_cache(maxsize=64)
def _fold_passage(text: str) -> FoldedText:
    """Fold a passage's text once for all the claims that are compared with it."""
    return fold_typography(text)


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
