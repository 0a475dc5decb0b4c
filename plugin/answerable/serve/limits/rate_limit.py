"""How often one asker, and all of them together, may ask."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import MovingWindowRateLimiter


class RunExclusively(Protocol):
    """Runs what counts, apart from whatever else counts at the same time, as far as it can."""

    def __call__(self, work: Callable[[], float | None], /) -> float | None: ...


def parse_rates(text: str) -> "tuple[RateLimitItem, ...]":
    """Rates from text such as "20/minute; 300/day", the shortest window first; ValueError."""
    from limits import parse_many

    try:
        found = sorted(parse_many(text), key=lambda rate: rate.get_expiry())
    except ValueError:
        found = []
    if not found or any(rate.amount < 1 for rate in found):
        raise ValueError(f'"{text}" is no rate: write it like "20/minute; 300/day"')
    return tuple(found)


class RateLimiter:
    """Moving windows per asker and over all askers.

    All are tested before any is counted, so a refused request counts nowhere. In memory both
    happen under one lock. In Redis each count is atomic, so no window ever admits more than its
    rate, but another instance may take the last place between a test and a count. So the asker's
    windows are counted first and the shortest window first: who loses that race has counted
    against themselves, and for the shortest time, never against everyone.
    """

    def __init__(
        self,
        windows: "MovingWindowRateLimiter",
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

    def admit(self, asker: str, group: str = "all") -> float | None:
        """None if an asker may ask, which counts; else the seconds until it may try again.

        group: of requests whose sum has a limit of its own over all askers. StorageError if what
        is counted is shared and out of reach.
        """
        wanted: list[tuple[RateLimitItem, tuple[str, ...]]] = [
            *((rate, ("asker", asker)) for rate in self._per_asker),
            *((rate, (group,)) for rate in self._overall),
        ]

        def count() -> float | None:
            windows = self._windows
            full = [(rate, who) for rate, who in wanted if not windows.test(rate, *who)]
            if not full:
                full = next(
                    ([(rate, who)] for rate, who in wanted if not windows.hit(rate, *who)), []
                )
            return max((self._left(rate, who) for rate, who in full), default=None)

        return self._run(count)

    def _left(self, rate: "RateLimitItem", who: tuple[str, ...]) -> float:
        """The seconds until the oldest entry of a full window leaves it."""
        free = self._windows.get_window_stats(rate, *who).reset_time
        return max(free - self._clock(), 0.0)


def create_rate_limiter(
    per_asker: str,
    overall: str,
    redis_url: str | None,
    clock: Callable[[], float] = time.time,
) -> RateLimiter:
    """A limiter of two texts of rates, in memory or in Redis.

    clock: seconds since 1970, of the windows in memory. ValueError for a text that is no rate.
    """
    from limits.strategies import MovingWindowRateLimiter

    limits = parse_rates(per_asker), parse_rates(overall)
    if redis_url is None:
        from .memory_windows import MemoryWindows

        return RateLimiter(
            MovingWindowRateLimiter(MemoryWindows(clock)), *limits, _run_under_lock(), clock
        )
    from limits.storage import RedisStorage

    from . import redis_store
    from .redis_store import connect_redis

    store = connect_redis(redis_url)
    # The address only tells the library which client to take: the pool has the real one.
    shared = RedisStorage(
        "redis://", connection_pool=store.pool, key_prefix=redis_store.KEY_NAMESPACE
    )
    return RateLimiter(MovingWindowRateLimiter(shared), *limits, store.run)


def _run_under_lock() -> RunExclusively:
    lock = threading.Lock()

    def run(work: Callable[[], float | None], /) -> float | None:
        with lock:
            return work()

    return run
