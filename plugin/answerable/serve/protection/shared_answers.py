"""Answers that instances share over Redis, each made by one of them at a time."""

import contextlib
import secrets
import time
from contextlib import ExitStack

from ..errors import StorageError
from . import redis_store
from .waiting import LATE, Check, Crowd, Make, Outcome, nothing

# Seconds between two looks at what another instance makes.
_POLL = 0.03
# Seconds by which a lock outlives what its owner may take at most; an owner that died keeps the
# others away for that long.
_MARGIN = 2.0
# No question is waited for longer than this, whatever was asked for.
_LONGEST = 900.0
# Milliseconds for which a value that may not be kept is there for those who wait already.
_TOLD = 2000

# KEYS: the value, the lock, what the last seen owner of the lock told. ARGV: a token, milliseconds.
# One script, or an owner could finish between a look at the value and one at the lock. A lock that
# is one's own already was taken by an attempt whose reply was lost.
_LOOK = """
local value = redis.call('get', KEYS[1]) or redis.call('get', KEYS[3])
if value then return {'value', value} end
local free = redis.call('set', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
local owner = redis.call('get', KEYS[2])
if free or owner == ARGV[1] then return {'lead', ''} end
return {'wait', owner}
"""
# KEYS: the lock, what its owner tells, the value. ARGV: the token, the value, milliseconds for
# those who wait, milliseconds to keep it (0: not at all).
_TELL = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
redis.call('set', KEYS[2], ARGV[2], 'PX', ARGV[3])
if tonumber(ARGV[4]) > 0 then redis.call('set', KEYS[3], ARGV[2], 'PX', ARGV[4]) end
"""
_RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
"""


class SharedCache:
    """The values of all instances that share a store. seconds: how long each is kept; 0: not."""

    def __init__(self, url: str, seconds: int) -> None:
        store = redis_store.connect(url)
        self._crowd = Crowd()
        self._milliseconds = 1000 * seconds
        self._look = store.script(_LOOK)
        self._tell = store.script(_TELL, closing=True)
        self._release = store.script(_RELEASE, closing=True)

    def once(
        self, key: str, make: Make, wait: float, check: Check = nothing
    ) -> tuple[bytes, Outcome]:
        """See AnswerCache."""
        with ExitStack() as stack:
            return self._once(key, make, wait, check, stack)

    def _once(
        self, key: str, make: Make, wait: float, check: Check, stack: ExitStack
    ) -> tuple[bytes, Outcome]:
        wait = min(wait, _LONGEST)
        ends = time.monotonic() + wait
        token = secrets.token_hex(16)
        lease = round(1000 * (max(wait, 0.0) + _MARGIN))
        owner = token
        found: Outcome = "hit"
        while True:
            keys = [f"answer:{key}", f"answering:{key}", f"told:{owner}"]
            what, rest = self._look(keys, [token, lease])
            if what == b"value":
                return rest, found
            if what == b"lead":
                # Whoever makes the answer waits for nobody.
                stack.close()
                return self._made(key, token, make), "miss"
            owner = rest.decode("ascii")
            if found == "hit":
                stack.enter_context(self._crowd.place())
            found = "shared"
            left = ends - time.monotonic()
            if left <= 0:
                raise TimeoutError(LATE)
            time.sleep(min(_POLL, left))
            check()

    def _made(self, key: str, token: str, make: Make) -> bytes:
        lock = f"answering:{key}"
        # A store that goes away meanwhile does not take an answer from who has it: the lock ends
        # by itself.
        try:
            value, may_be_kept = make()
        except BaseException:
            with contextlib.suppress(StorageError):
                self._release([lock], [token])
            raise
        with contextlib.suppress(StorageError):
            kept = self._milliseconds if may_be_kept else 0
            self._tell([lock, f"told:{token}", f"answer:{key}"], [token, value, _TOLD, kept])
        return value
