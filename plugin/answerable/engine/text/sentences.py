"""The sentences and lines of a passage: widen a quote to whole ones, and link to a range."""

import urllib.parse
from functools import lru_cache
from itertools import pairwise

from ..rules import RULES, compile_rule
from ..types import Passage
from .markdown import Block, read_markdown, strip_range

_END = compile_rule("sentences", "END")
_ABBREVIATION = compile_rule("sentences", "ABBREVIATION")
# No abbreviation is longer.
_ABBREVIATION_CHARACTERS: int = RULES["sentences"]["ABBREVIATION_CHARACTERS"]


def split_sentences(block: Block) -> list[tuple[int, int]]:
    """List the (start, end) of a block's sentences in its text, without white space.

    A row is one sentence. Code and labels have none.
    """
    text = block.text
    if block.kind in ("code", "label"):
        return []
    edges = [0, len(text)] if block.kind == "row" else [0, *_list_ends(block), len(text)]
    sentences = [strip_range(text, start, end) for start, end in pairwise(edges)]
    return [(start, end) for start, end in sentences if start < end]


def _list_ends(block: Block) -> list[int]:
    """List where sentences end in a text before its own end."""
    # A full stop in code must not look like an end.
    masked = list(block.text)
    for span in block.spans:
        if span.kind == "code":
            masked[span.start : span.end] = "0" * (span.end - span.start)
    text = "".join(masked)
    ends: list[int] = []
    for end in _END.finditer(text):
        before = text[max(0, end.start() - _ABBREVIATION_CHARACTERS) : end.start()]
        is_abbreviation = end[0] == "." and _ABBREVIATION.search(before)
        if not is_abbreviation and not (end[1] and end[1].islower()):
            ends.append(end.end())
    return ends


@lru_cache(maxsize=256)
def find_sentences(markdown: str) -> tuple[tuple[int, int], ...]:
    """List the (start, end) of the sentences of a Markdown text in its plain text."""
    return tuple(
        (placed.start + start, placed.start + end)
        for placed in read_markdown(markdown).blocks
        for start, end in split_sentences(placed.block)
    )


TextRange = tuple[int, int]

# A longer sentence is not cited whole because of a quote from it; of 100 sentences of real
# documentation sites 99 are shorter. In characters.
MAX_WIDENED_SENTENCE: int = RULES["units"]["MAX_WIDENED_SENTENCE"]
# How a sentence ends that leads into what follows it.
_LEAD_INS = (":", "：", "...", "…")
# The words of a link do not cross a line's end, where a block ends; the dot between the cells of a
# row, which the page does not have; or columns of code, whose spaces the page does not collapse.
_BREAK = compile_rule("structure", "BREAK")
# A text fragment names at least this many words at each end.
MIN_LINK_WORDS: int = RULES["units"]["MIN_LINK_WORDS"]


def find_surrounding_ranges(passage: Passage, start: int, end: int) -> list[TextRange]:
    """Find where the sentences of a passage stand that a range touches; of code, its lines.

    A sentence that leads into code belongs together with it.
    """
    units, sentences = list_units(passage), find_sentences(passage.markdown)
    touched = [n for n, unit in enumerate(units) if _overlap(unit, (start, end))]
    if not touched:
        return [(start, end)]
    first, last = touched[0], touched[-1]
    while last + 1 < len(units) and _leads_into_code(passage, units[touched[-1] : last + 2]):
        last += 1
    words = min(start, units[first][0]), max(end, units[last][1])
    lead_in = first
    while lead_in and units[lead_in] not in sentences:
        lead_in -= 1
    if lead_in < first and _leads_into_code(passage, units[lead_in : first + 1]):
        return [units[lead_in], words]
    return [words]


def find_surrounding_sentences(passage: Passage, start: int, end: int) -> str:
    """Find the words of ``find_surrounding_ranges``."""
    ranges = find_surrounding_ranges(passage, start, end)
    return "\n".join(passage.text[slice(*each)] for each in ranges)


def list_code(passage: Passage, start: int, end: int) -> list[str]:
    """List the code that a range of whole sentences or lines touches: spans, and lines of blocks.

    Up to three spans with the words between them count as one.
    """
    spans = [span for span in list_code_spans(passage) if _overlap(span, (start, end))]
    code = [
        passage.text[first[0] : last[1]]
        for n, first in enumerate(spans)
        for last in spans[n : n + 3]
    ]
    for block, first, last in read_markdown(passage.markdown).blocks:
        if block.kind == "code":
            lines = passage.text[max(start, first) : min(end, last)]
            code += lines.replace("\\\n", " ").split("\n")
    return code


def list_code_spans(passage: Passage) -> list[TextRange]:
    """List where inline code stands in the text of a passage."""
    return [
        (placed.start + span.start, placed.start + span.end)
        for placed in read_markdown(passage.markdown).blocks
        for span in placed.block.spans
        if span.kind == "code"
    ]


def widen_to_sentences(passage: Passage, start: int, end: int) -> TextRange:
    """Extend a range to the whole sentences at its edges, each if it is short.

    So a reader sees the "not" before the words that a model has quoted.
    """
    for unit in list_units(passage):
        if unit[1] - unit[0] <= MAX_WIDENED_SENTENCE:
            if unit[0] < start < unit[1]:
                start = unit[0]
            if unit[0] < end < unit[1]:
                end = unit[1]
    return start, end


def is_line_of_code(passage: Passage, start: int, end: int) -> bool:
    """True if a range is all of one or more lines of code."""
    units = [unit for unit in list_units(passage) if _overlap(unit, (start, end))]
    blocks = [
        placed.block
        for placed in read_markdown(passage.markdown).blocks
        if _overlap((placed.start, placed.end), (start, end))
    ]
    is_whole = bool(units) and (units[0][0], units[-1][1]) == (start, end)
    return is_whole and bool(blocks) and all(block.kind == "code" for block in blocks)


def _leads_into_code(passage: Passage, units: list[TextRange]) -> bool:
    """True if the first unit is a sentence that ends in a colon, and the others are code."""
    sentence, *lines = units
    sentences = find_sentences(passage.markdown)
    return (
        sentence in sentences
        and passage.text[slice(*sentence)].endswith(_LEAD_INS)
        and not any(line in sentences for line in lines)
    )


def list_units(passage: Passage) -> list[TextRange]:
    """List the sentences of a passage and, between them, its lines, in order."""
    units: list[TextRange] = []
    last = 0
    text = passage.text
    for sentence in (*find_sentences(passage.markdown), (len(text), len(text))):
        for line in text[last : sentence[0]].split("\n"):
            if line.strip():
                units.append(strip_range(text, last, last + len(line)))
            last += len(line) + 1
        units.append(sentence)
        last = sentence[1]
    return units[:-1]


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def link_to_range(passage: Passage, start: int, end: int) -> str:
    """Add a text fragment (#:~:text=) to the url of a passage, which highlights a range of it.

    It names the first and the last words of the range, as many as no other words of the passage
    equal, since a browser looks for the first ones that do.
    """
    runs = [run for run in _BREAK.split(passage.text[start:end]) if any(map(str.isalnum, run))]
    if not runs:
        return passage.url
    head = _choose_words(runs[0].split(), passage.text, from_end=False)
    tail = _choose_words(runs[-1].split(), passage.text[start:], from_end=True)
    is_one = len(runs) == 1 and len(runs[0].split()) <= len(head) + len(tail)
    parts = [runs[0].split()] if is_one else [head, tail]
    fragment = ",".join(map(_encode_words, parts))
    return f"{passage.url}{'' if '#' in passage.url else '#'}:~:text={fragment}"


def _choose_words(words: list[str], text: str, *, from_end: bool) -> list[str]:
    """Choose the fewest first or last words, at least four, that a text has once."""
    plain = " ".join(text.split())
    for count in range(MIN_LINK_WORDS, len(words)):
        chosen = words[-count:] if from_end else words[:count]
        if plain.count(" ".join(chosen)) == 1:
            return chosen
    return words


def _encode_words(words: list[str]) -> str:
    """Percent-encode words for a fragment, hyphens too; half of a surrogate pair is no letter."""
    return urllib.parse.quote(" ".join(words), safe="", errors="replace").replace("-", "%2D")
