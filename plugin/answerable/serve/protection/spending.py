"""A cap on the tokens that a day may cost: reserved before they are spent, settled after.

What is settled and what is reserved are kept apart: only what is settled has been spent.
"""

import contextlib
import datetime as dt
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..errors import BudgetError, StorageError

# Days whose sums are remembered. A clock that steps back over midnight comes back to a day that
# has its sum already, and so to no second cap.
_DAYS = 8


class Account(Protocol):
    """The day's account as one reservation sees it."""

    def resize(self, reserved: int, begun: int) -> None:
        """Reserve so many tokens instead, of which ``begun`` may be spent already.

        BudgetError if that is more than before and the cap has no room for it, StorageError if the
        account is shared and out of reach or has lost the reservation. Then nothing has changed.
        """
        ...

    def settle(self, tokens: int) -> None:
        """Spend so many tokens and end the reservation; StorageError."""
        ...


class Reservation:
    """Tokens set aside from the day's cap until it is known what a question has cost."""

    def __init__(self, tokens: int, account: Account) -> None:
        self.tokens = tokens
        self._account = account
        self._lock = threading.Lock()
        self._settled = False

    def begin(self, cost: int | None, later: int | None = None) -> None:
        """Record that a provider is about to be called; if this raises, it may not be.

        cost: the most that the question can have cost when this call is over, None where a call
        has no such bound. later: the most that calls after this one can add, None if unknown; what
        neither of them needs is given back at once. BudgetError, StorageError.
        """
        if cost is None:
            begun = reserved = self.tokens
        else:
            begun = cost
            reserved = self.tokens if later is None else min(self.tokens, cost + later)
            reserved = max(reserved, cost)
        self._account.resize(reserved, begun)
        self.tokens = reserved

    def settle(self, cost: int | None) -> None:
        """Count what the question has cost, also beyond what was reserved, and free the rest.

        cost: in tokens; None where nobody told, which costs all that was reserved. Only the first
        call counts. In a store that is away the reservation ends by itself.
        """
        if cost is not None and cost < 0:
            raise ValueError("nothing costs fewer than no tokens")
        with self._lock:
            if self._settled:
                return
            self._settled = True
        with contextlib.suppress(StorageError):
            self._account.settle(self.tokens if cost is None else cost)


class Purse(Protocol):
    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """Reserve tokens of today (UTC).

        seconds: how long the reservation is held for a process that dies before it settles.
        BudgetError if they would pass the cap; its ``passing`` says that only reservations stand
        in the way. StorageError, and nothing is reserved, if the account is shared and out of
        reach.
        """
        ...


@dataclass(slots=True)
class _Day:
    """The tokens of one UTC day."""

    settled: int = 0
    reserved: int = 0


class MemoryPurse:
    """One process' own purse, which ends with it: no reservation outlives who made it."""

    def __init__(self, cap: int, clock: Callable[[], float]) -> None:
        self._cap = cap
        self._clock = clock
        self._lock = threading.Lock()
        self._days: OrderedDict[str, _Day] = OrderedDict()

    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """See Purse."""
        del seconds
        check_tokens(tokens)
        with self._lock:
            name = utc_day(self._clock())
            day = self._days.setdefault(name, _Day())
            self._days.move_to_end(name)
            if len(self._days) > _DAYS:
                self._days.popitem(last=False)
            self._check_room(day, tokens)
            day.reserved += tokens
        return Reservation(tokens, _MemoryAccount(self, day, tokens))

    def resize(self, day: _Day, before: int, reserved: int) -> None:
        with self._lock:
            if reserved > before:
                day.reserved -= before
                try:
                    self._check_room(day, reserved)
                finally:
                    day.reserved += before
            day.reserved += reserved - before

    def settle(self, day: _Day, reserved: int, tokens: int) -> None:
        with self._lock:
            day.reserved -= reserved
            day.settled += tokens

    def _check_room(self, day: _Day, tokens: int) -> None:
        if day.settled + tokens > self._cap:
            raise spent()
        if day.settled + day.reserved + tokens > self._cap:
            raise reserved_by_others()


@dataclass(slots=True)
class _MemoryAccount:
    """See Account; ``reserved`` are the tokens of one reservation."""

    purse: MemoryPurse
    day: _Day
    reserved: int

    def resize(self, reserved: int, begun: int) -> None:
        del begun
        self.purse.resize(self.day, self.reserved, reserved)
        self.reserved = reserved

    def settle(self, tokens: int) -> None:
        self.purse.settle(self.day, self.reserved, tokens)


def purse(
    tokens_per_day: int, redis_url: str | None, clock: Callable[[], float] = time.time
) -> Purse:
    """A purse with a cap for each UTC day, in memory or in Redis. clock: seconds since 1970."""
    if redis_url is None:
        return MemoryPurse(tokens_per_day, clock)
    from .shared_spending import RedisPurse

    return RedisPurse(tokens_per_day, redis_url, clock)


def check_tokens(tokens: int) -> None:
    """ValueError for a negative number of tokens."""
    if tokens < 0:
        raise ValueError("fewer than no tokens cannot be reserved")


def utc_day(seconds: float) -> str:
    """The UTC day of a moment, in seconds since 1970, as YYYY-MM-DD."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()


def spent() -> BudgetError:
    """What is settled leaves no room."""
    return BudgetError("today's tokens are spent: raise ANSWERABLE_TOKENS_PER_DAY or wait")


def reserved_by_others() -> BudgetError:
    """Only reservations leave no room."""
    return BudgetError(
        "today's other tokens are reserved by questions under way: ask again", passing=True
    )
