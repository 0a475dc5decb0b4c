"""The app of a function: routes, questions in and answers out.

A handler runs in a thread, with all of its request in an ``Exchange``.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router

from ..serve.answers.wire import serialize_section
from ..serve.bundle_format.manifest import WIRE_VERSION
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, FailureCause, ProviderError
from ..serve.request_context import RequestContext, use_context
from ..serve.retrieval.store import Store
from .guards import (
    Guards,
    Question,
    ServedReply,
    check_bearer,
    is_origin_allowed,
    is_same_origin,
)
from .logs import (
    METRICS_TYPE,
    AccessLogEntry,
    CacheOutcome,
    LoggedReason,
    Logs,
    RefusedQuestion,
    RequestMetrics,
    format_hour,
)
from .openapi import render_document
from .policy import Policy, parse_origin
from .problems import (
    RETRY_LATER,
    Problem,
    ProblemCode,
    convert_error,
    ignore_errors,
    make_json_response,
)
from .questions import check_body, parse_question, parse_question_body, read_body
from .storage import connect_redis
from .stream import CLIENT_CLOSED_STATUS, EVENT_STREAM_TYPE, stream_answer

# What a page may send; an agent repeats parts of its message in headers.
_ALLOWED_HEADERS = (
    "Accept", "Authorization", "Content-Type", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version",
)  # fmt: skip
_PREFLIGHT_SECONDS = 86_400


class EngineSource(Protocol):
    """The engine over the index that is served at the moment; None while there is none."""

    def __call__(self) -> Engine | None:
        """Return the engine to ask, after a look at a database from time to time."""

    def current(self) -> Engine | None:
        """Return the engine at hand, without a look."""


@dataclass(frozen=True, slots=True)
class FoundEngine:
    """The engine that a function returns."""

    find: Callable[[], Engine | None]

    def __call__(self) -> Engine | None:
        """See EngineSource."""
        return self.find()

    current = __call__


@dataclass(slots=True)
class Exchange:
    """One request and what its log line needs."""

    request: Request
    path: str
    context: RequestContext = field(default_factory=RequestContext)
    id: str = field(default_factory=lambda: f"req_{uuid.uuid4().hex}")
    started: float = field(default_factory=time.monotonic)
    body: bytes = b""
    question: str | None = None
    reply: ServedReply | None = None
    outcome: CacheOutcome | None = None
    code: ProblemCode | None = None
    cause: FailureCause | None = None

    def convert_error(self, error: Exception) -> Problem:
        """Convert an error to a problem, and keep of both what the log line names."""
        problem = convert_error(error)
        self.code = problem.code
        self.cause = error.cause if isinstance(error, AnswerableError) else None
        return problem


Handler = Callable[[Exchange], Response]


def create_app(
    engines: EngineSource,
    policy: Policy,
    logs: Logs,
    *,
    base: str = "/",
    dev_host: str | None = None,
    list_missing_keys: Callable[[], Sequence[str]] = tuple,
) -> Starlette:
    """Create the app that answers under a base path.

    dev_host: the host that a development server listens on, whose own pages may ask instead of
    the policy's origins. list_missing_keys: the variables of keys that the providers need and the
    environment does not have; a function that lacks one is not ready.
    """
    function = _Function(engines, policy, logs, base, dev_host, list_missing_keys)
    routes = [
        Route("/answer", function.serve("answer", function.answer), methods=["POST"]),
        Route("/search", function.serve("search", function.search)),
        Route("/v1/search", function.serve("v1/search", function.search)),
        Route("/places", function.serve("places", function.list_places), methods=["POST"]),
        Route("/section", function.serve("section", function.read_section)),
        Route("/mcp", function.serve("mcp", function.answer_agent), methods=["POST"]),
        Route("/health", function.serve("health", function.report_health, is_open=True)),
        Route("/ready", function.serve("ready", function.report_readiness, is_open=True)),
        Route("/openapi.json", function.serve("openapi.json", function.describe)),
        Route("/metrics", function.serve("metrics", function.render_metrics, is_open=True)),
    ]
    cors = Middleware(
        CORSMiddleware,
        allow_origins=policy.origins,
        allow_methods=["GET", "POST"],
        allow_headers=_ALLOWED_HEADERS,
        expose_headers=["Retry-After"],
        max_age=_PREFLIGHT_SECONDS,
    )
    prefix = base.rstrip("/")
    app = Starlette(
        routes=[Mount(prefix, Router(routes, redirect_slashes=False))] if prefix else routes,
        middleware=[cors] if policy.origins else [],
        exception_handlers={HTTPException: function.refuse_route},
    )
    app.router.redirect_slashes = False
    return app


class _Function:
    """The handlers of a function's routes, which share its guards, its logs and its metrics."""

    def __init__(
        self,
        engines: EngineSource,
        policy: Policy,
        logs: Logs,
        base: str,
        dev_host: str | None,
        list_missing_keys: Callable[[], Sequence[str]],
    ) -> None:
        self._engines = engines
        self._policy = policy
        self._logs = logs
        self._base = base
        self._dev_host = dev_host
        self._list_missing_keys = list_missing_keys
        self._guards = Guards(policy, finds_nearest=logs.log_refusal is not None)
        self._metrics = RequestMetrics() if policy.metrics else None

    def serve(self, path: str, handle: Handler, *, is_open: bool = False) -> Callable[..., Any]:
        """Make the endpoint of a handler. is_open: it needs no bearer token of the policy."""

        async def respond(request: Request) -> Response:
            exchange = Exchange(request, path)
            try:
                self._check_access(request, is_open=is_open)
                exchange.body = await read_body(request)
                exchange.context.begin(self._policy.deadline)
                with use_context(exchange.context):
                    accepted = request.headers.get("accept", "")
                    if path == "answer" and EVENT_STREAM_TYPE in accepted:
                        make_answer = partial(self._make_answer, exchange)
                        on_end = partial(self._report, exchange)
                        return await stream_answer(make_answer, exchange.context, on_end)
                    response = await _run_until_disconnect(handle, exchange)
            except ClientDisconnect:
                response = Response(status_code=CLIENT_CLOSED_STATUS)
            except Exception as error:
                response = exchange.convert_error(error).make_response()
            self._report(exchange, response.status_code)
            return response

        return respond

    async def refuse_route(self, request: Request, error: Exception) -> Response:
        """Refuse a path that there is not, and a method that a path does not take."""
        exchange = Exchange(request, "")
        allowed = getattr(error, "headers", None) or {}
        if getattr(error, "status_code", 404) == 405:
            problem = Problem("method-not-allowed", "This path takes another method.", **allowed)
        else:
            problem = Problem("not-found", "There is nothing at this path.")
        response = exchange.convert_error(problem).make_response()
        self._report(exchange, response.status_code)
        return response

    def answer(self, exchange: Exchange) -> Response:
        """Answer the question of a body."""
        return make_json_response(self._make_answer(exchange))

    def search(self, exchange: Exchange) -> Response:
        """Find public passages for the query of a url."""
        self._guards.check_not_paused()
        query = exchange.request.query_params.get("q")
        if query is None:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        rows = self._find_passages(exchange, parse_question(query))
        return make_json_response(_leave_out(rows, "is_cut"))

    def list_places(self, exchange: Exchange) -> Response:
        """List where to look for the question of a body: what the search finds, without texts.

        An ask box sends it after each question, so it counts for itself, and the question of the
        body is in no address and no line of the log a second time.
        """
        self._guards.check_not_paused()
        text, language = parse_question_body(exchange.request, exchange.body)
        rows = self._find_passages(exchange, text, language, "places")
        return make_json_response(_leave_out(rows, "markdown", "is_cut"))

    def read_section(self, exchange: Exchange) -> Response:
        """Read the whole section of a passage, for the card of an answer that cites it."""
        self._guards.check_not_paused()
        passage_id = exchange.request.query_params.get("id", "")
        with self._reading(exchange, "places") as store:
            section = serialize_section(store, passage_id)
        if section is None:
            raise Problem("not-found", "There is nothing at this path.")
        return make_json_response(section)

    def answer_agent(self, exchange: Exchange) -> Response:
        """Reply to one MCP message; its tools meet the same guards as the other routes."""
        # Imported by the first agent: most functions are asked by readers alone.
        from .mcp.pages import list_questions
        from .mcp.protocol import reply_to_message
        from .mcp.tools import AgentSite

        self._guards.check_not_paused()
        check_body(exchange.request)
        engine = self._open_engine()
        site = engine.store.site
        origin = self._find_page_origin(exchange.request)

        def ask(text: str, language: str | None) -> dict[str, Any]:
            body: dict[str, Any] = json.loads(self._answer_question(exchange, text, language))
            return body

        def list_places(text: str, language: str | None) -> dict[str, dict[str, Any]]:
            # An answer is worth more than what stands under it.
            with ignore_errors():
                return self._find_passages(exchange, text, language, "places")
            return {}

        reply = reply_to_message(
            exchange.body,
            dict(exchange.request.headers),
            AgentSite(
                name=site.name,
                version=engine.store.manifest.generator,
                built_at=engine.store.manifest.built_at,
                base=site.url or origin,
                # A url that was made for one origin is of no use to another.
                is_public=not self._policy.bearer and (site.url is not None or origin is None),
                open_store=lambda: self._reading(exchange, "search"),
                ask=ask,
                search=partial(self._find_passages, exchange),
                read_notes=engine.read_notes,
                list_places=list_places,
                questions=list_questions(engine.store),
                is_draft=self._dev_host is not None,
                report_error=exchange.convert_error,
            ),
        )
        if reply.body is None:
            return Response(status_code=reply.status, headers={"Cache-Control": "no-store"})
        waiting = {"Retry-After": reply.retry_after} if reply.retry_after else {}
        return make_json_response(reply.body, reply.status, headers=waiting)

    def report_health(self, exchange: Exchange) -> Response:
        """Say which index is served."""
        del exchange
        manifest = _require_engine(self._engines.current()).store.manifest
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
        del exchange
        engine = self._open_engine()
        if self._list_missing_keys():
            raise ProviderError("a key is not set: set it in the environment", cause="key")
        engine.store.check_reachable()
        self._guards.check_not_paused()
        if self._policy.redis_url:
            connect_redis(self._policy.redis_url).ping()
        return make_json_response({"status": "ready"})

    def describe(self, exchange: Exchange) -> Response:
        """Describe the routes as OpenAPI does."""
        del exchange
        policy = self._policy
        body = render_document(
            _require_engine(self._engines.current()).store.manifest.generator,
            self._base,
            metrics=policy.metrics is not None,
            bearer=bool(policy.bearer),
        )
        return make_json_response(body)

    def render_metrics(self, exchange: Exchange) -> Response:
        """Format the counters for Prometheus, for who has their token."""
        if self._metrics is None or self._policy.metrics is None:
            raise Problem("not-found", "There is nothing at this path.")
        check_bearer(exchange.request, (self._policy.metrics,))
        headers = {"Content-Type": METRICS_TYPE, "Cache-Control": "no-store"}
        return Response(self._metrics.render(), headers=headers)

    def _check_access(self, request: Request, *, is_open: bool) -> None:
        """Refuse a request of a page elsewhere, and one without the policy's bearer token."""
        is_allowed = (
            is_origin_allowed(request, self._policy.origins)
            if self._dev_host is None
            else is_same_origin(request, self._dev_host)
        )
        if not is_allowed:
            raise Problem("forbidden", "Ask from the pages of the site that this answers for.")
        if self._policy.bearer and not is_open:
            check_bearer(request, self._policy.bearer)

    def _make_answer(self, exchange: Exchange) -> bytes:
        self._guards.check_not_paused()
        text, language = parse_question_body(exchange.request, exchange.body)
        return self._answer_question(exchange, text, language)

    def _answer_question(self, exchange: Exchange, text: str, language: str | None) -> bytes:
        """Answer a question, log a refusal, and return the body with the id of the request."""
        question, engine = self._make_question(exchange, text, language), self._open_engine()
        try:
            reply, outcome, failure = self._guards.answer(engine, question, exchange.context)
        except Exception as error:
            # An agent, or the reader of a stream, is told with the status 200.
            exchange.convert_error(error)
            self._report_failure(error)
            raise
        exchange.reply, exchange.outcome = reply, outcome
        if failure:
            exchange.cause = failure.cause
            self._report_failure(failure)
        self._report_refusal(exchange, reply)
        # The body is serialized once, so its last member is written by hand.
        return reply.body[:-1] + f', "request_id": "{exchange.id}"}}'.encode()

    def _find_passages(
        self,
        exchange: Exchange,
        text: str,
        language: str | None = None,
        kind: str = "search",
    ) -> dict[str, dict[str, Any]]:
        """Find public passages, by id. kind: of what is counted apart from questions."""
        question, engine = self._make_question(exchange, text, language), self._open_engine()
        return self._guards.search(engine, question, exchange.context, kind)

    def _make_question(self, exchange: Exchange, text: str, language: str | None) -> Question:
        exchange.question = text
        asker = self._guards.identify_asker(exchange.request)
        return Question(text, language, asker, self._find_page_origin(exchange.request))

    @contextmanager
    def _reading(self, exchange: Exchange, kind: str) -> Iterator[Store]:
        """Open the store for a block that counts as a search."""
        engine = self._open_engine()
        asker = self._guards.identify_asker(exchange.request)
        with self._guards.reading(asker, exchange.context, kind):
            yield engine.store

    def _find_page_origin(self, request: Request) -> str | None:
        """Find the origin of the site's pages in a request that may ask; None if it names none.

        Only a development server is the host of the pages too: a link to another host would lead
        nowhere.
        """
        if origin := request.headers.get("origin"):
            return parse_origin(origin)
        is_site_host = self._dev_host is not None
        return parse_origin(f"http://{request.headers.get('host', '')}") if is_site_host else None

    def _open_engine(self) -> Engine:
        # Within the request's context: to ask a database what is served takes a part of its time.
        return _require_engine(self._engines())

    def _report_failure(self, error: Exception) -> None:
        if self._logs.report_error:
            with ignore_errors():
                self._logs.report_error(error)

    def _report_refusal(self, exchange: Exchange, reply: ServedReply) -> None:
        reason: LoggedReason | None = "nearest" if reply.is_nearest else reply.reason
        if self._logs.log_refusal is None or reason is None:
            return
        address = self._guards.find_address(exchange.request)
        refused = RefusedQuestion(
            exchange.question or "", address, reason, reply.bundle, reply.near
        )
        with ignore_errors():
            self._logs.log_refusal(refused)

    def _report(self, exchange: Exchange, status: int) -> None:
        """Log and count a request; an error in here must not reach the reader."""
        with ignore_errors():
            if self._logs.write_line is None and self._metrics is None:
                return
            entry = self._make_log_entry(exchange, status)
            if self._metrics:
                self._metrics.observe(entry)
            if self._logs.write_line:
                self._logs.write_line(entry.to_line())

    def _make_log_entry(self, exchange: Exchange, status: int) -> AccessLogEntry:
        context, reply = exchange.context, exchange.reply
        engine = self._engines.current()
        return AccessLogEntry(
            request_id=exchange.id,
            method=exchange.request.method,
            path=exchange.path,
            status=status,
            mode=reply.mode if reply else None,
            reason=(reply.reason if reply else None) or exchange.code,
            cache=exchange.outcome,
            timings_ms=context.timings(),
            tokens_in=context.tokens_in,
            tokens_out=context.tokens_out,
            bundle=engine.store.manifest.id if engine else None,
            cause=exchange.cause,
            contract=context.refusals,
            duration_ms=1000 * (time.monotonic() - exchange.started),
            hour=format_hour(time.time()),
            cited=reply.cited if reply else (),
        )


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


def _require_engine(engine: Engine | None) -> Engine:
    if engine is None:
        raise Problem("unavailable", "There is no index yet.", Retry_After=RETRY_LATER)
    return engine
