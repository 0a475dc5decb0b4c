"""The columns of a bundle's files, each checked as it is read."""

import datetime as dt
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BundleError

# More is never a preference: a weight orders what was found and does not replace its scores.
MAX_WEIGHT = 10.0

_MAX_INFLATED = 256 * 1024 * 1024


def array(path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """A file's array, mapped; ValueError if it is of another type or shape."""
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.dtype != np.dtype(dtype).newbyteorder("<") or found.shape != shape:
        raise ValueError(f"{path.name} is {found.dtype}{found.shape}, not {dtype}{shape}")
    return found  # type: ignore[no-any-return]


def finite(path: Path, count: int) -> NDArray[np.float32]:
    """So many finite numbers."""
    found = array(path, np.float32, (count,))
    if not np.isfinite(found).all():
        raise ValueError(f"{path.name} holds a number that is not finite")
    return found


def indices(path: Path, count: int, bound: int, dtype: type[np.generic] = np.int32) -> NDArray[Any]:
    """So many rows of something that has ``bound`` rows."""
    found = array(path, dtype, (count,))
    if count and (int(found.min()) < 0 or int(found.max()) >= bound):
        raise ValueError(f"{path.name} points past the last row")
    return found


def check_edges(name: str, edges: NDArray[Any], size: int) -> None:
    """Refuse offsets that do not rise from 0 to a size."""
    if edges[0] != 0 or edges[-1] != size or (np.diff(edges.astype(np.int64)) < 0).any():
        raise ValueError(f"{name} is not a list of offsets")


def check_order(name: str, rows: NDArray[Any], edges: NDArray[Any]) -> None:
    """Refuse rows that do not rise between one offset and the next."""
    falls = np.flatnonzero(np.diff(rows.astype(np.int64)) <= 0) + 1
    if not np.isin(falls, edges).all():
        raise ValueError(f"{name} has rows out of order")


def weights(values: Sequence[Any], count: int) -> NDArray[np.float32]:
    """A weight in [0, 10] for each of so many records."""
    for value in _column(values, count, "weights"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= MAX_WEIGHT:
            raise ValueError(f"{value!r} is no weight between 0 and {MAX_WEIGHT:g}")
    return np.array(values, dtype=np.float32)


def dates(values: Sequence[Any], count: int) -> tuple[str | None, ...]:
    """An ISO date, or none, for each of so many records."""
    for value in _column(values, count, "dates"):
        if value is not None and dt.date.fromisoformat(value).isoformat() != value:
            raise ValueError(f"{value!r} is no date")
    return tuple(values)


def _column(values: Sequence[Any], count: int, name: str) -> Sequence[Any]:
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"{name} are not one for each of {count} records")
    return values


def inflate(data: bytes, name: str) -> bytes:
    """The bytes of a compressed column; BundleError if they are damaged or too many."""
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, _MAX_INFLATED)
    if not inflater.eof or inflater.unused_data:
        raise BundleError(f"{name} does not decompress: run `mkdocs build` again")
    return text
