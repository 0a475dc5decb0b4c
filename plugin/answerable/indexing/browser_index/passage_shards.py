"""Write shards of consecutive passages: their codes, and their texts with statement vectors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...serve.structure import Block, Span, pack_structure
from ...serve.types import Passage
from .container import Container, pack_container, shrink_array
from .utf16_offsets import make_offset_converter

# Measured on two sites of 214 and 2,001 passages: some 20 candidates and 5 passages a question.
PASSAGES_PER_CODE_SHARD = 16
PASSAGES_PER_TEXT_SHARD = 8

Codes = NDArray[np.int8]
# Returns the 8-bit vectors of a passage's statements, (statements, dimensions).
QuantizeStatements = Callable[[Passage], Codes]
T = TypeVar("T")


def serialize_codes(codes: Codes) -> Mapping[int, bytes]:
    """Serialize the codes of passages, (n, dimensions), by the number of their shard."""
    starts = range(0, len(codes), PASSAGES_PER_CODE_SHARD)
    return {
        number: pack_container(
            Container({}, {"codes": codes[start : start + PASSAGES_PER_CODE_SHARD].reshape(-1)})
        )
        for number, start in enumerate(starts)
    }


def serialize_texts(
    passages: Sequence[Passage], quantize_statements: QuantizeStatements
) -> Mapping[int, bytes]:
    """Serialize texts, their structure and their statements' vectors, by the shard's number."""
    return {
        number: pack_container(_make_text_shard(shard, quantize_statements))
        for number, shard in enumerate(_split(passages, PASSAGES_PER_TEXT_SHARD))
    }


def _split(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _make_text_shard(
    passages: Sequence[Passage], quantize_statements: QuantizeStatements
) -> Container:
    statements = [quantize_statements(passage) for passage in passages]
    return Container(
        {"passages": [_describe_text(passage) for passage in passages]},
        {
            "counts": shrink_array(np.array([len(codes) for codes in statements])),
            "statements": np.concatenate([codes.reshape(-1) for codes in statements]),
        },
    )


def _describe_text(passage: Passage) -> list[Any]:
    """Describe a text: itself, then its sentences, blocks and spans, in UTF-16 units."""
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
    """Pack blocks or spans: kind, start after the last one's start, length, and what else."""
    packed: list[list[object]] = []
    last = 0
    for row, (kind, _, _, *values) in zip(rows, pack_structure(rows), strict=True):
        start, end = convert(row.start), convert(row.end)
        packed.append([kind, start - last, end - start, *values])
        last = start
    return packed
