"""Pack, unpack and check a bundle's columns of numbers, by names and types; map .npy files."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vectors.encodings import INVERSE_NORMS, MAX_UNIT_VALUE
from .compression import deflate

# A greater weight is not a preference: a weight orders matches and does not replace their scores.
MAX_WEIGHT = 10.0
# No title is longer: a term weighs 35 at the most.
MAX_TITLE_NORM = 1e4

_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_NPY_HEADER = 1024


@dataclass(frozen=True, slots=True)
class Column:
    """Describe one column of numbers: its name, and its type as numpy writes it.

    Its length is the sum of the counts of ``counted_names``, plus ``extra``. ``rising`` numbers are
    packed as differences.
    """

    name: str
    dtype: str
    counted_names: tuple[str, ...]
    extra: int = 0
    rising: bool = False

    def length(self, counts: Mapping[str, int]) -> int:
        """Count its numbers."""
        return sum(counts[name] for name in self.counted_names) + self.extra


# Phrases that are looked for in a question, and the terms of titles, in this order.
PHRASE_KINDS = ("names", "aliases", "themes", "title_terms", "label_terms")

RECORD_WEIGHTS = Column("record-weights", "<f4", ("records",))
RECORD_TITLE_NORMS = Column("record-title-norms", "<f4", ("records",))
RECORD_HISTORY = Column("record-history", "<u1", ("records",))
PASSAGE_RECORDS = Column("passage-records", "<u4", ("passages",), rising=True)
PASSAGE_LENGTHS = Column("passage-lengths", "<u4", ("passages",))
TEXT_BLOCKS = Column("text-blocks", "<u8", ("blocks",), extra=1, rising=True)
PHRASE_EDGES = Column("phrase-edges", "<u4", PHRASE_KINDS, extra=1, rising=True)
PHRASE_RECORDS = Column("phrase-records", "<u4", ("bearers",))
PHRASE_FREQUENCIES = Column("phrase-frequencies", "<u4", PHRASE_KINDS)
POSTING_EDGES = Column("posting-edges", "<u4", ("terms",), extra=1, rising=True)
POSTING_PASSAGES = Column("posting-passages", "<u4", ("postings",), rising=True)
POSTING_COUNTS = Column("posting-counts", "<u2", ("postings",))
HINT_OWNERS = Column("hint-owners", "<u4", ("windows",), rising=True)

# In the order of the file.
NUMBER_COLUMNS = (
    RECORD_WEIGHTS, RECORD_TITLE_NORMS, RECORD_HISTORY, PASSAGE_RECORDS, PASSAGE_LENGTHS,
    TEXT_BLOCKS, PHRASE_EDGES, PHRASE_RECORDS, PHRASE_FREQUENCIES, POSTING_EDGES, POSTING_PASSAGES,
    POSTING_COUNTS, HINT_OWNERS,
)  # fmt: skip


def to_byte_planes(values: NDArray[Any]) -> bytes:
    """Lay out the lowest byte of all numbers, then the next: those of small numbers compress."""
    return values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()


def from_byte_planes(planes: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Reverse ``to_byte_planes``."""
    planes = planes.reshape(dtype.itemsize, -1)
    numbers = np.empty(planes.shape[::-1], np.uint8)
    # A plane at a time: numpy transposes narrow columns four times slower.
    for place, plane in enumerate(planes):
        numbers[:, place] = plane
    return numbers.view(dtype).reshape(-1)


def pack_columns(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Compress columns by name as one file: the byte planes of one column after another."""
    planes = bytearray()
    for column in NUMBER_COLUMNS:
        values = np.ascontiguousarray(arrays[column.name], dtype=column.dtype)
        if column.rising:
            # Where a list begins anew the difference wraps, and wraps back when it is added.
            values = np.diff(values, prepend=values.dtype.type(0))
        planes += to_byte_planes(values)
    return deflate(bytes(planes))


def unpack_columns(planes: bytes, name: str, counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """Split the decompressed bytes of ``pack_columns`` by name; ValueError for another length."""
    sizes = [np.dtype(column.dtype).itemsize * column.length(counts) for column in NUMBER_COLUMNS]
    if len(planes) != sum(sizes):
        raise ValueError(f"{name} has {len(planes)} bytes of columns, not {sum(sizes)}")
    numbers: dict[str, NDArray[Any]] = {}
    start = 0
    for column, size in zip(NUMBER_COLUMNS, sizes, strict=True):
        dtype = np.dtype(column.dtype)
        values = from_byte_planes(np.frombuffer(planes, np.uint8, size, start), dtype)
        numbers[column.name] = np.cumsum(values, dtype=dtype) if column.rising else values
        start += size
    return numbers


def map_array(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map the array of a .npy file; ValueError unless it has exactly this type and shape.

    numpy evaluates a header as Python and allocates what it claims. Our own is known to the letter:
    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
    """
    expected = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    with path.open("rb") as file:
        magic, length = file.read(8), int.from_bytes(file.read(2), "little")
        header = file.read(min(length, _MAX_NPY_HEADER))
        start = file.tell()
    count = math.prod(shape)
    size = start + np.dtype(dtype).itemsize * count
    has_expected_size = length <= _MAX_NPY_HEADER and path.stat().st_size == size
    if magic != _NPY_MAGIC or header.rstrip() != expected.encode() or not has_expected_size:
        raise ValueError(f"{path.name} is not an array of {shape} {dtype}")
    if not count:
        return np.empty(shape, dtype)
    return np.memmap(path, np.dtype(dtype), "r", start, shape)


def check_vectors(arrays: Mapping[str, NDArray[Any]], stream: str) -> None:
    """Refuse numbers that are not finite, and norms that no row of codes has."""
    norms = arrays[INVERSE_NORMS]
    if not ((norms >= 0) & (norms <= MAX_UNIT_VALUE)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")
    codes = arrays.get("codes", norms)
    is_float = len(codes) and codes.dtype.kind == "f"
    # A NaN is neither the least nor the most of anything.
    if is_float and not -MAX_UNIT_VALUE <= codes.min() <= codes.max() <= MAX_UNIT_VALUE:
        raise ValueError(f"{stream}-codes holds a number that is not in [-1, 1]")


def check_row_bounds(column: Column, values: NDArray[Any], bound: int) -> None:
    """Refuse row numbers from ``bound`` on."""
    if len(values) and int(values.max()) >= bound:
        raise ValueError(f"{column.name} points past the last row")


def check_phrase_owners(
    owners: NDArray[Any], edges: NDArray[Any], counts: Mapping[str, int]
) -> None:
    """Refuse phrases of records, and terms of labels, that point past the last record or hint."""
    labels = int(edges[sum(counts[kind] for kind in PHRASE_KINDS[:-1])])
    check_row_bounds(PHRASE_RECORDS, owners[:labels], counts["records"])
    check_row_bounds(PHRASE_RECORDS, owners[labels:], counts["hints"])


def check_offsets(column: Column, edges: NDArray[Any], size: int) -> None:
    """Refuse offsets that do not rise from 0 to a size."""
    if edges[0] != 0 or edges[-1] != size or (edges[1:] < edges[:-1]).any():
        raise ValueError(f"{column.name} is not a list of offsets")


def check_row_order(column: Column, rows: NDArray[Any], edges: NDArray[Any]) -> None:
    """Refuse rows that do not rise between one offset and the next."""
    falls = np.flatnonzero(np.diff(rows.astype(np.int64)) <= 0) + 1
    begins = np.zeros(len(rows) + 1, dtype=np.bool_)
    begins[edges] = True
    if not begins[falls].all():
        raise ValueError(f"{column.name} has rows out of order")


def check_weights(values: NDArray[np.float32]) -> None:
    """Refuse a weight that is not in [0, 10]."""
    if not ((values >= 0) & (values <= MAX_WEIGHT)).all():
        raise ValueError(f"{RECORD_WEIGHTS.name} holds one that is not in [0, {MAX_WEIGHT:g}]")


def check_title_norms(values: NDArray[np.float32]) -> None:
    """Refuse the length of a title's idf vector that no title has."""
    if not ((values >= 0) & (values <= MAX_TITLE_NORM)).all():
        raise ValueError(f"{RECORD_TITLE_NORMS.name} holds one not in [0, {MAX_TITLE_NORM:g}]")
