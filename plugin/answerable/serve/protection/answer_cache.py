"""Answers that are kept, and one attempt at a time at those that are not."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from .waiting import LATE, LOOK, AnswerCache, Check, Crowd, Make, Outcome, nothing


class _Attempt:
    """What the callers of one key wait for."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.value: bytes | None = None


class MemoryCache:
    """The values of one process; who was asked for longest ago is dropped first.

    entries: values kept at most. seconds: how long each is; 0 keeps none. clock: seconds.
    """

    def __init__(
        self, entries: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._entries = entries if seconds > 0 else 0
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._attempts: dict[str, _Attempt] = {}
        self._crowd = Crowd()

    def once(
        self, key: str, make: Make, wait: float, check: Check = nothing
    ) -> tuple[bytes, Outcome]:
        ends = time.monotonic() + wait
        while True:
            with self._lock:
                value = self._fresh(key)
                if value is not None:
                    return value, "hit"
                attempt = self._attempts.get(key)
                leads = attempt is None
                if attempt is None:
                    attempt = self._attempts[key] = _Attempt()
            if leads:
                return self._made(key, attempt, make), "miss"
            with self._crowd.place():
                self._wait(attempt, ends, check)
            if attempt.value is not None:
                return attempt.value, "shared"

    def _wait(self, attempt: _Attempt, ends: float, check: Check) -> None:
        while not attempt.over.wait(max(0.0, min(LOOK, ends - time.monotonic()))):
            if time.monotonic() >= ends:
                raise TimeoutError(LATE)
            check()

    def _fresh(self, key: str) -> bytes | None:
        found = self._kept.get(key)
        if found is None:
            return None
        expires, value = found
        if expires <= self._clock():
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return value

    def _made(self, key: str, attempt: _Attempt, make: Make) -> bytes:
        try:
            value, may_be_kept = make()
            attempt.value = value
            if may_be_kept and self._entries:
                self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._attempts[key]
            attempt.over.set()

    def _keep(self, key: str, value: bytes) -> None:
        with self._lock:
            self._kept[key] = (self._clock() + self._seconds, value)
            self._kept.move_to_end(key)
            if len(self._kept) > self._entries:
                self._kept.popitem(last=False)


def cache(entries: int, seconds: int, redis_url: str | None) -> AnswerCache:
    """A cache in memory, or in Redis, where the server's own memory limit bounds the entries."""
    if redis_url is None:
        return MemoryCache(entries, seconds)
    from .shared_answers import SharedCache

    return SharedCache(redis_url, seconds)
