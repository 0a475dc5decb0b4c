"""Guards before the engine: rates, the cap, the cache, and a clean end."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ..answers import openai_answerer
from ..answers.units import link_to_range
from ..answers.wire import serialize_answer
from ..engine import Engine
from ..errors import AnswerableError, BudgetError
from ..limits.answer_cache import AnswerCache, CacheOutcome, create_answer_cache
from ..limits.policy import Policy
from ..limits.rate_limit import (
    AskerSlots,
    RateLimiter,
    accepts_bearer_token,
    create_rate_limiter,
    hash_with_secret,
    mask_address,
)
from ..limits.token_budget import Reservation, TokenBudget, create_token_budget
from ..request_context import RequestContext, start_span
from ..text.languages import match_languages
from ..types import Place
from .logs import RequestMetrics, find_nearest_section
from .messages import Problem, Request, encode_json, make_busy_problem, make_capped_problem

# The fields of a cache entry, hashed into its key: entries of another shape are never read.
_ENTRY_FIELDS = ("body", "cited", "near", "stages")
# Seconds for which a question waits for a slot, and then for tokens that others have reserved.
_BURST_SECONDS = 2.0
# Seconds between two attempts to reserve tokens.
_RETRY_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Question:
    """Hold a cleaned question, its language if that is known, and a hash of who asks.

    ``asker``: as the limits count it; the answer does not depend on it.
    """

    text: str
    language: str | None = None
    asker: str = ""


@dataclass(frozen=True, slots=True)
class ServedReply:
    """Hold the body of an answer without its request id, its cache outcome and the nearest section.

    ``near``: where refusals are logged. ``cited``: the records that it cites.
    """

    body: dict[str, Any]
    outcome: CacheOutcome
    near: str | None
    cited: tuple[str, ...] = ()
    failure: AnswerableError | None = None


@dataclass(frozen=True, slots=True)
class GuardedEngine:
    """Share one cache, one budget and the slots between all questions of a process.

    Every context that it takes is the current one: ``Service.handle`` has made it that.

    ``budget`` is None where spending has no cap. ``slots`` bound the questions that are answered at
    once, ``asker_slots`` those of one asker. ``finds_nearest``: for the log of refusals.
    """

    cache: AnswerCache
    budget: TokenBudget | None
    slots: threading.BoundedSemaphore
    asker_slots: AskerSlots
    finds_nearest: bool = False

    def answer(self, engine: Engine, question: Question, context: RequestContext) -> ServedReply:
        """Answer from the cache, else by the engine; Problem, AnswerableError, or TimeoutError.

        An answer that was not made for this request announces the stages in which it was made, so
        that its events do not reveal that somebody has asked the same question before.
        """

        failure: AnswerableError | None = None

        def make_entry() -> tuple[bytes, bool]:
            nonlocal failure
            entry, failure = self._make_entry(engine, question, context)
            # A model that failed or broke the contract may do better the next time.
            return encode_json(entry), failure is None and entry["body"]["reason"] != "contract"

        value, outcome = self.cache.get_or_make(
            make_cache_key(engine, question),
            make_entry,
            max(0.0, context.left),
            context.check_deadline,
        )
        entry = json.loads(value)
        if outcome != "miss":
            for stage in entry["stages"]:
                context.announce(stage)
        cited = tuple(entry["cited"])
        return ServedReply(entry["body"], outcome, entry["near"], cited, failure)

    def search(
        self, engine: Engine, question: Question, context: RequestContext
    ) -> dict[str, dict[str, Any]]:
        """Search the public passages for a question: see ``serialize_places``."""
        budget = self._reserve_budget(engine.embedder.max_question_tokens, context, "searches")
        with self.hold_slot(question, context), budget:
            return serialize_places(engine.search(question.text, question.language))

    def _make_entry(
        self, engine: Engine, question: Question, context: RequestContext
    ) -> tuple[dict[str, Any], AnswerableError | None]:
        """Answer by the engine; return the cache entry and why no model's answer is in it."""
        with (
            self.hold_slot(question, context),
            self._reserve_budget(engine.bound_tokens(question.text), context, "answers"),
            start_span("answerable.answer") as note,
        ):
            near = int(self.finds_nearest)
            pool = engine.retrieve_for_answer(question.text, question.language, near)
            reply = engine.answer_from(pool)
            note(mode=reply.answer.mode, reason=reply.reason, bundle=engine.store.manifest.id)
        records = {passage.id: passage.record for passage in reply.passages}
        cited = (records[c.id] for c in reply.citations if c.id in records)
        entry = {
            "body": serialize_answer(reply, engine.store, "", pool.reading.remarks),
            "cited": list(dict.fromkeys(cited)),
            "near": find_nearest_section(pool) if near else None,
            "stages": context.stages,
        }
        return entry, reply.failure

    @contextmanager
    def hold_slot(self, question: Question, context: RequestContext) -> Iterator[None]:
        """Hold a slot, which counts for its asker; a burst waits a moment, then is a Problem."""
        ends = time.monotonic() + min(_BURST_SECONDS, context.left)
        wait = max(0.0, ends - time.monotonic())
        with self.asker_slots.hold_slot(question.asker, wait) as is_held:
            if not is_held or not self.slots.acquire(timeout=max(0.0, ends - time.monotonic())):
                raise make_busy_problem()
            try:
                yield
            finally:
                self.slots.release()

    @contextmanager
    def _reserve_budget(
        self, max_tokens: int, context: RequestContext, unit: str
    ) -> Iterator[None]:
        """Reserve the worst case of this block and settle its real cost; Problem without room.

        unit: names in the problem what the day's tokens no longer pay for.
        """
        if not max_tokens or self.budget is None:
            yield
            return
        try:
            reservation = _reserve_tokens(self.budget, max_tokens, context)
            try:
                with context.charging(reservation.begin):
                    yield
            finally:
                # A provider call that reported no tokens costs the most it can; if even that is
                # unknown, all that was reserved.
                reservation.settle(context.cost)
        except BudgetError as error:
            raise make_busy_problem() if error.transient else make_capped_problem(unit) from error


def serialize_places(places: Iterable[Place]) -> dict[str, dict[str, Any]]:
    """Serialize the places that a search finds as rows, by id.

    ``href`` leads to the line. ``is_cut``, for agents alone: the section goes on where the text
    ends.
    """
    return {
        place.passage.id: {
            "url": place.passage.url,
            "title": place.passage.title,
            "text": place.passage.text,
            "line": place.line,
            "href": link_to_range(place.passage, place.start, place.end),
            "is_cut": place.is_cut,
        }
        for place in places
    }


def _reserve_tokens(budget: TokenBudget, tokens: int, context: RequestContext) -> Reservation:
    """Reserve tokens; a burst waits a moment for those that others have reserved."""
    ends = time.monotonic() + _BURST_SECONDS
    while True:
        try:
            return budget.reserve(tokens)
        except BudgetError as error:
            if not error.transient or time.monotonic() >= ends:
                raise
        context.pause(_RETRY_SECONDS)


def make_cache_key(engine: Engine, question: Question) -> str:
    """Hash all that an answer depends on, as the key of its cache entry."""
    manifest = engine.store.manifest
    parts = [
        _ENTRY_FIELDS,
        manifest.id,
        manifest.identity.label,
        openai_answerer.PROMPT_VERSION,
        manifest.generator,
        engine.answerer.label,
        question.text,
        # Any tag of a language that the site lacks asks the same.
        sorted(match_languages(question.language, engine.store.index.site.tags)),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


T = TypeVar("T")


class Protections:
    """Hold the protections that all requests of a function share.

    finds_nearest: refusals are logged with the record nearest to the question.
    """

    def __init__(self, policy: Policy, *, finds_nearest: bool = False) -> None:
        self.policy = policy
        self._finds_nearest = finds_nearest
        self._lock = threading.Lock()
        self._created: dict[str, Any] = {}

    def check_installed(self) -> None:
        """Raise PolicyError for a protection whose package is not installed."""
        _ = self.metrics
        if self.policy.redis_url:
            _ = self.limiter

    @property
    def limiter(self) -> RateLimiter:
        """Limit how often one asker, and all of them together, may ask."""
        policy = self.policy
        return self._create_once(
            "limiter",
            lambda: create_rate_limiter(policy.rate, policy.rate_all, policy.redis_url),
        )

    @property
    def guarded_engine(self) -> GuardedEngine:
        """Answer behind the cache, the slots and the token budget."""
        return self._create_once("guarded_engine", self._create_guarded_engine)

    @property
    def metrics(self) -> RequestMetrics | None:
        """Count requests, None if nobody may read the counters."""
        return self._create_once("metrics", RequestMetrics) if self.policy.metrics else None

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            raise Problem(
                "paused",
                "Questions are not answered at the moment. Search the site instead.",
                Retry_After="3600",
            )

    def check_bearer(self, request: Request, digests: tuple[str, ...]) -> None:
        """Raise a Problem for a request without a bearer token of these SHA-256 digests."""
        if not accepts_bearer_token(request.headers.get("authorization"), digests):
            raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")

    def admit(self, asker: str, kind: str = "") -> None:
        """Count a request against the rates; Problem with the seconds to wait if one is full.

        kind: of what is counted apart from all else, at the same rates.
        """
        seconds = self.limiter.admit(asker, kind)
        if seconds is not None:
            raise Problem(
                "rate-limited",
                f"Too many {'searches' if kind else 'questions'}: wait a moment.",
                Retry_After=str(max(1, round(seconds + 0.5))),
            )

    def identify_asker(self, request: Request) -> str:
        """Hash a client's address for the day; all clients without an address are one."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        address = self.find_address(request)
        return hash_with_secret(address, self.policy.secret, day) or "unknown"

    def find_address(self, request: Request) -> str:
        """Find the address of a client, in the header of a trusted proxy if the policy has one."""
        header = self.policy.asker_header
        if header is None:
            return mask_address(request.client_address)
        # The nearest proxy appends the last entry; anyone may write what is before it.
        return mask_address(request.headers.get(header, "").rpartition(",")[2].strip())

    def _create_guarded_engine(self) -> GuardedEngine:
        policy = self.policy
        redis_url, tokens_per_day = policy.redis_url, policy.tokens_per_day
        return GuardedEngine(
            cache=create_answer_cache(policy.cache_entries, policy.cache_seconds, redis_url),
            budget=(
                None if tokens_per_day is None else create_token_budget(tokens_per_day, redis_url)
            ),
            slots=threading.BoundedSemaphore(policy.in_flight),
            asker_slots=AskerSlots(policy.in_flight_per_asker),
            finds_nearest=self._finds_nearest,
        )

    def _create_once(self, name: str, create: Callable[[], T]) -> T:
        if name not in self._created:
            with self._lock:
                if name not in self._created:
                    self._created[name] = create()
        protection: T = self._created[name]
        return protection


class InFlight:
    """Track the questions in flight, by their contexts, and wait for their end."""

    def __init__(self) -> None:
        self._questions: list[RequestContext] = []
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, question: RequestContext) -> Iterator[None]:
        """Track a question for the length of this block."""
        with self._changed:
            self._questions.append(question)
        try:
            yield
        finally:
            with self._changed:
                self._questions.remove(question)
                self._changed.notify_all()

    def cancel(self) -> None:
        """Cancel the questions in flight."""
        with self._changed:
            for question in self._questions:
                question.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is in flight; False if that takes longer than ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._questions, seconds)
