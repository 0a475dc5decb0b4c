"""The columns of a bundle's files: how they are packed, and that each is what it should be."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vectors.encodings import INVERSE_NORMS, MAX_UNIT_VALUE
from .compression import deflate

# More is never a preference: a weight orders what was found and does not replace its scores.
MAX_WEIGHT = 10.0
MAX_TITLE_NORM = 1e4

_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_NPY_HEADER = 1024
_LINE_FEED = ord("\n")


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers of one type: one for each of what ``counted`` names together, and ``more``.

    ``rising`` ones are packed as differences.
    """

    name: str
    dtype: str
    counted: tuple[str, ...]
    more: int = 0
    rising: bool = False

    def length(self, counts: Mapping[str, int]) -> int:
        """How many numbers it has."""
        return sum(counts[name] for name in self.counted) + self.more


# What is found in a question as whole phrases, and the terms of titles, in this order.
PHRASE_KINDS = ("names", "aliases", "themes", "title_terms", "label_terms")

RECORD_WEIGHTS = Column("record-weights", "<f4", ("records",))
RECORD_TITLE_NORMS = Column("record-title-norms", "<f4", ("records",))
RECORD_HISTORY = Column("record-history", "<u1", ("records",))
PASSAGE_RECORDS = Column("passage-records", "<u4", ("passages",), rising=True)
PASSAGE_LENGTHS = Column("passage-lengths", "<u4", ("passages",))
TEXT_BLOCKS = Column("text-blocks", "<u8", ("blocks",), more=1, rising=True)
PHRASE_EDGES = Column("phrase-edges", "<u4", PHRASE_KINDS, more=1, rising=True)
PHRASE_RECORDS = Column("phrase-records", "<u4", ("bearers",))
PHRASE_FREQUENCIES = Column("phrase-frequencies", "<u4", PHRASE_KINDS)
POSTING_EDGES = Column("posting-edges", "<u4", ("terms",), more=1, rising=True)
POSTING_PASSAGES = Column("posting-passages", "<u4", ("postings",), rising=True)
POSTING_COUNTS = Column("posting-counts", "<u2", ("postings",))
HINT_OWNERS = Column("hint-owners", "<u4", ("windows",), rising=True)

# In this order they stand in one file.
NUMBER_COLUMNS = (
    RECORD_WEIGHTS, RECORD_TITLE_NORMS, RECORD_HISTORY, PASSAGE_RECORDS, PASSAGE_LENGTHS,
    TEXT_BLOCKS, PHRASE_EDGES, PHRASE_RECORDS, PHRASE_FREQUENCIES, POSTING_EDGES, POSTING_PASSAGES,
    POSTING_COUNTS, HINT_OWNERS,
)  # fmt: skip


def pack_columns(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Columns by name as one compressed file: byte planes, one column after another.

    Of each column first the lowest byte of all its numbers, then the next: those of small numbers
    are all alike, which compresses.
    """
    planes = bytearray()
    for column in NUMBER_COLUMNS:
        values = np.ascontiguousarray(arrays[column.name], dtype=column.dtype)
        if column.rising:
            # Where a list begins anew the difference wraps, and wraps back when it is added.
            values = np.diff(values, prepend=values.dtype.type(0))
        planes += values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()
    return deflate(bytes(planes))


def unpack_columns(planes: bytes, name: str, counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """What ``pack`` was given, from its bytes decompressed; ValueError if that is not just it."""
    sizes = [np.dtype(column.dtype).itemsize * column.length(counts) for column in NUMBER_COLUMNS]
    if len(planes) != sum(sizes):
        raise ValueError(f"{name} has {len(planes)} bytes of columns, not {sum(sizes)}")
    found: dict[str, NDArray[Any]] = {}
    start = 0
    for column, size in zip(NUMBER_COLUMNS, sizes, strict=True):
        dtype = np.dtype(column.dtype)
        raw = np.frombuffer(planes, np.uint8, size, start).reshape(dtype.itemsize, -1)
        numbers = np.empty(raw.shape[::-1], np.uint8)
        # A plane at a time: numpy transposes narrow columns four times slower.
        for plane, of_all in enumerate(raw):
            numbers[:, plane] = of_all
        values = numbers.view(dtype).reshape(-1)
        found[column.name] = np.cumsum(values, dtype=dtype) if column.rising else values
        start += size
    return found


def map_array(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """A .npy file's array, mapped; ValueError if it is not of just this type and shape.

    numpy evaluates a header as Python and makes room for what it claims. One of ours is known to
    the letter: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
    """
    expected = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    with path.open("rb") as file:
        magic, length = file.read(8), int.from_bytes(file.read(2), "little")
        header = file.read(min(length, _MAX_NPY_HEADER))
        start = file.tell()
    numbers = math.prod(shape)
    size = start + np.dtype(dtype).itemsize * numbers
    whole = length <= _MAX_NPY_HEADER and path.stat().st_size == size
    if magic != _NPY_MAGIC or header.rstrip() != expected.encode() or not whole:
        raise ValueError(f"{path.name} is no array of {shape} {dtype}")
    if not numbers:
        return np.empty(shape, dtype)
    return np.memmap(path, np.dtype(dtype), "r", start, shape)


def check_vectors(arrays: Mapping[str, NDArray[Any]], stream: str) -> None:
    """Refuse numbers that are not finite, and norms that no row of codes has."""
    norms = arrays[INVERSE_NORMS]
    if not ((norms >= 0) & (norms <= MAX_UNIT_VALUE)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")
    codes = arrays.get("codes", norms)
    is_float = len(codes) and codes.dtype.kind == "f"
    # What is no number is neither the least nor the most of anything.
    if is_float and not -MAX_UNIT_VALUE <= codes.min() <= codes.max() <= MAX_UNIT_VALUE:
        raise ValueError(f"{stream}-codes holds a number that is not in [-1, 1]")


def check_row_bounds(column: Column, values: NDArray[Any], bound: int) -> None:
    """Refuse rows of something that has ``bound`` rows only."""
    if len(values) and int(values.max()) >= bound:
        raise ValueError(f"{column.name} points past the last row")


def check_bearers(bearers: NDArray[Any], edges: NDArray[Any], counts: Mapping[str, int]) -> None:
    """Refuse phrases of records, and terms of labels, that point past the last record or hint."""
    labels = int(edges[sum(counts[kind] for kind in PHRASE_KINDS[:-1])])
    check_row_bounds(PHRASE_RECORDS, bearers[:labels], counts["records"])
    check_row_bounds(PHRASE_RECORDS, bearers[labels:], counts["hints"])


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


def pack_lines(columns: Sequence[Sequence[str]]) -> bytes:
    """Columns of texts as one compressed file, a line each; ValueError for a text of two lines."""
    lines = [text for column in columns for text in column]
    whole = "\n".join(lines)
    if lines and whole.count("\n") != len(lines) - 1:
        broken = next(line for line in lines if "\n" in line)
        raise ValueError(f"{broken!r} has a line break")
    return deflate(whole.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of a text that are decoded when they are asked for.

    ``data``: UTF-8. Line ``i`` is ``data[edges[i]:edges[i + 1] - 1]``; edges are (n + 1,).
    """

    data: bytes
    edges: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, row: int) -> str:
        start, end = int(self.edges[row]), int(self.edges[row + 1]) - 1
        return self.data[start:end].decode("utf-8", "surrogatepass")

    @property
    def joined(self) -> bytes:
        """All of them, with line breaks between them."""
        return self.data[int(self.edges[0]) : max(int(self.edges[-1]) - 1, 0)]

    def texts(self) -> list[str]:
        """All of them, decoded."""
        return self.joined.decode("utf-8", "surrogatepass").split("\n") if len(self) else []


def unpack_lines(whole: bytes, name: str, *lengths: int) -> list[Lines]:
    """What ``pack_lines`` was given, from its bytes decompressed; ValueError for other lengths."""
    expected = sum(lengths)
    # Counted before a place is noted for each: that takes eight times the bytes.
    line_breaks = whole.count(b"\n")
    if line_breaks != max(expected - 1, 0) or (whole and not expected):
        raise ValueError(f"{name} has {line_breaks + 1} lines, not {expected}")
    breaks = np.flatnonzero(np.frombuffer(whole, np.uint8) == _LINE_FEED)
    # What is no UTF-8 says so now and not when it is asked for.
    whole.decode("utf-8", "surrogatepass")
    edges = np.concatenate([[0], breaks + 1, [len(whole) + 1] if expected else []]).astype(np.intp)
    starts = [0, *accumulate(lengths)]
    return [Lines(whole, edges[start : end + 1]) for start, end in pairwise(starts)]


def check_weights(values: NDArray[np.float32]) -> None:
    """Refuse a weight that is not in [0, 10]."""
    if not ((values >= 0) & (values <= MAX_WEIGHT)).all():
        raise ValueError(f"{RECORD_WEIGHTS.name} holds one that is not in [0, {MAX_WEIGHT:g}]")


def check_title_norms(values: NDArray[np.float32]) -> None:
    """Refuse the length of a title's idf vector that no title has: terms weigh 35 at the most."""
    if not ((values >= 0) & (values <= MAX_TITLE_NORM)).all():
        raise ValueError(f"{RECORD_TITLE_NORMS.name} holds one not in [0, {MAX_TITLE_NORM:g}]")


def parse_dates(values: Sequence[str]) -> tuple[str | None, ...]:
    """ISO dates, None where there is none."""
    for value in values:
        if value and not _is_iso_date(value):
            raise ValueError(f"{value!r:.80} is no date")
    return tuple(value or None for value in values)


def _is_iso_date(value: str) -> bool:
    try:
        return dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
