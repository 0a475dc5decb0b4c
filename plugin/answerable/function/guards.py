"""Guards before the engine: how often, at what cost and how many at once, and what counts it."""

import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..engine.errors import PolicyError, StorageError
from .policy import Policy
from .requests import Problem

if TYPE_CHECKING:
    from redis import Redis

KEY_PREFIX = "answerable:"
DAY_SECONDS = 86_400


class MemoryStorage:
    """Numbers and values by key of one process, each with an end.

    It forgets the least recently used of more than ``entries``.
    """

    def __init__(self, entries: int, clock: Callable[[], float] = time.time) -> None:
        self._entries = entries
        self._clock = clock
        self._lock = threading.RLock()
        # When each value ends, and the value.
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def add(self, key: str, amount: int, seconds: int) -> int:
        """Add to a number, which ends so many seconds after it was last added to; return it."""
        with self._lock:
            total = int(self.read(key) or 0) + amount
            self.write(key, str(total).encode(), seconds)
            return total

    def read(self, key: str) -> bytes | None:
        """Return a value, or a number in decimal digits."""
        with self._lock:
            ends, value = self._values.get(key, (0.0, None))
            if value is None or ends <= self._clock():
                return None
            self._values.move_to_end(key)
            return value

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value for so many seconds."""
        with self._lock:
            self._values[key] = self._clock() + seconds, value
            self._values.move_to_end(key)
            if len(self._values) > self._entries:
                self._values.popitem(last=False)


class RedisStorage:
    """The same for instances that share it; StorageError where it cannot be reached.

    PolicyError without the package ``redis``.
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
        try:
            self._client: Redis = redis.Redis.from_url(
                url,
                # A reader waits: a server that does not answer soon counts as unreachable.
                socket_connect_timeout=0.5,
                socket_timeout=1.0,
                # A function that was frozen wakes with connections that the network may have
                # forgotten: after so many seconds without a command they are looked at.
                health_check_interval=30,
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
        """See MemoryStorage."""
        transaction = self._client.pipeline(transaction=True)
        transaction.incrby(KEY_PREFIX + key, amount)
        transaction.expire(KEY_PREFIX + key, seconds)
        return int(self._run(transaction.execute)[0])

    def read(self, key: str) -> bytes | None:
        """See MemoryStorage."""
        value = self._run(lambda: self._client.get(KEY_PREFIX + key))
        return value if isinstance(value, bytes) else None

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See MemoryStorage."""
        self._run(lambda: self._client.setex(KEY_PREFIX + key, seconds, value))

    def _run(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error


Storage = MemoryStorage | RedisStorage


def parse_rates(text: str) -> list[tuple[int, int]]:
    """Parse rates such as "20/minute; 300/day" to amounts and seconds, the shortest first."""
    seconds = {"second": 1, "minute": 60, "hour": 3_600, "day": DAY_SECONDS}
    rates = [(int(amount), seconds[unit]) for amount, unit in re.findall(r"(\d+)/(\w+)", text)]
    return sorted(rates, key=lambda rate: rate[1])


class Limits:
    """What readers may ask in fixed windows, and what providers may count in a UTC day.

    A day whose tokens are spent pays for no further call; what a call has cost is added when it
    ends, so that the calls under way at that moment come on top: at most as many as are answered
    at once. ``clock``: seconds since 1970. StorageError where the counters are out of reach.
    """

    def __init__(
        self, storage: Storage, policy: Policy, clock: Callable[[], float] = time.time
    ) -> None:
        self._storage = storage
        self._per_asker = parse_rates(policy.rate)
        self._overall = parse_rates(policy.rate_all)
        self._cap = policy.tokens_per_day
        self._clock = clock

    def admit(self, asker: str, kind: str) -> None:
        """Count a request; Problem with the seconds until the full window ends if one is full.

        The asker's windows are counted first and the shortest first, so that who asks too often is
        counted against themselves and not against everyone. kind: each has windows of its own.
        """
        now = self._clock()
        for who, rates in ((f"asker:{asker}", self._per_asker), ("all", self._overall)):
            for amount, seconds in rates:
                window = int(now // seconds)
                key = f"rate:{kind}:{who}:{seconds}:{window}"
                if self._storage.add(key, 1, seconds) > amount:
                    wait = int((window + 1) * seconds - now) + 1
                    raise Problem(
                        "rate-limited", "Too many requests: wait a moment.", Retry_After=str(wait)
                    )

    def check_tokens(self) -> None:
        """Raise a Problem if today's tokens are spent."""
        if self._cap is not None and int(self._storage.read(self._name_day()) or 0) >= self._cap:
            raise Problem(
                "capped",
                "There are no more answers today: the site's budget is used up.",
                Retry_After=str(DAY_SECONDS - int(self._clock()) % DAY_SECONDS),
            )

    def add_tokens(self, tokens: int) -> None:
        """Count what a call has cost."""
        if tokens and self._cap is not None:
            # The clocks of instances differ: a day's sum outlives the day.
            self._storage.add(self._name_day(), tokens, 2 * DAY_SECONDS)

    def _name_day(self) -> str:
        return f"tokens:{time.strftime('%Y-%m-%d', time.gmtime(self._clock()))}"


class Slots:
    """The questions that are answered at once, in all and of one asker.

    Otherwise one asker holds all threads of a model that answers slowly: as many questions as
    there are slots are within the rate of a minute.
    """

    def __init__(self, total: int, per_asker: int) -> None:
        self._total = total
        self._per_asker = per_asker
        self._held: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, asker: str, seconds: float) -> Iterator[None]:
        """Hold a slot in this block, after a wait of so many seconds at most; else a Problem."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room(asker), max(0.0, seconds)):
                raise Problem("busy", "Too many questions at once: try again.", Retry_After="2")
            self._held[asker] += 1
        try:
            yield
        finally:
            with self._changed:
                # Forgets those who hold none.
                self._held -= Counter({asker: 1})
                self._changed.notify_all()

    def _has_room(self, asker: str) -> bool:
        return self._held.total() < self._total and self._held[asker] < self._per_asker
