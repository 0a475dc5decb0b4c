"""A breaker: who asks right after others have failed is told so at once.

Connections to PostgreSQL: so many and no more, and nobody waits for one without an end.

Beside the publisher the one place that knows psycopg. Not its own pool, which connects in threads:
those of a function that its platform has frozen do not run, and after a fault they wait longer and
longer, while here the first question that comes after one connects anew.
"""

import contextlib
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, Protocol, TypeVar

from ...errors import StorageError
from ...request_context import current_context
from .database_options import DatabaseOptions

# So many failures one after the other open it, for so many seconds at a time.
MAX_FAILURES = 3
BREAKER_PAUSE = 1.0


class CircuitBreaker:
    """Counts failures one after the other. While it is open, one caller a pause may try again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0

    def check(self) -> None:
        """StorageError while it is open; whoever passes then keeps the others away meanwhile."""
        with self._lock:
            if self._failures < MAX_FAILURES:
                return
            now = self._clock()
            if now < self._until:
                raise StorageError("the database did not answer a moment ago: ask again")
            self._until = now + BREAKER_PAUSE

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._until = self._clock() + BREAKER_PAUSE

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0


try:
    import psycopg
    from psycopg.abc import PQGen
except ImportError as missing:
    from ...errors import PolicyError

    raise PolicyError(
        "ANSWERABLE_DATABASE_URL: the package psycopg is not installed; run `pip install "
        "'psycopg[binary]>=3.3.8,<4'` where the function runs"
    ) from missing


T = TypeVar("T")
Row = tuple[Any, ...]

# Seconds for each of a server's addresses, the least that libpq takes.
_CONNECT_SECONDS = 2
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a statement they are opened anew.
_MAX_IDLE_SECONDS = 30.0
# What is read when a bundle is opened takes longer than what a question reads.
OPENING_SECONDS = 60.0


class DatabaseReader(Protocol):
    def read(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[Row]:
        """All rows of a statement; StorageError.

        settings: for this statement only. timeout: seconds instead of the usual ones.
        """


class _DeadlineConnection(psycopg.Connection[Row]):
    """A connection whose every wait ends: a server that hangs does not say so."""

    ends = float("inf")
    used = 0.0

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        left = max(0.001, self.ends - time.monotonic())
        return super().wait(gen, interval, left if timeout is None else min(left, timeout))


class ConnectionPool:
    """The connections of a process to one database, opened when they are needed."""

    def __init__(self, options: DatabaseOptions) -> None:
        self.options = options
        self._foreign: list[_DeadlineConnection] = []
        self._idle: list[_DeadlineConnection] = []
        self._begin()
        _all_pools.add(self)
        # What it says of a connection that fails may hold the address.
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)

    def read(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[Row]:
        """See Reader."""
        asked = current_context()
        patience = min(timeout or self.options.timeout - asked.stored, asked.left)
        if patience <= 0:
            raise StorageError("the database did not answer in time: ask again")
        started = time.monotonic()
        ends = started + patience

        def work(connection: _DeadlineConnection) -> list[Row]:
            left = max(1, round(1000 * (ends - time.monotonic())))
            local = {"statement_timeout": f"{left}ms", **(settings or {})}
            return _fetch_rows(connection, statement, parameters, local)

        try:
            # A question that came with little time tells nothing of the database.
            return self._run(work, ends, is_fair=patience >= self.options.timeout)
        finally:
            if timeout is None:
                asked.stored += time.monotonic() - started

    def forget(self) -> None:
        """Leave the connections to the process that this one was forked from, and begin anew.

        They are kept: closing one would end the other process's session.
        """
        self._foreign += self._idle
        self._begin()

    def close(self) -> None:
        """Close the connections that nothing uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _begin(self) -> None:
        self._slots = threading.BoundedSemaphore(self.options.connections)
        self._idle = []
        self._lock = threading.Lock()
        self._breaker = CircuitBreaker()

    def _run(
        self, work: Callable[[_DeadlineConnection], list[Row]], ends: float, *, is_fair: bool
    ) -> list[Row]:
        self._breaker.check()
        if not self._slots.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise StorageError("all connections to the database are in use: ask again")
        try:
            found = self._tried(work, ends)
        except psycopg.errors.UndefinedTable:
            self._breaker.succeeded()
            raise StorageError("this bundle is no longer in the database: ask again") from None
        except (psycopg.Error, OSError) as error:
            if is_fair or not _is_late(error, ends):
                self._breaker.failed()
            # Its own words may hold the address or what was asked.
            raise StorageError(
                f"the database did not do its work ({type(error).__name__}): check "
                "ANSWERABLE_DATABASE_URL and that its server runs"
            ) from None
        finally:
            self._slots.release()
        self._breaker.succeeded()
        return found

    def _tried(self, work: Callable[[_DeadlineConnection], list[Row]], ends: float) -> list[Row]:
        """Do some work; once more, anew, if the connection was lost while nothing used it."""
        if kept := self._kept():
            try:
                return self._done(kept, work, ends)
            except psycopg.OperationalError as error:
                # What took too long would take as long again.
                if _is_late(error, ends):
                    raise
                # The others are as old.
                self.close()
        return self._done(self._connected(ends), work, ends)

    def _done(
        self,
        connection: _DeadlineConnection,
        work: Callable[[_DeadlineConnection], list[Row]],
        ends: float,
    ) -> list[Row]:
        connection.ends = ends
        try:
            found = work(connection)
        except BaseException:
            # A statement may still run on it.
            connection.close()
            raise
        connection.used = time.monotonic()
        with self._lock:
            self._idle.append(connection)
        return found

    def _kept(self) -> _DeadlineConnection | None:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection and time.monotonic() - connection.used > _MAX_IDLE_SECONDS:
            connection.close()
            self.close()
            return None
        return connection

    def _connected(self, ends: float) -> _DeadlineConnection:
        """A connection in time. In a thread: looking up a name takes as long as it takes."""
        waiting: Future[_DeadlineConnection] = Future()
        threading.Thread(target=self._connect, args=(waiting,), daemon=True).start()
        try:
            return waiting.result(max(0.001, ends - time.monotonic()))
        except TimeoutError:
            if waiting.cancel():
                raise psycopg.errors.ConnectionTimeout("no connection in time") from None
            return waiting.result()

    def _connect(self, waiting: "Future[_DeadlineConnection]") -> None:
        """Give a connection, or the error, to whoever waits; close it if nobody does any more."""
        try:
            made = _DeadlineConnection.connect(
                self.options.url,
                autocommit=True,
                # Statements that are prepared do not get through a pooler between us and the
                # server.
                prepare_threshold=None,
                connect_timeout=_CONNECT_SECONDS,
                application_name="answerable",
            )
        except Exception as error:
            with contextlib.suppress(InvalidStateError):
                waiting.set_exception(error)
            return
        try:
            waiting.set_result(made)
        except InvalidStateError:
            made.close()


_all_pools: "weakref.WeakSet[ConnectionPool]" = weakref.WeakSet()


def _forget_connections() -> None:
    for connections in _all_pools:
        connections.forget()


if sys.platform != "win32":
    # A server may load the application before it forks its workers.
    os.register_at_fork(after_in_child=_forget_connections)


def _is_late(error: Exception, ends: float) -> bool:
    return isinstance(error, psycopg.errors.QueryCanceled) or time.monotonic() >= ends


def _fetch_rows(
    connection: psycopg.Connection[Row],
    statement: str,
    parameters: Sequence[object],
    settings: Mapping[str, str],
) -> list[Row]:
    """The rows of a statement in a transaction of its own, sent and received at once."""
    names = [part for pair in settings.items() for part in pair]
    chosen = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    with connection.pipeline(), connection.cursor(binary=True) as cursor:
        connection.execute(b"BEGIN READ ONLY")
        connection.execute(f"SELECT {chosen}".encode(), names)
        cursor.execute(statement.encode(), parameters)
        found = cursor.fetchall()
        connection.execute(b"COMMIT")
    return found
