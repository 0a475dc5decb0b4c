"""What an answer cache promises, and those who wait for an answer that another caller makes.

Answers that are kept, and one attempt at a time at those that are not.

Answers that instances share over Redis, each made by one of them at a time.
"""

import contextlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal, Protocol

from ..errors import CrowdedError, StorageError
from .redis_store import connect_redis

CacheOutcome = Literal["hit", "miss", "shared"]
# Returns a value and whether it may be kept.
MakeValue = Callable[[], tuple[bytes, bool]]
# Raises where nobody waits any more.
CheckCaller = Callable[[], object]

# Callers that wait for another's answer at once, of all keys: each of them has a thread.
MAX_WAITING = 32
# Seconds after which one that waits looks whether its asker still does.
CHECK_SECONDS = 0.25

LATE_MESSAGE = "the same question is being answered and was not ready in time: ask again"


def do_nothing() -> None:
    """Whoever waits is still there."""


class WaitingRoom:
    """Those who wait for another's answer, so many at once."""

    def __init__(self, most: int = MAX_WAITING) -> None:
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
        self, key: str, make: MakeValue, wait: float, check: CheckCaller = do_nothing
    ) -> tuple[bytes, CacheOutcome]:
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


class MemoryAnswerCache:
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
        self._crowd = WaitingRoom()

    def once(
        self, key: str, make: MakeValue, wait: float, check: CheckCaller = do_nothing
    ) -> tuple[bytes, CacheOutcome]:
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

    def _wait(self, attempt: _Attempt, ends: float, check: CheckCaller) -> None:
        while not attempt.over.wait(max(0.0, min(CHECK_SECONDS, ends - time.monotonic()))):
            if time.monotonic() >= ends:
                raise TimeoutError(LATE_MESSAGE)
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

    def _made(self, key: str, attempt: _Attempt, make: MakeValue) -> bytes:
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


def create_answer_cache(entries: int, seconds: int, redis_url: str | None) -> AnswerCache:
    """A cache in memory, or in Redis, where the server's own memory limit bounds the entries."""
    if redis_url is None:
        return MemoryAnswerCache(entries, seconds)

    return RedisAnswerCache(redis_url, seconds)


# Seconds between two looks at what another instance makes.
_POLL_SECONDS = 0.03
# Seconds by which a lock outlives what its owner may take at most; an owner that died keeps the
# others away for that long.
_LOCK_MARGIN_SECONDS = 2.0
# No question is waited for longer than this, whatever was asked for.
_MAX_WAIT_SECONDS = 900.0
# Milliseconds for which a value that may not be kept is there for those who wait already.
_PUBLISHED_MILLISECONDS = 2000

# KEYS: the value, the lock, what the last seen owner of the lock told. ARGV: a token, milliseconds.
# One script, or an owner could finish between a look at the value and one at the lock. A lock that
# is one's own already was taken by an attempt whose reply was lost.
_LOOK_UP_SCRIPT = """
local value = redis.call('get', KEYS[1]) or redis.call('get', KEYS[3])
if value then return {'value', value} end
local free = redis.call('set', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
local owner = redis.call('get', KEYS[2])
if free or owner == ARGV[1] then return {'lead', ''} end
return {'wait', owner}
"""
# KEYS: the lock, what its owner tells, the value. ARGV: the token, the value, milliseconds for
# those who wait, milliseconds to keep it (0: not at all).
_PUBLISH_SCRIPT = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
redis.call('set', KEYS[2], ARGV[2], 'PX', ARGV[3])
if tonumber(ARGV[4]) > 0 then redis.call('set', KEYS[3], ARGV[2], 'PX', ARGV[4]) end
"""
_RELEASE_SCRIPT = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
"""


class RedisAnswerCache:
    """The values of all instances that share a store. seconds: how long each is kept; 0: not."""

    def __init__(self, url: str, seconds: int) -> None:
        store = connect_redis(url)
        self._crowd = WaitingRoom()
        self._milliseconds = 1000 * seconds
        self._look = store.script(_LOOK_UP_SCRIPT)
        self._tell = store.script(_PUBLISH_SCRIPT, closing=True)
        self._release = store.script(_RELEASE_SCRIPT, closing=True)

    def once(
        self, key: str, make: MakeValue, wait: float, check: CheckCaller = do_nothing
    ) -> tuple[bytes, CacheOutcome]:
        """See AnswerCache."""
        with ExitStack() as stack:
            return self._once(key, make, wait, check, stack)

    def _once(
        self, key: str, make: MakeValue, wait: float, check: CheckCaller, stack: ExitStack
    ) -> tuple[bytes, CacheOutcome]:
        wait = min(wait, _MAX_WAIT_SECONDS)
        ends = time.monotonic() + wait
        token = secrets.token_hex(16)
        lease = round(1000 * (max(wait, 0.0) + _LOCK_MARGIN_SECONDS))
        owner = token
        found: CacheOutcome = "hit"
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
                raise TimeoutError(LATE_MESSAGE)
            time.sleep(min(_POLL_SECONDS, left))
            check()

    def _made(self, key: str, token: str, make: MakeValue) -> bytes:
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
            self._tell(
                [lock, f"told:{token}", f"answer:{key}"],
                [token, value, _PUBLISHED_MILLISECONDS, kept],
            )
        return value
