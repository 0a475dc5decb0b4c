"""Rows as PostgreSQL's binary COPY reads them, so that vectors need no text.

Source: https://www.postgresql.org/docs/current/sql-copy.html, and the send functions of pgvector.
"""

import struct
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ...serve.errors import SiteError

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_INTEGER = 23


def row(fields: Sequence[bytes | None]) -> bytes:
    """One row of fields that are encoded already; None is NULL."""
    parts = [struct.pack(">h", len(fields))]
    for field in fields:
        parts.append(_NULL if field is None else struct.pack(">i", len(field)) + field)
    return b"".join(parts)


def integer(value: int) -> bytes:
    return struct.pack(">i", value)


def real(value: float) -> bytes:
    return struct.pack(">f", value)


def text(value: str, where: str) -> bytes:
    """A text; SiteError for one that PostgreSQL cannot hold. where: what an error names."""
    if "\0" not in value:
        try:
            return value.encode()
        except UnicodeEncodeError:
            pass
    raise SiteError(
        f"{where}: it holds U+0000 or half of a surrogate pair, which PostgreSQL cannot store; "
        "take that out"
    )


def integers(values: Sequence[int]) -> bytes:
    """An array of integers, of one dimension, or of none if it is empty."""
    if not values:
        return struct.pack(">iii", 0, 0, _INTEGER)
    head = struct.pack(">iiiii", 1, 0, _INTEGER, len(values), 1)
    return head + b"".join(struct.pack(">ii", 4, value) for value in values)


def vectors(rows: NDArray[Any]) -> list[bytes]:
    """Vectors (n, d): whole numbers in half precision, others in single precision."""
    kind = ">f4" if rows.dtype.kind == "f" else ">f2"
    head = struct.pack(">hh", rows.shape[1], 0)
    return [head + encoded.tobytes() for encoded in rows.astype(kind)]
