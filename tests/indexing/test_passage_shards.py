"""Shards of passages end with pages where they can, and have every passage once."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.browser_index.index_files import split_pages


def rows_of(lengths: list[int]) -> list[int]:
    """The record of each passage of pages that have so many."""
    return [record for record, length in enumerate(lengths) for _ in range(length)]


@pytest.mark.parametrize(
    ("lengths", "size", "starts"),
    [
        ([], 4, []),
        ([1, 1, 1], 4, [0]),
        ([3, 2, 1], 5, [0, 5]),
        ([4, 1, 3, 2], 4, [0, 4, 8]),
        ([8, 1], 4, [0, 4, 8]),
        ([5, 4], 4, [0, 5]),
    ],
)
def test_short_pages_share_a_shard_and_long_ones_are_cut_evenly(
    lengths: list[int], size: int, starts: list[int]
) -> None:
    assert split_pages(rows_of(lengths), size) == starts


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(2, 16))
def test_no_shard_is_much_longer_than_its_size(lengths: list[int], size: int) -> None:
    records = rows_of(lengths)
    starts = split_pages(records, size)
    assert starts[:1] == ([0] if records else [])
    for start, end in pairwise([*starts, len(records)]):
        assert 0 < end - start <= 1.5 * size
        if end - start > size:
            assert len(set(records[start:end])) == 1
