"""Counters and values that expire, in the memory of a process or in Redis for all instances."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..engine.errors import PolicyError, StorageError

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

KEY_PREFIX = "answerable:"
# A reader waits for these, so a server that does not answer soon counts as unreachable.
CONNECT_SECONDS, READ_SECONDS = 0.5, 1.0
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a command redis-py looks whether they are still there.
IDLE_SECONDS = 30


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
        self._lock = threading.RLock()
        # When each value ends, and the value.
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def add(self, key: str, amount: int, seconds: int) -> int:
        """See Storage."""
        with self._lock:
            total = int(self.read(key) or 0) + amount
            self.write(key, str(total).encode(), seconds)
            return total

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        with self._lock:
            ends, value = self._values.get(key, (0.0, None))
            if value is None or ends <= self._clock():
                return None
            self._values.move_to_end(key)
            return value

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See Storage."""
        with self._lock:
            self._values[key] = self._clock() + seconds, value
            self._values.move_to_end(key)
            if len(self._values) > self._entries:
                self._values.popitem(last=False)


class RedisStorage:
    """A storage that instances share; PolicyError without the package ``redis``."""

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
        try:
            self._client: Redis = redis.Redis.from_url(
                url,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=READ_SECONDS,
                health_check_interval=IDLE_SECONDS,
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
        transaction = self._client.pipeline(transaction=True)
        transaction.incrby(KEY_PREFIX + key, amount)
        transaction.expire(KEY_PREFIX + key, seconds)
        return int(self._run(transaction.execute)[0])

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        value = self._run(lambda: self._client.get(KEY_PREFIX + key))
        return value if isinstance(value, bytes) else None

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See Storage."""
        self._run(lambda: self._client.setex(KEY_PREFIX + key, seconds, value))

    def _run(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error
