"""Limits of a function: how often readers may ask, how many at once, and what a day may cost.

Rates and tokens are counters in fixed windows. A day whose tokens are spent pays for no further
call; what a call has cost is added when it ends, so that the calls under way at that moment come
on top: at most as many as are answered at once.
"""

import datetime as dt
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .problems import Problem
from .storage import Storage

# Askers that are counted in memory: who has not asked for longest is forgotten first.
MAX_COUNTERS = 20_000
# Days whose tokens are remembered in memory: a clock that steps back over midnight finds them.
MAX_DAYS = 8
_DAY_SECONDS = 86_400
_UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": _DAY_SECONDS}
_RATE = re.compile(r"([1-9][0-9]{0,9})\s*(?:/|per)\s*(second|minute|hour|day)", re.IGNORECASE)


class Rate(NamedTuple):
    """So many requests in so many seconds."""

    amount: int
    seconds: int


def parse_rates(text: str) -> tuple[Rate, ...]:
    """Parse rates such as "20/minute; 300/day", the shortest window first; ValueError."""
    matches = [_RATE.fullmatch(part.strip()) for part in re.split("[;,]", text)]
    rates = [Rate(int(m[1]), _UNIT_SECONDS[m[2].lower()]) for m in matches if m]
    if not rates or len(rates) < len(matches):
        raise ValueError(f"{text!r} is not a rate; write one such as 20/minute; 300/day")
    return tuple(sorted(rates, key=lambda rate: rate.seconds))


class RateLimiter:
    """Count requests of each asker, and of all together, in fixed windows.

    The asker's windows are counted first and the shortest first, so that who asks too often is
    counted against themselves and not against everyone.
    """

    def __init__(
        self,
        storage: Storage,
        per_asker: tuple[Rate, ...],
        overall: tuple[Rate, ...],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._storage = storage
        self._per_asker = per_asker
        self._overall = overall
        self._clock = clock

    def admit(self, asker: str, kind: str = "") -> float | None:
        """Count a request and return None, or the seconds until the full window ends.

        kind: each has windows of its own. StorageError where they are shared and out of reach.
        """
        now = self._clock()
        for who, rates in ((f"asker:{asker}", self._per_asker), ("all", self._overall)):
            for rate in rates:
                window = int(now // rate.seconds)
                key = f"rate:{kind}:{who}:{rate.seconds}:{window}"
                if self._storage.add(key, 1, rate.seconds) > rate.amount:
                    return (window + 1) * rate.seconds - now
        return None


class TokenCap:
    """The tokens that providers may count in a UTC day. clock: seconds since 1970."""

    def __init__(self, storage: Storage, cap: int, clock: Callable[[], float] = time.time) -> None:
        self._storage = storage
        self._cap = cap
        self._clock = clock

    def is_reached(self) -> bool:
        """True if today's tokens are spent. StorageError."""
        return int(self._storage.read(self._name_day()) or 0) >= self._cap

    def add(self, tokens: int) -> None:
        """Count what a call has cost. StorageError."""
        if tokens:
            # The clocks of instances differ: a day's sum outlives the day.
            self._storage.add(self._name_day(), tokens, 2 * _DAY_SECONDS)

    def _name_day(self) -> str:
        day = dt.datetime.fromtimestamp(self._clock(), dt.UTC).date()
        return f"tokens:{day.isoformat()}"


class Slots:
    """Bound the questions that are answered at once, in all and of one asker.

    Otherwise one asker holds all threads of a model that answers slowly: as many questions as
    there are slots are within the rate of a minute. per_asker: None for no bound.
    """

    def __init__(self, total: int, per_asker: int | None) -> None:
        self._total = total
        self._per_asker = total if per_asker is None else per_asker
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
                self._held[asker] -= 1
                # Drops those of askers who hold none.
                self._held += Counter()
                self._changed.notify_all()

    def _has_room(self, asker: str) -> bool:
        return self._held.total() < self._total and self._held[asker] < self._per_asker
