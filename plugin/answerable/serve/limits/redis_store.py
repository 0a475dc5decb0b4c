"""Run commands on the Redis or Valkey server that instances share, within a deadline.

Everything is kept under keys that begin with ``answerable:``. Only this module knows the client.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import PolicyError, StorageError
from ..request_context import current_context

if TYPE_CHECKING:
    from redis import ConnectionPool

T = TypeVar("T")

# Runs a Lua script with its keys (without the prefix) and its arguments.
RunScript = Callable[[Sequence[str], Sequence[str | int | bytes]], Any]

KEY_NAMESPACE = "answerable"
KEY_PREFIX = f"{KEY_NAMESPACE}:"
# A reader waits for these, so a store that does not answer soon counts as unreachable.
_CONNECT_SECONDS, _READ_SECONDS = 0.5, 1.0
# The least time for a command that releases what a question holds, even after its deadline.
_CLEANUP_SECONDS = 0.5
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a command they are opened anew.
_IDLE_SECONDS = 30.0
# Valkey speaks Redis' protocol; a socket's path is ``unix`` to redis-py.
_SCHEMES = {
    "valkey": "redis",
    "valkeys": "rediss",
    "redis+unix": "unix",
    "valkey+unix": "unix",
}
# When the work of the current context has to end, by ``time.monotonic()``.
_ends: ContextVar[float] = ContextVar("answerable_redis_ends", default=float("inf"))


class RedisStore:
    """Run commands on a server; it connects when it is first used and again when it has to.

    url: ``redis://``, ``rediss://`` (TLS) or ``unix://``. PolicyError if it is none of them or if
    the package ``redis`` is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            import redis
            import redis.connection
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: the package redis is not installed; "
                "run `pip install 'redis<8'` where the function runs"
            ) from error
        scheme, separator, location = url.partition("://")
        address = _SCHEMES.get(scheme, scheme) + separator + location
        try:
            parsed: dict[str, Any] = redis.connection.parse_url(address)  # type: ignore[no-untyped-call]
            connection_class = parsed.get("connection_class", redis.Connection)
            self._client = redis.Redis.from_url(
                address,
                connection_class=_make_bounded_class(connection_class),
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=_READ_SECONDS,
                # None of redis-py's own attempts, whatever its version: `run` says which work may
                # be done again.
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            # The address may hold a password: neither this text nor its cause may repeat it.
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: this is not the address of a Redis server; "
                "write it like redis://host:6379/0"
            ) from None
        self._errors = (redis.RedisError, OSError)
        self._connection_error = redis.ConnectionError
        self._last_use = time.time()

    @property
    def pool(self) -> "ConnectionPool":
        """Share the connections with a library that speaks to Redis itself, inside ``run``."""
        return self._client.connection_pool

    def run(self, work: Callable[[], T], *, retry: bool = True, is_cleanup: bool = False) -> T:
        """Run ``work`` and return its result; StorageError if the store cannot be reached.

        retry: run the work a second time after a lost connection, although the server may have done
        it the first time. It ends by the deadline of the current request, with a ProviderError that
        has ``timeout``. is_cleanup: the work releases what a question holds, and so it has half a
        second even after the deadline.
        """
        context = current_context()
        if not is_cleanup:
            context.check_deadline()
        left = max(context.left, _CLEANUP_SECONDS) if is_cleanup else context.left
        token = _ends.set(time.monotonic() + left)
        try:
            return self._run_with_retry(work, retry=retry)
        except StorageError:
            if not is_cleanup:
                context.check_deadline()
            raise
        finally:
            _ends.reset(token)

    def _run_with_retry(self, work: Callable[[], T], *, retry: bool) -> T:
        if time.time() - self._last_use > _IDLE_SECONDS:
            self._disconnect_idle()
        self._last_use = time.time()
        try:
            try:
                return work()
            except self._connection_error:
                self._disconnect_idle()
                if not retry:
                    raise
                return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error

    def register_script(self, source: str, *, is_cleanup: bool = False) -> RunScript:
        """Make a function that runs a Lua script, a second time if a connection is lost.

        is_cleanup: see ``run``.
        """
        script = self._client.register_script(source)

        def run_script(keys: Sequence[str], arguments: Sequence[str | int | bytes]) -> Any:
            prefixed = [KEY_PREFIX + key for key in keys]
            return self.run(
                lambda: script(keys=prefixed, args=list(arguments)), is_cleanup=is_cleanup
            )

        return run_script

    def set_once(self, key: str, seconds: int) -> bool:
        """Remember a key (without the prefix) for some seconds; False if it was known already."""
        is_new = self.run(
            lambda: self._client.set(KEY_PREFIX + key, b"", nx=True, ex=seconds), retry=False
        )
        return bool(is_new)

    def forget(self, key: str) -> None:
        """Delete a key (without the prefix)."""
        self.run(lambda: self._client.delete(KEY_PREFIX + key), is_cleanup=True)

    def ping(self) -> None:
        """Raise StorageError if the store cannot be reached."""
        self.run(self._client.ping)

    def _disconnect_idle(self) -> None:
        """Close the connections that are not in use."""
        with contextlib.suppress(*self._errors):
            self.pool.disconnect(inuse_connections=False)


@lru_cache(maxsize=4)
def connect_redis(url: str) -> RedisStore:
    """Return the store at an address; one for all of a process, which so share connections."""
    return RedisStore(url)


@lru_cache(maxsize=4)
def _make_bounded_class(connection_class: Any) -> Any:
    """Make a class of connections whose timeouts follow the work that uses them.

    redis-py takes one timeout for all commands of a client, and starts it anew for each. To admit a
    question takes about six commands, which together have to end by its deadline.
    """

    class BoundedConnection(connection_class):  # type: ignore[misc]
        def connect(self) -> None:
            self.socket_connect_timeout = _limit_seconds(_CONNECT_SECONDS)
            self.socket_timeout = _limit_seconds(_READ_SECONDS)
            super().connect()

        def send_packed_command(self, *args: Any, **options: Any) -> None:
            if self._sock:
                self._sock.settimeout(_limit_seconds(_READ_SECONDS))
            super().send_packed_command(*args, **options)

    return BoundedConnection


def _limit_seconds(seconds: float) -> float:
    """Shorten a timeout to the end of the work; a timeout of zero would be none at all."""
    return max(0.001, min(seconds, _ends.get() - time.monotonic()))
