"""Cap the tokens of a UTC day, in memory or Redis: reserve the worst case, settle the real cost.

A day has two sums: ``claimed``, the tokens that are reserved or spent, and ``settled``, those that
are spent. A reservation adds to the first in one step and takes back what it added if that passes
the cap. So the cap holds whatever happens between two steps: a process that is killed, or a reply
of the store that is lost, costs the day one reservation.
"""

import contextlib
import datetime as dt
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ..errors import BudgetError, StorageError
from .answer_cache import KEY_PREFIX, connect_redis

# Days whose sums are remembered. A clock that steps back over midnight comes back to a day that
# has its sum already, and so to no second cap.
_REMEMBERED_DAYS = 8
# Two days in seconds: a day's sums outlive the day wherever the clocks of instances differ.
_KEEP_DAY_SECONDS = 2 * 86_400


# Adds tokens, which may be negative, to what a day has (claimed, settled), and returns both sums;
# StorageError.
DaySums = Callable[[str, int, int], tuple[int, int]]


class TokenBudget:
    """Reserve tokens of a cap for each UTC day. clock: seconds since 1970."""

    def __init__(self, cap: int, add: DaySums, clock: Callable[[], float]) -> None:
        self._cap = cap
        self._add = add
        self._clock = clock

    def reserve(self, tokens: int) -> "Reservation":
        """Reserve tokens of today.

        BudgetError if they would pass the cap; its ``transient`` says that only reservations stand
        in the way. StorageError if the sums are shared and out of reach.
        """
        if tokens < 0:
            raise ValueError("a number of tokens to reserve is not negative")
        day = dt.datetime.fromtimestamp(self._clock(), dt.UTC).date().isoformat()
        self.claim(day, tokens, tokens)
        return Reservation(self, day, tokens)

    def claim(self, day: str, tokens: int, needed: int) -> None:
        """Add tokens to what a day has claimed; BudgetError, and nothing is added, without room.

        needed: the whole reservation that they are a part of.
        """
        claimed, settled = self.add(day, tokens)
        if tokens < 0 or claimed <= self._cap:
            return
        self.add(day, -tokens)
        if settled + needed > self._cap:
            raise BudgetError("today's tokens are spent: raise ANSWERABLE_TOKENS_PER_DAY or wait")
        raise BudgetError(
            "today's other tokens are reserved by questions under way: ask again", transient=True
        )

    def add(self, day: str, claimed: int, settled: int = 0) -> tuple[int, int]:
        """Add to the sums of a day and return them."""
        sums = self._add(day, claimed, settled)
        if sums[0] < sums[1]:
            # A store that has lost a reservation is given back what it does not have.
            sums = self._add(day, sums[1] - sums[0], 0)
        return sums


class Reservation:
    """Set tokens of the day's cap aside until it is known what a question has cost."""

    def __init__(self, budget: TokenBudget, day: str, tokens: int) -> None:
        self.tokens = tokens
        self._budget = budget
        self._day = day
        self._lock = threading.Lock()
        self._is_settled = False

    def begin(self, cost: int | None, later: int | None = None) -> None:
        """Make room for a provider call; if this raises, it may not be made.

        cost: the most that the question can have cost when this call is over, None where a call
        has no such bound. later: the most that calls after this one can add, None if unknown; what
        neither of them needs is given back at once. BudgetError, StorageError.
        """
        if cost is None:
            return
        needed = self.tokens if later is None else min(self.tokens, cost + later)
        needed = max(needed, cost)
        if needed != self.tokens:
            self._budget.claim(self._day, needed - self.tokens, needed)
            self.tokens = needed

    def settle(self, cost: int | None) -> None:
        """Count what the question has cost, also beyond what was reserved, and free the remainder.

        cost: in tokens; None where it is unknown, which costs all that was reserved. Only the first
        call counts. In a store that is away all that was reserved stays claimed.
        """
        if cost is not None and cost < 0:
            raise ValueError("a cost is not negative")
        with self._lock:
            if self._is_settled:
                return
            self._is_settled = True
        spent = self.tokens if cost is None else cost
        with contextlib.suppress(StorageError):
            self._budget.add(self._day, spent - self.tokens, spent)


class MemoryDaySums:
    """Keep the sums of one process, which end with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._days: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def __len__(self) -> int:
        """Count the days that are remembered."""
        return len(self._days)

    def __call__(self, day: str, claimed: int, settled: int) -> tuple[int, int]:
        """Add to the sums of a day."""
        with self._lock:
            before = self._days.get(day, (0, 0))
            sums = self._days[day] = before[0] + claimed, before[1] + settled
            self._days.move_to_end(day)
            if len(self._days) > _REMEMBERED_DAYS:
                self._days.popitem(last=False)
            return sums


class RedisDaySums:
    """Keep the sums of all instances that share a store, those of a day as one hash."""

    def __init__(self, url: str) -> None:
        self._store = connect_redis(url)

    def __call__(self, day: str, claimed: int, settled: int) -> tuple[int, int]:
        """Add to the sums of a day. What was done although its reply was lost is not done again."""
        key = f"{KEY_PREFIX}tokens:{day}"

        def add() -> tuple[int, int]:
            transaction = self._store.client.pipeline(transaction=True)
            transaction.hincrby(key, "claimed", claimed)
            transaction.hincrby(key, "settled", settled)
            transaction.expire(key, _KEEP_DAY_SECONDS)
            sums = transaction.execute()
            return int(sums[0]), int(sums[1])

        # Only a reservation of more tokens is refused after a question's deadline.
        is_cleanup = claimed <= 0 or settled > 0
        return self._store.run(add, retry=False, is_cleanup=is_cleanup)


def create_token_budget(
    tokens_per_day: int, redis_url: str | None, clock: Callable[[], float] = time.time
) -> TokenBudget:
    """Create a budget of so many tokens a UTC day, in memory or in Redis.

    clock: seconds since 1970.
    """
    add = MemoryDaySums() if redis_url is None else RedisDaySums(redis_url)
    return TokenBudget(tokens_per_day, add, clock)
