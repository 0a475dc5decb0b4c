"""The columns of a bundle's files: how they are packed, and that each is what it should be."""

import datetime as dt
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoding import INVERSE_NORMS
from .errors import BundleError

# More is never a preference: a weight orders what was found and does not replace its scores.
MAX_WEIGHT = 10.0

_MAX_INFLATED = 256 * 1024 * 1024
# Deflate never makes more than this of one byte (zlib's technical notes).
_MAX_RATIO = 1032


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers of one type, one for each of what ``counted`` names, and ``more``.

    ``rising`` ones are packed as differences.
    """

    name: str
    dtype: str
    counted: str
    more: int = 0
    rising: bool = False

    def length(self, counts: Mapping[str, int]) -> int:
        """How many numbers it has."""
        return counts[self.counted] + self.more


PASSAGE_RECORDS = Column("passage-records", "<u4", "passages", rising=True)
PASSAGE_LENGTHS = Column("passage-lengths", "<u4", "passages")
TEXT_BLOCKS = Column("text-blocks", "<u8", "blocks", more=1, rising=True)
POSTING_OFFSETS = Column("posting-offsets", "<u4", "terms", more=1, rising=True)
POSTING_PASSAGES = Column("posting-passages", "<u4", "postings", rising=True)
POSTING_COUNTS = Column("posting-counts", "<u2", "postings")
HINT_OWNERS = Column("hint-owners", "<u4", "windows", rising=True)

# In this order they stand in one file.
ALL = (
    PASSAGE_RECORDS, PASSAGE_LENGTHS, TEXT_BLOCKS, POSTING_OFFSETS, POSTING_PASSAGES,
    POSTING_COUNTS, HINT_OWNERS,
)  # fmt: skip


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Columns by name as one compressed file: byte planes, one column after another.

    Of each column first the lowest byte of all its numbers, then the next: those of small numbers
    are all alike, which compresses.
    """
    planes = bytearray()
    for column in ALL:
        values = np.ascontiguousarray(arrays[column.name], dtype=column.dtype)
        if column.rising:
            # Where a list begins anew the difference wraps, and wraps back when it is added.
            values = np.diff(values, prepend=values.dtype.type(0))
        planes += values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()
    return zlib.compress(bytes(planes), 9)


def unpack(data: bytes, name: str, counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """What ``pack`` was given; ValueError or BundleError if the file does not hold just that."""
    sizes = [np.dtype(column.dtype).itemsize * column.length(counts) for column in ALL]
    planes = inflate(data, name, sum(sizes))
    if len(planes) != sum(sizes):
        raise ValueError(f"{name} has {len(planes)} bytes of columns, not {sum(sizes)}")
    found: dict[str, NDArray[Any]] = {}
    start = 0
    for column, size in zip(ALL, sizes, strict=True):
        dtype = np.dtype(column.dtype)
        raw = np.frombuffer(planes, np.uint8, size, start)
        values = raw.reshape(dtype.itemsize, -1).T.copy().view(dtype).reshape(-1)
        found[column.name] = np.cumsum(values, dtype=dtype) if column.rising else values
        start += size
    return found


def mapped(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A file's array, mapped; ValueError if it is of another type or shape."""
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.dtype != dtype or found.shape != shape or not found.flags.c_contiguous:
        raise ValueError(f"{path.name} is {found.dtype}{found.shape}, not {dtype}{shape}")
    return found  # type: ignore[no-any-return]


def check_vectors(arrays: Mapping[str, NDArray[Any]], stream: str) -> None:
    """Refuse numbers that are not finite, and norms that no row of codes has."""
    norms = arrays[INVERSE_NORMS]
    # Whole numbers have norms from 1, and what is of length 1 may be rounded.
    if not ((norms >= 0) & (norms <= 1 + 1e-5)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")
    floats = arrays.get("codes", norms)
    # A sum is finite only if all of its parts are, and needs no room.
    with np.errstate(over="ignore", invalid="ignore"):
        if floats.dtype.kind == "f" and not np.isfinite(floats.sum(dtype=np.float64)):
            raise ValueError(f"{stream}-codes holds a number that is not finite")


def check_rows(column: Column, values: NDArray[Any], bound: int) -> None:
    """Refuse a row of something that has ``bound`` rows."""
    if len(values) and int(values.max()) >= bound:
        raise ValueError(f"{column.name} points past the last row")


def check_edges(column: Column, edges: NDArray[Any], size: int) -> None:
    """Refuse offsets that do not rise from 0 to a size."""
    if edges[0] != 0 or edges[-1] != size or (np.diff(edges.astype(np.int64)) < 0).any():
        raise ValueError(f"{column.name} is not a list of offsets")


def check_order(column: Column, rows: NDArray[Any], edges: NDArray[Any]) -> None:
    """Refuse rows that do not rise between one offset and the next."""
    falls = np.flatnonzero(np.diff(rows.astype(np.int64)) <= 0) + 1
    if not np.isin(falls, edges).all():
        raise ValueError(f"{column.name} has rows out of order")


def texts(rows: Mapping[str, Any], names: Sequence[str], count: int) -> dict[str, list[str]]:
    """Columns of JSON: so many texts under each name."""
    found = {name: rows[name] for name in names}
    for name, values in found.items():
        if not {str}.issuperset(map(type, of_each(values, count, name))):
            raise ValueError(f"{name} are not all texts")
    return found


def weights(values: Sequence[Any], count: int) -> NDArray[np.float32]:
    """A weight in [0, 10] for each of so many records."""
    for value in of_each(values, count, "weights"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= MAX_WEIGHT:
            raise ValueError(f"{value!r} is no weight between 0 and {MAX_WEIGHT:g}")
    return np.array(values, dtype=np.float32)


def dates(values: Sequence[Any], count: int) -> tuple[str | None, ...]:
    """An ISO date, or none, for each of so many records."""
    for value in of_each(values, count, "dates"):
        if value is not None and dt.date.fromisoformat(value).isoformat() != value:
            raise ValueError(f"{value!r} is no date")
    return tuple(values)


def of_each(values: Sequence[Any], count: int, name: str) -> Sequence[Any]:
    """A list, if it is one and so long; else ValueError."""
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"{name} are not a list of {count}")
    return values


def inflate(data: bytes, name: str, most: int | None = None) -> bytes:
    """The bytes of a compressed column; BundleError if they are damaged or more than ``most``."""
    # Room is made for what can come of the data, never for what is claimed of it.
    room = min(_MAX_INFLATED if most is None else most, _MAX_RATIO * len(data)) + 1
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, room)
    if not inflater.eof or inflater.unused_data or len(text) == room:
        raise BundleError(f"{name} does not decompress: run `mkdocs build` again")
    return text
