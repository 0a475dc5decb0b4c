"""Counters and values that expire, in the memory of a process or in Redis for all instances."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..serve.errors import PolicyError, StorageError

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

KEY_PREFIX = "answerable:"
# A reader waits for these, so a server that does not answer soon counts as unreachable.
_CONNECT_SECONDS, _READ_SECONDS = 0.5, 1.0
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a command redis-py looks whether they are still there.
_IDLE_SECONDS = 30
# Valkey speaks Redis' protocol; the path of a socket is ``unix`` to redis-py.
_SCHEMES = {
    "valkey": "redis",
    "valkeys": "rediss",
    "redis+unix": "unix",
    "valkey+unix": "unix",
}


class Storage(Protocol):
    """Numbers and values by key, each with an end. StorageError where it cannot be reached."""

    def add(self, key: str, amount: int, seconds: int) -> int:
        """Add to a number, which ends so many seconds after it was last added to; return it."""

    def read(self, key: str) -> bytes | None:
        """Return a value, or a number in decimal digits."""

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value for so many seconds."""


class MemoryStorage:
    """A storage of one process. It forgets the least recently used of more than ``entries``."""

    def __init__(self, entries: int, clock: Callable[[], float] = time.time) -> None:
        self._entries = entries
        self._clock = clock
        self._lock = threading.Lock()
        # When each value ends, and the value.
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def add(self, key: str, amount: int, seconds: int) -> int:
        """See Storage."""
        with self._lock:
            total = int(self._look_up(key) or 0) + amount
            self._put(key, str(total).encode(), seconds)
            return total

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        with self._lock:
            return self._look_up(key)

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See Storage."""
        with self._lock:
            self._put(key, value, seconds)

    def __len__(self) -> int:
        return len(self._values)

    def _look_up(self, key: str) -> bytes | None:
        ends, value = self._values.get(key, (0.0, None))
        if value is None or ends <= self._clock():
            return None
        self._values.move_to_end(key)
        return value

    def _put(self, key: str, value: bytes, seconds: int) -> None:
        self._values[key] = self._clock() + seconds, value
        self._values.move_to_end(key)
        if len(self._values) > self._entries:
            self._values.popitem(last=False)


class RedisStorage:
    """A storage that instances share.

    url: ``redis://``, ``rediss://`` (TLS) or ``unix://``, the same with ``valkey``. PolicyError
    for another one, and where the package ``redis`` is not installed.
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
        try:
            self._client: Redis = redis.Redis.from_url(
                _SCHEMES.get(scheme, scheme) + separator + location,
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=_READ_SECONDS,
                health_check_interval=_IDLE_SECONDS,
                # What is added twice after a lost reply would count against a reader.
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            # The address may hold a password: neither this text nor its cause may repeat it.
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: this is not the address of a Redis server; "
                "write it like redis://host:6379/0"
            ) from None
        self._errors = (redis.RedisError, OSError)

    def add(self, key: str, amount: int, seconds: int) -> int:
        """See Storage."""

        def add() -> int:
            transaction = self._client.pipeline(transaction=True)
            transaction.incrby(KEY_PREFIX + key, amount)
            transaction.expire(KEY_PREFIX + key, seconds)
            return int(transaction.execute()[0])

        return self._run(add)

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        value = self._run(lambda: self._client.get(KEY_PREFIX + key))
        return value if isinstance(value, bytes) else None

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See Storage."""
        self._run(lambda: self._client.setex(KEY_PREFIX + key, seconds, value))

    def ping(self) -> None:
        """Raise StorageError if the server cannot be reached."""
        self._run(self._client.ping)

    def _run(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error


@lru_cache(maxsize=4)
def connect_redis(url: str) -> RedisStorage:
    """Return the storage at an address: one for all of a process, which so share connections."""
    return RedisStorage(url)


def open_storage(redis_url: str | None, entries: int) -> Storage:
    """Open a storage in Redis, or else one in memory of at most so many entries."""
    return connect_redis(redis_url) if redis_url else MemoryStorage(entries)
