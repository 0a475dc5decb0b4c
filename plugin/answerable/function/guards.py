"""Guards before the engine: how often and at what cost a question is answered, and the cache."""

import datetime as dt
import hashlib
import json
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..engine.answers.wire import serialize_answer
from ..engine.engine import Engine
from ..engine.errors import AnswerableError, PolicyError, StorageError
from ..engine.request_context import current_context
from ..engine.text.languages import match_languages
from .logs import CacheOutcome, LoggedReason, find_nearest_section
from .policy import Policy
from .requests import Json, Problem, Question, encode_json

if TYPE_CHECKING:
    from redis import Redis

# Seconds for which a question waits where as many as are allowed are being answered.
BURST_SECONDS = 2.0
KEY_PREFIX = "answerable:"
# A reader waits for these, so a server that does not answer soon counts as unreachable.
CONNECT_SECONDS, READ_SECONDS = 0.5, 1.0
# A function that was frozen wakes with connections that the network may have forgotten: after so
# many seconds without a command redis-py looks whether they are still there.
IDLE_SECONDS = 30
DAY_SECONDS = 86_400

T = TypeVar("T")


class MemoryStorage:
    """Numbers and values by key of one process, each with an end.

    It forgets the least recently used of more than ``entries``.
    """

    def __init__(self, entries: int, clock: Callable[[], float] = time.time) -> None:
        self._entries = entries
        self._clock = clock
        self._lock = threading.RLock()
        # When each value ends, and the value.
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def add(self, key: str, amount: int, seconds: int) -> int:
        """Add to a number, which ends so many seconds after it was last added to; return it."""
        with self._lock:
            total = int(self.read(key) or 0) + amount
            self.write(key, str(total).encode(), seconds)
            return total

    def read(self, key: str) -> bytes | None:
        """Return a value, or a number in decimal digits."""
        with self._lock:
            ends, value = self._values.get(key, (0.0, None))
            if value is None or ends <= self._clock():
                return None
            self._values.move_to_end(key)
            return value

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value for so many seconds."""
        with self._lock:
            self._values[key] = self._clock() + seconds, value
            self._values.move_to_end(key)
            if len(self._values) > self._entries:
                self._values.popitem(last=False)


class RedisStorage:
    """The same for instances that share it; StorageError where it cannot be reached.

    PolicyError without the package ``redis``.
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
        try:
            self._client: Redis = redis.Redis.from_url(
                url,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=READ_SECONDS,
                health_check_interval=IDLE_SECONDS,
                # What is added twice after a lost reply would count against a reader.
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            # The address may hold a password: neither this text nor its cause may repeat it.
            raise PolicyError(
                "ANSWERABLE_REDIS_URL: this is not the address of a Redis server; "
                "write it like redis://host:6379/0"
            ) from None
        self._errors = (redis.RedisError, OSError)

    def add(self, key: str, amount: int, seconds: int) -> int:
        """See MemoryStorage."""
        transaction = self._client.pipeline(transaction=True)
        transaction.incrby(KEY_PREFIX + key, amount)
        transaction.expire(KEY_PREFIX + key, seconds)
        return int(self._run(transaction.execute)[0])

    def read(self, key: str) -> bytes | None:
        """See MemoryStorage."""
        value = self._run(lambda: self._client.get(KEY_PREFIX + key))
        return value if isinstance(value, bytes) else None

    def write(self, key: str, value: bytes, seconds: int) -> None:
        """See MemoryStorage."""
        self._run(lambda: self._client.setex(KEY_PREFIX + key, seconds, value))

    def _run(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except self._errors as error:
            raise StorageError(
                f"the shared store failed ({type(error).__name__}): "
                "check ANSWERABLE_REDIS_URL and that its server runs"
            ) from error


Storage = MemoryStorage | RedisStorage


def parse_rates(text: str) -> list[tuple[int, int]]:
    """Parse rates such as "20/minute; 300/day" to amounts and seconds, the shortest first."""
    seconds = {"second": 1, "minute": 60, "hour": 3_600, "day": DAY_SECONDS}
    rates = [(int(amount), seconds[unit]) for amount, unit in re.findall(r"(\d+)/(\w+)", text)]
    return sorted(rates, key=lambda rate: rate[1])


class Limits:
    """What readers may ask in fixed windows, and what providers may count in a UTC day.

    A day whose tokens are spent pays for no further call; what a call has cost is added when it
    ends, so that the calls under way at that moment come on top: at most as many as are answered
    at once. ``clock``: seconds since 1970. StorageError where the counters are out of reach.
    """

    def __init__(
        self, storage: Storage, policy: Policy, clock: Callable[[], float] = time.time
    ) -> None:
        self._storage = storage
        self._per_asker = parse_rates(policy.rate)
        self._overall = parse_rates(policy.rate_all)
        self._cap = policy.tokens_per_day
        self._clock = clock

    def admit(self, asker: str, kind: str) -> None:
        """Count a request; Problem with the seconds until the full window ends if one is full.

        The asker's windows are counted first and the shortest first, so that who asks too often is
        counted against themselves and not against everyone. kind: each has windows of its own.
        """
        now = self._clock()
        for who, rates in ((f"asker:{asker}", self._per_asker), ("all", self._overall)):
            for amount, seconds in rates:
                window = int(now // seconds)
                key = f"rate:{kind}:{who}:{seconds}:{window}"
                if self._storage.add(key, 1, seconds) > amount:
                    wait = int((window + 1) * seconds - now) + 1
                    raise Problem(
                        "rate-limited", "Too many requests: wait a moment.", Retry_After=str(wait)
                    )

    def check_tokens(self) -> None:
        """Raise a Problem if today's tokens are spent."""
        if self._cap is not None and int(self._storage.read(self._name_day()) or 0) >= self._cap:
            raise Problem(
                "capped",
                "There are no more answers today: the site's budget is used up.",
                Retry_After=str(DAY_SECONDS - int(self._clock()) % DAY_SECONDS),
            )

    def add_tokens(self, tokens: int) -> None:
        """Count what a call has cost."""
        if tokens and self._cap is not None:
            # The clocks of instances differ: a day's sum outlives the day.
            self._storage.add(self._name_day(), tokens, 2 * DAY_SECONDS)

    def _name_day(self) -> str:
        return f"tokens:{dt.datetime.fromtimestamp(self._clock(), dt.UTC).date()}"


class Slots:
    """The questions that are answered at once, in all and of one asker.

    Otherwise one asker holds all threads of a model that answers slowly: as many questions as
    there are slots are within the rate of a minute.
    """

    def __init__(self, total: int, per_asker: int) -> None:
        self._total = total
        self._per_asker = per_asker
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
                # Forgets those who hold none.
                self._held -= Counter({asker: 1})
                self._changed.notify_all()

    def _has_room(self, asker: str) -> bool:
        return self._held.total() < self._total and self._held[asker] < self._per_asker


class ServedReply(NamedTuple):
    """The body of an answer without its request id, and what the logs need of it.

    ``cited``: the pages that it cites. ``gap``: why the question is logged as one without an
    answer, if it is, with ``near``, the nearest section.
    """

    body: Json
    cited: list[str]
    gap: LoggedReason | None
    near: str | None


class Guards:
    """The limits and the cache that all requests of a function share.

    Where Redis is out of reach, what costs nothing is answered, and StorageError is raised for all
    else.
    """

    def __init__(self, policy: Policy) -> None:
        shared = RedisStorage(policy.redis_url) if policy.redis_url else None
        # Who has not asked for longest is forgotten first.
        self._limits = Limits(shared or MemoryStorage(20_000), policy)
        self._cache = shared or MemoryStorage(policy.cache_entries)
        self._cache_seconds = policy.cache_seconds
        # A third, rounded up: three askers at least are needed to hold all.
        share = policy.in_flight_per_asker or -(-policy.in_flight // 3)
        self._slots = Slots(policy.in_flight, share)

    def check_storage(self) -> None:
        """Raise StorageError where Redis is out of reach."""
        self._cache.read("ready")

    def answer(
        self, engine: Engine, question: Question, asker: str, base: str | None
    ) -> tuple[ServedReply, CacheOutcome, AnswerableError | None]:
        """Answer from the cache, else by the engine; Problem or AnswerableError.

        base: where the pages of the asker lie, if the site does not say so. Returns too why no
        model's answer is shown, if one failed.
        """
        is_paid = engine.bound_tokens(question.text) > 0
        base = engine.store.index.site.url or base
        key = make_cache_key(engine, question, base)
        with _tolerating_lost_storage(is_paid=is_paid):
            self._limits.admit(asker, "answer")
            if self._cache_seconds and (cached := self._cache.read(key)):
                return ServedReply(*json.loads(cached)), "hit", None
        with self._working(asker, is_paid=is_paid):
            served, failure = _make_reply(engine, question, base)
        # A model that failed or broke the contract may do better the next time.
        if self._cache_seconds and failure is None and served.body["reason"] != "contract":
            with suppress(StorageError):
                self._cache.write(key, encode_json(served), self._cache_seconds)
        return served, "miss", failure

    @contextmanager
    def reading(self, asker: str, kind: str, *, is_paid: bool = False) -> Iterator[None]:
        """Count a request of a kind and hold a slot for a block."""
        with _tolerating_lost_storage(is_paid=is_paid):
            self._limits.admit(asker, kind)
        with self._working(asker, is_paid=is_paid):
            yield

    @contextmanager
    def _working(self, asker: str, *, is_paid: bool) -> Iterator[None]:
        """Hold a slot for a block and count what it costs.

        Problem where there is none, or the day's tokens are spent already.
        """
        context = current_context()
        with self._slots.hold(asker, min(context.left, BURST_SECONDS)):
            if is_paid:
                self._limits.check_tokens()
            before = context.tokens
            try:
                yield
            finally:
                with suppress(StorageError):
                    self._limits.add_tokens(context.tokens - before)


def _make_reply(
    engine: Engine, question: Question, base: str | None
) -> tuple[ServedReply, AnswerableError | None]:
    pool = engine.retrieve_for_answer(question.text, question.language, near=1)
    reply, remarks = engine.answer_from(pool), pool.reading.remarks
    ids = {citation.id for citation in reply.citations}
    cited = dict.fromkeys(passage.record for passage in reply.passages if passage.id in ids)
    is_unsure = reply.confidence == "low" or any(r.kind == "unknown" for r in remarks)
    gap = "nearest" if reply.answer.claims and is_unsure else reply.reason
    body = serialize_answer(reply, engine.store, remarks, base)
    return ServedReply(body, list(cited), gap, find_nearest_section(pool)), reply.failure


@contextmanager
def _tolerating_lost_storage(*, is_paid: bool) -> Iterator[None]:
    """Go on without a shared storage that is out of reach, unless what follows costs tokens."""
    try:
        yield
    except StorageError:
        if is_paid:
            raise


def make_cache_key(engine: Engine, question: Question, base: str | None) -> str:
    """Hash all that an answer depends on, as the key of its cache entry."""
    manifest, site = engine.store.manifest, engine.store.index.site
    # Any tag of a language that the site lacks asks the same.
    languages = sorted(match_languages(question.language, site.tags))
    parts = [manifest.id, manifest.generator, engine.answerer.label, question.text, base, languages]
    return f"answer:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"
