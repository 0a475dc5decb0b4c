"""One request to a function: its checks, its answer, its events and its line in the log."""

import asyncio
import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from ..engine.answers.wire import Json, add_absolute_url, serialize_answer, serialize_places
from ..engine.engine import Engine
from ..engine.errors import BundleError, EmbedderError, ProviderError, StorageError
from ..engine.request_context import RequestContext, use_context
from ..engine.text.tokenization import match_languages
from .guards import Limits, MemoryStorage, RedisStorage, Slots, Storage
from .logs import (
    LoggedReason,
    RefusalLog,
    RequestLine,
    RequestMetrics,
    WriteLine,
    find_nearest_section,
    format_hour,
    hash_asker,
)
from .policy import Policy
from .requests import (
    Problem,
    Question,
    check_bearer,
    convert_error,
    encode_json,
    find_address,
    find_origin,
    make_json_response,
    parse_question,
    read_body,
)

EVENT_STREAM_TYPE = "text/event-stream"
# How an access log names the status of a client that did not wait (nginx).
CLIENT_CLOSED_STATUS = 499
# Seconds for which a question waits where as many as are allowed are being answered.
BURST_SECONDS = 2.0


@dataclass(slots=True)
class Function:
    """What all requests of a function share.

    ``find_engine`` returns the engine over the index that is served at the moment, None while there
    is none. ``write_line`` takes a line for each request, ``refusals`` each question that was
    refused or got only what is nearest, and ``report_failure`` a sentence on each failure.
    ``dev_host``: the host that a development server listens on, whose own pages may ask instead of
    the policy's origins. ``missing_keys``: the variables of keys that the providers need and the
    environment does not have; a function that lacks one is not ready.
    """

    find_engine: Callable[[], Engine | None]
    policy: Policy
    write_line: WriteLine = lambda _: None
    refusals: RefusalLog | None = None
    report_failure: Callable[[str], object] = lambda _: None
    dev_host: str | None = None
    missing_keys: Sequence[str] = ()
    limits: Limits = field(init=False)
    slots: Slots = field(init=False)
    cache: Storage = field(init=False)
    metrics: RequestMetrics | None = field(init=False)

    def __post_init__(self) -> None:
        policy = self.policy
        shared = RedisStorage(policy.redis_url) if policy.redis_url else None
        # Who has not asked for longest is forgotten first.
        self.limits = Limits(shared or MemoryStorage(20_000), policy)
        # A third, rounded up: three askers at least are needed to hold all.
        share = policy.in_flight_per_asker or -(-policy.in_flight // 3)
        self.slots = Slots(policy.in_flight, share)
        self.cache = shared or MemoryStorage(policy.cache_entries)
        self.metrics = RequestMetrics() if policy.metrics_token else None

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            sentence = "Questions are not answered at the moment. Search the site instead."
            raise Problem("paused", sentence, Retry_After="3600")


class ServedReply(NamedTuple):
    """The body of an answer without its request id, and what the logs need of it.

    ``cited``: the pages that it cites. ``gap``: why the question is logged as one without an
    answer, if it is, with ``near``, the nearest section, which is None where nothing is logged.
    """

    body: Json
    cited: list[str]
    gap: LoggedReason | None
    near: str | None


class Exchange:
    """One request to a function: what its handler works with, and the line that is logged of it.

    ``asker``: a hash of who asks. ``origin``: that of the page that asks, if it is known.
    """

    def __init__(
        self, function: Function, request: Request, path: str, origin: str | None = None
    ) -> None:
        policy = function.policy
        method = request.method if request.method in ("GET", "POST", "HEAD", "OPTIONS") else "other"
        self.function = function
        self.request = request
        self.line = RequestLine(format_hour(time.time()), f"req_{uuid.uuid4().hex}", method, path)
        self.asker = hash_asker(find_address(request, policy.asker_header), policy.secret)
        self.origin = origin
        self.body = b""
        self.context = RequestContext()
        self._started = time.monotonic()
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The engine over the index that is served; Problem while there is none."""
        # One for the whole request: another index may be published meanwhile.
        self._engine = self._engine or self.function.find_engine()
        if self._engine is None:
            raise Problem("unavailable", "There is no index yet.", Retry_After="5")
        self.line.bundle = self._engine.store.manifest.id
        return self._engine

    @property
    def base(self) -> str | None:
        """The site's address, or the origin of the page that asks."""
        return self.engine.store.index.site.url or self.origin

    def answer(self) -> Json:
        """Answer the question of the body."""
        return self.ask(parse_question(self.request, self.body))

    def ask(self, question: Question) -> Json:
        """Answer a question, log a refusal, and return the body with the id of the request."""
        function, line = self.function, self.line
        is_paid = self.engine.is_paid(question.text)
        key, cached = self._make_cache_key(question), None
        with _tolerating_lost_storage(is_paid=is_paid):
            function.limits.admit(self.asker, "answer")
            cached = function.cache.read(key) if function.policy.cache_seconds else None
        if cached:
            served, line.cache = ServedReply(*json.loads(cached)), "hit"
        else:
            with self._working(is_paid=is_paid):
                served, line.cache = self._make_reply(question, key), "miss"
        line.mode, line.reason = served.body["mode"], served.body["reason"]
        line.cited = tuple(served.cited)
        if function.refusals and served.gap:
            with suppress(Exception):
                bundle = self.engine.store.manifest.id
                function.refusals.add(question.text, self.asker, served.gap, bundle, served.near)
        return {**served.body, "request_id": line.request_id}

    def _make_reply(self, question: Question, key: str) -> ServedReply:
        """Let the engine answer, and cache what may be cached."""
        refusals = self.function.refusals
        # Only a log asks for the nearest section.
        near = int(refusals is not None and refusals.is_kept)
        pool = self.engine.retrieve_for_answer(question.text, question.language, near)
        reply, remarks = self.engine.answer_from(pool), pool.reading.remarks
        ids = {citation.id for citation in reply.citations}
        cited = dict.fromkeys(passage.record for passage in reply.passages if passage.id in ids)
        is_unsure = reply.confidence == "low" or any(r.kind == "unknown" for r in remarks)
        gap = "nearest" if reply.answer.claims and is_unsure else reply.reason
        body = serialize_answer(reply, self.engine.store, remarks, self.base)
        served = ServedReply(body, list(cited), gap, find_nearest_section(pool) if near else None)
        cache_seconds = self.function.policy.cache_seconds
        if reply.failure:
            self._note_failure(reply.failure)
        # A model that failed or broke the contract may do better the next time.
        elif cache_seconds and reply.reason != "contract":
            with suppress(StorageError):
                self.function.cache.write(key, encode_json(served), cache_seconds)
        return served

    def _make_cache_key(self, question: Question) -> str:
        """Hash all that an answer depends on."""
        manifest, site = self.engine.store.manifest, self.engine.store.index.site
        # Any tag of a language that the site lacks asks the same.
        languages = sorted(match_languages(question.language, site.tags))
        model, words = self.engine.answerer.label, question.text
        parts = [manifest.id, manifest.generator, model, words, self.base, languages]
        return f"answer:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"

    def search(self, question: Question, kind: str) -> dict[str, Json]:
        """Find public passages, by id. kind: of what is counted apart from questions."""
        with self.reading(kind, is_paid=self.engine.embedder.max_question_tokens > 0):
            rows = serialize_places(self.engine.search(question.text, question.language))
        return {name: add_absolute_url(row, self.base) for name, row in rows.items()}

    @contextmanager
    def reading(self, kind: str, *, is_paid: bool = False) -> Iterator[None]:
        """Count a request of a kind and hold a slot for a block."""
        with _tolerating_lost_storage(is_paid=is_paid):
            self.function.limits.admit(self.asker, kind)
        with self._working(is_paid=is_paid):
            yield

    @contextmanager
    def _working(self, *, is_paid: bool) -> Iterator[None]:
        """Hold a slot for a block and count what it costs.

        Problem where there is none, or the day's tokens are spent already.
        """
        limits, context = self.function.limits, self.context
        with self.function.slots.hold(self.asker, min(context.left, BURST_SECONDS)):
            if is_paid:
                limits.check_tokens()
            before = context.tokens
            try:
                yield
            finally:
                with suppress(StorageError):
                    limits.add_tokens(context.tokens - before)

    def refuse(self, error: Exception) -> Problem:
        """Convert an error to a problem, and note both for the log."""
        problem = convert_error(error)
        self.line.reason = problem.code
        if problem.code == "internal":
            # Its own text may hold anything.
            kind = f"an error of the kind {type(error).__name__}"
            self._tell(f"A question was not answered: {kind}")
        elif isinstance(error, BundleError | StorageError):
            # It names a file or a server, and nothing of the question.
            self._tell(f"A question was not answered: {error}")
        self._note_failure(error)
        return problem

    def _note_failure(self, error: Exception) -> None:
        """Note and report a provider's failure, which keeps a question from a model's answer."""
        if isinstance(error, ProviderError | EmbedderError):
            self.line.cause = error.cause or msgspec.UNSET
            # It repeats neither the question nor what a server said.
            self._tell(f"A model could not be asked: {error}")

    def _tell(self, sentence: str) -> None:
        """Tell whoever runs the function. A failure to do so must not reach the reader."""
        with suppress(Exception):
            self.function.report_failure(sentence)

    def report(self, status: int) -> None:
        """Log and count the request; an error in here must not reach the reader."""
        line, context, function = self.line, self.context, self.function
        line.status = status
        line.duration_ms = round(1000 * (time.monotonic() - self._started), 1)
        line.timings_ms = {name: round(ms, 1) for name, ms in context.timings.items()}
        line.tokens_in, line.tokens_out = context.tokens_in, context.tokens_out
        line.contract = dict(context.refusals) or msgspec.UNSET
        with suppress(Exception):
            if function.metrics:
                function.metrics.observe(line)
            function.write_line(msgspec.json.encode(line) + b"\n")


@contextmanager
def _tolerating_lost_storage(*, is_paid: bool) -> Iterator[None]:
    """Go on without a shared storage that is out of reach, unless what follows costs tokens."""
    try:
        yield
    except StorageError:
        if is_paid:
            raise


# What a handler returns is sent as JSON, unless it is a response.
Handler = Callable[[Exchange], Json | Response]


def make_endpoint(
    function: Function, path: str, handle: Handler, *, is_open: bool = False
) -> Callable[[Request], Awaitable[Response]]:
    """Make the endpoint of a handler. is_open: it needs no token, and answers while paused."""
    policy = function.policy

    async def respond(request: Request) -> Response:
        exchange = Exchange(function, request, path)
        try:
            exchange.origin = find_origin(request, policy.allowed_origins, function.dev_host)
            if policy.bearer and not is_open:
                check_bearer(request, policy.bearer)
            exchange.body = await read_body(request)
            if not is_open:
                function.check_not_paused()
            exchange.context.begin(policy.deadline)
            with use_context(exchange.context):
                if path == "answer" and EVENT_STREAM_TYPE in request.headers.get("accept", ""):
                    return await _stream_answer(exchange)
                result = await run_in_threadpool(handle, exchange)
            response = result if isinstance(result, Response) else make_json_response(result)
        except ClientDisconnect:
            response = Response(status_code=CLIENT_CLOSED_STATUS)
        except Exception as error:
            response = exchange.refuse(error).make_response()
        exchange.report(response.status_code)
        return response

    return respond


async def _stream_answer(exchange: Exchange) -> Response:
    """Answer in a thread and respond with server-sent events; raise an error that comes first.

    These are stages, then the whole answer or a problem. Claims leave only when the whole draft has
    passed the contract, since a late one can still refuse it.
    """
    loop = asyncio.get_running_loop()
    # Stages, and at the end an answer or an error.
    events = asyncio.Queue[object]()

    def send(event: object) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    def work() -> None:
        try:
            send(exchange.answer())
        except Exception as error:
            send(error)

    async def encode(event: object) -> AsyncIterator[bytes]:
        status = CLIENT_CLOSED_STATUS
        try:
            while isinstance(event, str):
                yield _encode_event("stage", {"stage": event})
                event = await events.get()
            if isinstance(event, Exception):
                problem = exchange.refuse(event)
                yield _encode_event("problem", problem.body)
                status = problem.status
            else:
                yield _encode_event("answer", event)
                status = 200
        finally:
            # Nobody reads on, or all is sent.
            exchange.context.cancel()
            exchange.report(status)

    exchange.context.listener = send
    worker = asyncio.ensure_future(run_in_threadpool(work))
    first = await events.get()
    if isinstance(first, Exception):
        await worker
        raise first
    headers = {
        "Content-Type": f"{EVENT_STREAM_TYPE}; charset=utf-8",
        "Cache-Control": "no-store",
        # A proxy that collects a response before it sends it on would make one event of all.
        "X-Accel-Buffering": "no",
    }
    return StreamingResponse(encode(first), headers=headers)


def _encode_event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encode_json(data) + b"\n\n"
