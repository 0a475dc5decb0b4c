"""Publish a bundle to PostgreSQL in one transaction; remove bundles superseded long ago.

Nothing is there for anyone else to see before the transaction ends, and ending it is the single
step from the old bundle to the new. Whatever stops a publisher, the server rolls it back. New rows
are sent, all others copied inside the database.
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
from . import catalog
from .bundle_rows import COPY_HEADER, COPY_TRAILER, BundleTable, encode_row, make_tables
from .catalog import (
    PublisherConnection,
    check_function_can_read,
    connect_publisher,
    drop_tables,
    execute,
    fetch_one,
    find_served_key,
    has_tables,
    prepare_catalog,
    remove_superseded,
    serve_bundle_key,
)

# Hours after which what is no longer served is removed: functions that slept may still read it.
GRACE_HOURS = 24.0

# Rows that are copied inside the database by one statement.
_COPY_ROWS = 20_000
# Bytes up to which a vector lies in its row: a page of the database holds 8192.
_MAX_INLINE_BYTES = 7_500

StoreCheck = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """A database to publish to: its address, which may hold a password, and the site's name.

    grace: hours after which what it supersedes is removed.
    """

    url: str
    name: str = DEFAULT_STORE_NAME
    search: VectorSearch = field(default_factory=VectorSearch)
    grace: float = GRACE_HOURS


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """Counts of a publication: rows sent, rows copied from the last bundle, bundles removed."""

    key: str
    sent: int = 0
    reused: int = 0
    removed: int = 0


def publish_bundle_rows(
    bundle: Bundle, target: DatabaseTarget, check: StoreCheck | None = None
) -> PublishedRows:
    """Publish a bundle; StorageError if another build does, or if the database refuses.

    check: gets the store before anyone else can see it, and raises to have nothing published.
    A bundle that is served already is left as it is.
    """
    key = _make_bundle_key(bundle, target)
    with connect_publisher(target.url) as connection:
        prepare_catalog(connection, target.name)
        with connection.transaction():
            catalog.lock_site_name(connection, target.name)
            sent, reused = _publish(connection, bundle, target, key, check)
        removed = remove_superseded(connection, target.name, 3600 * target.grace)
    return PublishedRows(key, sent, reused, removed)


def _make_bundle_key(bundle: Bundle, target: DatabaseTarget) -> str:
    """Hash all that the tables depend on, into the key that their names carry."""
    parts = [target.name, schema.TABLE_FORMAT, bundle.manifest.id, target.search.as_json()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _publish(
    connection: PublisherConnection,
    bundle: Bundle,
    target: DatabaseTarget,
    key: str,
    check: StoreCheck | None,
) -> tuple[int, int]:
    """Fill the tables, check and serve the bundle; returns the rows sent and the rows reused."""
    last = find_served_key(connection, target.name)
    if last and not has_tables(connection, BundleTables(last).all):
        last = None
    if last == key:
        return 0, 0
    statement = f"SELECT count(*) FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s"
    (is_listed,) = fetch_one(connection, statement, key)
    sent = reused = 0
    if not is_listed or not has_tables(connection, BundleTables(key).all):
        drop_tables(connection, BundleTables(key))
        sent, reused = _fill_tables(connection, bundle, BundleTables(key), last, target)
    if check:
        # If psycopg is missing, the builder's error is that of `catalog`, not that of serving.
        from ...serve.stores.postgres.postgres_store import open_postgres_store

        check(open_postgres_store(_TransactionReader(connection), key))
    serve_bundle_key(connection, target.name, key)
    return sent, reused


def _fill_tables(
    connection: PublisherConnection,
    bundle: Bundle,
    tables: BundleTables,
    last: str | None,
    target: DatabaseTarget,
) -> tuple[int, int]:
    """Create the tables of a bundle and list it in the catalog. last: the key of the one before."""
    sent = reused = 0
    last_tables = BundleTables(last).all if last else None
    column = VectorColumn(bundle.manifest.encoding)
    for place, table in enumerate(make_tables(bundle, tables)):
        _create_table(connection, table, column)
        counts = _fill_table(connection, table, last_tables[place] if last_tables else None)
        sent, reused = sent + counts[0], reused + counts[1]
        execute(connection, f"ALTER TABLE {table.name} ADD PRIMARY KEY ({table.columns[0][0]})")
        if table.index:
            execute(connection, table.index)
    if target.search.how == "hnsw":
        _index_vectors(connection, column, tables, target.search)
    for name in tables.all:
        execute(connection, f"ANALYZE {name}")
    manifest = bundle.manifest
    execute(
        connection,
        f"INSERT INTO {PUBLIC_SCHEMA}.bundles (key, name, format, id, manifest, search) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING",
        *(tables.key, target.name, schema.TABLE_FORMAT, manifest.id),
        *(json.dumps(manifest.as_json()), target.search.as_json()),
    )
    return sent, reused


def _create_table(
    connection: PublisherConnection, table: BundleTable, column: VectorColumn
) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    execute(connection, f"CREATE TABLE {table.name} ({columns})")
    # At the first table, not after all rows.
    check_function_can_read(connection, [table.name])
    if ("codes", column.type) in table.columns:
        size = (2 if column.is_whole else 4) * column.encoding.dimensions
        storage = "PLAIN" if size <= _MAX_INLINE_BYTES else "EXTERNAL"
        execute(connection, f"ALTER TABLE {table.name} ALTER COLUMN codes SET STORAGE {storage}")


def _fill_table(
    connection: PublisherConnection, table: BundleTable, last: str | None
) -> tuple[int, int]:
    """Send the rows that the same table of the last bundle lacks, and copy the others."""
    last_keys = _read_digests(connection, last, table) if last else {}
    copied: list[tuple[Any, Any]] = []
    sent = 0
    key_type = table.columns[0][1]
    names = ", ".join(name for name, _ in table.columns)
    statement = f"COPY {table.name} ({names}) FROM STDIN (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(COPY_HEADER)
        for batch in table.make_rows():
            encoded = []
            for row in batch:
                last_key = last_keys.get(row.digest)
                if last_key is None:
                    encoded.append(encode_row((row.key, row.digest, *row.fields)))
                else:
                    copied.append((_decode_key(row.key, key_type), last_key))
            sent += len(encoded)
            copy.write(b"".join(encoded))
        copy.write(COPY_TRAILER)
    for start in range(0, len(copied), _COPY_ROWS):
        _copy_rows(connection, table, str(last), copied[start : start + _COPY_ROWS])
    return sent, len(copied)


def _read_digests(
    connection: PublisherConnection, last: str, table: BundleTable
) -> dict[bytes, Any]:
    """Map the digest of each row of a table of the last bundle to its key."""
    with connection.cursor(binary=True) as cursor:
        cursor.execute(f"SELECT digest, {table.columns[0][0]} FROM {last}".encode())
        return dict(cursor)


def _copy_rows(
    connection: PublisherConnection, table: BundleTable, last: str, pairs: Sequence[tuple[Any, Any]]
) -> None:
    """Copy rows of the last bundle's table. pairs: the new key and the old one of each."""
    (key, declared), *others = table.columns
    kind = declared.split()[0]
    names = ", ".join(name for name, _ in others)
    statement = (
        f"INSERT INTO {table.name} ({key}, {names}) "
        f"SELECT fresh, {names} FROM unnest(%s::{kind}[], %s::{kind}[]) AS same (fresh, old) "
        f"JOIN {last} ON {last}.{key} = same.old"
    )
    fresh, old = zip(*pairs, strict=True)
    execute(connection, statement, list(fresh), list(old))


def _decode_key(key: bytes, kind: str) -> int | str:
    return int.from_bytes(key, "big") if kind == "integer" else key.decode()


def _index_vectors(
    connection: PublisherConnection,
    column: VectorColumn,
    tables: BundleTables,
    search: VectorSearch,
) -> None:
    execute(
        connection,
        f"CREATE INDEX ON {tables.vectors} USING hnsw ({column.indexed} halfvec_cosine_ops) "
        f"WITH (m = {search.m}, ef_construction = {search.ef_construction})",
    )


@dataclass(frozen=True, slots=True)
class _TransactionReader:
    """Read rows that this transaction has not published yet."""

    connection: PublisherConnection

    def fetch(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[tuple[Any, ...]]:
        """Read rows as the protocol of stores says; the timeout is the server's."""
        del timeout
        for name, value in (settings or {}).items():
            execute(self.connection, "SELECT set_config(%s, %s, true)", name, value)
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(statement.encode(), parameters).fetchall()
