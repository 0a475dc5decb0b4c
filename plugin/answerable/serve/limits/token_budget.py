"""Cap the tokens of a UTC day, in memory or Redis: reserve the worst case, settle the real cost.

Tokens that are settled and tokens that are reserved are counted apart: only those that are settled
have been spent. The budget is kept in memory or, for instances that share one, in Redis.

In Redis a day is one hash: the field ``settled`` holds the tokens that are spent, and each
reservation has a field of its own, "reserved begun ends": the tokens that are set aside, those of
them that may be spent already, and the end of its lease in milliseconds by the server's clock. A
reservation whose lease has ended belongs to a process that has died: what it had begun counts as
spent, which is the most that it can have cost, and the remainder is free again.
"""

import contextlib
import datetime as dt
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..errors import BudgetError, StorageError
from .redis_store import RunScript, connect_redis

# Days whose sums are remembered. A clock that steps back over midnight comes back to a day that
# has its sum already, and so to no second cap.
_REMEMBERED_DAYS = 8
# Two days in seconds: a day's sum outlives the day wherever the clocks of instances differ.
_KEEP_DAY_SECONDS = 2 * 86_400
# Seconds that a lease lasts at most.
_MAX_LEASE_SECONDS = 3_600.0
_ROOM, _RESERVED, _SPENT, _LOST = 1, 0, -1, -2

# Defines ``room(tokens, own)``: whether so many tokens fit into what a cap leaves, the reservation
# ``own`` left out. KEYS: the day. ARGV: a reservation's id, the cap. A field is removed after
# another is written: a hash without fields is gone, and with it the end that it had.
_ROOM_SCRIPT = """
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function room(tokens, own)
  local settled, reserved = 0, 0
  local fields = redis.call('hgetall', KEYS[1])
  for i = 1, #fields, 2 do
    if fields[i] == 'settled' then
      settled = settled + tonumber(fields[i + 1])
    else
      local held, begun, ends = string.match(fields[i + 1], '(%d+) (%d+) (%d+)')
      if tonumber(ends) <= now then
        redis.call('hincrby', KEYS[1], 'settled', begun)
        redis.call('hdel', KEYS[1], fields[i])
        settled = settled + tonumber(begun)
      elseif fields[i] ~= own then
        reserved = reserved + tonumber(held)
      end
    end
  end
  if settled + tokens > tonumber(ARGV[2]) then return -1 end
  if settled + reserved + tokens > tonumber(ARGV[2]) then return 0 end
  return 1
end
"""
# More ARGV: tokens, milliseconds of the lease, seconds to keep the day. An id that is there already
# was reserved by an attempt whose reply was lost.
_RESERVE_SCRIPT = (
    _ROOM_SCRIPT
    + """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then return 1 end
local verdict = room(tonumber(ARGV[3]), ARGV[1])
if verdict == 1 then
  local ends = string.format('%.0f', now + tonumber(ARGV[4]))
  redis.call('hset', KEYS[1], ARGV[1], ARGV[3] .. ' 0 ' .. ends)
  redis.call('expire', KEYS[1], ARGV[5])
end
return verdict
"""
)
# More ARGV: tokens to reserve instead, tokens begun.
_RESIZE_SCRIPT = (
    _ROOM_SCRIPT
    + """
local field = redis.call('hget', KEYS[1], ARGV[1])
if not field then return -2 end
local held, begun, ends = string.match(field, '(%d+) (%d+) (%d+)')
if tonumber(ends) <= now then return -2 end
local verdict = 1
if tonumber(ARGV[3]) > tonumber(held) then verdict = room(tonumber(ARGV[3]), ARGV[1]) end
if verdict == 1 then
  redis.call('hset', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ends)
end
return verdict
"""
)
# KEYS: the day. ARGV: the id, tokens. A reservation that is gone was settled by an attempt whose
# reply was lost, or counted when its lease ended; or the server has lost its memory.
_SETTLE_SCRIPT = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('hincrby', KEYS[1], 'settled', ARGV[2])
  redis.call('hdel', KEYS[1], ARGV[1])
end
"""


class ReservationAccount(Protocol):
    """Change the reserved and the settled tokens of a day for one reservation."""

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
    """Set tokens of the day's cap aside until it is known what a question has cost."""

    def __init__(self, tokens: int, account: ReservationAccount) -> None:
        self.tokens = tokens
        self._account = account
        self._lock = threading.Lock()
        self._is_settled = False

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
        """Count what the question has cost, also beyond what was reserved, and free the remainder.

        cost: in tokens; None where it is unknown, which costs all that was reserved. Only the first
        call counts. In a store that is away the reservation ends by itself.
        """
        if cost is not None and cost < 0:
            raise ValueError("a cost is not negative")
        with self._lock:
            if self._is_settled:
                return
            self._is_settled = True
        with contextlib.suppress(StorageError):
            self._account.settle(self.tokens if cost is None else cost)


class TokenBudget(Protocol):
    """Reserve tokens of today's cap (UTC)."""

    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """Reserve tokens.

        seconds: how long the reservation is held for a process that dies before it settles.
        BudgetError if they would pass the cap; its ``transient`` says that only reservations stand
        in the way. StorageError, and nothing is reserved, if the account is shared and out of
        reach.
        """
        ...


@dataclass(slots=True)
class _Day:
    """Count the tokens of one UTC day."""

    settled: int = 0
    reserved: int = 0


class MemoryTokenBudget:
    """Keep the budget of one process, which ends with it: no reservation outlives who made it."""

    def __init__(self, cap: int, clock: Callable[[], float]) -> None:
        self._cap = cap
        self._clock = clock
        self._lock = threading.Lock()
        self._days: OrderedDict[str, _Day] = OrderedDict()

    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """See TokenBudget."""
        del seconds
        _check_token_count(tokens)
        with self._lock:
            name = _format_utc_day(self._clock())
            day = self._days.setdefault(name, _Day())
            self._days.move_to_end(name)
            if len(self._days) > _REMEMBERED_DAYS:
                self._days.popitem(last=False)
            self._check_room(day, tokens)
            day.reserved += tokens
        return Reservation(tokens, _MemoryAccount(self, day, tokens))

    def resize(self, day: _Day, before: int, reserved: int) -> None:
        """Change a reservation of a day; BudgetError without room."""
        with self._lock:
            if reserved > before:
                day.reserved -= before
                try:
                    self._check_room(day, reserved)
                finally:
                    day.reserved += before
            day.reserved += reserved - before

    def settle(self, day: _Day, reserved: int, tokens: int) -> None:
        """End a reservation of a day and spend tokens."""
        with self._lock:
            day.reserved -= reserved
            day.settled += tokens

    def _check_room(self, day: _Day, tokens: int) -> None:
        if day.settled + tokens > self._cap:
            raise _make_spent_error()
        if day.settled + day.reserved + tokens > self._cap:
            raise _make_reserved_error()


@dataclass(slots=True)
class _MemoryAccount:
    """See ReservationAccount; ``reserved`` are the tokens of one reservation."""

    budget: MemoryTokenBudget
    day: _Day
    reserved: int

    def resize(self, reserved: int, begun: int) -> None:
        del begun
        self.budget.resize(self.day, self.reserved, reserved)
        self.reserved = reserved

    def settle(self, tokens: int) -> None:
        self.budget.settle(self.day, self.reserved, tokens)


class RedisTokenBudget:
    """Keep the budget of all instances that share a store.

    Each script may run twice and counts once, since a reservation has an id.
    """

    def __init__(self, cap: int, url: str, clock: Callable[[], float]) -> None:
        store = connect_redis(url)
        self._cap = cap
        self._clock = clock
        self._reserve = store.register_script(_RESERVE_SCRIPT)
        self._resize = store.register_script(_RESIZE_SCRIPT)
        self._settle = store.register_script(_SETTLE_SCRIPT, is_cleanup=True)

    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """See TokenBudget."""
        _check_token_count(tokens)
        day = f"tokens:{_format_utc_day(self._clock())}"
        reservation_id = secrets.token_hex(8)
        lease = round(1000 * min(max(seconds, 0.0), _MAX_LEASE_SECONDS))
        _raise_without_room(
            self._reserve([day], [reservation_id, self._cap, tokens, lease, _KEEP_DAY_SECONDS])
        )
        account = _RedisAccount(day, reservation_id, self._cap, self._resize, self._settle)
        return Reservation(tokens, account)


@dataclass(slots=True)
class _RedisAccount:
    """See ReservationAccount."""

    day: str
    id: str
    cap: int
    run_resize: RunScript
    run_settle: RunScript

    def resize(self, reserved: int, begun: int) -> None:
        _raise_without_room(self.run_resize([self.day], [self.id, self.cap, reserved, begun]))

    def settle(self, tokens: int) -> None:
        self.run_settle([self.day], [self.id, tokens])


def create_token_budget(
    tokens_per_day: int, redis_url: str | None, clock: Callable[[], float] = time.time
) -> TokenBudget:
    """Create a budget of so many tokens a UTC day, in memory or in Redis.

    clock: seconds since 1970.
    """
    if redis_url is None:
        return MemoryTokenBudget(tokens_per_day, clock)
    return RedisTokenBudget(tokens_per_day, redis_url, clock)


def _check_token_count(tokens: int) -> None:
    if tokens < 0:
        raise ValueError("a number of tokens to reserve is not negative")


def _format_utc_day(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()


def _make_spent_error() -> BudgetError:
    """Report that the settled tokens leave no room."""
    return BudgetError("today's tokens are spent: raise ANSWERABLE_TOKENS_PER_DAY or wait")


def _make_reserved_error() -> BudgetError:
    """Report that only reservations leave no room."""
    return BudgetError(
        "today's other tokens are reserved by questions under way: ask again", transient=True
    )


def _raise_without_room(result: int) -> None:
    """Raise what the result of a script says, unless it is room."""
    if result == _SPENT:
        raise _make_spent_error()
    if result == _RESERVED:
        raise _make_reserved_error()
    if result == _LOST:
        raise StorageError(
            "the shared store has lost a reservation of tokens: ask again, and check that its "
            "server keeps its data"
        )
    assert result == _ROOM
