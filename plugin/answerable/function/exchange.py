"""One request to a function: its checks, its answer, its events and its line in the log."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from ..engine.answers.wire import add_absolute_url, serialize_places
from ..engine.engine import Engine
from ..engine.errors import EmbedderError, ProviderError
from ..engine.request_context import RequestContext, use_context
from .guards import Guards
from .logs import RefusalLog, RequestLine, RequestMetrics, WriteLine, format_hour, hash_asker
from .policy import Policy
from .requests import (
    Json,
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
    write_line: WriteLine | None = None
    refusals: RefusalLog | None = None
    report_failure: Callable[[str], object] = lambda _: None
    dev_host: str | None = None
    missing_keys: Sequence[str] = ()
    guards: Guards = field(init=False)
    metrics: RequestMetrics | None = field(init=False)

    def __post_init__(self) -> None:
        self.guards = Guards(self.policy)
        self.metrics = RequestMetrics() if self.policy.metrics_token else None

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            sentence = "Questions are not answered at the moment. Search the site instead."
            raise Problem("paused", sentence, Retry_After="3600")


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
        self.context = RequestContext(policy.deadline)
        self._started = time.monotonic()

    @cached_property
    def engine(self) -> Engine:
        """The engine over the index that is served; Problem while there is none."""
        engine = self.function.find_engine()
        if engine is None:
            raise Problem("unavailable", "There is no index yet.", Retry_After="5")
        self.line.bundle = engine.store.manifest.id
        return engine

    @property
    def base(self) -> str | None:
        """The site's address, or the origin of the page that asks."""
        return self.engine.store.index.site.url or self.origin

    def answer(self) -> Json:
        """Answer the question of the body."""
        return self.ask(parse_question(self.request, self.body))

    def ask(self, question: Question) -> Json:
        """Answer a question, log a refusal, and return the body with the id of the request."""
        line, refusals = self.line, self.function.refusals
        served, line.cache, failure = self.function.guards.answer(
            self.engine, question, self.asker, self.base
        )
        line.mode, line.reason = served.body["mode"], served.body["reason"]
        line.cited = tuple(served.cited)
        if failure:
            self._note_failure(failure)
        if refusals and served.gap:
            with suppress(Exception):
                bundle = self.engine.store.manifest.id
                refusals.add(question.text, self.asker, served.gap, bundle, served.near)
        return {**served.body, "request_id": line.request_id}

    def search(self, question: Question, kind: str) -> dict[str, Json]:
        """Find public passages, by id. kind: of what is counted apart from questions."""
        is_paid = self.engine.embedder.max_question_tokens > 0
        with self.function.guards.reading(self.asker, kind, is_paid=is_paid):
            rows = serialize_places(self.engine.search(question.text, question.language))
        return {name: add_absolute_url(row, self.base) for name, row in rows.items()}

    def refuse(self, error: Exception) -> Problem:
        """Convert an error to a problem, and note both for the log."""
        problem = convert_error(error)
        self.line.reason = problem.code
        self._note_failure(error)
        if problem.code == "internal":
            self.function.report_failure(f"an error of the kind {type(error).__name__}")
        return problem

    def _note_failure(self, error: Exception) -> None:
        """Note and report a provider's failure, which keeps a question from a model's answer."""
        if isinstance(error, ProviderError | EmbedderError):
            self.line.cause = error.cause or msgspec.UNSET
            # It repeats neither the question nor what a server said.
            self.function.report_failure(str(error))

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
            if function.write_line:
                function.write_line(msgspec.json.encode(line) + b"\n")


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
                yield _encode_event("problem", problem.as_json())
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
