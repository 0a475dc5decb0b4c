"""The tables of a bundle in a database: rows that are new are sent, all others copied there.

A bundle put into a database in one transaction, and the last one removed when its time is over.

Nothing is there for anyone else to see before the transaction ends, and ending it is the single
step from the old bundle to the new. Whatever stops a publisher, the server takes back what it did.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...serve.retrieval.store import Store
from ...serve.stores.bundle import Bundle
from ...serve.stores.postgres import schema
from ...serve.stores.postgres.database_options import DEFAULT_STORE_NAME, VectorSearch
from ...serve.stores.postgres.schema import PUBLIC_SCHEMA, BundleTables, VectorColumn
from . import bundle_rows, catalog
from .bundle_rows import BundleTable, encode_row, make_tables
from .catalog import (
    PublisherConnection,
    check_function_can_read,
    connect_publisher,
    drop_tables,
    fetch_one,
    find_served_key,
    has_tables,
    prepare_catalog,
    remove_superseded,
    serve_bundle_key,
)

# Rows that are copied inside the database by one statement.
_COPIED = 20_000
# Bytes up to which a vector is kept in its row: a page of the database holds 8192.
_INLINE = 7_500


@dataclass(frozen=True, slots=True)
class FilledRows:
    """How many rows were sent, and how many the last bundle had."""

    sent: int = 0
    kept: int = 0


def fill_tables(
    connection: PublisherConnection,
    bundle: Bundle,
    named: BundleTables,
    last: str | None,
    name: str,
    search: VectorSearch,
) -> FilledRows:
    """Make the tables of a bundle of a site's name, and list it.

    last: the key of the one whose rows may be used again.
    """
    sent = kept = 0
    before = BundleTables(last).all if last else None
    for place, table in enumerate(make_tables(bundle, named)):
        _create(connection, table, bundle)
        more = _fill_table(connection, table, before[place] if before else None)
        sent, kept = sent + more[0], kept + more[1]
        first = table.columns[0][0]
        connection.execute(f"ALTER TABLE {table.name} ADD PRIMARY KEY ({first})".encode())
        if table.index:
            connection.execute(table.index.encode())
    if search.how == "hnsw":
        _index(connection, VectorColumn(bundle.manifest.encoding), named, search)
    for each in named.all:
        connection.execute(f"ANALYZE {each}".encode())
    connection.execute(
        f"INSERT INTO {PUBLIC_SCHEMA}.bundles (key, name, format, id, manifest, search) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING".encode(),
        (named.key, name, schema.TABLE_FORMAT, bundle.manifest.id,
         json.dumps(bundle.manifest.as_json()), search.as_json()),
    )  # fmt: skip
    return FilledRows(sent, kept)


def _create(connection: PublisherConnection, table: BundleTable, bundle: Bundle) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    connection.execute(f"CREATE TABLE {table.name} ({columns})".encode())
    # At the first table, not after all rows.
    check_function_can_read(connection, [table.name])
    vectors = VectorColumn(bundle.manifest.encoding)
    width = 2 if vectors.is_whole else 4
    if ("codes", vectors.type) in table.columns:
        inline = width * bundle.manifest.encoding.dimensions <= _INLINE
        storage = "PLAIN" if inline else "EXTERNAL"
        connection.execute(
            f"ALTER TABLE {table.name} ALTER COLUMN codes SET STORAGE {storage}".encode()
        )


def _fill_table(
    connection: PublisherConnection, table: BundleTable, before: str | None
) -> tuple[int, int]:
    """Send the rows that the same table of the last bundle lacks, and copy the others."""
    known = _digests(connection, before, table) if before else {}
    same: list[tuple[Any, Any]] = []
    sent = 0
    kind = table.columns[0][1]
    names = ", ".join(name for name, _ in table.columns)
    statement = f"COPY {table.name} ({names}) FROM STDIN (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(bundle_rows.COPY_HEADER)
        for batch in table.rows():
            fresh = []
            for row in batch:
                old = known.get(row.digest)
                if old is None:
                    fresh.append(encode_row((row.key, row.digest, *row.fields)))
                else:
                    same.append((_value(row.key, kind), old))
            sent += len(fresh)
            copy.write(b"".join(fresh))
        copy.write(bundle_rows.COPY_TRAILER)
    for start in range(0, len(same), _COPIED):
        _copy(connection, table, str(before), same[start : start + _COPIED])
    return sent, len(same)


def _digests(connection: PublisherConnection, before: str, table: BundleTable) -> dict[bytes, Any]:
    """From the digest of each row of a table to its key."""
    first = table.columns[0][0]
    with connection.cursor(binary=True) as cursor:
        cursor.execute(f"SELECT digest, {first} FROM {before}".encode())
        return dict(cursor)


def _copy(
    connection: PublisherConnection,
    table: BundleTable,
    before: str,
    pairs: Sequence[tuple[Any, Any]],
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


def _index(
    connection: PublisherConnection,
    vectors: VectorColumn,
    named: BundleTables,
    search: VectorSearch,
) -> None:
    connection.execute(
        f"CREATE INDEX ON {named.vectors} USING hnsw ({vectors.indexed} halfvec_cosine_ops) "
        f"WITH (m = {search.m}, ef_construction = {search.ef_construction})".encode()
    )


# Hours after which what is no longer served is removed: functions that slept may still ask it.
GRACE_HOURS = 24.0

StoreCheck = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """Where a bundle is published: an address, which may hold a password, and the site's name.

    grace: hours after which what it replaces is removed.
    """

    url: str
    name: str = DEFAULT_STORE_NAME
    search: VectorSearch = field(default_factory=VectorSearch)
    grace: float = GRACE_HOURS


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """What was done: rows that were sent, rows that the last bundle had, bundles removed."""

    key: str
    sent: int = 0
    kept: int = 0
    removed: int = 0


def publish_bundle_rows(
    bundle: Bundle, target: DatabaseTarget, check: StoreCheck | None = None
) -> PublishedRows:
    """Publish a bundle; StorageError if another build does, or if the database refuses.

    check: is given the store before anyone else can see it, and raises to have nothing published.
    A bundle that is served already is left as it is.
    """
    key = _key(bundle, target)
    with connect_publisher(target.url) as connection:
        prepare_catalog(connection, target.name)
        with connection.transaction():
            catalog.lock_site_name(connection, target.name)
            done = _publish(connection, bundle, target, key, check)
        removed = remove_superseded(connection, target.name, 3600 * target.grace)
    return PublishedRows(key, done.sent, done.kept, removed)


def _key(bundle: Bundle, target: DatabaseTarget) -> str:
    """What the tables carry in their names: of all that they depend on."""
    parts = [target.name, schema.TABLE_FORMAT, bundle.manifest.id, target.search.as_json()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _publish(
    connection: PublisherConnection,
    bundle: Bundle,
    target: DatabaseTarget,
    key: str,
    check: StoreCheck | None,
) -> FilledRows:
    last = find_served_key(connection, target.name)
    if last and not has_tables(connection, BundleTables(last).all):
        last = None
    if last == key:
        return FilledRows()
    known = fetch_one(
        connection, f"SELECT count(*) FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s", (key,)
    )[0]
    done = FilledRows()
    if not known or not has_tables(connection, BundleTables(key).all):
        drop_tables(connection, BundleTables(key))
        done = fill_tables(connection, bundle, BundleTables(key), last, target.name, target.search)
    if check:
        # Of psycopg, if it is missing, the builder is told by `catalog` and not by what serves.
        from ...serve.stores.postgres.postgres_store import open_postgres_store

        check(open_postgres_store(_InTransaction(connection), key))
    serve_bundle_key(connection, target.name, key)
    return done


@dataclass(frozen=True, slots=True)
class _InTransaction:
    """What a publisher reads of what it has not published yet."""

    connection: PublisherConnection

    def read(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[tuple[Any, ...]]:
        """See Reader."""
        del timeout
        for name, value in (settings or {}).items():
            self.connection.execute("SELECT set_config(%s, %s, true)", (name, value))
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(statement.encode(), parameters).fetchall()
