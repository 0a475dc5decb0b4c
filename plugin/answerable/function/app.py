"""The app of a function: its routes, and a handler for each.

A handler runs in a thread, with all of its request in an ``Exchange``.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from ..serve.answers.wire import serialize_section
from ..serve.engine import Engine
from ..serve.errors import EmbedderError, ProviderError
from ..serve.index.manifest import WIRE_VERSION
from ..serve.request_context import RequestContext, use_context
from .guards import Guards, Question, check_bearer
from .logs import METRICS_TYPE, Logs, RequestLine, RequestMetrics, format_hour
from .openapi import render_document
from .policy import Policy, parse_origin
from .problems import (
    Problem,
    convert_error,
    ignore_errors,
    make_json_response,
    make_unavailable,
)
from .questions import check_body, parse_question, parse_question_body, read_body
from .stream import CLIENT_CLOSED_STATUS, EVENT_STREAM_TYPE, stream_answer

# What a page may send; an agent repeats parts of its message in headers.
ALLOWED_HEADERS = (
    "Accept", "Authorization", "Content-Type", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version",
)  # fmt: skip
LOGGED_METHODS = ("GET", "POST", "HEAD", "OPTIONS")


@dataclass(slots=True)
class Exchange:
    """One request, what its handler works with, and the line that is logged of it."""

    request: Request
    line: RequestLine
    context: RequestContext = field(default_factory=RequestContext)
    started: float = field(default_factory=time.monotonic)
    body: bytes = b""


Handler = Callable[[Exchange], Response]


def create_app(
    find_engine: Callable[[], Engine | None],
    policy: Policy,
    logs: Logs,
    *,
    base: str = "/",
    dev_host: str | None = None,
    list_missing_keys: Callable[[], Sequence[str]] = tuple,
) -> Starlette:
    """Create the app that answers under a base path.

    find_engine: returns the engine over the index that is served at the moment, None while there
    is none. dev_host: the host that a development server listens on, whose own pages may ask
    instead of the policy's origins. list_missing_keys: the variables of keys that the providers
    need and the environment does not have; a function that lacks one is not ready.
    """
    function = Function(find_engine, policy, logs, base, dev_host, list_missing_keys)

    def route(path: str, handle: Handler, method: str = "GET", *, is_open: bool = False) -> Route:
        endpoint = function.serve(path, handle, is_open=is_open)
        return Route(f"{base.rstrip('/')}/{path}", endpoint, methods=[method])

    cors = Middleware(
        CORSMiddleware,
        allow_origins=policy.origins,
        allow_methods=["GET", "POST"],
        allow_headers=ALLOWED_HEADERS,
        expose_headers=["Retry-After"],
        max_age=86_400,
    )
    app = Starlette(
        routes=[
            route("answer", function.answer, "POST"),
            route("search", function.search),
            route("places", function.list_places, "POST"),
            route("section", function.read_section),
            route("mcp", function.answer_agent, "POST"),
            route("health", function.report_health, is_open=True),
            route("ready", function.report_readiness, is_open=True),
            route("openapi.json", function.describe),
            route("metrics", function.render_metrics, is_open=True),
        ],
        middleware=[cors] if policy.origins else [],
        exception_handlers={HTTPException: function.refuse_route},
    )
    app.router.redirect_slashes = False
    return app


class Function:
    """The handlers of a function's routes, which share its guards, its logs and its metrics."""

    def __init__(
        self,
        find_engine: Callable[[], Engine | None],
        policy: Policy,
        logs: Logs,
        base: str,
        dev_host: str | None,
        list_missing_keys: Callable[[], Sequence[str]],
    ) -> None:
        self.find_engine = find_engine
        self.policy = policy
        self.logs = logs
        self.base = base
        self.dev_host = dev_host
        self.list_missing_keys = list_missing_keys
        self.guards = Guards(policy, logs_refusals=logs.refusals is not None)
        self.metrics = RequestMetrics() if policy.metrics else None

    def serve(self, path: str, handle: Handler, *, is_open: bool = False) -> Callable[..., Any]:
        """Make the endpoint of a handler. is_open: it needs no bearer token of the policy."""

        async def respond(request: Request) -> Response:
            exchange = self.begin(request, path)
            try:
                self.guards.check_access(request, self.dev_host, is_open=is_open)
                exchange.body = await read_body(request)
                exchange.context.begin(self.policy.deadline)
                with use_context(exchange.context):
                    if path == "answer" and EVENT_STREAM_TYPE in request.headers.get("accept", ""):
                        return await stream_answer(
                            partial(self.make_answer, exchange),
                            exchange.context,
                            partial(self.refuse, exchange),
                            partial(self.report, exchange),
                        )
                    response = await _run_until_disconnect(handle, exchange)
            except ClientDisconnect:
                response = Response(status_code=CLIENT_CLOSED_STATUS)
            except Exception as error:
                response = self.refuse(exchange, error).make_response()
            self.report(exchange, response.status_code)
            return response

        return respond

    async def refuse_route(self, request: Request, error: Exception) -> Response:
        """Refuse a path that there is not, and a method that a path does not take."""
        exchange = self.begin(request, "other")
        allowed = getattr(error, "headers", None) or {}
        if getattr(error, "status_code", 404) == 405:
            problem = Problem("method-not-allowed", "This path takes another method.", **allowed)
        else:
            problem = Problem("not-found", "There is nothing at this path.")
        response = self.refuse(exchange, problem).make_response()
        self.report(exchange, response.status_code)
        return response

    def answer(self, exchange: Exchange) -> Response:
        """Answer the question of a body."""
        return make_json_response(self.make_answer(exchange))

    def make_answer(self, exchange: Exchange) -> bytes:
        """Make the body of an answer to the question of a body."""
        self.guards.check_not_paused()
        return self.answer_question(exchange, *parse_question_body(exchange.request, exchange.body))

    def answer_question(self, exchange: Exchange, text: str, language: str | None) -> bytes:
        """Answer a question, log a refusal, and return the body with the id of the request."""
        line, question = exchange.line, self.make_question(exchange, text, language)
        engine = self.open_engine(exchange)
        reply, line.cache, failure = self.guards.answer(engine, question)
        line.mode, line.reason, line.cited = reply.mode, reply.reason, reply.cited
        if failure:
            self.note_failure(exchange, failure)
        if self.logs.refusals and reply.gap:
            address = self.guards.find_address(exchange.request)
            with ignore_errors():
                bundle = engine.store.manifest.id
                self.logs.refusals.add(text, address, reply.gap, bundle, reply.near)
        # The body is serialized once, so its last member is written by hand.
        return reply.body[:-1] + f', "request_id": "{line.request_id}"}}'.encode()

    def search(self, exchange: Exchange) -> Response:
        """Find public passages for the query of a url."""
        self.guards.check_not_paused()
        query = exchange.request.query_params.get("q")
        if query is None:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        rows = self.find_passages(exchange, parse_question(query))
        return make_json_response(_leave_out(rows, "is_cut"))

    def list_places(self, exchange: Exchange) -> Response:
        """List where to look for the question of a body: what the search finds, without texts.

        An ask box sends it after each question, so it counts for itself, and the question of the
        body is in no address and no line of the log a second time.
        """
        self.guards.check_not_paused()
        text, language = parse_question_body(exchange.request, exchange.body)
        rows = self.find_passages(exchange, text, language, "places")
        return make_json_response(_leave_out(rows, "markdown", "is_cut"))

    def read_section(self, exchange: Exchange) -> Response:
        """Read the whole section of a passage, for the card of an answer that cites it."""
        self.guards.check_not_paused()
        passage_id = exchange.request.query_params.get("id", "")
        with self.reading(exchange, "places") as engine:
            section = serialize_section(engine.store, passage_id)
        if section is None:
            raise Problem("not-found", "There is nothing at this path.")
        return make_json_response(section)

    def answer_agent(self, exchange: Exchange) -> Response:
        """Reply to one MCP message; its tools meet the same guards as the other routes."""
        # Imported by the first agent: most functions are asked by readers alone.
        from .mcp.protocol import reply_to_message
        from .mcp.tools import AgentSite

        self.guards.check_not_paused()
        check_body(exchange.request)
        engine = self.open_engine(exchange)
        site = AgentSite(
            engine,
            engine.store.index.site.url or self.find_page_origin(exchange.request),
            ask=lambda text, language: msgspec.json.decode(
                self.answer_question(exchange, text, language)
            ),
            search=partial(self.find_passages, exchange),
            reading=partial(self.reading, exchange, "search"),
            convert_error=partial(self.refuse, exchange),
        )
        reply = reply_to_message(exchange.body, site)
        if reply.body is None:
            return Response(status_code=reply.status, headers={"Cache-Control": "no-store"})
        return make_json_response(reply.body, reply.status)

    def report_health(self, exchange: Exchange) -> Response:
        """Say which index is served."""
        manifest = self.open_engine(exchange).store.manifest
        return make_json_response(
            {
                "status": "ok",
                "wire": WIRE_VERSION,
                "bundle": manifest.id,
                "built_at": manifest.built_at,
                "generator": manifest.generator,
            }
        )

    def report_readiness(self, exchange: Exchange) -> Response:
        """Check that a question would be answered now: no key is missing, stores are reachable."""
        engine = self.open_engine(exchange)
        if self.list_missing_keys():
            raise ProviderError("a key is not set: set it in the environment", cause="no-key")
        # It fails where a database is out of reach.
        engine.store.rows_of_page("")
        self.guards.check_not_paused()
        self.guards.check_storage()
        return make_json_response({"status": "ready"})

    def describe(self, exchange: Exchange) -> Response:
        """Describe the routes as OpenAPI does."""
        document = render_document(
            self.open_engine(exchange).store.manifest.generator,
            self.base,
            metrics=self.policy.metrics is not None,
            bearer=bool(self.policy.bearer),
        )
        return make_json_response(document)

    def render_metrics(self, exchange: Exchange) -> Response:
        """Format the counters for Prometheus, for who has their token."""
        if self.metrics is None or self.policy.metrics is None:
            raise Problem("not-found", "There is nothing at this path.")
        check_bearer(exchange.request, (self.policy.metrics,))
        headers = {"Content-Type": METRICS_TYPE, "Cache-Control": "no-store"}
        return Response(self.metrics.render(), headers=headers)

    def open_engine(self, exchange: Exchange) -> Engine:
        """Open the engine within the request's time, a part of which a database may take."""
        engine = self.find_engine()
        if engine is None:
            raise make_unavailable("There is no index yet.")
        exchange.line.bundle = engine.store.manifest.id
        return engine

    def find_passages(
        self, exchange: Exchange, text: str, language: str | None = None, kind: str = "search"
    ) -> dict[str, dict[str, Any]]:
        """Find public passages, by id. kind: of what is counted apart from questions."""
        question = self.make_question(exchange, text, language)
        return self.guards.search(self.open_engine(exchange), question, kind)

    @contextmanager
    def reading(self, exchange: Exchange, kind: str) -> Iterator[Engine]:
        """Open the engine for a block that counts as a search."""
        engine = self.open_engine(exchange)
        with self.guards.reading(self.guards.identify_asker(exchange.request), kind):
            yield engine

    def make_question(self, exchange: Exchange, text: str, language: str | None) -> Question:
        """Make the question of a request, with who asks it and from where."""
        asker = self.guards.identify_asker(exchange.request)
        return Question(text, language, asker, self.find_page_origin(exchange.request))

    def find_page_origin(self, request: Request) -> str | None:
        """Find the origin of the site's pages in a request that may ask; None if it names none.

        Only a development server is the host of the pages too: a link to another host would lead
        nowhere.
        """
        if origin := request.headers.get("origin"):
            return parse_origin(origin)
        is_site_host = self.dev_host is not None
        return parse_origin(f"http://{request.headers.get('host', '')}") if is_site_host else None

    def begin(self, request: Request, path: str) -> Exchange:
        """Begin the exchange of a request, with the line that is logged of it."""
        method = request.method if request.method in LOGGED_METHODS else "other"
        line = RequestLine(format_hour(time.time()), f"req_{uuid.uuid4().hex}", method, path)
        return Exchange(request, line)

    def refuse(self, exchange: Exchange, error: Exception) -> Problem:
        """Convert an error to a problem, and note both for the log."""
        self.note_failure(exchange, error)
        problem = convert_error(error)
        exchange.line.reason = problem.code
        return problem

    def note_failure(self, exchange: Exchange, error: Exception) -> None:
        """Note and report a provider's failure, which keeps a question from a model's answer."""
        if isinstance(error, ProviderError | EmbedderError):
            exchange.line.cause = error.cause or msgspec.UNSET
            with ignore_errors():
                self.logs.report_failure(error)

    def report(self, exchange: Exchange, status: int) -> None:
        """Log and count a request; an error in here must not reach the reader."""
        line, context = exchange.line, exchange.context
        line.status = status
        line.duration_ms = round(1000 * (time.monotonic() - exchange.started), 1)
        line.timings_ms = {name: round(ms, 1) for name, ms in context.timings().items()}
        line.tokens_in, line.tokens_out = context.tokens_in, context.tokens_out
        line.contract = dict(context.refusals) or msgspec.UNSET
        with ignore_errors():
            if self.metrics:
                self.metrics.observe(line)
            if self.logs.write_line:
                self.logs.write_line(msgspec.json.encode(line) + b"\n")


async def _run_until_disconnect(handle: Handler, exchange: Exchange) -> Response:
    """Run a handler in a thread; a client that goes away cancels its question."""
    disconnect = asyncio.ensure_future(_wait_for_disconnect(exchange.request))
    disconnect.add_done_callback(lambda _: exchange.context.cancel())
    try:
        return await run_in_threadpool(handle, exchange)
    finally:
        disconnect.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    with suppress(Exception):
        while (await request.receive())["type"] != "http.disconnect":
            pass


def _leave_out(rows: Mapping[str, Mapping[str, Any]], *names: str) -> dict[str, dict[str, Any]]:
    return {
        id_: {name: value for name, value in row.items() if name not in names}
        for id_, row in rows.items()
    }
