"""Guards before the engine: who may ask, how often, at what cost, and what was answered before."""

import hashlib
import ipaddress
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request

from ..serve.answers.prompt import PROMPT_VERSION
from ..serve.answers.wire import add_absolute_url, serialize_answer, serialize_places
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, StorageError
from ..serve.request_context import RequestContext, RequestStage
from ..serve.text.languages import match_languages
from ..serve.types import Mode, Reason
from .askers import accepts_bearer_token, hash_with_secret, mask_address
from .limits import MAX_COUNTERS, MAX_DAYS, RateLimiter, Slots, TokenCap, parse_rates
from .logs import CacheOutcome, find_nearest_section
from .policy import Policy
from .problems import Problem, encode_json, make_capped_problem
from .storage import open_storage

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

    ``is_nearest``: it has only what is nearest. ``cited``: the pages that it cites. ``near``: the
    nearest section, where refusals are logged. ``stages``: those in which it was made.
    """

    body: bytes
    mode: Mode
    reason: Reason | None
    is_nearest: bool
    bundle: str
    cited: tuple[str, ...]
    near: str | None
    stages: tuple[RequestStage, ...]


class Guards:
    """The guards that all requests of a function share.

    finds_nearest: refusals are logged with the section nearest to the question. Where Redis is
    out of reach, what costs nothing is answered, and StorageError is raised for all else.
    """

    def __init__(self, policy: Policy, *, finds_nearest: bool = False) -> None:
        self.policy = policy
        self._finds_nearest = finds_nearest
        self._limiter = RateLimiter(
            open_storage(policy.redis_url, MAX_COUNTERS),
            parse_rates(policy.rate),
            parse_rates(policy.rate_all),
        )
        self._cap = (
            None
            if policy.tokens_per_day is None
            else TokenCap(open_storage(policy.redis_url, MAX_DAYS), policy.tokens_per_day)
        )
        self._cache = open_storage(policy.redis_url, policy.cache_entries)
        self._slots = Slots(policy.in_flight, policy.in_flight_per_asker)

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            raise Problem(
                "paused",
                "Questions are not answered at the moment. Search the site instead.",
                Retry_After="3600",
            )

    def answer(
        self, engine: Engine, question: Question, context: RequestContext
    ) -> tuple[ServedReply, CacheOutcome, AnswerableError | None]:
        """Answer from the cache, else by the engine; Problem or AnswerableError.

        Returns too why no model's answer is shown, if one failed. An answer from the cache
        announces the stages in which it was made, so that its events do not reveal that somebody
        has asked the same question before.
        """
        is_paid = engine.bound_tokens(question.text) > 0
        self._admit(question.asker, "", is_paid=is_paid)
        key = make_cache_key(engine, question)
        with _tolerating_lost_storage(is_paid=is_paid):
            cached = self._cache.read(key) if self.policy.cache_seconds else None
            if cached is not None:
                reply = msgspec.msgpack.decode(cached, type=ServedReply)
                if context.listener:
                    for stage in reply.stages:
                        context.listener(stage)
                return reply, "hit", None
        with (
            self._slots.hold(question.asker, min(context.left, BURST_SECONDS)),
            self._paying(context, "answers", is_paid=is_paid),
        ):
            reply, failure = self._make_reply(engine, question, context)
        # A model that failed or broke the contract may do better the next time.
        if self.policy.cache_seconds and failure is None and reply.reason != "contract":
            with suppress(StorageError):
                value = msgspec.msgpack.encode(reply)
                self._cache.write(key, value, self.policy.cache_seconds)
        return reply, "miss", failure

    def search(
        self, engine: Engine, question: Question, context: RequestContext, kind: str
    ) -> dict[str, dict[str, Any]]:
        """Search the public passages for a question. kind: of what is counted apart."""
        is_paid = engine.embedder.max_question_tokens > 0
        with (
            self.reading(question.asker, context, kind, is_paid=is_paid),
            self._paying(context, "searches", is_paid=is_paid),
        ):
            rows = serialize_places(engine.search(question.text, question.language))
            base = engine.store.site.url or question.base
            return {name: add_absolute_url(row, base) for name, row in rows.items()}

    @contextmanager
    def reading(
        self, asker: str, context: RequestContext, kind: str, *, is_paid: bool = False
    ) -> Iterator[None]:
        """Hold a slot for a block that counts as a search. kind: see ``search``."""
        self._admit(asker, kind, is_paid=is_paid)
        context.check_deadline()
        with self._slots.hold(asker, min(context.left, BURST_SECONDS)):
            yield

    def identify_asker(self, request: Request) -> str:
        """Hash a client's address for the day; all clients without an address are one."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        return hash_with_secret(self.find_address(request), self.policy.secret, day) or "unknown"

    def find_address(self, request: Request) -> str:
        """Find the address of a client, in the header of a trusted proxy if the policy has one."""
        header = self.policy.asker_header
        if header is None:
            return mask_address(request.client.host if request.client else "")
        # The nearest proxy appends the last entry; anyone may write what is before it.
        values = request.headers.getlist(header)
        return mask_address((values[-1] if values else "").rpartition(",")[2].strip())

    def _admit(self, asker: str, kind: str, *, is_paid: bool) -> None:
        """Count a request against the rates; Problem with the seconds to wait if one is full."""
        with _tolerating_lost_storage(is_paid=is_paid):
            seconds = self._limiter.admit(asker, kind)
            if seconds is not None:
                raise Problem(
                    "rate-limited",
                    f"Too many {'searches' if kind else 'questions'}: wait a moment.",
                    Retry_After=str(max(1, round(seconds + 0.5))),
                )

    @contextmanager
    def _paying(self, context: RequestContext, unit: str, *, is_paid: bool) -> Iterator[None]:
        """Count what a block costs; Problem where the day's tokens are spent already.

        unit: names in the problem what they no longer pay for.
        """
        if is_paid and self._cap and self._cap.is_reached():
            raise make_capped_problem(unit)
        before = context.tokens
        try:
            yield
        finally:
            if self._cap:
                with suppress(StorageError):
                    self._cap.add(context.tokens - before)

    def _make_reply(
        self, engine: Engine, question: Question, context: RequestContext
    ) -> tuple[ServedReply, AnswerableError | None]:
        near = int(self._finds_nearest)
        pool = engine.retrieve_for_answer(question.text, question.language, near)
        reply = engine.answer_from(pool)
        records = {passage.id: passage.record for passage in reply.passages}
        cited = (records[c.id] for c in reply.citations if c.id in records)
        body = serialize_answer(reply, engine.store, pool.reading.remarks, question.base)
        is_unknown = any(remark.kind == "unknown" for remark in pool.reading.remarks)
        served = ServedReply(
            body=encode_json(body),
            mode=reply.mode,
            reason=reply.reason,
            is_nearest=bool(reply.answer.claims) and (is_unknown or reply.confidence == "low"),
            bundle=engine.store.manifest.id,
            cited=tuple(dict.fromkeys(cited)),
            near=find_nearest_section(pool) if near else None,
            stages=tuple(context.stages),
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
    manifest = engine.store.manifest
    parts = [
        ServedReply.__struct_fields__,
        manifest.id,
        # An index of a database may find less than a search without one.
        engine.store.store_key,
        manifest.identity.label,
        PROMPT_VERSION,
        manifest.generator,
        engine.answerer.label,
        question.text,
        engine.store.site.url or question.base,
        # Any tag of a language that the site lacks asks the same.
        sorted(match_languages(question.language, engine.store.site.tags)),
    ]
    return f"answer:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def check_bearer(request: Request, digests: tuple[str, ...]) -> None:
    """Raise a Problem for a request without a bearer token of these SHA-256 digests."""
    if not accepts_bearer_token(request.headers.get("authorization"), digests):
        raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")


def is_origin_allowed(request: Request, origins: tuple[str, ...]) -> bool:
    """True if a request comes from an allowed origin, or from no page and so has none."""
    headers = request.headers
    # Twice in one request is no page's: what stands before us may read the other one.
    if sent := headers.getlist("origin"):
        return len(sent) == 1 and sent[0] in origins
    # A browser names no origin for what a page elsewhere merely embeds, such as a picture.
    is_embedded = headers.get("sec-fetch-dest", "document") != "document"
    return not (is_embedded and headers.get("sec-fetch-site") == "cross-site")


def is_same_origin(request: Request, host: str) -> bool:
    """True if a request comes from a page of this server, and not from a site elsewhere.

    A name that an attacker points at this machine (DNS rebinding) is neither localhost, nor the
    configured host, nor an address.
    """
    authority = request.headers.get("host", "")
    try:
        name = urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return False
    if name not in ("localhost", host):
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
    return all(origin == f"http://{authority}" for origin in request.headers.getlist("origin"))
