"""Answers that are kept, and one attempt at a time at those that are not."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from .errors import CrowdedError

Outcome = Literal["hit", "miss", "shared"]
# Returns a value and whether it may be kept.
Make = Callable[[], tuple[bytes, bool]]
# Raises where nobody waits any more.
Check = Callable[[], object]

# Callers that wait for another's answer at once, of all keys: each of them has a thread.
MOST_WAITING = 32
# Seconds after which one that waits looks whether its asker still does.
LOOK = 0.25

LATE = "the same question is being answered and was not ready in time: ask again"


def nothing() -> None:
    """Whoever waits is still there."""


class Crowd:
    """Those who wait for another's answer, so many at once."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._places = threading.BoundedSemaphore(most)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place to wait in; CrowdedError if there is none."""
        if not self._places.acquire(blocking=False):
            raise CrowdedError("too many wait for an answer already: ask again")
        try:
            yield
        finally:
            self._places.release()


class AnswerCache(Protocol):
    def once(
        self, key: str, make: Make, wait: float, check: Check = nothing
    ) -> tuple[bytes, Outcome]:
        """The value of a key: a kept one ("hit"), one of ``make`` ("miss") or another's ("shared").

        One caller of a key makes the value; those who come meanwhile wait for it and get it even
        if it may not be kept. An error of ``make`` is raised to who made it, and the next of those
        who wait makes its own. wait: seconds to wait at most, then TimeoutError. check: is called
        now and then by who waits, and may raise. CrowdedError if too many wait already,
        StorageError, before anything is made, if what is kept is shared and out of reach.
        """
        ...


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
