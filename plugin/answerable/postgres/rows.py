"""Make the rows of a bundle for the tables of a database, and teach psycopg to send its vectors.

Rows are sent as PostgreSQL's binary COPY, so that vectors need no text, as pgvector receives them:
https://github.com/pgvector/pgvector-python.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ..serve.errors import SiteError
from ..serve.stores.bundle import Bundle
from ..serve.structure import pack_structure
from ..serve.types import Passage
from ..serve.vectors.encodings import Codes
from .postings import pack_postings
from .snapshot import pack_snapshot
from .tables import VectorColumn

# Vectors that are made at a time.
_BATCH_ROWS = 1024

Row = tuple[Any, ...]


def register_vectors(connection: Connection[Any], column: VectorColumn) -> None:
    """Teach a connection to send vectors whose bytes are made here."""
    info = TypeInfo.fetch(connection, column.name)
    # Roles are made together with the extension that has the type.
    assert info is not None, "pgvector is not there"
    info.register(connection)
    dumper = type("CodesDumper", (_CodesDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(None, dumper)


class _CodesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def make_rows(bundle: Bundle, kind: str, column: VectorColumn) -> Iterator[Row]:
    """Make the rows of one kind of table; SiteError for a text that PostgreSQL cannot hold."""
    if kind == "snapshot":
        yield from pack_snapshot(bundle).items()
    elif kind == "passages":
        for number, passage in enumerate(bundle.passages()):
            yield (number, *_list_fields(passage))
    elif kind == "vectors":
        yield from _make_vector_rows(bundle.passage_codes, len(bundle.passage_ids), column)
    elif kind == "postings":
        yield from make_posting_rows(bundle)
    elif kind == "hints":
        for number, hint in enumerate(bundle.hints):
            texts = (hint.id, hint.label, hint.locator, hint.url)
            yield (number, *(check_text(text, hint.id) for text in texts))
    else:
        windows = _make_vector_rows(bundle.hint_codes, len(bundle.hint_owners), column)
        for owner, (number, norm, codes) in zip(bundle.hint_owners.tolist(), windows, strict=True):
            yield (number, owner, norm, codes)


def check_text(text: str, where: str) -> str:
    """Return a text; SiteError for one that PostgreSQL cannot hold. where: its place, for it."""
    try:
        if b"\0" not in text.encode():
            return text
    except UnicodeEncodeError:
        pass
    raise SiteError(
        f"{where}: it holds U+0000 or half of a surrogate pair, which PostgreSQL cannot store; "
        "take that out"
    )


def make_posting_rows(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """Make a row for the postings of each term."""
    postings = bundle.postings
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        yield check_text(term, "the word index"), pack_postings(rows[order], counts[order])


def _list_fields(passage: Passage) -> Row:
    """List the fields of a passage in the order of the table's columns."""
    texts = (passage.id, passage.record, passage.url, passage.title, passage.text)
    structure = json.dumps([pack_structure(passage.blocks), pack_structure(passage.spans)])
    return (
        *(check_text(text, passage.record) for text in texts),
        [edge for sentence in passage.sentences for edge in sentence],
        check_text(structure, passage.record),
        passage.date,
        check_text(passage.summary, passage.record),
        [check_text(theme, passage.record) for theme in passage.themes],
    )


def _make_vector_rows(
    codes: Codes, count: int, column: VectorColumn
) -> Iterator[tuple[int, float, bytes]]:
    """Make a row for each vector: its number, its inverse norm and its codes."""
    for start in range(0, count, _BATCH_ROWS):
        span = slice(start, min(start + _BATCH_ROWS, count))
        values = codes.decode_rows(span).astype(np.int8 if column.is_whole else np.float32)
        norms = codes.inverse_norms[span].tolist()
        vectors = _encode_vectors(values)
        yield from zip(range(span.start, span.stop), norms, vectors, strict=True)


def _encode_vectors(rows: NDArray[Any]) -> list[bytes]:
    """Encode vectors (n, d): whole numbers in half precision, others in single precision."""
    dtype = ">f4" if rows.dtype.kind == "f" else ">f2"
    header = struct.pack(">hh", rows.shape[1], 0)
    return [header + encoded.tobytes() for encoded in rows.astype(dtype)]
