"""Texts of passages and their structure as rows of an index."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..serve.structure import Block, Span, pack_structure
from ..serve.types import Passage

_LAST_OF_ONE_UNIT = "\uffff"


def make_offset_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text to UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = [place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT]
    return lambda offset: offset + bisect_left(wide, offset)


def describe_text(passage: Passage) -> list[Any]:
    """Describe a text: itself, its sentences, blocks and spans, in UTF-16 units."""
    convert = make_offset_converter(passage.text)
    return [
        passage.text,
        list(_iterate_gaps(((convert(start), convert(end)) for start, end in passage.sentences))),
        _pack_ranges(passage.blocks, convert),
        _pack_ranges(passage.spans, convert),
    ]


def _iterate_gaps(ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield of each range how far it starts after the last one's end, and its length."""
    last = 0
    for start, end in ranges:
        yield start - last
        yield end - start
        last = end


def _pack_ranges(rows: Iterable[Block | Span], convert: Callable[[int], int]) -> list[list[object]]:
    """Pack blocks and the like: kind, start after the last one's start, length, and what else."""
    packed: list[list[object]] = []
    last = 0
    for row, (kind, _, _, *values) in zip(rows, pack_structure(rows), strict=True):
        start, end = convert(row.start), convert(row.end)
        packed.append([kind, start - last, end - start, *values])
        last = start
    return packed
