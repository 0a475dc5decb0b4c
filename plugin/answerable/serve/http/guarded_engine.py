"""A question's way behind the limits: the cache, the caps on work and spending, the engine."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..answers import prompt
from ..answers.draft_loop import Answerer
from ..answers.wire import serialize_answer
from ..embedders.embedder import Embedder
from ..engine import Engine
from ..errors import BudgetError
from ..limits.answer_cache import AnswerCache, CacheOutcome
from ..limits.concurrency import AskerSlots
from ..limits.token_budget import Reservation, TokenBudget
from ..request_context import RequestContext, use_context
from ..retrieval import selection
from ..retrieval.retrieve import TOP_K
from ..text.languages import match_languages
from ..tracing import start_span
from .errors import make_busy_problem, make_capped_problem
from .messages import encode_json
from .refusal_log import NearestRecord, find_nearest_record

# The fields of a cache entry, hashed into its key: entries of another shape are never read.
_ENTRY_FIELDS = ("body", "near", "stages")
# Seconds for which a question waits for a slot, and then for tokens that others have reserved.
_BURST_SECONDS = 2.0
# Seconds between two attempts to reserve tokens.
_RETRY_SECONDS = 0.1
# Seconds by which a reservation outlives the deadline of its question: only a process that died
# has not settled by then.
_RESERVATION_MARGIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Question:
    """A cleaned question, the language that it is asked in, if that is known, and who asks.

    ``asker``: as it is counted by the limits; what is answered does not depend on it.
    """

    question: str
    language: str | None = None
    asker: str = ""


@dataclass(frozen=True, slots=True)
class ServedReply:
    """The body of an answer without its request id, where it came from, and what came nearest."""

    body: dict[str, Any]
    outcome: CacheOutcome
    near: NearestRecord | None


@dataclass(frozen=True, slots=True)
class GuardedEngine:
    """What every instance of a question shares. ``keeps_near``: refusals are kept with a page.

    ``slots`` are all that are answered at once, ``shares`` those of one asker.
    ``purse`` is None where spending has no cap.
    """

    cache: AnswerCache
    purse: TokenBudget | None
    slots: threading.BoundedSemaphore
    shares: AskerSlots
    keeps_near: bool = False

    def answer(self, engine: Engine, asked: Question, call: RequestContext) -> ServedReply:
        """Answer from the cache, else by the engine; Problem, AnswerableError, or TimeoutError.

        An answer that was not made for this call announces the stages in which it was made, so
        that its events do not tell that somebody has asked the same question before.
        """

        def make() -> tuple[bytes, bool]:
            return self._make(engine, asked, call)

        value, outcome = self.cache.once(
            make_cache_key(engine, asked), make, max(0.0, call.left), call.check
        )
        kept = json.loads(value)
        if outcome != "miss":
            for stage in kept["stages"]:
                call.announce(stage)
        near = NearestRecord(**kept["near"]) if kept["near"] else None
        return ServedReply(kept["body"], outcome, near)

    def search(
        self, engine: Engine, asked: Question, call: RequestContext
    ) -> dict[str, dict[str, str]]:
        """The public passages that a question retrieves, each with its url and its text."""
        paid = self._paid(engine.embedder, call=call, spent="searches")
        with self._slot(asked, call), paid, use_context(call):
            found = engine.retrieve(asked.question, TOP_K, asked.language).passages
        return {
            scored.item.id: {
                "url": scored.item.url,
                "title": scored.item.title,
                "text": scored.item.text,
            }
            for scored in found
        }

    def _make(self, engine: Engine, asked: Question, call: RequestContext) -> tuple[bytes, bool]:
        """An answer as it is cached, and whether it may be kept."""
        paid = self._paid(engine.embedder, engine.answerer, call=call, spent="answers")
        with (
            self._slot(asked, call),
            paid,
            use_context(call),
            start_span("answerable.answer") as note,
        ):
            near = 1 if self.keeps_near else 0
            pool = engine.retrieve(asked.question, selection.POOL_SIZE, asked.language, near)
            reply = engine.answer_from(pool)
            note(mode=reply.answer.mode, reason=reply.reason, bundle=engine.store.manifest.id)
        floor = engine.store.manifest.profile.floor
        nearest = find_nearest_record(pool, floor) if near and reply.reason else None
        kept = {
            "body": serialize_answer(reply, engine.store, "", pool.reading.remarks),
            "near": {"record": nearest.record, "score": nearest.score} if nearest else None,
            "stages": call.stages,
        }
        # A model that broke the contract may keep it the next time.
        return encode_json(kept), reply.reason != "contract"

    @contextmanager
    def _slot(self, asked: Question, call: RequestContext) -> Iterator[None]:
        """One of the slots, of the asker's share; a burst waits a moment for it."""
        ends = time.monotonic() + min(_BURST_SECONDS, call.left)
        with self.shares.share(asked.asker, max(0.0, ends - time.monotonic())) as is_held:
            if not is_held or not self.slots.acquire(timeout=max(0.0, ends - time.monotonic())):
                raise make_busy_problem()
            try:
                yield
            finally:
                self.slots.release()

    @contextmanager
    def _paid(
        self, *providers: Embedder | Answerer, call: RequestContext, spent: str
    ) -> Iterator[None]:
        """Reserve the worst that a question may cost, settle it after; Problem without room.

        spent: what there is no more of when the day's tokens are spent.
        """
        worst = sum(provider.max_question_tokens for provider in providers)
        if not worst or self.purse is None:
            yield
            return
        try:
            reservation = _reserve_tokens(self.purse, worst, call)
            try:
                with call.charging(reservation.begin):
                    yield
            finally:
                # A call that never told has cost the most it can; without such a bound, all.
                reservation.settle(call.cost)
        except BudgetError as error:
            raise make_busy_problem() if error.transient else make_capped_problem(spent) from error


def _reserve_tokens(purse: TokenBudget, tokens: int, call: RequestContext) -> Reservation:
    """Reserve tokens; a burst waits a moment for those that others have reserved."""
    ends = time.monotonic() + _BURST_SECONDS
    while True:
        try:
            return purse.reserve(tokens, call.left + _RESERVATION_MARGIN_SECONDS)
        except BudgetError as error:
            if not error.transient or time.monotonic() >= ends:
                raise
        call.pause(_RETRY_SECONDS)


def make_cache_key(engine: Engine, asked: Question) -> str:
    """What an answer is cached under: all that it depends on, hashed."""
    manifest = engine.store.manifest
    parts = [
        _ENTRY_FIELDS,
        manifest.id,
        # An index of a database may find less than a search without one.
        engine.store.key,
        manifest.identity.label,
        prompt.PROMPT_VERSION,
        manifest.generator,
        engine.answerer.label,
        asked.question,
        # Any tag of a language that the site lacks asks the same.
        sorted(match_languages(asked.language, engine.store.site.tags)),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
