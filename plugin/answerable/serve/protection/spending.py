"""A cap on the tokens that a day may cost: reserved before they are spent, settled after."""

import contextlib
import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import Protocol

from ..errors import StorageError

# Two days in seconds: a day's sum outlives the day wherever the clocks of instances differ.
_KEPT = 2 * 86_400

_RESERVE = """
local spent = tonumber(redis.call('get', KEYS[1]) or '0')
if spent + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return 0 end
redis.call('incrby', KEYS[1], ARGV[1])
redis.call('expire', KEYS[1], ARGV[3])
return 1
"""
# A server that lost its memory since has no sum to correct, or a smaller one.
_CORRECT = """
local spent = tonumber(redis.call('get', KEYS[1]) or '0')
local change = math.max(tonumber(ARGV[1]), -spent)
if redis.call('exists', KEYS[1]) == 1 then
  redis.call('incrby', KEYS[1], string.format('%.0f', change))
end
"""


class Reservation:
    """Tokens taken from the day's cap; what is never settled stays spent."""

    def __init__(self, tokens: int, correct: Callable[[int], None]) -> None:
        self.tokens = tokens
        self._correct = correct
        self._lock = threading.Lock()
        self._settled = False

    def settle(self, tokens: int) -> None:
        """Tell what it really cost: the rest is given back, anything above is counted too.

        Only the first call counts. A store that is away leaves all of it spent.
        """
        if tokens < 0:
            raise ValueError("nothing costs fewer than no tokens")
        with self._lock:
            if self._settled:
                return
            self._settled = True
        if tokens != self.tokens:
            with contextlib.suppress(StorageError):
                self._correct(tokens - self.tokens)


class Purse(Protocol):
    def reserve(self, tokens: int) -> Reservation | None:
        """Tokens of today (UTC), or None if they would pass the cap.

        StorageError, and nothing is reserved, if the sum is shared and out of reach.
        """
        ...


class MemoryPurse:
    """One process' own purse."""

    def __init__(self, cap: int, clock: Callable[[], float]) -> None:
        self._cap = cap
        self._clock = clock
        self._lock = threading.Lock()
        self._day = ""
        self._spent = 0

    def reserve(self, tokens: int) -> Reservation | None:
        _check(tokens)
        with self._lock:
            day = _day(self._clock())
            if day != self._day:
                self._day, self._spent = day, 0
            if self._spent + tokens > self._cap:
                return None
            self._spent += tokens
        return Reservation(tokens, lambda change: self._correct(day, change))

    def _correct(self, day: str, change: int) -> None:
        with self._lock:
            if day == self._day:
                self._spent += change


class RedisPurse:
    """The purse of all instances that share a store."""

    def __init__(self, cap: int, url: str, clock: Callable[[], float]) -> None:
        from . import redis_store

        store = redis_store.connect(url)
        self._cap = cap
        self._clock = clock
        # Twice reserved only spends more than was needed; twice given back would break the cap.
        self._reserve = store.script(_RESERVE)
        self._change = store.script(_CORRECT, again=False)

    def reserve(self, tokens: int) -> Reservation | None:
        _check(tokens)
        keys = [f"spent:{_day(self._clock())}"]
        if not self._reserve(keys, [tokens, self._cap, _KEPT]):
            return None

        def correct(change: int) -> None:
            self._change(keys, [change])

        return Reservation(tokens, correct)


def purse(
    tokens_per_day: int, redis_url: str | None, clock: Callable[[], float] = time.time
) -> Purse:
    """A purse with a cap for each UTC day, in memory or in Redis. clock: seconds since 1970."""
    if redis_url is None:
        return MemoryPurse(tokens_per_day, clock)
    return RedisPurse(tokens_per_day, redis_url, clock)


def _check(tokens: int) -> None:
    if tokens < 0:
        raise ValueError("fewer than no tokens cannot be reserved")


def _day(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()
