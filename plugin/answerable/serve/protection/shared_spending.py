"""The token account of a day that instances share over Redis.

A day is one hash: the field ``settled`` holds the tokens that are spent, and each reservation has a
field of its own, "reserved begun ends": the tokens that are set aside, those of them that may be
spent already, and the end of its lease in milliseconds by the server's clock. A reservation whose
lease has ended belongs to a process that has died: what it had begun counts as spent, which is the
most that it can have cost, and the rest is free again.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import StorageError
from . import redis_store, spending
from .spending import Reservation

# Two days in seconds: a day's sum outlives the day wherever the clocks of instances differ.
_KEEP = 2 * 86_400
# Seconds that a lease lasts at most.
_LONGEST = 3_600.0
_ROOM, _RESERVED, _SPENT, _LOST = 1, 0, -1, -2

# Defines ``room(tokens, own)``: whether so many tokens fit into what a cap leaves, the reservation
# ``own`` left out. KEYS: the day. ARGV: a reservation's id, the cap. A field is removed after
# another is written: a hash without fields is gone, and with it the end that it had.
_SUM = """
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
_RESERVE = (
    _SUM
    + """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then return 1 end
local found = room(tonumber(ARGV[3]), ARGV[1])
if found == 1 then
  local ends = string.format('%.0f', now + tonumber(ARGV[4]))
  redis.call('hset', KEYS[1], ARGV[1], ARGV[3] .. ' 0 ' .. ends)
  redis.call('expire', KEYS[1], ARGV[5])
end
return found
"""
)
# More ARGV: tokens to reserve instead, tokens begun.
_RESIZE = (
    _SUM
    + """
local field = redis.call('hget', KEYS[1], ARGV[1])
if not field then return -2 end
local held, begun, ends = string.match(field, '(%d+) (%d+) (%d+)')
if tonumber(ends) <= now then return -2 end
local found = 1
if tonumber(ARGV[3]) > tonumber(held) then found = room(tonumber(ARGV[3]), ARGV[1]) end
if found == 1 then
  redis.call('hset', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ends)
end
return found
"""
)
# KEYS: the day. ARGV: the id, tokens. A reservation that is gone was settled by an attempt whose
# reply was lost, or counted when its lease ended; or the server has lost its memory.
_SETTLE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('hincrby', KEYS[1], 'settled', ARGV[2])
  redis.call('hdel', KEYS[1], ARGV[1])
end
"""

_Script = Callable[[Sequence[str], Sequence[str | int | bytes]], Any]


class RedisPurse:
    """The purse of all instances that share a store.

    Each script may run twice and counts once, since a reservation has an id.
    """

    def __init__(self, cap: int, url: str, clock: Callable[[], float]) -> None:
        store = redis_store.connect(url)
        self._cap = cap
        self._clock = clock
        self._reserve = store.script(_RESERVE)
        self._resize = store.script(_RESIZE)
        self._settle = store.script(_SETTLE, closing=True)

    def reserve(self, tokens: int, seconds: float) -> Reservation:
        """See Purse."""
        spending.check_tokens(tokens)
        day = f"tokens:{spending.utc_day(self._clock())}"
        id_ = secrets.token_hex(8)
        lease = round(1000 * min(max(seconds, 0.0), _LONGEST))
        _check(self._reserve([day], [id_, self._cap, tokens, lease, _KEEP]))
        account = _RedisAccount([day], id_, self._cap, self._resize, self._settle)
        return Reservation(tokens, account)


@dataclass(slots=True)
class _RedisAccount:
    """See Account."""

    day: list[str]
    id: str
    cap: int
    change: _Script
    end: _Script

    def resize(self, reserved: int, begun: int) -> None:
        _check(self.change(self.day, [self.id, self.cap, reserved, begun]))

    def settle(self, tokens: int) -> None:
        self.end(self.day, [self.id, tokens])


def _check(found: int) -> None:
    """Raise what a script has found instead of room."""
    if found == _SPENT:
        raise spending.spent()
    if found == _RESERVED:
        raise spending.reserved_by_others()
    if found == _LOST:
        raise StorageError(
            "the shared store has lost a reservation of tokens: ask again, and check that its "
            "server keeps its data"
        )
    assert found == _ROOM
