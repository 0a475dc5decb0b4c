"""The sentences of a block: what ends in a stop, outside of code and not after an abbreviation."""

from functools import lru_cache
from itertools import pairwise

from ..rules import RULES, compile_rule
from .markdown import Block, read_markdown

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


def strip_range(text: str, start: int, end: int) -> tuple[int, int]:
    """Strip white space from the ends of a range; an empty one where there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), max(start, end - len(part) + len(part.rstrip()))
