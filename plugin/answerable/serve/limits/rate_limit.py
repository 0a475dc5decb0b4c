"""Rates of questions by reader and day, and who counts as one reader."""

import hashlib
import hmac
import ipaddress
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .answer_cache import KEY_NAMESPACE, connect_redis

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import MovingWindowRateLimiter


# Windows of one length that are kept in memory: who has not asked for longest is forgotten first.
MAX_WINDOWS = 10_000


# Runs a count apart from other counts at the same time, as far as the store can.
RunExclusively = Callable[[Callable[[], float | None]], float | None]


class RateLimiter:
    """Admit an asker if neither its own windows nor those of all askers are full.

    All windows are tested before any is counted, so a refused request counts nowhere. In memory
    both happen under one lock. In Redis each count is atomic, so no window ever admits more than
    its rate, but another instance may take the last place between a test and a count. So the
    asker's windows are counted first and the shortest window first: who loses that race has counted
    against themselves, and for the shortest time, never against everyone.
    """

    def __init__(
        self,
        windows: "MovingWindowRateLimiter | MemoryWindows",
        per_asker: "Sequence[RateLimitItem]",
        overall: "Sequence[RateLimitItem]",
        run: RunExclusively,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._windows = windows
        self._per_asker = per_asker
        self._overall = overall
        self._run = run
        self._clock = clock

    def admit(self, asker: str, kind: str = "") -> float | None:
        """Count a request and return None, or the seconds until another attempt may succeed.

        kind: each has windows of its own. StorageError if they are shared and out of reach.
        """
        limits: list[tuple[RateLimitItem, tuple[str, ...]]] = [
            *((rate, (f"asker{kind}", asker)) for rate in self._per_asker),
            *((rate, (f"all{kind}",)) for rate in self._overall),
        ]

        def count() -> float | None:
            windows = self._windows
            full = [(rate, ids) for rate, ids in limits if not windows.test(rate, *ids)]
            if not full:
                full = next(
                    ([(rate, ids)] for rate, ids in limits if not windows.hit(rate, *ids)), []
                )
            return max((self._measure_wait(rate, ids) for rate, ids in full), default=None)

        return self._run(count)

    def _measure_wait(self, rate: "RateLimitItem", identifiers: tuple[str, ...]) -> float:
        reset_time = self._windows.get_window_stats(rate, *identifiers).reset_time
        return max(reset_time - self._clock(), 0.0)


class _MemoryWindowStats(NamedTuple):
    reset_time: float


class MemoryWindows:
    """Keep a bounded number of moving windows in memory. Not for several threads at once.

    There is one for each rate and its identifiers. Its methods are those of the library's limiter:
    ``limits.storage.MemoryStorage`` never forgets a key, and from a thread of its own it reads all
    of them whenever one is used: with 10,000 askers that is most of a core. clock: seconds, as
    ``time.time``.
    """

    def __init__(self, clock: Callable[[], float], max_windows: int = MAX_WINDOWS) -> None:
        self._clock = clock
        self._max_windows = max_windows
        # The times of what each window has admitted, by the window's length in seconds.
        self._lengths: dict[int, OrderedDict[str, deque[float]]] = {}

    def test(self, rate: "RateLimitItem", *identifiers: str) -> bool:
        """Tell whether a window has room for one more entry."""
        return len(self._find_times(rate, identifiers)) < rate.amount

    def hit(self, rate: "RateLimitItem", *identifiers: str) -> bool:
        """Add an entry; False, and nothing is added, if the window is full."""
        windows = self._lengths.setdefault(rate.get_expiry(), OrderedDict())
        self._forget_expired(windows, rate.get_expiry())
        times = self._find_times(rate, identifiers)
        if len(times) >= rate.amount:
            return False
        times.append(self._clock())
        key = rate.key_for(*identifiers)
        windows[key] = times
        windows.move_to_end(key)
        if len(windows) > self._max_windows:
            windows.popitem(last=False)
        return True

    def get_window_stats(self, rate: "RateLimitItem", *identifiers: str) -> _MemoryWindowStats:
        """Look up when the oldest entry leaves a window."""
        times = self._find_times(rate, identifiers)
        return _MemoryWindowStats((times[0] if times else self._clock()) + rate.get_expiry())

    def __len__(self) -> int:
        return sum(map(len, self._lengths.values()))

    def _find_times(self, rate: "RateLimitItem", identifiers: tuple[str, ...]) -> deque[float]:
        """Find when a window has admitted what is still in it, the oldest first."""
        windows = self._lengths.get(rate.get_expiry(), OrderedDict())
        times = windows.get(rate.key_for(*identifiers), deque())
        start = self._clock() - rate.get_expiry()
        while times and times[0] <= start:
            times.popleft()
        return times

    def _forget_expired(self, windows: OrderedDict[str, deque[float]], seconds: int) -> None:
        """Drop the windows that are empty; they are in the order of their last hit."""
        start = self._clock() - seconds
        while windows:
            times = next(iter(windows.values()))
            if times and times[-1] > start:
                return
            windows.popitem(last=False)


def parse_rates(text: str) -> "tuple[RateLimitItem, ...]":
    """Parse rates such as "20/minute; 300/day", the shortest window first; ValueError."""
    from limits import parse_many

    try:
        rates = sorted(parse_many(text), key=lambda rate: rate.get_expiry())
    except ValueError:
        rates = []
    if not rates or any(rate.amount < 1 for rate in rates):
        raise ValueError(f"{text!r} is not a rate; write one such as 20/minute; 300/day")
    return tuple(rates)


def create_rate_limiter(
    per_asker: str,
    overall: str,
    redis_url: str | None,
    clock: Callable[[], float] = time.time,
) -> RateLimiter:
    """Create a limiter from two texts of rates, in memory or in Redis; ValueError for others.

    clock: seconds since 1970, of the windows in memory.
    """
    rates = parse_rates(per_asker), parse_rates(overall)
    if redis_url is None:
        lock = threading.Lock()

        def run_under_lock(count: Callable[[], float | None]) -> float | None:
            with lock:
                return count()

        return RateLimiter(MemoryWindows(clock), *rates, run_under_lock, clock)
    from limits.storage import RedisStorage
    from limits.strategies import MovingWindowRateLimiter

    store = connect_redis(redis_url)
    # The address only selects the library's client: the pool has the real one.
    shared = RedisStorage(
        "redis://", connection_pool=store.client.connection_pool, key_prefix=KEY_NAMESPACE
    )
    return RateLimiter(MovingWindowRateLimiter(shared), *rates, store.run)


# 64 bits tell the askers of a day apart, and no more is needed.
_HASH_DIGITS = 16


def mask_address(address: str) -> str:
    """Reduce an address to its asker: no port, and of an IPv6 one its network of 64 bits."""
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    if address.count(":") < 2:
        # Some proxies add the port, which is another one for every connection.
        return address.partition(":")[0]
    try:
        ipv6 = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if ipv6.ipv4_mapped:
        return str(ipv6.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(ipv6), 64), strict=False))


def hash_with_secret(text: str, secret: bytes, purpose: str) -> str:
    """Hash an address or a question to 16 hexadecimal digits of HMAC-SHA256; "" stays "".

    purpose: a part of the key. For an asker it is the UTC day, such as 2024-05-01, so that an asker
    of two days is two askers.
    """
    if not text:
        return ""
    key = hmac.digest(secret, purpose.encode(), "sha256")
    return hmac.digest(key, text.encode("utf-8", "replace"), "sha256").hex()[:_HASH_DIGITS]


def accepts_bearer_token(header: str | None, digests: Sequence[str]) -> bool:
    """Check the token of a header ``Authorization: Bearer TOKEN`` against SHA-256 digests.

    digests: in lower-case hexadecimal; without any, no token is accepted. The time that it takes
    does not depend on which of them matches.
    """
    scheme, _, value = (header or "").partition(" ")
    token = value.strip(" ")
    # A token of RFC 6750 is printable ASCII without a space.
    is_token = token.isascii() and token.isprintable() and " " not in token
    if scheme.lower() != "bearer" or not token or not is_token:
        return False
    actual = hashlib.sha256(token.encode()).hexdigest().encode()
    accepted = False
    for digest in digests:
        accepted |= hmac.compare_digest(actual, digest.encode())
    return accepted


class AskerSlots:
    """Bound the answers that are made at once for each asker; ``limit`` None for no bound.

    Otherwise one asker holds all slots of a model that answers slowly: as many questions as there
    are slots are within the rate of a minute, and each of them may take half of one.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Count the askers that hold a slot."""
        with self._changed:
            return len(self._counts)

    @contextmanager
    def hold_slot(self, asker: str, wait: float) -> Iterator[bool]:
        """Hold one of an asker's slots in this block; yield False if none is free in time.

        wait: seconds.
        """
        with self._changed:
            is_held = self._changed.wait_for(lambda: self._has_room(asker), wait)
            if is_held:
                self._counts[asker] += 1
        try:
            yield is_held
        finally:
            if is_held:
                self._release(asker)

    def _has_room(self, asker: str) -> bool:
        return self._limit is None or self._counts[asker] < self._limit

    def _release(self, asker: str) -> None:
        with self._changed:
            self._counts[asker] -= 1
            if not self._counts[asker]:
                del self._counts[asker]
            # All who wait: the first of them may be another asker.
            self._changed.notify_all()
