"""Guards before the engine: who may ask and what, how often, at what cost, and what is cached."""

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

from ..engine.answers.wire import add_absolute_url, serialize_answer, serialize_places
from ..engine.engine import Engine
from ..engine.errors import AnswerableError, StorageError
from ..engine.request_context import current_context
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.text.languages import is_language_tag, match_languages
from ..engine.types import Mode, Reason
from .limits import MAX_COUNTERS, RateLimiter, Slots, TokenCap
from .logs import CacheOutcome, LoggedReason, find_nearest_section, hash_with_secret
from .policy import Policy
from .problems import JSON_TYPE, Problem, encode_json
from .storage import MemoryStorage, RedisStorage

# Far more than a question: an agent tells of itself in each message, with an icon if it likes.
MAX_BODY_BYTES = 16_384
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


def check_origin(request: Request, origins: tuple[str, ...], dev_host: str | None) -> None:
    """Refuse a request of a page elsewhere. dev_host: whose own pages may ask instead."""
    is_allowed = (
        _is_origin_allowed(request, origins)
        if dev_host is None
        else _is_same_origin(request, dev_host)
    )
    if not is_allowed:
        raise Problem("forbidden", "Ask from the pages of the site that this answers for.")


def _is_origin_allowed(request: Request, origins: tuple[str, ...]) -> bool:
    """True if a request comes from an allowed origin, or from no page and so has none."""
    # Twice in one request is no page's: what stands before us may read the other one.
    if sent := request.headers.getlist("origin"):
        return len(sent) == 1 and sent[0] in origins
    # A browser names no origin for what a page elsewhere merely embeds, such as a picture.
    is_embedded = request.headers.get("sec-fetch-dest", "document") != "document"
    return not (is_embedded and request.headers.get("sec-fetch-site") == "cross-site")


def _is_same_origin(request: Request, host: str) -> bool:
    """True if a request comes from a page of this server, and not from a site elsewhere.

    A name that an attacker points at this machine (DNS rebinding) is neither localhost, nor the
    configured host, nor an address.
    """
    authority = request.headers.get("host", "")
    try:
        name = urlsplit(f"//{authority}").hostname or ""
        if name not in ("localhost", host):
            ipaddress.ip_address(name)
    except ValueError:
        return False
    return all(origin == f"http://{authority}" for origin in request.headers.getlist("origin"))


def check_bearer(request: Request, digests: tuple[str, ...]) -> None:
    """Raise a Problem for a request without a bearer token of these SHA-256 digests."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    digest = hashlib.sha256(token.encode()).hexdigest()
    if scheme.lower() != "bearer" or not token or digest not in digests:
        raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")


def find_address(request: Request, header: str | None) -> str:
    """Find the address of a client, in the header of a trusted proxy if there is one.

    It has no port, and of an IPv6 address it is the network of 64 bits that one asker has.
    """
    address = request.client.host if request.client else ""
    if header is not None:
        # The nearest proxy appends the last entry; anyone may write what is before it.
        values = request.headers.getlist(header)
        address = (values[-1] if values else "").rpartition(",")[2].strip()
    if address.startswith("[") or address.count(":") == 1:
        # Some proxies add the port, which is another one for every connection.
        address = address.strip("[").partition("]" if "]" in address else ":")[0]
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((ip.packed[:8] + bytes(8), 64)))


def identify_asker(address: str, secret: str) -> str:
    """Hash a client's address for the day; all clients without an address are one."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return hash_with_secret(address, secret, day) or "unknown"


class QuestionBody(msgspec.Struct):
    """The body of a question."""

    question: str
    language: str | None = None


async def read_body(request: Request) -> bytes:
    """Read a body as far as is allowed; Problem for a larger one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise Problem("too-large", f"A request has at most {MAX_BODY_BYTES} bytes.")
    return body


def check_body(request: Request) -> None:
    """Raise a Problem for a body that is not declared as JSON."""
    declared = request.headers.get("content-type", "")
    if declared.partition(";")[0].strip().lower() != JSON_TYPE:
        raise Problem("unsupported", "Send the question as application/json.")


def parse_question_body(request: Request, data: bytes) -> tuple[str, str | None]:
    """Parse the question and the language of a body; Problem for anything else."""
    check_body(request)
    try:
        # A lone surrogate, which `msgspec` refuses, is the half of a character that was cut.
        body = msgspec.convert(json.loads(data.decode()), QuestionBody)
    except (ValueError, RecursionError):
        sentence = 'The body has to be JSON in UTF-8 with a text "question".'
        raise Problem("bad-request", sentence) from None
    return parse_question(body.question), parse_language(body.language)


def parse_question(text: str) -> str:
    """Clean the text of a question; Problem if it is empty or too long."""
    question = clean_question(text)
    if problem := find_question_problem(question):
        raise Problem("bad-request", problem)
    return question


def parse_language(tag: object) -> str | None:
    """Check the language tag of a question, None where there is none; Problem for anything else."""
    if tag is None or (isinstance(tag, str) and is_language_tag(tag)):
        return tag
    raise Problem("bad-request", 'The "language" is not a language tag such as "en" or "pt-BR".')
