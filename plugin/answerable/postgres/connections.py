"""Connections to a database: a pool for questions, and one connection for a build."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.errors import PolicyError, StorageError

try:
    import psycopg
    from psycopg_pool import ConnectionPool
except ImportError as missing:
    raise PolicyError(
        "store: the packages psycopg and psycopg_pool are not installed; run `pip install "
        "'mkdocs-answerable[postgres]'`, and `pip install -r requirements.txt` in a function"
    ) from missing

Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]
# Fetches all rows of a statement, as ``Database.fetch`` does.
Fetch = Callable[..., list[Row]]

# Connections of a process, which are made when questions need them.
_MAX_CONNECTIONS = 4
# Seconds that a question waits for a connection, and then for a statement.
_WAIT_SECONDS = 3
_STATEMENT_SECONDS = 10
# The nearest passages that an index on vectors looks for: ten times the default of pgvector.
_INDEX_CANDIDATES = 400

_CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # A pooler between us and the server does not pass prepared statements on.
    "prepare_threshold": None,
    "connect_timeout": 2,
    # Milliseconds until a network that has gone away ends a connection.
    "tcp_user_timeout": 1000 * _STATEMENT_SECONDS,
}


class Database:
    """A pool of connections that answer questions from one database."""

    def __init__(self, url: str) -> None:
        # psycopg's log of a failed connection may hold the address.
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)
        self._pool = ConnectionPool(
            url,
            kwargs={**_CONNECTION_OPTIONS, "application_name": "answerable"},
            configure=_configure,
            # A frozen function and a restarted server leave connections that are gone.
            check=ConnectionPool.check_connection,
            min_size=0,
            max_size=_MAX_CONNECTIONS,
            timeout=_WAIT_SECONDS,
            # The next question tries again, instead of a thread at ever longer intervals.
            reconnect_timeout=0.1,
            open=True,
        )

    def fetch(self, statement: str, *parameters: object) -> list[Row]:
        """Fetch all rows of a statement; StorageError, which repeats no address and no question."""
        try:
            with self._pool.connection() as connection, connection.cursor(binary=True) as cursor:
                return cursor.execute(statement, parameters).fetchall()
        except psycopg.errors.UndefinedTable:
            raise StorageError(
                "the database does not have this index: build the site with `store`, or ask again "
                "where a build has just replaced it"
            ) from None
        except (psycopg.Error, OSError) as error:
            raise StorageError(
                f"the database failed ({type(error).__name__}): check ANSWERABLE_DATABASE_URL and "
                "that its server runs"
            ) from None

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def _configure(connection: Connection) -> None:
    for name, value in (
        ("statement_timeout", f"{_STATEMENT_SECONDS}s"),
        ("hnsw.ef_search", str(_INDEX_CANDIDATES)),
        ("hnsw.iterative_scan", "relaxed_order"),
    ):
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))


@contextmanager
def connect_publisher(url: str) -> Iterator[Connection]:
    """Connect to publish; StorageError leaves out the address, which may hold a password."""
    options = {**_CONNECTION_OPTIONS, "application_name": "answerable publisher"}
    try:
        with psycopg.connect(url, **options) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise StorageError(
            f"store: the database cannot be reached ({type(error).__name__}): check `store.url` "
            "and that its server runs"
        ) from None
    except psycopg.Error as error:
        reason = error.diag.message_primary or type(error).__name__
        raise StorageError(
            f"store: the database refused ({reason}): publish as a role that may create tables in "
            "the schema answerable, where an administrator has created the extension vector"
        ) from None
