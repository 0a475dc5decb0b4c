"""Guards before the engine: how often and at what cost a question is answered, and the cache."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from ..engine.answers.wire import add_absolute_url, serialize_answer, serialize_places
from ..engine.engine import Engine
from ..engine.errors import AnswerableError, StorageError
from ..engine.request_context import current_context
from ..engine.text.languages import match_languages
from ..engine.types import Mode, Reason
from .limits import MAX_COUNTERS, MemoryStorage, RateLimiter, RedisStorage, Slots, TokenCap
from .logs import CacheOutcome, LoggedReason, find_nearest_section
from .policy import Policy
from .requests import encode_json

# Seconds for which a question waits where as many as are allowed are being answered.
BURST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Question:
    """A cleaned question, its language if that is known, and a hash of who asks.

    ``base``: where the pages of the asker lie, if the site does not say so.
    """

    text: str
    language: str | None = None
    asker: str = ""
    base: str | None = None


class ServedReply(msgspec.Struct, frozen=True, array_like=True):
    """The body of an answer in JSON without its request id, and what the logs need of it.

    ``cited``: the pages that it cites. ``gap``: why the question is logged as one without an
    answer, if it is, with ``near``, the nearest section.
    """

    body: bytes
    mode: Mode
    reason: Reason | None
    cited: tuple[str, ...]
    gap: LoggedReason | None
    near: str | None


class Guards:
    """The limits and the cache that all requests of a function share.

    logs_refusals: refusals are logged with the section nearest to the question. Where Redis is
    out of reach, what costs nothing is answered, and StorageError is raised for all else.
    """

    def __init__(self, policy: Policy, *, logs_refusals: bool = False) -> None:
        self._logs_refusals = logs_refusals
        shared = RedisStorage(policy.redis_url) if policy.redis_url else None
        counters = shared or MemoryStorage(MAX_COUNTERS)
        self._limiter = RateLimiter(counters, policy.rate, policy.rate_all)
        self._cap = TokenCap(counters, policy.tokens_per_day)
        self._cache = shared or MemoryStorage(policy.cache_entries)
        self._cache_seconds = policy.cache_seconds
        # A third, rounded up: three askers at least are needed to hold all.
        share = policy.in_flight_per_asker or -(-policy.in_flight // 3)
        self._slots = Slots(policy.in_flight, share)

    def check_storage(self) -> None:
        """Raise StorageError where Redis is out of reach."""
        self._cache.read("ready")

    def answer(
        self, engine: Engine, question: Question
    ) -> tuple[ServedReply, CacheOutcome, AnswerableError | None]:
        """Answer from the cache, else by the engine; Problem or AnswerableError.

        Returns too why no model's answer is shown, if one failed.
        """
        is_paid = engine.bound_tokens(question.text) > 0
        key = make_cache_key(engine, question)
        with _tolerating_lost_storage(is_paid=is_paid):
            self._limiter.admit(question.asker, "answer")
            if self._cache_seconds and (cached := self._cache.read(key)):
                return msgspec.msgpack.decode(cached, type=ServedReply), "hit", None
        with self._working(question.asker, is_paid=is_paid):
            reply, failure = self._make_reply(engine, question)
        # A model that failed or broke the contract may do better the next time.
        if self._cache_seconds and failure is None and reply.reason != "contract":
            with suppress(StorageError):
                self._cache.write(key, msgspec.msgpack.encode(reply), self._cache_seconds)
        return reply, "miss", failure

    def search(self, engine: Engine, question: Question, kind: str) -> dict[str, dict[str, Any]]:
        """Search the public passages for a question. kind: of what is counted apart."""
        is_paid = engine.embedder.max_question_tokens > 0
        with self.reading(question.asker, kind, is_paid=is_paid):
            rows = serialize_places(engine.search(question.text, question.language))
        base = engine.store.index.site.url or question.base
        return {name: add_absolute_url(row, base) for name, row in rows.items()}

    @contextmanager
    def reading(self, asker: str, kind: str, *, is_paid: bool = False) -> Iterator[None]:
        """Count a request of a kind and hold a slot for a block."""
        with _tolerating_lost_storage(is_paid=is_paid):
            self._limiter.admit(asker, kind)
        with self._working(asker, is_paid=is_paid):
            yield

    @contextmanager
    def _working(self, asker: str, *, is_paid: bool) -> Iterator[None]:
        """Hold a slot for a block and count what it costs.

        Problem where there is none, or the day's tokens are spent already.
        """
        context = current_context()
        context.check_deadline()
        with self._slots.hold(asker, min(context.left, BURST_SECONDS)):
            if is_paid:
                self._cap.check()
            before = context.tokens
            try:
                yield
            finally:
                with suppress(StorageError):
                    self._cap.add(context.tokens - before)

    def _make_reply(
        self, engine: Engine, question: Question
    ) -> tuple[ServedReply, AnswerableError | None]:
        near = int(self._logs_refusals)
        pool = engine.retrieve_for_answer(question.text, question.language, near)
        reply = engine.answer_from(pool)
        remarks = pool.reading.remarks
        is_unsure = reply.confidence == "low" or any(r.kind == "unknown" for r in remarks)
        ids = {citation.id for citation in reply.citations}
        cited = dict.fromkeys(passage.record for passage in reply.passages if passage.id in ids)
        served = ServedReply(
            encode_json(serialize_answer(reply, engine.store, remarks, question.base)),
            reply.mode,
            reply.reason,
            tuple(cited),
            "nearest" if reply.answer.claims and is_unsure else reply.reason,
            find_nearest_section(pool) if near else None,
        )
        return served, reply.failure


@contextmanager
def _tolerating_lost_storage(*, is_paid: bool) -> Iterator[None]:
    """Go on without a shared storage that is out of reach, unless what follows costs tokens."""
    try:
        yield
    except StorageError:
        if is_paid:
            raise


def make_cache_key(engine: Engine, question: Question) -> str:
    """Hash all that an answer depends on, as the key of its cache entry."""
    store = engine.store
    parts = [
        ServedReply.__struct_fields__,
        store.manifest.id,
        store.manifest.generator,
        engine.answerer.label,
        question.text,
        store.index.site.url or question.base,
        # Any tag of a language that the site lacks asks the same.
        sorted(match_languages(question.language, store.index.site.tags)),
    ]
    return f"answer:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"
