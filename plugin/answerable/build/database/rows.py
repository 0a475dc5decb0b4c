"""What a bundle is in a database: the rows of its tables, and a digest of each.

A row whose digest the last bundle has too is copied inside the database and not sent.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...serve import structure
from ...serve.bundle import Bundle
from ...serve.codes import Codes
from ...serve.postgres import frame
from ...serve.postgres.schema import Tables, Vectors
from ...serve.types import Passage
from . import binary

# Rows that are made, and then sent, at a time.
BATCH = 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One row, its fields encoded. digest: of all that it holds but its key."""

    key: bytes
    digest: bytes
    fields: tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a bundle: its columns, the first of them its key and the second a digest, and
    its rows, some at a time. index: more to create once the rows are there.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: Callable[[], Iterator[list[Row]]]
    index: str = ""


def tables(bundle: Bundle, named: Tables) -> tuple[Table, ...]:
    """Every table of a bundle; making its rows raises SiteError for a text that has no place."""
    stored = Vectors(bundle.manifest.encoding)
    number = ("number", "integer")
    digest = ("digest", "bytea")
    vector = (("norm", "real"), ("codes", stored.type))
    return (
        Table(
            named.frame,
            (("part", "text"), digest, ("data", "bytea")),
            lambda: _frame(bundle),
        ),
        Table(
            named.passages,
            (number, digest, *(_text(c) for c in ("id", "record", "url", "title", "text")),
             ("sentences", "integer[]"), _text("structure"), _text("date")),
            lambda: _passages(bundle),
        ),
        Table(
            named.vectors,
            (number, digest, *vector),
            lambda: _vectors(stored, bundle.passage_codes, len(bundle.passage_ids)),
        ),
        Table(
            named.postings,
            (("term", 'text COLLATE "C"'), digest, ("data", "bytea")),
            lambda: _postings(bundle),
        ),
        Table(
            named.hints,
            (number, digest, *(_text(c) for c in ("id", "label", "locator", "url"))),
            lambda: _hints(bundle),
        ),
        Table(
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


def _row(key: bytes, *fields: bytes | None) -> Row:
    digest = hashlib.sha256(binary.row(fields)).digest()[:16]
    return Row(key, digest, fields)


def _frame(bundle: Bundle) -> Iterator[list[Row]]:
    yield [_row(part.encode(), data) for part, data in frame.parts(bundle).items()]


def _passages(bundle: Bundle) -> Iterator[list[Row]]:
    for start in range(0, len(bundle.passage_ids), BATCH):
        numbers = range(start, min(start + BATCH, len(bundle.passage_ids)))
        yield [_row(binary.integer(n), *_passage(bundle.passage(n))) for n in numbers]


def _passage(passage: Passage) -> tuple[bytes | None, ...]:
    where = passage.record

    def text(value: str) -> bytes:
        return binary.text(value, where)

    return (
        text(passage.id),
        text(passage.record),
        text(passage.url),
        text(passage.title),
        text(passage.text),
        binary.integers([edge for sentence in passage.sentences for edge in sentence]),
        text(json.dumps([structure.pack(passage.blocks), structure.pack(passage.spans)])),
        None if passage.date is None else text(passage.date),
    )


def _postings(bundle: Bundle) -> Iterator[list[Row]]:
    postings = bundle.postings
    batch: list[Row] = []
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        data = frame.pack_postings(rows[order], counts[order])
        batch.append(_row(binary.text(term, "the word index"), data))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _hints(bundle: Bundle) -> Iterator[list[Row]]:
    yield [
        _row(
            binary.integer(number),
            *(binary.text(v, hint.id) for v in (hint.id, hint.label, hint.locator, hint.url)),
        )
        for number, hint in enumerate(bundle.hints)
    ]


def _vectors(
    stored: Vectors, stream: Codes, count: int, owners: NDArray[np.uint32] | None = None
) -> Iterator[list[Row]]:
    """The vectors of a stream. owners: the hint of each, where they are those of windows."""
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        rows = slice(start, numbers.stop)
        numerals = stream.numbers(rows).astype(np.int8 if stored.is_whole else np.float32)
        norms = stream.inverse_norms[rows].tolist()
        encoded = zip(numbers, norms, binary.vectors(numerals), strict=True)
        yield [
            _row(
                binary.integer(number),
                *(() if owners is None else (binary.integer(int(owners[number])),)),
                binary.real(norm),
                vector,
            )
            for number, norm, vector in encoded
        ]
