"""Rows as PostgreSQL's binary COPY reads them, so that vectors need no text.

Source: https://www.postgresql.org/docs/current/sql-copy.html, and the send functions of pgvector.

What a bundle is in a database: the rows of its tables, and a digest of each.

A row whose digest the last bundle has too is copied inside the database and not sent.
"""

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.errors import SiteError
from ...serve.stores.bundle import Bundle
from ...serve.stores.postgres.schema import BundleTables, VectorColumn
from ...serve.stores.postgres.snapshot import pack_postings, pack_snapshot
from ...serve.structure import pack_structure
from ...serve.types import Passage
from ...serve.vectors.encodings import Codes

COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_TRAILER = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_INTEGER = 23


def encode_row(fields: Sequence[bytes | None]) -> bytes:
    """One row of fields that are encoded already; None is NULL."""
    parts = [struct.pack(">h", len(fields))]
    for field in fields:
        parts.append(_NULL if field is None else struct.pack(">i", len(field)) + field)
    return b"".join(parts)


def encode_integer(value: int) -> bytes:
    return struct.pack(">i", value)


def encode_real(value: float) -> bytes:
    return struct.pack(">f", value)


def encode_text(value: str, where: str) -> bytes:
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


def encode_integers(values: Sequence[int]) -> bytes:
    """An array of integers, of one dimension, or of none if it is empty."""
    if not values:
        return struct.pack(">iii", 0, 0, _INTEGER)
    head = struct.pack(">iiiii", 1, 0, _INTEGER, len(values), 1)
    return head + b"".join(struct.pack(">ii", 4, value) for value in values)


def encode_vector_fields(rows: NDArray[Any]) -> list[bytes]:
    """Vectors (n, d): whole numbers in half precision, others in single precision."""
    kind = ">f4" if rows.dtype.kind == "f" else ">f2"
    head = struct.pack(">hh", rows.shape[1], 0)
    return [head + encoded.tobytes() for encoded in rows.astype(kind)]


# Rows that are made, and then sent, at a time.
BATCH_ROWS = 1024


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, its fields encoded. digest: of all that it holds but its key."""

    key: bytes
    digest: bytes
    fields: tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class BundleTable:
    """A table of a bundle: its columns, the first of them its key and the second a digest, and
    its rows, some at a time. index: more to create once the rows are there.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: Callable[[], Iterator[list[TableRow]]]
    index: str = ""


def make_tables(bundle: Bundle, named: BundleTables) -> tuple[BundleTable, ...]:
    """Every table of a bundle; making its rows raises SiteError for a text that has no place."""
    stored = VectorColumn(bundle.manifest.encoding)
    number = ("number", "integer")
    digest = ("digest", "bytea")
    vector = (("norm", "real"), ("codes", stored.type))
    return (
        BundleTable(
            named.frame,
            (("part", "text"), digest, ("data", "bytea")),
            lambda: _frame(bundle),
        ),
        BundleTable(
            named.passages,
            (number, digest, *(_text(c) for c in ("id", "record", "url", "title", "text")),
             ("sentences", "integer[]"), _text("structure"), _text("date")),
            lambda: _passages(bundle),
        ),
        BundleTable(
            named.vectors,
            (number, digest, *vector),
            lambda: _vectors(stored, bundle.passage_codes, len(bundle.passage_ids)),
        ),
        BundleTable(
            named.postings,
            (("term", 'text COLLATE "C"'), digest, ("data", "bytea")),
            lambda: _postings(bundle),
        ),
        BundleTable(
            named.hints,
            (number, digest, *(_text(c) for c in ("id", "label", "locator", "url"))),
            lambda: _hints(bundle),
        ),
        BundleTable(
            named.windows,
            (number, digest, ("hint", "integer"), *vector),
            lambda: _vectors(
                stored, bundle.hint_codes, len(bundle.hint_owners), bundle.hint_owners
            ),
            f"CREATE INDEX ON {named.windows} (hint)",
        ),
    )  # fmt: skip


def _text(name: str) -> tuple[str, str]:
    return (name, "text")


def _row(key: bytes, *fields: bytes | None) -> TableRow:
    digest = hashlib.sha256(encode_row(fields)).digest()[:16]
    return TableRow(key, digest, fields)


def _frame(bundle: Bundle) -> Iterator[list[TableRow]]:
    yield [_row(part.encode(), data) for part, data in pack_snapshot(bundle).items()]


def _passages(bundle: Bundle) -> Iterator[list[TableRow]]:
    for start in range(0, len(bundle.passage_ids), BATCH_ROWS):
        numbers = range(start, min(start + BATCH_ROWS, len(bundle.passage_ids)))
        yield [_row(encode_integer(n), *_passage(bundle.passage(n))) for n in numbers]


def _passage(passage: Passage) -> tuple[bytes | None, ...]:
    where = passage.record

    def text(value: str) -> bytes:
        return encode_text(value, where)

    return (
        text(passage.id),
        text(passage.record),
        text(passage.url),
        text(passage.title),
        text(passage.text),
        encode_integers([edge for sentence in passage.sentences for edge in sentence]),
        text(json.dumps([pack_structure(passage.blocks), pack_structure(passage.spans)])),
        None if passage.date is None else text(passage.date),
    )


def _postings(bundle: Bundle) -> Iterator[list[TableRow]]:
    postings = bundle.postings
    batch: list[TableRow] = []
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        data = pack_postings(rows[order], counts[order])
        batch.append(_row(encode_text(term, "the word index"), data))
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    yield batch


def _hints(bundle: Bundle) -> Iterator[list[TableRow]]:
    yield [
        _row(
            encode_integer(number),
            *(encode_text(v, hint.id) for v in (hint.id, hint.label, hint.locator, hint.url)),
        )
        for number, hint in enumerate(bundle.hints)
    ]


def _vectors(
    stored: VectorColumn, stream: Codes, count: int, owners: NDArray[np.uint32] | None = None
) -> Iterator[list[TableRow]]:
    """The vectors of a stream. owners: the hint of each, where they are those of windows."""
    for start in range(0, count, BATCH_ROWS):
        numbers = range(start, min(start + BATCH_ROWS, count))
        rows = slice(start, numbers.stop)
        numerals = stream.numbers(rows).astype(np.int8 if stored.is_whole else np.float32)
        norms = stream.inverse_norms[rows].tolist()
        encoded = zip(numbers, norms, encode_vector_fields(numerals), strict=True)
        yield [
            _row(
                encode_integer(number),
                *(() if owners is None else (encode_integer(int(owners[number])),)),
                encode_real(norm),
                vector,
            )
            for number, norm, vector in encoded
        ]
