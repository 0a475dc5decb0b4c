"""Division of an index into files: which passages, terms and vectors lie together."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ..engine.index.columns import Index
from ..engine.index.format import Container
from ..engine.retrieval.word_forms import MIN_SHARED_LETTERS

# A question reads a shard for each of its words: one of so many postings has some 3 kB. A small
# site has smaller ones, of so many terms.
POSTINGS_PER_SHARD = 1_500
TERMS_PER_SHARD = 40
FEW_SHARDS, MAX_SHARDS = 32, 512


def count_shards(terms: int, postings: int) -> int:
    """Count about how many shards a site's postings make, at least one."""
    few = min(max(1, terms // TERMS_PER_SHARD), FEW_SHARDS)
    return min(max(few, round(postings / POSTINGS_PER_SHARD)), MAX_SHARDS)


def divide_terms(index: Index) -> dict[str, list[int]]:
    """Divide the terms among shards: the rows of each, by the beginning of its first words.

    Words that begin alike are in one shard, in the order of a browser's texts. A term is in each
    shard that one of its forms belongs to, so that a question finds all that it reads of a word by
    the word alone.
    """
    rows_by_beginning: dict[str, list[int]] = {}
    for row, forms in enumerate(zip(index.terms, *index.forms.values(), strict=True)):
        words = (word for text in forms for word in text.split())
        for beginning in {word[:MIN_SHARED_LETTERS] for word in words}:
            rows_by_beginning.setdefault(beginning, []).append(row)
    sizes = np.diff(index.postings.edges.astype(np.int64))
    weights = {key: int(sizes[rows].sum()) for key, rows in rows_by_beginning.items()}
    most = sum(weights.values()) / count_shards(len(index.terms), len(index.postings.passages))
    shards: dict[str, list[int]] = {"": []}
    filled, first = 0, ""
    for beginning in sorted(weights, key=lambda text: text.encode("utf-16-be", "surrogatepass")):
        if filled >= most:
            filled, first = 0, beginning
        shards.setdefault(first, []).extend(rows_by_beginning[beginning])
        filled += weights[beginning]
    return {first: sorted(set(rows)) for first, rows in shards.items()}


# How many shards a large site has of each kind, and the fewest and the most passages of one. The
# passages that a question reads are often of one page: shards that end with a page save a sixth of
# the bytes.
_SHARDS = {"codes": (200, 8, 24), "texts": (250, 4, 12)}


def split_passages(kind: str, passage_records: Sequence[int]) -> list[int]:
    """Return the first row of each shard of a kind. passage_records: the page of each passage."""
    shards, least, most = _SHARDS[kind]
    return split_pages(passage_records, min(max(least, round(len(passage_records) / shards)), most))


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


# A question loads all signs, 32 bytes a passage; an edit changes one file of 16 kB.
SIGN_ROWS = 512


def serialize_signs(codes: NDArray[np.int8]) -> list[Container]:
    """Serialize a bit for each dimension of each passage, set for a code above 0, in parts."""
    return [
        Container({}, {"signs": np.packbits(codes[start : start + SIGN_ROWS] > 0, 1).ravel()})
        for start in range(0, len(codes), SIGN_ROWS)
    ]
