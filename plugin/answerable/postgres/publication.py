"""Publication of an index to PostgreSQL: one transaction fills new tables and switches to them.

Nobody sees anything of it before the transaction ends, and whatever stops a build, the server rolls
it back.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..engine.bundle import Bundle
from . import tables
from .connections import Connection, connect_publisher
from .options import DEFAULT_STORE_NAME, SearchMethod
from .rows import make_rows, pack_memory


@dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """A database to publish to: its address, which may hold a password, and the site's name."""

    url: str
    name: str = DEFAULT_STORE_NAME
    search: SearchMethod = "exact"


def publish_bundle_rows(bundle: Bundle, target: DatabaseTarget) -> int:
    """Publish a bundle and return the number of rows sent: none if it is served already.

    A second build of the same site waits for the first. StorageError if the database refuses.
    """
    key = _make_key(bundle, target)
    with connect_publisher(target.url) as connection:
        _prepare(connection)
        with connection.transaction():
            connection.execute(tables.INSERT_SITE, (target.name,))
            row = connection.execute(tables.LOCK_SITE, (target.name,)).fetchone()
            served, previous = row or (None, None)
            if served == key:
                return 0
            if previous:
                connection.execute(tables.DROP_TABLES.format(**tables.name_tables(previous)))
            sent = _fill_tables(connection, bundle, tables.name_tables(key), target.search)
            manifest = json.dumps(bundle.manifest.as_json())
            values = (key, tables.TABLE_FORMAT, manifest, pack_memory(bundle.index), target.name)
            connection.execute(tables.SERVE_SITE, values)
    return sent


def _make_key(bundle: Bundle, target: DatabaseTarget) -> str:
    """Hash all that the tables depend on, into the key that their names carry."""
    parts = [target.name, tables.TABLE_FORMAT, bundle.manifest.id, target.search]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _prepare(connection: Connection) -> None:
    """Make what the first build of a database lacks, unless an administrator has made it."""
    connection.execute("SET statement_timeout = 0")
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    # With IF NOT EXISTS it would need the right to create schemas even where there is one.
    statement = "SELECT to_regnamespace(%s) IS NULL"
    if connection.execute(statement, (tables.SCHEMA,)).fetchone() == (True,):
        connection.execute(f"CREATE SCHEMA {tables.SCHEMA}")
    connection.execute(tables.CREATE_SITES)


def _fill_tables(
    connection: Connection, bundle: Bundle, names: Mapping[str, str], search: SearchMethod
) -> int:
    """Create and fill the tables of an index, and return the number of rows."""
    sent = 0
    for kind, columns in tables.TABLES.items():
        declared = columns.format(dimensions=bundle.manifest.dimensions)
        connection.execute(f"CREATE TABLE {names[kind]} ({declared})")
        statement = f"COPY {names[kind]} FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in make_rows(bundle, kind):
                copy.write_row(row)
                sent += 1
    connection.execute(tables.INDEX_URLS.format(**names))
    if search == "hnsw":
        connection.execute(tables.INDEX_VECTORS.format(**names))
    for name in names.values():
        connection.execute(f"ANALYZE {name}")
    return sent
