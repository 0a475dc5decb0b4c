"""Rows of an index in a database, and the columns of it that a function keeps in memory."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.bundle import Bundle, check_index
from ..engine.errors import BundleError
from ..engine.index.column_types import pack_columns, unpack_columns
from ..engine.index.columns import COLUMNS, Index
from ..engine.index.format import MALFORMED, deflate, inflate, pack_container, unpack_container
from ..engine.index.manifest import Manifest
from ..engine.vectors import Floats, Int8Codes
from .connections import Row

# What grows with the number of passages and is not read by every question.
_IN_TABLES = frozenset((
    "passage_ids", "passage_urls", "passage_titles", "texts", "codes", "postings",
))  # fmt: skip
_IN_MEMORY = tuple(column for column in COLUMNS if column.name not in _IN_TABLES)
_ROW_TYPE, _COUNT_TYPE = np.dtype("<u4"), np.dtype("<u2")
# Of a vector's binary form: its dimensions and two unused bytes, then numbers in half precision.
_VECTOR_HEADER_BYTES = 4
# Vectors that are written at a time.
_BATCH_ROWS = 1024

# The rows of the passages that hold a term, and how often each does.
PassagePostings = tuple[NDArray[np.uint32], NDArray[np.uint16]]


def pack_memory(index: Index) -> bytes:
    """Serialize the columns that are kept in memory."""
    return pack_container(pack_columns(_IN_MEMORY, index))


def unpack_memory(data: bytes, manifest: Manifest) -> Index:
    """Read the columns that are kept in memory; BundleError if they are malformed."""
    try:
        index = Index(**unpack_columns(_IN_MEMORY, unpack_container(data, "the database")))
        check_index(index, manifest.counts, _IN_MEMORY)
    except MALFORMED as error:
        raise BundleError(
            f"the database's index is malformed ({error!s:.200}): publish it again"
        ) from None
    return index


def make_rows(bundle: Bundle, kind: str) -> Iterator[Row]:
    """Make the rows of one kind of table."""
    if kind == "passages":
        return _make_passage_rows(bundle)
    if kind == "vectors":
        return _make_vector_rows(bundle.index.codes)
    return _make_posting_rows(bundle.index)


def _make_passage_rows(bundle: Bundle) -> Iterator[Row]:
    for number, passage in enumerate(bundle.passages()):
        yield number, passage.id, passage.url, passage.title, passage.markdown


def _make_vector_rows(codes: Int8Codes) -> Iterator[Row]:
    for start in range(0, len(codes), _BATCH_ROWS):
        batch = slice(start, start + _BATCH_ROWS)
        norms = codes.inverse_norms[batch].tolist()
        vectors = codes.codes[batch].tolist()
        yield from zip(itertools.count(start), norms, map(str, vectors), strict=False)


def _make_posting_rows(index: Index) -> Iterator[Row]:
    edges = index.postings.edges.tolist()
    for number, (start, end) in enumerate(itertools.pairwise(edges)):
        passages = index.postings.passages[start:end].astype(_ROW_TYPE)
        counts = index.postings.counts[start:end].astype(_COUNT_TYPE)
        # Steps between passages are small numbers, which compress.
        steps = np.diff(passages, prepend=_ROW_TYPE.type(0))
        yield number, deflate(steps.tobytes() + counts.tobytes())


def unpack_postings(data: bytes) -> PassagePostings:
    """Read the postings of a term."""
    content = inflate(data, "the database's postings")
    count = len(content) // (_ROW_TYPE.itemsize + _COUNT_TYPE.itemsize)
    steps = np.frombuffer(content, _ROW_TYPE, count)
    counts = np.frombuffer(content, _COUNT_TYPE, count, steps.nbytes)
    return np.cumsum(steps, dtype=np.uint32), counts


def format_vector(unit: Floats) -> str:
    """Format a question's vector as the database reads it."""
    return str(unit.tolist())


def read_vectors(rows: Sequence[Row], dimensions: int) -> tuple[NDArray[np.intp], Int8Codes]:
    """Read the numbers of some passages, and their codes as the bundle has them."""
    data = np.frombuffer(b"".join(vector for _, _, vector in rows), np.uint8)
    vectors = data.reshape(len(rows), _VECTOR_HEADER_BYTES + 2 * dimensions)
    values: NDArray[Any] = np.ascontiguousarray(vectors[:, _VECTOR_HEADER_BYTES:]).view(">f2")
    numbers = np.array([number for number, _, _ in rows], np.intp)
    norms = np.array([norm for _, norm, _ in rows], np.float32)
    return numbers, Int8Codes(values.astype(np.int8), norms)
