"""Fetch rows by a bounded pool of PostgreSQL connections, with deadlines and a circuit breaker.

Beside the publisher the one module that imports psycopg. Not psycopg's own pool, which connects in
threads: those of a function that its platform has frozen do not run, and after a fault they wait
longer and longer, while here the first question after a fault connects anew.
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

try:
    import psycopg
    from psycopg.abc import PQGen
except ImportError as missing:
    from ...errors import PolicyError

    raise PolicyError(
        "ANSWERABLE_DATABASE_URL: the package psycopg is not installed; run `pip install "
        "'psycopg[binary]>=3.3.8,<4'` where the function runs"
    ) from missing

from ...errors import StorageError
from ...request_context import current_context
from .database_options import DatabaseOptions

T = TypeVar("T")
Row = tuple[Any, ...]

# Consecutive failures that open the breaker, and the seconds that it stays open.
MAX_FAILURES = 3
BREAKER_PAUSE = 1.0
# Seconds for each of a server's addresses, the least that libpq takes.
_CONNECT_SECONDS = 2
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a statement they are opened anew.
_MAX_IDLE_SECONDS = 30.0
# To open a bundle takes longer than to answer a question.
OPENING_SECONDS = 60.0


class CircuitBreaker:
    """Count consecutive failures; while open, let one caller a pause try again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0

    def check_closed(self) -> None:
        """Raise StorageError while open; a caller that passes keeps the others out meanwhile."""
        with self._lock:
            if self._failures < MAX_FAILURES:
                return
            now = self._clock()
            if now < self._until:
                raise StorageError("the database did not answer a moment ago: ask again")
            self._until = now + BREAKER_PAUSE

    def record_failure(self) -> None:
        """Count a failure, and stay open for a pause from now if there are enough."""
        with self._lock:
            self._failures += 1
            self._until = self._clock() + BREAKER_PAUSE

    def record_success(self) -> None:
        """Close the breaker."""
        with self._lock:
            self._failures = 0


class DatabaseReader(Protocol):
    """Read rows from a database."""

    def fetch(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[Row]:
        """Fetch all rows of a statement; StorageError.

        settings: for this statement only. timeout: seconds instead of the usual ones.
        """


class _DeadlineConnection(psycopg.Connection[Row]):
    """End every wait of a connection at its deadline: a server that hangs does not say so."""

    ends = float("inf")
    last_used = 0.0

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        left = max(0.001, self.ends - time.monotonic())
        return super().wait(gen, interval, left if timeout is None else min(left, timeout))


class ConnectionPool:
    """Open a process's connections to one database on demand, up to a limit, and reuse them."""

    def __init__(self, options: DatabaseOptions) -> None:
        self.options = options
        self._foreign: list[_DeadlineConnection] = []
        self._idle: list[_DeadlineConnection] = []
        self._reset()
        _all_pools.add(self)
        # psycopg's log of a failed connection may hold the address.
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)

    def fetch(
        self,
        statement: str,
        parameters: Sequence[object] = (),
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> list[Row]:
        """Fetch all rows of a statement, within what is left of the question's time."""
        context = current_context()
        patience = min(timeout or self.options.timeout - context.storage_seconds, context.left)
        if patience <= 0:
            raise StorageError("the database did not answer in time: ask again")
        start = time.monotonic()
        ends = start + patience

        def work(connection: _DeadlineConnection) -> list[Row]:
            left = max(1, round(1000 * (ends - time.monotonic())))
            local = {"statement_timeout": f"{left}ms", **(settings or {})}
            return _fetch_rows(connection, statement, parameters, local)

        try:
            # A question that came with little time says nothing about the database.
            return self._run(work, ends, is_fair=patience >= self.options.timeout)
        finally:
            if timeout is None:
                context.storage_seconds += time.monotonic() - start

    def forget(self) -> None:
        """Leave the connections to the process that this one was forked from, and begin anew.

        They are referenced still: closing one would end the other process's session.
        """
        self._foreign += self._idle
        self._reset()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _reset(self) -> None:
        self._slots = threading.BoundedSemaphore(self.options.connections)
        self._idle = []
        self._lock = threading.Lock()
        self._breaker = CircuitBreaker()

    def _run(
        self, work: Callable[[_DeadlineConnection], list[Row]], ends: float, *, is_fair: bool
    ) -> list[Row]:
        self._breaker.check_closed()
        if not self._slots.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise StorageError("all connections to the database are in use: ask again")
        try:
            rows = self._run_with_retry(work, ends)
        except psycopg.errors.UndefinedTable:
            self._breaker.record_success()
            raise StorageError("this bundle is no longer in the database: ask again") from None
        except (psycopg.Error, OSError) as error:
            if is_fair or not _is_late(error, ends):
                self._breaker.record_failure()
            # Its own words may hold the address or the question.
            raise StorageError(
                f"the database failed ({type(error).__name__}): check ANSWERABLE_DATABASE_URL and "
                "that its server runs"
            ) from None
        finally:
            self._slots.release()
        self._breaker.record_success()
        return rows

    def _run_with_retry(
        self, work: Callable[[_DeadlineConnection], list[Row]], ends: float
    ) -> list[Row]:
        """Run on an idle connection; once more, on a new one, if that was lost while idle."""
        if connection := self._pop_idle():
            try:
                return self._run_on(connection, work, ends)
            except psycopg.OperationalError as error:
                # A statement that took too long would take as long again.
                if _is_late(error, ends):
                    raise
                # The others are as old.
                self.close()
        return self._run_on(self._connect(ends), work, ends)

    def _run_on(
        self,
        connection: _DeadlineConnection,
        work: Callable[[_DeadlineConnection], list[Row]],
        ends: float,
    ) -> list[Row]:
        connection.ends = ends
        try:
            rows = work(connection)
        except BaseException:
            # A statement may still run on it.
            connection.close()
            raise
        connection.last_used = time.monotonic()
        with self._lock:
            self._idle.append(connection)
        return rows

    def _pop_idle(self) -> _DeadlineConnection | None:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection and time.monotonic() - connection.last_used > _MAX_IDLE_SECONDS:
            connection.close()
            self.close()
            return None
        return connection

    def _connect(self, ends: float) -> _DeadlineConnection:
        """Connect in time. In a thread: a look-up of a name cannot be interrupted."""
        future: Future[_DeadlineConnection] = Future()
        threading.Thread(target=self._connect_in_thread, args=(future,), daemon=True).start()
        try:
            return future.result(max(0.001, ends - time.monotonic()))
        except TimeoutError:
            if future.cancel():
                raise psycopg.errors.ConnectionTimeout("no connection in time") from None
            return future.result()

    def _connect_in_thread(self, future: "Future[_DeadlineConnection]") -> None:
        """Set the connection or the error; close a connection that nobody waits for any more."""
        try:
            connection = _DeadlineConnection.connect(
                self.options.url,
                autocommit=True,
                # Prepared statements do not get through a pooler between us and the server.
                prepare_threshold=None,
                connect_timeout=_CONNECT_SECONDS,
                application_name="answerable",
            )
        except Exception as error:
            with contextlib.suppress(InvalidStateError):
                future.set_exception(error)
            return
        try:
            future.set_result(connection)
        except InvalidStateError:
            connection.close()


_all_pools: "weakref.WeakSet[ConnectionPool]" = weakref.WeakSet()


def _forget_connections() -> None:
    for pool in _all_pools:
        pool.forget()


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
    """Fetch the rows of a statement in a transaction of its own, sent and received at once."""
    values = [part for pair in settings.items() for part in pair]
    calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    with connection.pipeline(), connection.cursor(binary=True) as cursor:
        connection.execute(b"BEGIN READ ONLY")
        connection.execute(f"SELECT {calls}".encode(), values)
        cursor.execute(statement.encode(), parameters)
        rows = cursor.fetchall()
        connection.execute(b"COMMIT")
    return rows
