"""Publish a bundle to PostgreSQL in one transaction; remove bundles superseded long ago.

Nothing is there for anyone else to see before the transaction ends, and ending it is the single
step from the old bundle to the new. Whatever stops a publisher, the server rolls it back.
"""

import hashlib
import json
from dataclasses import dataclass

from ..serve.stores.bundle import Bundle
from . import catalog, tables
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
from .options import DEFAULT_STORE_NAME, SearchMethod
from .rows import make_rows, register_vectors
from .tables import PUBLIC_SCHEMA, TABLE_FORMAT, BundleTables, StoredTable, VectorColumn

# Hours after which what is no longer served is removed: functions that slept may still read it.
GRACE_HOURS = 24.0

# Bytes up to which a vector lies in its row: a page of the database holds 8192.
_MAX_INLINE_BYTES = 7_500


@dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """A database to publish to: its address, which may hold a password, and the site's name.

    ``grace``: hours after which a bundle that was replaced is removed.
    """

    url: str
    name: str = DEFAULT_STORE_NAME
    search: SearchMethod = "exact"
    grace: float = GRACE_HOURS


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """Counts of a publication: rows sent, and older bundles removed."""

    key: str
    sent: int = 0
    removed: int = 0


def publish_bundle_rows(bundle: Bundle, target: DatabaseTarget) -> PublishedRows:
    """Publish a bundle; StorageError if another build does, or if the database refuses.

    A bundle that is served already is left as it is.
    """
    key = _make_bundle_key(bundle, target)
    with connect_publisher(target.url) as connection:
        prepare_catalog(connection, target.name)
        with connection.transaction():
            catalog.lock_site_name(connection, target.name)
            sent = _publish(connection, bundle, target, key)
        removed = remove_superseded(connection, target.name, 3600 * target.grace)
    return PublishedRows(key, sent, removed)


def _make_bundle_key(bundle: Bundle, target: DatabaseTarget) -> str:
    """Hash all that the tables depend on, into the key that their names carry."""
    parts = [target.name, TABLE_FORMAT, bundle.manifest.id, target.search]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _publish(
    connection: PublisherConnection,
    bundle: Bundle,
    target: DatabaseTarget,
    key: str,
) -> int:
    """Fill the tables and serve the bundle; returns the number of rows sent."""
    bundle_tables = BundleTables(key)
    is_there = has_tables(connection, bundle_tables.names.values())
    if is_there and find_served_key(connection, target.name) == key:
        return 0
    statement = f"SELECT count(*) FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s"
    (is_listed,) = fetch_one(connection, statement, key)
    sent = 0
    if not is_listed or not is_there:
        drop_tables(connection, bundle_tables)
        sent = _fill_tables(connection, bundle, bundle_tables, target)
    serve_bundle_key(connection, target.name, key)
    return sent


def _fill_tables(
    connection: PublisherConnection,
    bundle: Bundle,
    bundle_tables: BundleTables,
    target: DatabaseTarget,
) -> int:
    """Create the tables of a bundle, list it in the catalog, and return the number of rows."""
    sent = 0
    column = VectorColumn(bundle.manifest.dimensions)
    register_vectors(connection)
    for table in tables.TABLES:
        name = bundle_tables.names[table.kind]
        sent += _fill_table(connection, bundle, table, name, column)
        # At the first table, not after all of them.
        check_function_can_read(connection, name)
        execute(connection, f"ALTER TABLE {name} ADD PRIMARY KEY ({table.columns[0].split()[0]})")
        for index in table.indexes:
            execute(connection, f"CREATE INDEX ON {name} {index}")
    if target.search == "hnsw":
        _index_vectors(connection, bundle_tables)
    for name in bundle_tables.names.values():
        execute(connection, f"ANALYZE {name}")
    manifest = bundle.manifest
    execute(
        connection,
        f"INSERT INTO {PUBLIC_SCHEMA}.bundles (key, name, format, id, manifest, search) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING",
        *(bundle_tables.key, target.name, TABLE_FORMAT, manifest.id),
        *(json.dumps(manifest.as_json()), target.search),
    )
    return sent


def _fill_table(
    connection: PublisherConnection,
    bundle: Bundle,
    table: StoredTable,
    name: str,
    column: VectorColumn,
) -> int:
    columns = [declared.replace(" codes", f" {column.type}") for declared in table.columns]
    execute(connection, f"CREATE TABLE {name} ({', '.join(columns)})")
    if "codes codes" in table.columns:
        size = 2 * column.dimensions
        storage = "PLAIN" if size <= _MAX_INLINE_BYTES else "EXTERNAL"
        execute(connection, f"ALTER TABLE {name} ALTER COLUMN codes SET STORAGE {storage}")
    sent = 0
    statement = f"COPY {name} FROM STDIN (FORMAT binary)".encode()
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([declared.split()[1].partition("(")[0] for declared in columns])
        for row in make_rows(bundle, table.kind):
            copy.write_row(row)
            sent += 1
    return sent


def _index_vectors(connection: PublisherConnection, bundle_tables: BundleTables) -> None:
    vectors = bundle_tables.names["vectors"]
    execute(connection, f"CREATE INDEX ON {vectors} USING hnsw (codes halfvec_cosine_ops)")
