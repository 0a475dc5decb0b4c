"""Run commands on the Redis or Valkey server that instances share; a deadline is kept between them.

Everything is kept under keys that begin with ``answerable:``. Only this module knows the client.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import PolicyError, StorageError
from ..request_context import current_context

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

# Runs a Lua script with its keys (without the prefix) and its arguments.
RunScript = Callable[[Sequence[str], Sequence[str | int | bytes]], Any]

KEY_NAMESPACE = "answerable"
KEY_PREFIX = f"{KEY_NAMESPACE}:"
# A reader waits for these, so a store that does not answer soon counts as unreachable.
_CONNECT_SECONDS, _READ_SECONDS = 0.5, 1.0
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


class RedisStore:
    """Run commands on a server; it connects when it is first used and again when it has to.

    url: ``redis://``, ``rediss://`` (TLS) or ``unix://``. PolicyError if it is none of them or if
    the package ``redis`` is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            import redis
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
            self.client: Redis = redis.Redis.from_url(
                address,
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

    def run(self, work: Callable[[], T], *, retry: bool = True, is_cleanup: bool = False) -> T:
        """Run ``work`` and return its result; StorageError if the store cannot be reached.

        retry: run the work a second time after a lost connection, although the server may have done
        it the first time. Work after the deadline of the current request is not begun: that is a
        ProviderError with ``timeout``. is_cleanup: the work releases what a question holds, and so
        is done even then.
        """
        context = current_context()
        if is_cleanup:
            return self._run_with_retry(work, retry=retry)
        context.check_deadline()
        try:
            return self._run_with_retry(work, retry=retry)
        except StorageError:
            context.check_deadline()
            raise

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
        script = self.client.register_script(source)

        def run_script(keys: Sequence[str], arguments: Sequence[str | int | bytes]) -> Any:
            prefixed = [KEY_PREFIX + key for key in keys]
            return self.run(
                lambda: script(keys=prefixed, args=list(arguments)), is_cleanup=is_cleanup
            )

        return run_script

    def ping(self) -> None:
        """Raise StorageError if the store cannot be reached."""
        self.run(self.client.ping)

    def _disconnect_idle(self) -> None:
        """Close the connections that are not in use."""
        with contextlib.suppress(*self._errors):
            self.client.connection_pool.disconnect(inuse_connections=False)


@lru_cache(maxsize=4)
def connect_redis(url: str) -> RedisStore:
    """Return the store at an address; one for all of a process, which so share connections."""
    return RedisStore(url)
