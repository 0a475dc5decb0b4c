"""Write shards of consecutive passages: their codes, and their texts with statement vectors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.structure import Block, Span, pack_structure
from ...serve.types import Passage
from .container import Container, pack_container, shrink_array
from .utf16_offsets import make_offset_converter

# Measured on two sites of 214 and 2,001 passages, with 26 candidates and 7 passages a question:
# smaller shards are fewer bytes a question and more files. So a site has some hundreds of them,
# small ones where it is small. The passages that a question reads are often of one page: shards
# that end with a page save a sixth of the bytes.
_CODE_SHARDS, _TEXT_SHARDS = 117, 180
_CODE_SIZES, _TEXT_SIZES = (8, 32), (4, 16)

Codes = NDArray[np.int8]
# Returns the 8-bit vectors of a passage's statements, (statements, dimensions).
QuantizeStatements = Callable[[Passage], Codes]


def split_codes(passage_records: Sequence[int]) -> list[int]:
    """Return the first row of each shard of codes. passage_records: the page of each passage."""
    return split_pages(
        passage_records, _choose_size(len(passage_records), _CODE_SHARDS, _CODE_SIZES)
    )


def split_texts(passage_records: Sequence[int]) -> list[int]:
    """Return the first row of each shard of texts. passage_records: the page of each passage."""
    return split_pages(
        passage_records, _choose_size(len(passage_records), _TEXT_SHARDS, _TEXT_SIZES)
    )


def _choose_size(passages: int, shards: int, sizes: tuple[int, int]) -> int:
    """Choose the size of a shard so that there are so many, between the least and the most."""
    least, most = sizes
    return min(max(least, round(passages / shards)), most)


def split_pages(passage_records: Sequence[int], size: int) -> list[int]:
    """Return the first row of each shard of about ``size`` passages.

    A longer page is cut into even parts; short ones in a row share a shard.
    """
    starts: list[int] = []
    # No page fits behind the first parts of a long one.
    free = 0
    for _, group in groupby(range(len(passage_records)), key=passage_records.__getitem__):
        rows = list(group)
        if len(rows) <= free:
            free -= len(rows)
            continue
        parts = max(1, round(len(rows) / size))
        starts += (rows[part * len(rows) // parts] for part in range(parts))
        free = size - len(rows) if parts == 1 else 0
    return starts


def serialize_codes(codes: Codes, starts: Sequence[int]) -> Mapping[int, bytes]:
    """Serialize the codes of passages, (n, dimensions), by the number of their shard.

    starts: the first row of each shard.
    """
    return {
        number: pack_container(Container({}, {"codes": codes[start:end].reshape(-1)}))
        for number, (start, end) in enumerate(pairwise([*starts, len(codes)]))
    }


def serialize_texts(
    passages: Sequence[Passage], starts: Sequence[int], quantize_statements: QuantizeStatements
) -> Mapping[int, bytes]:
    """Serialize texts, their structure and their statements' vectors, by the shard's number.

    starts: the first row of each shard.
    """
    return {
        number: pack_container(_make_text_shard(passages[start:end], quantize_statements))
        for number, (start, end) in enumerate(pairwise([*starts, len(passages)]))
    }


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
