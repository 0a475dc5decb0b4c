"""The tables of a bundle in a database: rows that are new are sent, all others copied there."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...serve.bundle import Bundle
from ...serve.postgres import schema
from ...serve.postgres.schema import PUBLIC, Tables, Vectors
from ...serve.postgres.search import Search
from . import binary, catalog, rows
from .catalog import Connection
from .rows import Table

# Rows that are copied inside the database by one statement.
_COPIED = 20_000
# Bytes up to which a vector is kept in its row: a page of the database holds 8192.
_INLINE = 7_500


@dataclass(frozen=True, slots=True)
class Filled:
    """How many rows were sent, and how many the last bundle had."""

    sent: int = 0
    kept: int = 0


def fill(
    connection: Connection,
    bundle: Bundle,
    named: Tables,
    last: str | None,
    name: str,
    search: Search,
) -> Filled:
    """Make the tables of a bundle of a site's name, and list it.

    last: the key of the one whose rows may be used again.
    """
    sent = kept = 0
    before = Tables(last).all if last else None
    for place, table in enumerate(rows.tables(bundle, named)):
        _create(connection, table, bundle)
        more = _fill_table(connection, table, before[place] if before else None)
        sent, kept = sent + more[0], kept + more[1]
        first = table.columns[0][0]
        connection.execute(f"ALTER TABLE {table.name} ADD PRIMARY KEY ({first})".encode())
        if table.index:
            connection.execute(table.index.encode())
    if search.how == "hnsw":
        _index(connection, Vectors(bundle.manifest.encoding), named, search)
    for each in named.all:
        connection.execute(f"ANALYZE {each}".encode())
    connection.execute(
        f"INSERT INTO {PUBLIC}.bundles (key, name, format, id, manifest, search) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING".encode(),
        (named.key, name, schema.FORMAT, bundle.manifest.id,
         json.dumps(bundle.manifest.as_json()), search.as_json()),
    )  # fmt: skip
    return Filled(sent, kept)


def _create(connection: Connection, table: Table, bundle: Bundle) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    connection.execute(f"CREATE TABLE {table.name} ({columns})".encode())
    # At the first table, not after all rows.
    catalog.check_readable(connection, [table.name])
    vectors = Vectors(bundle.manifest.encoding)
    width = 2 if vectors.is_whole else 4
    if ("codes", vectors.type) in table.columns:
        inline = width * bundle.manifest.encoding.dimensions <= _INLINE
        storage = "PLAIN" if inline else "EXTERNAL"
        connection.execute(
            f"ALTER TABLE {table.name} ALTER COLUMN codes SET STORAGE {storage}".encode()
        )


def _fill_table(connection: Connection, table: Table, before: str | None) -> tuple[int, int]:
    """Send the rows that the same table of the last bundle lacks, and copy the others."""
    known = _digests(connection, before, table) if before else {}
    same: list[tuple[Any, Any]] = []
    sent = 0
    kind = table.columns[0][1]
    names = ", ".join(name for name, _ in table.columns)
    statement = f"COPY {table.name} ({names}) FROM STDIN (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(binary.HEADER)
        for batch in table.rows():
            fresh = []
            for row in batch:
                old = known.get(row.digest)
                if old is None:
                    fresh.append(binary.row((row.key, row.digest, *row.fields)))
                else:
                    same.append((_value(row.key, kind), old))
            sent += len(fresh)
            copy.write(b"".join(fresh))
        copy.write(binary.TRAILER)
    for start in range(0, len(same), _COPIED):
        _copy(connection, table, str(before), same[start : start + _COPIED])
    return sent, len(same)


def _digests(connection: Connection, before: str, table: Table) -> dict[bytes, Any]:
    """From the digest of each row of a table to its key."""
    first = table.columns[0][0]
    with connection.cursor(binary=True) as cursor:
        cursor.execute(f"SELECT digest, {first} FROM {before}".encode())
        return dict(cursor)


def _copy(
    connection: Connection, table: Table, before: str, pairs: Sequence[tuple[Any, Any]]
) -> None:
    (first, declared), *others = table.columns
    kind = declared.split()[0]
    names = ", ".join(name for name, _ in others)
    statement = (
        f"INSERT INTO {table.name} ({first}, {names}) "
        f"SELECT fresh, {names} FROM unnest(%s::{kind}[], %s::{kind}[]) AS same (fresh, old) "
        f"JOIN {before} ON {before}.{first} = same.old"
    )
    fresh, old = zip(*pairs, strict=True)
    connection.execute(statement.encode(), (list(fresh), list(old)))


def _value(key: bytes, kind: str) -> int | str:
    return int.from_bytes(key, "big") if kind == "integer" else key.decode()


def _index(connection: Connection, vectors: Vectors, named: Tables, search: Search) -> None:
    connection.execute(
        f"CREATE INDEX ON {named.vectors} USING hnsw ({vectors.indexed} halfvec_cosine_ops) "
        f"WITH (m = {search.m}, ef_construction = {search.ef_construction})".encode()
    )
