"""The catalog of a database: its roles, its schemas and the versions of its sites."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..serve.errors import SiteError, StorageError
from .tables import PUBLIC_SCHEMA, TABLE_FORMAT, BundleTables

PUBLISHER_ROLE, FUNCTION_ROLE = "answerable_publisher", "answerable_function"


try:
    import psycopg
except ImportError as missing:
    raise SiteError(
        "store: the package psycopg is not installed; run `pip install "
        "'mkdocs-answerable[postgres]'`"
    ) from missing

_REMEDY = (
    f"publish as {PUBLISHER_ROLE}, after an administrator has run roles.sql of the manual's page "
    "PostgreSQL"
)
# Errors of a database where that has not been run.
_UNPREPARED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedTable,
)

# Parameter: the seconds of a bundle's grace. now() would be when the transaction began.
_GRACE_IS_OVER = "superseded_at < clock_timestamp() - make_interval(secs => %s)"

PublisherConnection = psycopg.Connection[tuple[Any, ...]]


@contextmanager
def connect_publisher(url: str) -> Iterator[PublisherConnection]:
    """Connect; StorageError leaves out the address, which may hold a password."""
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
        reason = error.diag.message_primary or type(error).__name__
        remedy = _REMEDY if isinstance(error, _UNPREPARED) else "its log may tell more; build again"
        raise StorageError(f"store: the database refused ({reason}): {remedy}") from None


def execute(
    connection: PublisherConnection, statement: str, *parameters: object
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Execute a statement that is put together here, of names that are checked."""
    return connection.execute(statement.encode(), parameters)


def fetch_one(connection: PublisherConnection, statement: str, *parameters: object) -> Any:
    """Fetch the first row of a statement, None if it has none."""
    return execute(connection, statement, *parameters).fetchone()


def prepare_catalog(connection: PublisherConnection, name: str) -> None:
    """Check the database, set up the connection, and put a site's name into the catalog."""
    (is_utf8,) = fetch_one(connection, "SELECT current_setting('server_encoding') = 'UTF8'")
    if not is_utf8:
        raise StorageError(
            "store: the database's encoding is not UTF8, so it cannot hold every page: create one "
            "with ENCODING 'UTF8'"
        )
    for setting, value in (("statement_timeout", "0"), ("client_connection_check_interval", "1s")):
        execute(connection, "SELECT set_config(%s, %s, false)", setting, value)
    statement = f"INSERT INTO {PUBLIC_SCHEMA}.names (name) VALUES (%s) ON CONFLICT DO NOTHING"
    execute(connection, statement, name)


def check_function_can_read(connection: PublisherConnection, table: str) -> None:
    """Raise StorageError unless the function's role can read a table."""
    statement = "SELECT has_table_privilege(oid, %s, 'SELECT') FROM pg_roles WHERE rolname = %s"
    if fetch_one(connection, statement, table, FUNCTION_ROLE) != (True,):
        raise StorageError(
            f"store: {FUNCTION_ROLE} could not read what this role publishes: {_REMEDY}"
        )


def lock_site_name(connection: PublisherConnection, name: str) -> None:
    """Lock out every other publisher of a name until the transaction ends; StorageError if late.

    By a row that only publishers can lock; every role may take an advisory lock.
    """
    statement = f"SELECT FROM {PUBLIC_SCHEMA}.names WHERE name = %s FOR UPDATE SKIP LOCKED"
    if fetch_one(connection, statement, name) is None:
        raise StorageError(
            f"store: another build is publishing {name!r:.80} to this database: wait until it has "
            "ended, then build again"
        )


def find_served_key(connection: PublisherConnection, name: str) -> str | None:
    """Find the key of the bundle served under a name, if its tables have this version's format."""
    row = fetch_one(
        connection,
        f"SELECT key FROM {PUBLIC_SCHEMA}.served JOIN {PUBLIC_SCHEMA}.bundles USING (key) "
        "WHERE served.name = %s AND format = %s",
        name,
        TABLE_FORMAT,
    )
    return str(row[0]) if row else None


def serve_bundle_key(connection: PublisherConnection, name: str, key: str) -> None:
    """Serve a bundle under a name once the transaction ends, and mark any other as superseded."""
    execute(
        connection,
        f"INSERT INTO {PUBLIC_SCHEMA}.served (name, key) VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET key = EXCLUDED.key",
        name,
        key,
    )
    execute(
        connection,
        f"UPDATE {PUBLIC_SCHEMA}.bundles SET superseded_at = CASE WHEN key = %s THEN NULL "
        "ELSE coalesce(superseded_at, clock_timestamp()) END WHERE name = %s",
        key,
        name,
    )


def remove_superseded(connection: PublisherConnection, name: str, seconds: float) -> int:
    """Remove bundles superseded so many seconds ago; what is read right now waits for the next."""
    listing = f"SELECT key FROM {PUBLIC_SCHEMA}.bundles WHERE name = %s AND {_GRACE_IS_OVER}"
    deletion = f"DELETE FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s AND {_GRACE_IS_OVER}"
    removed = 0
    for (key,) in execute(connection, listing, name, seconds).fetchall():
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '2s'")
                lock_site_name(connection, name)
                count = execute(connection, deletion, key, seconds).rowcount
                # Another build may have published it again since it was listed.
                if count:
                    drop_tables(connection, BundleTables(key))
        except (psycopg.errors.LockNotAvailable, StorageError):
            continue
        removed += count
    return removed


def drop_tables(connection: PublisherConnection, tables: BundleTables) -> None:
    """Drop the tables of a bundle that exist."""
    execute(connection, f"DROP TABLE IF EXISTS {', '.join(tables.names.values())}")


def has_tables(connection: PublisherConnection, tables: Iterable[str]) -> bool:
    """Tell whether all of some tables exist."""
    statement = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS name"
    return bool(fetch_one(connection, statement, list(tables))[0])
