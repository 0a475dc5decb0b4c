"""The cache of answers, in the process or in Redis."""

import contextlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..errors import CrowdedError, PolicyError, StorageError
from ..request_context import current_context

if TYPE_CHECKING:
    from redis import Redis


T = TypeVar("T")

# Runs a Lua script with its keys (without the prefix) and its arguments.
RunScript = Callable[[Sequence[str], Sequence[str | int | bytes]], Any]

KEY_NAMESPACE = "answerable"
KEY_PREFIX = f"{KEY_NAMESPACE}:"
# A reader waits for these, so a store that does not answer soon counts as unreachable.
_CONNECT_SECONDS, _READ_SECONDS = 0.5, 1.0
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a command they are opened anew.
_IDLE_SECONDS = 30.0
# Valkey speaks Redis' protocol; a socket's path is ``unix`` to redis-py.
_SCHEMES = {
    "valkey": "redis",
    "valkeys": "rediss",
    "redis+unix": "unix",
    "valkey+unix": "unix",
}


class RedisStore:
    """Run commands on a server; it connects when it is first used and again when it has to.

    url: ``redis://``, ``rediss://`` (TLS) or ``unix://``. PolicyError if it is none of them or if
    the package ``redis`` is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: the package redis is not installed; "
                "run `pip install 'redis<8'` where the function runs"
            ) from error
        scheme, separator, location = url.partition("://")
        address = _SCHEMES.get(scheme, scheme) + separator + location
        try:
            self.client: Redis = redis.Redis.from_url(
                address,
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=_READ_SECONDS,
                # None of redis-py's own attempts, whatever its version: `run` says which work may
                # be done again.
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            # The address may hold a password: neither this text nor its cause may repeat it.
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: this is not the address of a Redis server; "
                "write it like redis://host:6379/0"
            ) from None
        self._errors = (redis.RedisError, OSError)
        self._connection_error = redis.ConnectionError
        self._last_use = time.time()

    def run(self, work: Callable[[], T], *, retry: bool = True, is_cleanup: bool = False) -> T:
        """Run ``work`` and return its result; StorageError if the store cannot be reached.

        retry: run the work a second time after a lost connection, although the server may have done
        it the first time. Work after the deadline of the current request is not begun: that is a
        ProviderError with ``timeout``. is_cleanup: the work releases what a question holds, and so
        is done even then.
        """
        context = current_context()
        if is_cleanup:
            return self._run_with_retry(work, retry=retry)
        context.check_deadline()
        try:
            return self._run_with_retry(work, retry=retry)
        except StorageError:
            context.check_deadline()
            raise

    def _run_with_retry(self, work: Callable[[], T], *, retry: bool) -> T:
        if time.time() - self._last_use > _IDLE_SECONDS:
            self._disconnect_idle()
        self._last_use = time.time()
        try:
            try:
                return work()
            except self._connection_error:
                self._disconnect_idle()
                if not retry:
                    raise
                return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error

    def register_script(self, source: str, *, is_cleanup: bool = False) -> RunScript:
        """Make a function that runs a Lua script, a second time if a connection is lost.

        is_cleanup: see ``run``.
        """
        script = self.client.register_script(source)

        def run_script(keys: Sequence[str], arguments: Sequence[str | int | bytes]) -> Any:
            prefixed = [KEY_PREFIX + key for key in keys]
            return self.run(
                lambda: script(keys=prefixed, args=list(arguments)), is_cleanup=is_cleanup
            )

        return run_script

    def ping(self) -> None:
        """Raise StorageError if the store cannot be reached."""
        self.run(self.client.ping)

    def _disconnect_idle(self) -> None:
        """Close the connections that are not in use."""
        with contextlib.suppress(*self._errors):
            self.client.connection_pool.disconnect(inuse_connections=False)


@lru_cache(maxsize=4)
def connect_redis(url: str) -> RedisStore:
    """Return the store at an address; one for all of a process, which so share connections."""
    return RedisStore(url)


CacheOutcome = Literal["hit", "miss", "shared"]
# Returns a value and whether it may be kept.
MakeValue = Callable[[], tuple[bytes, bool]]
# Raises if the caller that waits has gone.
CheckCaller = Callable[[], object]

# Callers that wait for another's answer at once, of all keys: each of them has a thread.
MAX_WAITING = 32
# Seconds between two checks of whether the caller that waits is still there.
CHECK_SECONDS = 0.25

LATE_MESSAGE = "the same question is being answered and was not ready in time: ask again"

# Seconds between two looks at what another instance makes.
_POLL_SECONDS = 0.03
# Seconds by which a lock outlives what its owner may take at most; an owner that died keeps the
# others away for that long.
_LOCK_MARGIN_SECONDS = 2.0
# No question is waited for longer than this, whatever was asked for.
_MAX_WAIT_SECONDS = 900.0
# Milliseconds for which a value that may not be kept is there for those who wait already.
_PUBLISHED_MILLISECONDS = 2000

# KEYS: the value, the lock, what the last seen owner of the lock has published. ARGV: a token,
# milliseconds. One script, or an owner could finish between a look at the value and one at the
# lock. A lock that is one's own already was taken by an attempt whose reply was lost.
_LOOK_UP_SCRIPT = """
local value = redis.call('get', KEYS[1]) or redis.call('get', KEYS[3])
if value then return {'value', value} end
local free = redis.call('set', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
local owner = redis.call('get', KEYS[2])
if free or owner == ARGV[1] then return {'lead', ''} end
return {'wait', owner}
"""
# KEYS: the lock, what its owner publishes, the value. ARGV: the token, the value, milliseconds for
# those who wait, milliseconds to keep it (0: not at all).
_PUBLISH_SCRIPT = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
redis.call('set', KEYS[2], ARGV[2], 'PX', ARGV[3])
if tonumber(ARGV[4]) > 0 then redis.call('set', KEYS[3], ARGV[2], 'PX', ARGV[4]) end
"""
_RELEASE_SCRIPT = """
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
"""


class WaitingRoom:
    """Bound the callers that wait for another's answer."""

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._places = threading.BoundedSemaphore(limit)

    @contextmanager
    def hold_place(self) -> Iterator[None]:
        """Wait in this block; CrowdedError if too many wait."""
        if not self._places.acquire(blocking=False):
            raise CrowdedError("too many wait for an answer already: ask again")
        try:
            yield
        finally:
            self._places.release()


class _Attempt:
    """Let the other callers of a key wait for the one that makes its value."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.value: bytes | None = None


class MemoryAnswerCache:
    """Cache the answers of this process; the least recently used is dropped first.

    Only one caller at a time makes the answer of a key. entries: values kept at most. seconds: how
    long each is; 0 keeps none. clock: seconds.
    """

    def __init__(
        self, entries: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._entries = entries if seconds > 0 else 0
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        # When each value expires, and the value.
        self._cached: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._attempts: dict[str, _Attempt] = {}
        self._waiting_room = WaitingRoom()

    def get_or_make(
        self, key: str, make: MakeValue, wait: float, check: CheckCaller = lambda: None
    ) -> tuple[bytes, CacheOutcome]:
        """Return a cached value ("hit"), one of ``make`` ("miss") or another's ("shared").

        One caller of a key makes the value; those who come meanwhile wait for it and get it even
        if it may not be kept. An error of ``make`` is raised to who made it, and the next of those
        who wait makes its own. wait: seconds to wait at most, then TimeoutError. check: is called
        now and then by who waits, and may raise. CrowdedError if too many wait already,
        StorageError, before anything is made, if the cache is shared and out of reach.
        """
        ends = time.monotonic() + wait
        while True:
            with self._lock:
                value = self._look_up(key)
                if value is not None:
                    return value, "hit"
                attempt = self._attempts.get(key)
                leads = attempt is None
                if attempt is None:
                    attempt = self._attempts[key] = _Attempt()
            if leads:
                return self._make(key, attempt, make), "miss"
            with self._waiting_room.hold_place():
                self._wait(attempt, ends, check)
            if attempt.value is not None:
                return attempt.value, "shared"

    def _wait(self, attempt: _Attempt, ends: float, check: CheckCaller) -> None:
        while not attempt.over.wait(max(0.0, min(CHECK_SECONDS, ends - time.monotonic()))):
            if time.monotonic() >= ends:
                raise TimeoutError(LATE_MESSAGE)
            check()

    def _look_up(self, key: str) -> bytes | None:
        if key not in self._cached:
            return None
        expires, value = self._cached[key]
        if expires <= self._clock():
            del self._cached[key]
            return None
        self._cached.move_to_end(key)
        return value

    def _make(self, key: str, attempt: _Attempt, make: MakeValue) -> bytes:
        try:
            value, may_be_kept = make()
            attempt.value = value
            if may_be_kept and self._entries:
                self._store(key, value)
            return value
        finally:
            with self._lock:
                del self._attempts[key]
            attempt.over.set()

    def _store(self, key: str, value: bytes) -> None:
        with self._lock:
            self._cached[key] = (self._clock() + self._seconds, value)
            self._cached.move_to_end(key)
            if len(self._cached) > self._entries:
                self._cached.popitem(last=False)


class RedisAnswerCache:
    """Cache the answers of all instances that share a store, each for ``seconds``; 0 keeps none."""

    def __init__(self, url: str, seconds: int) -> None:
        store = connect_redis(url)
        self._waiting_room = WaitingRoom()
        self._milliseconds = 1000 * seconds
        self._look_up = store.register_script(_LOOK_UP_SCRIPT)
        self._publish = store.register_script(_PUBLISH_SCRIPT, is_cleanup=True)
        self._release = store.register_script(_RELEASE_SCRIPT, is_cleanup=True)

    def get_or_make(
        self, key: str, make: MakeValue, wait: float, check: CheckCaller = lambda: None
    ) -> tuple[bytes, CacheOutcome]:
        """Return a value as ``MemoryAnswerCache.get_or_make`` does."""
        wait = min(wait, _MAX_WAIT_SECONDS)
        ends = time.monotonic() + wait
        token = secrets.token_hex(16)
        lease = round(1000 * (max(wait, 0.0) + _LOCK_MARGIN_SECONDS))
        owner = token
        outcome: CacheOutcome = "hit"
        with contextlib.ExitStack() as place:
            while True:
                keys = [f"answer:{key}", f"answering:{key}", f"told:{owner}"]
                status, value = self._look_up(keys, [token, lease])
                if status == b"value":
                    return value, outcome
                if status == b"lead":
                    break
                owner = value.decode("ascii")
                if outcome == "hit":
                    place.enter_context(self._waiting_room.hold_place())
                outcome = "shared"
                left = ends - time.monotonic()
                if left <= 0:
                    raise TimeoutError(LATE_MESSAGE)
                time.sleep(min(_POLL_SECONDS, left))
                check()
        # Whoever makes the answer waits for nobody, and so holds no place.
        return self._make(key, token, make), "miss"

    def _make(self, key: str, token: str, make: MakeValue) -> bytes:
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
            milliseconds = self._milliseconds if may_be_kept else 0
            self._publish(
                [lock, f"told:{token}", f"answer:{key}"],
                [token, value, _PUBLISHED_MILLISECONDS, milliseconds],
            )
        return value


AnswerCache = MemoryAnswerCache | RedisAnswerCache


def create_answer_cache(entries: int, seconds: int, redis_url: str | None) -> AnswerCache:
    """Create a cache in memory, or in Redis, where the server's own memory limit bounds it."""
    if redis_url is None:
        return MemoryAnswerCache(entries, seconds)
    return RedisAnswerCache(redis_url, seconds)
