"""A bundle put into a database in one transaction, and the last one removed when its time is over.

Nothing is there for anyone else to see before the transaction ends, and ending it is the single
step from the old bundle to the new. Whatever stops a publisher, the server takes back what it did.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...serve.bundle import Bundle
from ...serve.database import NAME
from ...serve.errors import SiteError, StorageError
from ...serve.postgres import schema
from ...serve.postgres.schema import PUBLIC, Tables, Vectors
from ...serve.postgres.search import Search
from ...serve.postgres.store import open_store
from ...serve.store import Store
from . import binary, rows
from .roles import FUNCTION, PUBLISHER
from .rows import Table

try:
    import psycopg
except ImportError as missing:
    raise SiteError(
        "store: the package psycopg is not installed; run `pip install "
        "'mkdocs-answerable[postgres]'`"
    ) from missing

# Hours after which what is no longer served is removed: functions that slept may still ask it.
GRACE = 24.0
# Rows that are copied inside the database by one statement.
_COPIED = 20_000
# Bytes up to which a vector is kept in its row: a page of the database holds 8192.
_INLINE = 7_500
_REMEDY = (
    f"publish as {PUBLISHER}, after an administrator has run what `answerable database-roles` "
    "prints"
)
# What the database says where that has not been run.
_UNPREPARED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.UndefinedObject,
)

_CATALOG = f"""
CREATE TABLE IF NOT EXISTS {PUBLIC}.bundles (
    key text PRIMARY KEY,
    name text NOT NULL,
    format integer NOT NULL,
    id text NOT NULL,
    manifest text NOT NULL,
    search text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    superseded_at timestamptz
);
CREATE TABLE IF NOT EXISTS {PUBLIC}.served (
    name text PRIMARY KEY,
    key text NOT NULL REFERENCES {PUBLIC}.bundles
);
CREATE TABLE IF NOT EXISTS {PUBLIC}.names (
    name text PRIMARY KEY
);
"""
_CATALOGED = tuple(f"{PUBLIC}.{name}" for name in ("bundles", "served", "names"))

# Of a bundle. Parameter: the seconds of its grace. now() would be when the transaction began.
_IS_OVER = "superseded_at < clock_timestamp() - make_interval(secs => %s)"

Check = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a bundle is published: an address, which may hold a password, and the site's name.

    grace: hours after which what it replaces is removed.
    """

    url: str
    name: str = NAME
    search: Search = field(default_factory=Search)
    grace: float = GRACE


@dataclass(frozen=True, slots=True)
class Published:
    """What was done: rows that were sent, rows that the last bundle had, bundles removed."""

    key: str
    sent: int = 0
    kept: int = 0
    removed: int = 0


def publish(bundle: Bundle, target: Target, check: Check | None = None) -> Published:
    """Publish a bundle; StorageError if another build does, or if the database refuses.

    check: is given the store before anyone else can see it, and raises to have nothing published.
    A bundle that is served already is left as it is.
    """
    key = _key(bundle, target)
    with _connected(target.url) as connection:
        _prepare(connection, target.name)
        with connection.transaction():
            _lock(connection, target.name)
            done = _publish(connection, bundle, target, key, check)
        removed = _remove_superseded(connection, target)
    return Published(key, done.sent, done.kept, removed)


def _key(bundle: Bundle, target: Target) -> str:
    """What the tables carry in their names: of all that they depend on."""
    parts = [target.name, schema.FORMAT, bundle.manifest.id, target.search.as_json()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


Connection = psycopg.Connection[tuple[Any, ...]]


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    """A connection; its errors are told without the address, which may hold a password."""
    try:
        connection = psycopg.connect(
            url, autocommit=True, prepare_threshold=None, application_name="answerable publisher"
        )
    except psycopg.Error as error:
        raise StorageError(
            f"store: the database cannot be reached ({type(error).__name__}): check `store.url` "
            "and that its server runs"
        ) from None
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        said = error.diag.message_primary or type(error).__name__
        remedy = _REMEDY if isinstance(error, _UNPREPARED) else "its log may tell more; build again"
        raise StorageError(f"store: the database refused ({said}): {remedy}") from None


def _prepare(connection: Connection, name: str) -> None:
    """What the statements after it rely on, and the tables that name all others."""
    (is_utf8,) = _one(connection, "SELECT current_setting('server_encoding') = 'UTF8'")
    if not is_utf8:
        raise StorageError(
            "store: the database's encoding is not UTF8, so it cannot hold every page: create one "
            "with ENCODING 'UTF8'"
        )
    for setting, value in (("statement_timeout", "0"), ("client_connection_check_interval", "1s")):
        connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
    if not _has(connection, _CATALOGED):
        try:
            _make_catalog(connection)
        except psycopg.errors.UniqueViolation:
            # Of two first publishers at once the other was faster.
            _make_catalog(connection)
    connection.execute(
        f"INSERT INTO {PUBLIC}.names (name) VALUES (%s) ON CONFLICT DO NOTHING".encode(), (name,)
    )


def _make_catalog(connection: Connection) -> None:
    with connection.transaction():
        connection.execute(_CATALOG.encode())
        _check_readable(connection, _CATALOGED)


def _check_readable(connection: Connection, tables: Sequence[str]) -> None:
    """StorageError unless the function's role can read some tables."""
    (is_readable,) = _one(
        connection,
        "SELECT coalesce(bool_and(has_table_privilege(oid, name, 'SELECT')), false) "
        "FROM pg_roles, unnest(%s::text[]) AS name WHERE rolname = %s",
        (list(tables), FUNCTION),
    )
    if not is_readable:
        raise StorageError(f"store: {FUNCTION} could not read what this role publishes: {_REMEDY}")


def _lock(connection: Connection, name: str) -> None:
    """Keep every other publisher of a name away until the transaction ends.

    By a row that only publishers can lock; every role may take an advisory lock.
    """
    statement = f"SELECT FROM {PUBLIC}.names WHERE name = %s FOR UPDATE SKIP LOCKED"
    if _one(connection, statement, (name,)) is None:
        raise StorageError(
            f"store: another build is publishing {name!r:.80} to this database: wait until it has "
            "ended, then build again"
        )


def _publish(
    connection: Connection, bundle: Bundle, target: Target, key: str, check: Check | None
) -> Published:
    last = _served(connection, target.name)
    if last and not _has(connection, Tables(last).all):
        last = None
    if last == key:
        return Published(key)
    known = _one(connection, f"SELECT count(*) FROM {PUBLIC}.bundles WHERE key = %s", (key,))[0]
    done = Published(key)
    if not known or not _has(connection, Tables(key).all):
        _drop(connection, Tables(key))
        done = _fill(connection, bundle, target, Tables(key), last)
    if check:
        check(open_store(_InTransaction(connection), key))
    connection.execute(
        f"INSERT INTO {PUBLIC}.served (name, key) VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET key = EXCLUDED.key".encode(),
        (target.name, key),
    )
    connection.execute(
        f"UPDATE {PUBLIC}.bundles SET superseded_at = CASE WHEN key = %s THEN NULL "
        "ELSE coalesce(superseded_at, clock_timestamp()) END WHERE name = %s".encode(),
        (key, target.name),
    )
    return done


def _fill(
    connection: Connection, bundle: Bundle, target: Target, named: Tables, last: str | None
) -> Published:
    """Make the tables of a bundle. last: the key of the one whose rows may be used again."""
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
    if target.search.how == "hnsw":
        _index(connection, Vectors(bundle.manifest.encoding), named, target.search)
    for name in named.all:
        connection.execute(f"ANALYZE {name}".encode())
    connection.execute(
        f"INSERT INTO {PUBLIC}.bundles (key, name, format, id, manifest, search) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING".encode(),
        (named.key, target.name, schema.FORMAT, bundle.manifest.id,
         json.dumps(bundle.manifest.as_json()), target.search.as_json()),
    )  # fmt: skip
    return Published(named.key, sent, kept)


def _create(connection: Connection, table: Table, bundle: Bundle) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    connection.execute(f"CREATE TABLE {table.name} ({columns})".encode())
    # At the first table, not after all rows.
    _check_readable(connection, [table.name])
    width = 2 if Vectors(bundle.manifest.encoding).is_whole else 4
    if ("codes", Vectors(bundle.manifest.encoding).type) in table.columns:
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


def _remove_superseded(connection: Connection, target: Target) -> int:
    """Remove what has been replaced for long enough; what is read right now waits for the next."""
    found = connection.execute(
        f"SELECT key FROM {PUBLIC}.bundles WHERE name = %s AND {_IS_OVER}".encode(),
        (target.name, 3600 * target.grace),
    ).fetchall()
    removed = 0
    for (key,) in found:
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '2s'")
                _lock(connection, target.name)
                gone = connection.execute(
                    f"DELETE FROM {PUBLIC}.bundles WHERE key = %s AND {_IS_OVER}".encode(),
                    (key, 3600 * target.grace),
                ).rowcount
                # Another build may have published it again since it was listed.
                if gone:
                    _drop(connection, Tables(key))
        except (psycopg.errors.LockNotAvailable, StorageError):
            continue
        removed += gone
    return removed


def _drop(connection: Connection, named: Tables) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {', '.join(named.all)}".encode())


def _served(connection: Connection, name: str) -> str | None:
    """The key of what is served under a name, if this version's tables hold it."""
    found = connection.execute(
        f"SELECT key FROM {PUBLIC}.served JOIN {PUBLIC}.bundles USING (key) "
        "WHERE served.name = %s AND format = %s".encode(),
        (name, schema.FORMAT),
    ).fetchone()
    return str(found[0]) if found else None


def _has(connection: Connection, tables: Sequence[str]) -> bool:
    """Whether all of some tables are there."""
    statement = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS name"
    return bool(_one(connection, statement, (list(tables),))[0])


def _one(connection: Connection, statement: str, parameters: Sequence[object] = ()) -> Any:
    return connection.execute(statement.encode(), parameters).fetchone()


@dataclass(frozen=True, slots=True)
class _InTransaction:
    """What a publisher reads of what it has not published yet."""

    connection: Connection

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
