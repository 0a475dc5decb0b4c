"""A question's way behind the limits: the cache, the caps on work and spending, the engine."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import languages, prompt, refusals, selection, tracing, wire
from ..call import Call, serving
from ..engine import Engine
from ..errors import BudgetError
from ..frozen import frozen
from ..protection.asker_shares import AskerShares
from ..protection.spending import Purse, Reservation
from ..protection.waiting import AnswerCache, Outcome
from ..refusals import Near
from ..retrieval import TOP_K
from . import problems
from .http import encoded

# The fields of a cache entry, hashed into its key: entries of another shape are never read.
_FIELDS = ("body", "near", "stages")
# Seconds for which a question waits for a slot, and then for tokens that others have reserved.
_BURST = 2.0
# Seconds between two attempts to reserve tokens.
_PAUSE = 0.1
# Seconds by which a reservation outlives the deadline of its question: only a process that died
# has not settled by then.
_MARGIN = 10.0


@frozen
class Asked:
    """A cleaned question, the language that it is asked in, if that is known, and who asks.

    ``asker``: as it is counted by the limits; what is answered does not depend on it.
    """

    question: str
    language: str | None = None
    asker: str = ""


@frozen
class Found:
    """The body of an answer without its request id, where it came from, and what came nearest."""

    body: dict[str, Any]
    outcome: Outcome
    near: Near | None


@frozen
class Answering:
    """What every instance of a question shares. ``keeps_near``: refusals are kept with a page.

    ``slots`` are all that are answered at once, ``shares`` those of one asker.
    ``purse`` is None where spending has no cap.
    """

    cache: AnswerCache
    purse: Purse | None
    slots: threading.BoundedSemaphore
    shares: AskerShares
    keeps_near: bool = False

    def answer(self, engine: Engine, asked: Asked, call: Call) -> Found:
        """Answer from the cache, else by the engine; Problem, AnswerableError, or TimeoutError.

        An answer that was not made for this call announces the stages in which it was made, so
        that its events do not tell that somebody has asked the same question before.
        """

        def make() -> tuple[bytes, bool]:
            return self._make(engine, asked, call)

        value, outcome = self.cache.once(key(engine, asked), make, max(0.0, call.left), call.check)
        kept = json.loads(value)
        if outcome != "miss":
            for stage in kept["stages"]:
                call.announce(stage)
        near = Near(**kept["near"]) if kept["near"] else None
        return Found(kept["body"], outcome, near)

    def search(self, engine: Engine, asked: Asked, call: Call) -> dict[str, dict[str, str]]:
        """The public passages that a question retrieves, each with its url and its text."""
        paid = self._paid(engine.embedder, call=call, spent="searches")
        with self._slot(asked, call), paid, serving(call):
            found = engine.retrieve(asked.question, TOP_K, asked.language).passages
        return {
            scored.item.id: {
                "url": scored.item.url,
                "title": scored.item.title,
                "text": scored.item.text,
            }
            for scored in found
        }

    def _make(self, engine: Engine, asked: Asked, call: Call) -> tuple[bytes, bool]:
        """An answer as it is cached, and whether it may be kept."""
        paid = self._paid(engine.embedder, engine.answerer, call=call, spent="answers")
        with (
            self._slot(asked, call),
            paid,
            serving(call),
            tracing.span("answerable.answer") as note,
        ):
            near = 1 if self.keeps_near else 0
            pool = engine.retrieve(asked.question, selection.POOL, asked.language, near)
            reply = engine.answer_from(asked.question, pool)
            note(mode=reply.answer.mode, reason=reply.reason, bundle=engine.store.manifest.id)
        floor = engine.store.manifest.profile.floor
        nearest = refusals.near(pool, floor) if near and reply.reason else None
        kept = {
            "body": wire.answer(reply, engine.store, "", pool.remarks),
            "near": {"record": nearest.record, "score": nearest.score} if nearest else None,
            "stages": call.entered,
        }
        # A model that broke the contract may keep it the next time.
        return encoded(kept), reply.reason != "contract"

    @contextmanager
    def _slot(self, asked: Asked, call: Call) -> Iterator[None]:
        """One of the slots, of the asker's share; a burst waits a moment for it."""
        ends = time.monotonic() + min(_BURST, call.left)
        with self.shares.share(asked.asker, max(0.0, ends - time.monotonic())) as is_held:
            if not is_held or not self.slots.acquire(timeout=max(0.0, ends - time.monotonic())):
                raise problems.busy()
            try:
                yield
            finally:
                self.slots.release()

    @contextmanager
    def _paid(self, *providers: object, call: Call, spent: str) -> Iterator[None]:
        """Reserve the worst that a question may cost, settle it after; Problem without room.

        spent: what there is no more of when the day's tokens are spent.
        """
        worst = worst_tokens(*providers)
        if not worst or self.purse is None:
            yield
            return
        try:
            reservation = _reserve(self.purse, worst, call)
            try:
                with call.charging(reservation.begin):
                    yield
            finally:
                # A call that never told has cost the most it can; without such a bound, all.
                reservation.settle(call.cost)
        except BudgetError as error:
            raise problems.busy() if error.passing else problems.capped(spent) from error


def _reserve(purse: Purse, tokens: int, call: Call) -> Reservation:
    """Reserve tokens; a burst waits a moment for those that others have reserved."""
    ends = time.monotonic() + _BURST
    while True:
        try:
            return purse.reserve(tokens, call.left + _MARGIN)
        except BudgetError as error:
            if not error.passing or time.monotonic() >= ends:
                raise
        call.pause(_PAUSE)


def worst_tokens(*providers: object) -> int:
    """The most that providers may count for one question; those that cost nothing say nothing."""
    return sum(getattr(provider, "worst_tokens", 0) for provider in providers)


def key(engine: Engine, asked: Asked) -> str:
    """What an answer is cached under: all that it depends on, hashed."""
    manifest = engine.store.manifest
    parts = [
        _FIELDS,
        manifest.id,
        # An index of a database may find less than a search without one.
        engine.store.key,
        manifest.identity.label,
        prompt.VERSION,
        manifest.generator,
        getattr(engine.answerer, "label", "extractive"),
        asked.question,
        # Any tag of a language that the site lacks asks the same.
        sorted(languages.matching(asked.language, engine.store.site.tags)),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
