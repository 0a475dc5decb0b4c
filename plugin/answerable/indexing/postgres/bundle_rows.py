"""Encode a bundle as rows of database tables, each with a digest, for PostgreSQL's binary COPY.

A row whose digest the last bundle has too is copied inside the database and not sent. Binary, so
that vectors need no text: https://www.postgresql.org/docs/current/sql-copy.html, and the send
functions of pgvector.
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
from ...serve.stores.postgres.postings_cache import pack_postings
from ...serve.stores.postgres.schema import PAGE_URL, BundleTables, VectorColumn
from ...serve.stores.postgres.snapshot import pack_snapshot
from ...serve.structure import pack_structure
from ...serve.types import Passage
from ...serve.vectors.encodings import Codes

COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_TRAILER = b"\xff\xff"
# Rows that are made, and then sent, at a time.
BATCH_ROWS = 1024

_NULL = b"\xff\xff\xff\xff"
_INTEGER_OID, _TEXT_OID = 23, 25
_NUMBER, _DIGEST = ("number", "integer"), ("digest", "bytea")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, its fields encoded. digest: of all that it holds but its key."""

    key: bytes
    digest: bytes
    fields: tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class BundleTable:
    """A table of a bundle. columns: name and type, first its key, then the digest of a row;
    make_rows: yields them in batches; index: a statement to run once the rows are there.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    make_rows: Callable[[], Iterator[list[TableRow]]]
    index: str = ""


def make_tables(bundle: Bundle, tables: BundleTables) -> tuple[BundleTable, ...]:
    """Describe every table of a bundle; making rows raises SiteError for a text with U+0000."""
    column = VectorColumn(bundle.manifest.encoding)
    vector = (("norm", "real"), ("codes", column.type))
    passage_texts = _text_columns("id", "record", "url", "title", "text")
    return (
        BundleTable(
            tables.frame,
            (("part", "text"), _DIGEST, ("data", "bytea")),
            lambda: _make_snapshot_rows(bundle),
        ),
        BundleTable(
            tables.passages,
            (_NUMBER, _DIGEST, *passage_texts, ("sentences", "integer[]"),
             *_text_columns("structure", "date", "summary"), ("themes", "text[]")),
            lambda: _make_passage_rows(bundle),
            # By hash, since a url may be longer than what a tree takes.
            f"CREATE INDEX ON {tables.passages} USING hash (record); "
            f"CREATE INDEX ON {tables.passages} USING hash ({PAGE_URL})",
        ),
        BundleTable(
            tables.vectors,
            (_NUMBER, _DIGEST, *vector),
            lambda: _make_vector_rows(column, bundle.passage_codes, len(bundle.passage_ids)),
        ),
        BundleTable(
            tables.postings,
            (("term", 'text COLLATE "C"'), _DIGEST, ("data", "bytea")),
            lambda: make_posting_rows(bundle),
        ),
        BundleTable(
            tables.hints,
            (_NUMBER, _DIGEST, *_text_columns("id", "label", "locator", "url")),
            lambda: _make_hint_rows(bundle),
        ),
        BundleTable(
            tables.windows,
            (_NUMBER, _DIGEST, ("hint", "integer"), *vector),
            lambda: _make_vector_rows(
                column, bundle.hint_codes, len(bundle.hint_owners), bundle.hint_owners
            ),
            f"CREATE INDEX ON {tables.windows} (hint)",
        ),
    )  # fmt: skip


def encode_row(fields: Sequence[bytes | None]) -> bytes:
    """Encode a row of fields that are encoded already; None is NULL."""
    parts = [struct.pack(">h", len(fields))]
    for field in fields:
        parts.append(_NULL if field is None else struct.pack(">i", len(field)) + field)
    return b"".join(parts)


def encode_text(value: str, where: str) -> bytes:
    """Encode a text; SiteError for one that PostgreSQL cannot hold. where: its place, for it."""
    if "\0" not in value:
        try:
            return value.encode()
        except UnicodeEncodeError:
            pass
    raise SiteError(
        f"{where}: it holds U+0000 or half of a surrogate pair, which PostgreSQL cannot store; "
        "take that out"
    )


def _text_columns(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "text") for name in names)


def _encode_integer(value: int) -> bytes:
    return struct.pack(">i", value)


def _encode_integers(values: Sequence[int]) -> bytes:
    """Encode an array of integers, of one dimension, or of none if it is empty."""
    return _encode_array([_encode_integer(value) for value in values], _INTEGER_OID)


def _encode_texts(values: Sequence[bytes]) -> bytes:
    """Encode an array of texts, as ``_encode_integers`` does."""
    return _encode_array(values, _TEXT_OID)


def _encode_array(values: Sequence[bytes], oid: int) -> bytes:
    if not values:
        return struct.pack(">iii", 0, 0, oid)
    header = struct.pack(">iiiii", 1, 0, oid, len(values), 1)
    return header + b"".join(struct.pack(">i", len(value)) + value for value in values)


def _encode_vectors(rows: NDArray[Any]) -> list[bytes]:
    """Encode vectors (n, d): whole numbers in half precision, others in single precision."""
    dtype = ">f4" if rows.dtype.kind == "f" else ">f2"
    header = struct.pack(">hh", rows.shape[1], 0)
    return [header + encoded.tobytes() for encoded in rows.astype(dtype)]


def _make_row(key: bytes, *fields: bytes | None) -> TableRow:
    return TableRow(key, hashlib.sha256(encode_row(fields)).digest()[:16], fields)


def _iter_batches(count: int) -> Iterator[range]:
    for start in range(0, count, BATCH_ROWS):
        yield range(start, min(start + BATCH_ROWS, count))


def _make_snapshot_rows(bundle: Bundle) -> Iterator[list[TableRow]]:
    yield [_make_row(part.encode(), data) for part, data in pack_snapshot(bundle).items()]


def _make_passage_rows(bundle: Bundle) -> Iterator[list[TableRow]]:
    for numbers in _iter_batches(len(bundle.passage_ids)):
        yield [_make_row(_encode_integer(n), *_encode_passage(bundle.passage(n))) for n in numbers]


def _encode_passage(passage: Passage) -> tuple[bytes | None, ...]:
    texts = (passage.id, passage.record, passage.url, passage.title, passage.text)
    structure = json.dumps([pack_structure(passage.blocks), pack_structure(passage.spans)])
    return (
        *(encode_text(text, passage.record) for text in texts),
        _encode_integers([edge for sentence in passage.sentences for edge in sentence]),
        encode_text(structure, passage.record),
        None if passage.date is None else encode_text(passage.date, passage.record),
        encode_text(passage.summary, passage.record),
        _encode_texts([encode_text(theme, passage.record) for theme in passage.themes]),
    )


def make_posting_rows(bundle: Bundle) -> Iterator[list[TableRow]]:
    """Make a row for the postings of each term, in batches."""
    postings = bundle.postings
    batch: list[TableRow] = []
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        data = pack_postings(rows[order], counts[order])
        batch.append(_make_row(encode_text(term, "the word index"), data))
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    yield batch


def _make_hint_rows(bundle: Bundle) -> Iterator[list[TableRow]]:
    rows: list[TableRow] = []
    for number, hint in enumerate(bundle.hints):
        texts = (hint.id, hint.label, hint.locator, hint.url)
        rows.append(_make_row(_encode_integer(number), *(encode_text(t, hint.id) for t in texts)))
    yield rows


def _make_vector_rows(
    column: VectorColumn, codes: Codes, count: int, owners: NDArray[np.uint32] | None = None
) -> Iterator[list[TableRow]]:
    """Make a row for each vector. owners: the hint of each, where they are those of windows."""
    for numbers in _iter_batches(count):
        span = slice(numbers.start, numbers.stop)
        values = codes.decode_rows(span).astype(np.int8 if column.is_whole else np.float32)
        norms = codes.inverse_norms[span].tolist()
        batch: list[TableRow] = []
        for number, norm, vector in zip(numbers, norms, _encode_vectors(values), strict=True):
            owner = () if owners is None else (_encode_integer(int(owners[number])),)
            batch.append(
                _make_row(_encode_integer(number), *owner, struct.pack(">f", norm), vector)
            )
        yield batch
