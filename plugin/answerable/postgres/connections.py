"""Fetch rows by psycopg's pool of connections, each within what is left of its question's time."""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from ..serve.errors import PolicyError, StorageError
from ..serve.request_context import current_context
from .options import DatabaseOptions

try:
    import psycopg
    from psycopg.abc import PQGen
    from psycopg_pool import ConnectionPool
except ImportError as missing:
    raise PolicyError(
        "ANSWERABLE_DATABASE_URL: the packages psycopg and psycopg_pool are not installed; run "
        "`pip install 'psycopg[binary,pool]>=3.3.8,<4'` where the function runs"
    ) from missing

T = TypeVar("T")
Row = tuple[Any, ...]
# Fetches all rows of a statement, as `DatabaseConnections.fetch` does.
Fetch = Callable[..., list[Row]]

# Seconds for each of a server's addresses, the least that libpq takes.
_CONNECT_SECONDS = 2
# Seconds that a statement waits for a connection at most, where all are in use or none can be made.
_WAIT_SECONDS = 5.0
# Seconds without a statement after which a connection is closed.
_MAX_IDLE_SECONDS = 30.0
# Seconds between two attempts to connect where there was no answer, and the end of the last one:
# the next question begins anew.
_RECONNECT_SECONDS = 0.1
# To open a bundle takes longer than to answer a question.
OPENING_SECONDS = 60.0

# When the work of this thread on a connection has to end, by the monotonic clock.
_ENDS = ContextVar("_ENDS", default=float("inf"))


class _DeadlineConnection(psycopg.Connection[Row]):
    """End every wait at the deadline of who waits: a server that hangs does not say so."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        left = max(0.001, _ENDS.get() - time.monotonic())
        return super().wait(gen, interval, left if timeout is None else min(left, timeout))


class DatabaseConnections:
    """Connect a process to one database on demand, up to a limit; a fork begins anew."""

    def __init__(self, options: DatabaseOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        # By process, since a server may load the application before it forks its workers.
        self._pools: dict[int, ConnectionPool[_DeadlineConnection]] = {}
        # psycopg's log of a failed connection may hold the address.
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)

    def fetch(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[Row]:
        """Fetch all rows of a statement within what is left of the question's time; StorageError.

        settings: for this statement only. timeout: seconds instead of the usual ones.
        """
        context = current_context()
        patience = min(timeout or self.options.timeout, context.left)
        if patience <= 0:
            raise StorageError("the database did not answer in time: ask again")
        start = time.monotonic()
        token = _ENDS.set(start + patience)
        try:
            with self._open_pool().connection(min(patience, _WAIT_SECONDS)) as connection:
                left = start + patience - time.monotonic()
                local = {"statement_timeout": f"{max(1, round(1000 * left))}ms", **(settings or {})}
                return _fetch_rows(connection, statement, parameters, local)
        except psycopg.errors.UndefinedTable:
            raise StorageError("this bundle is no longer in the database: ask again") from None
        except (psycopg.Error, OSError) as error:
            # Its own words may hold the address or the question.
            raise StorageError(
                f"the database failed ({type(error).__name__}): check ANSWERABLE_DATABASE_URL and "
                "that its server runs"
            ) from None
        finally:
            _ENDS.reset(token)

    def close(self) -> None:
        """Close the connections of this process."""
        with self._lock:
            pool = self._pools.pop(os.getpid(), None)
        if pool:
            pool.close()

    def _open_pool(self) -> ConnectionPool[_DeadlineConnection]:
        with self._lock:
            if os.getpid() not in self._pools:
                self._pools[os.getpid()] = ConnectionPool(
                    self.options.url,
                    connection_class=_DeadlineConnection,
                    # Prepared statements do not get through a pooler between us and the server.
                    kwargs={
                        "autocommit": True,
                        "prepare_threshold": None,
                        "connect_timeout": _CONNECT_SECONDS,
                        "application_name": "answerable",
                    },
                    min_size=0,
                    max_size=self.options.connections,
                    max_idle=_MAX_IDLE_SECONDS,
                    reconnect_timeout=_RECONNECT_SECONDS,
                    # A function that was frozen, or a server that was started again, leaves
                    # connections that are gone.
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pools[os.getpid()]


def _fetch_rows(
    connection: psycopg.Connection[Row],
    statement: str,
    parameters: Sequence[object],
    settings: Mapping[str, str],
) -> list[Row]:
    """Fetch the rows of a statement in a transaction of its own, sent and received at once."""
    values = [part for pair in settings.items() for part in pair]
    calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    try:
        with connection.pipeline(), connection.cursor(binary=True) as cursor:
            connection.execute(b"BEGIN READ ONLY")
            connection.execute(f"SELECT {calls}".encode(), values)
            cursor.execute(statement.encode(), parameters)
            rows = cursor.fetchall()
            connection.execute(b"COMMIT")
    except BaseException:
        # A statement may still run on it.
        connection.close()
        raise
    return rows
