"""The app of a function: its routes, a handler for each, and the opener of a published folder.

A handler runs in a thread, with all of its request in an ``Exchange``.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
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

from ..engine.answers.wire import add_absolute_url, serialize_places, serialize_section
from ..engine.engine import Engine
from ..engine.errors import EmbedderError, PolicyError, ProviderError
from ..engine.index.manifest import WIRE_VERSION
from ..engine.providers import (
    DATABASE_URL_VARIABLE,
    find_database_opener,
    list_missing_keys,
    open_function,
)
from ..engine.request_context import RequestContext, use_context
from ..engine.settings import FunctionSettings, read_settings
from .guards import Guards
from .logs import (
    METRICS_TYPE,
    LineFile,
    RefusalLog,
    RequestLine,
    RequestMetrics,
    WriteLine,
    format_hour,
    hash_asker,
)
from .openapi import make_document
from .policy import Policy, read_policy
from .requests import (
    NOTHING_HERE,
    Json,
    Problem,
    Question,
    check_bearer,
    check_body,
    convert_error,
    find_address,
    find_origin,
    make_json_response,
    parse_question,
    read_body,
)
from .stream import CLIENT_CLOSED_STATUS, EVENT_STREAM_TYPE, stream_answer

# What a page may send beside what CORS always allows: an agent repeats parts of its message.
ALLOWED_HEADERS = (
    "Authorization", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version",
)  # fmt: skip


@dataclass(slots=True)
class Exchange:
    """One request, what its handler works with, and the line that is logged of it.

    ``asker``: a hash of who asks. ``base``: the origin of the page that asks, if that is known.
    """

    request: Request
    line: RequestLine
    asker: str
    base: str | None = None
    context: RequestContext = field(default_factory=RequestContext)
    started: float = field(default_factory=time.monotonic)
    body: bytes = b""


# What a handler returns is sent as JSON, unless it is a response.
Handler = Callable[[Exchange], Json | Response]


def create_app(function: "Function") -> Starlette:
    """Create the app that answers under the base path of a function."""

    def route(path: str, handle: Handler, method: str = "GET", *, is_open: bool = False) -> Route:
        endpoint = function.serve(path, handle, is_open=is_open)
        return Route(f"{function.policy.base}{path}", endpoint, methods=[method], name=path)

    cors = Middleware(
        CORSMiddleware,
        allow_origins=function.policy.allowed_origins,
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
        middleware=[cors] if function.policy.allowed_origins else [],
        exception_handlers={HTTPException: function.refuse_route},
    )
    app.router.redirect_slashes = False
    return app


@dataclass(slots=True)
class Function:
    """The handlers of a function's routes, which share its guards, its logs and its metrics.

    ``find_engine`` returns the engine over the index that is served at the moment, None while there
    is none. ``write_line`` takes a line for each request, ``refusals`` each question that was
    refused or got only what is nearest, and ``report_failure`` each failure of a provider.
    ``dev_host``: the host that a development server listens on, whose own pages may ask instead of
    the policy's origins. ``missing_keys``: the variables of keys that the providers need and the
    environment does not have; a function that lacks one is not ready.
    """

    find_engine: Callable[[], Engine | None]
    policy: Policy
    write_line: WriteLine | None = None
    refusals: RefusalLog | None = None
    report_failure: Callable[[Exception], object] = lambda _: None
    dev_host: str | None = None
    missing_keys: Sequence[str] = ()
    guards: Guards = field(init=False)
    metrics: RequestMetrics | None = field(init=False)

    def __post_init__(self) -> None:
        self.guards = Guards(self.policy)
        self.metrics = RequestMetrics() if self.policy.metrics_token else None

    def serve(self, path: str, handle: Handler, *, is_open: bool = False) -> Callable[..., Any]:
        """Make the endpoint of a handler. is_open: it needs no token, and answers while paused."""

        async def respond(request: Request) -> Response:
            exchange = self.begin(request, path)
            try:
                origins = self.policy.allowed_origins
                exchange.base = find_origin(request, origins, self.dev_host)
                if self.policy.bearer and not is_open:
                    check_bearer(request, self.policy.bearer)
                exchange.body = await read_body(request)
                if not is_open:
                    self.check_not_paused()
                exchange.context.begin(self.policy.deadline)
                with use_context(exchange.context):
                    if path == "answer" and EVENT_STREAM_TYPE in request.headers.get("accept", ""):
                        return await stream_answer(
                            partial(self.answer, exchange),
                            exchange.context,
                            partial(self.refuse, exchange),
                            partial(self.report, exchange),
                        )
                    result = await run_in_threadpool(handle, exchange)
                response = result if isinstance(result, Response) else make_json_response(result)
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
        response = self.refuse(exchange, error).make_response()
        self.report(exchange, response.status_code)
        return response

    def answer(self, exchange: Exchange) -> Json:
        """Answer the question of a body."""
        return self.answer_question(exchange, parse_question(exchange.request, exchange.body))

    def answer_question(self, exchange: Exchange, question: Question) -> Json:
        """Answer a question, log a refusal, and return the body with the id of the request."""
        line, engine = exchange.line, self.open_engine(exchange)
        served, line.cache, failure = self.guards.answer(
            engine, question, exchange.asker, exchange.base
        )
        line.mode, line.reason = served.body["mode"], served.body["reason"]
        line.cited = tuple(served.cited)
        if failure:
            self.note_failure(exchange, failure)
        if self.refusals and served.gap:
            with suppress(Exception):
                bundle = engine.store.manifest.id
                self.refusals.add(question.text, exchange.asker, served.gap, bundle, served.near)
        return {**served.body, "request_id": line.request_id}

    def search(self, exchange: Exchange) -> Json:
        """Find public passages for the query of a url."""
        query = exchange.request.query_params.get("q")
        if query is None:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        return _leave_out(self.find_passages(exchange, Question(query)), "is_cut")

    def list_places(self, exchange: Exchange) -> Json:
        """List where to look for the question of a body: what the search finds, without texts.

        An ask box sends it after each question, so it counts for itself, and the question of the
        body is in no address and no line of the log a second time.
        """
        question = parse_question(exchange.request, exchange.body)
        rows = self.find_passages(exchange, question, "places")
        return _leave_out(rows, "markdown", "is_cut")

    def read_section(self, exchange: Exchange) -> Json:
        """Read the whole section of a passage, for the card of an answer that cites it."""
        passage_id = exchange.request.query_params.get("id", "")
        engine = self.open_engine(exchange)
        with self.guards.reading(exchange.asker, "places"):
            section = serialize_section(engine.store, passage_id)
        if section is None:
            raise Problem("not-found", NOTHING_HERE)
        return section

    def answer_agent(self, exchange: Exchange) -> Response:
        """Reply to one MCP message; its tools meet the same guards as the other routes."""
        # Imported by the first agent: most functions are asked by readers alone.
        from .mcp.protocol import reply_to_message
        from .mcp.tools import AgentSite

        check_body(exchange.request)
        engine = self.open_engine(exchange)
        site = AgentSite(
            engine,
            engine.store.index.site.url or exchange.base,
            ask=partial(self.answer_question, exchange),
            search=partial(self.find_passages, exchange),
            reading=partial(self.guards.reading, exchange.asker, "search"),
            convert_error=partial(self.refuse, exchange),
        )
        status, body = reply_to_message(exchange.body, site)
        if body is None:
            return Response(status_code=status, headers={"Cache-Control": "no-store"})
        return make_json_response(body, status)

    def report_health(self, exchange: Exchange) -> Json:
        """Say which index is served."""
        manifest = self.open_engine(exchange).store.manifest
        built = {"built_at": manifest.built_at, "generator": manifest.generator}
        return {"status": "ok", "wire": WIRE_VERSION, "bundle": manifest.id, **built}

    def report_readiness(self, exchange: Exchange) -> Json:
        """Check that a question would be answered now: no key is missing, stores are reachable."""
        engine = self.open_engine(exchange)
        if self.missing_keys:
            raise ProviderError("a key is not set: set it in the environment", cause="key")
        # It fails where a database is out of reach.
        engine.store.rows_of_page("")
        self.check_not_paused()
        self.guards.check_storage()
        return {"status": "ready"}

    def describe(self, exchange: Exchange) -> Json:
        """Describe the routes as OpenAPI does."""
        policy, version = self.policy, self.open_engine(exchange).store.manifest.generator
        tokens = {"metrics": bool(policy.metrics_token), "bearer": bool(policy.bearer)}
        return make_document(version, policy.base, **tokens)

    def render_metrics(self, exchange: Exchange) -> Response:
        """Format the counters for Prometheus, for who has their token."""
        if self.metrics is None or self.policy.metrics_token is None:
            raise Problem("not-found", NOTHING_HERE)
        check_bearer(exchange.request, (self.policy.metrics_token,))
        headers = {"Content-Type": METRICS_TYPE, "Cache-Control": "no-store"}
        return Response(self.metrics.render(), headers=headers)

    def open_engine(self, exchange: Exchange) -> Engine:
        """Open the engine over the index that is served, and note which one that is."""
        engine = self.find_engine()
        if engine is None:
            raise Problem("unavailable", "There is no index yet.", Retry_After="5")
        exchange.line.bundle = engine.store.manifest.id
        return engine

    def find_passages(
        self, exchange: Exchange, question: Question, kind: str = "search"
    ) -> dict[str, Json]:
        """Find public passages, by id. kind: of what is counted apart from questions."""
        engine = self.open_engine(exchange)
        is_paid = engine.embedder.max_question_tokens > 0
        with self.guards.reading(exchange.asker, kind, is_paid=is_paid):
            rows = serialize_places(engine.search(question.text, question.language))
        base = engine.store.index.site.url or exchange.base
        return {name: add_absolute_url(row, base) for name, row in rows.items()}

    def check_not_paused(self) -> None:
        """Raise a Problem while the policy has paused all questions."""
        if self.policy.paused:
            sentence = "Questions are not answered at the moment. Search the site instead."
            raise Problem("paused", sentence, Retry_After="3600")

    def begin(self, request: Request, path: str) -> Exchange:
        """Begin the exchange of a request, with the line that is logged of it."""
        method = request.method if request.method in ("GET", "POST", "HEAD", "OPTIONS") else "other"
        line = RequestLine(format_hour(time.time()), f"req_{uuid.uuid4().hex}", method, path)
        asker = hash_asker(find_address(request, self.policy.asker_header), self.policy.secret)
        return Exchange(request, line, asker)

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
            with suppress(Exception):
                self.report_failure(error)

    def report(self, exchange: Exchange, status: int) -> None:
        """Log and count a request; an error in here must not reach the reader."""
        line, context = exchange.line, exchange.context
        line.status = status
        line.duration_ms = round(1000 * (time.monotonic() - exchange.started), 1)
        line.timings_ms = {name: round(ms, 1) for name, ms in context.timings.items()}
        line.tokens_in, line.tokens_out = context.tokens_in, context.tokens_out
        line.contract = dict(context.refusals) or msgspec.UNSET
        with suppress(Exception):
            if self.metrics:
                self.metrics.observe(line)
            if self.write_line:
                self.write_line(msgspec.json.encode(line) + b"\n")


def _leave_out(rows: Mapping[str, Json], *names: str) -> Json:
    return {
        id_: {name: value for name, value in row.items() if name not in names}
        for id_, row in rows.items()
    }


def open_app(
    folder: Path, environment: Mapping[str, str], out: WriteLine, err: WriteLine
) -> Starlette:
    """Open a published function; AnswerableError names what is wrong with it.

    environment: the variables of the policy and of the database, ``ANSWERABLE_SKIP_HASHES`` and
    ``ANSWERABLE_REFUSALS`` (a file). out: takes a line for each request and, without that file, for
    each refusal that is logged. err: takes sentences for whoever runs the function.
    """
    settings = read_settings(folder)
    find_engine = _open_engine(folder, environment, settings)
    engine = find_engine()
    policy = read_policy(environment, engine.store.index.site.url)
    missing_keys = list_missing_keys(engine.embedder.identity.provider, settings)
    if missing_keys:
        sentence = f"{', '.join(missing_keys)} is not set: no model is called until it is; set it"
        err(f"{sentence} where the function runs\n".encode())
    refusals = None
    if settings.log_refusals != "none":
        path = environment.get("ANSWERABLE_REFUSALS")
        file = LineFile(Path(path), lambda text: err(f"{text}\n".encode())) if path else None
        write = file.append if file else out
        refusals = RefusalLog(lambda: settings.log_refusals, write, policy.secret)
    return create_app(Function(find_engine, policy, out, refusals, missing_keys=missing_keys))


def _open_engine(
    folder: Path, environment: Mapping[str, str], settings: FunctionSettings
) -> Callable[[], Engine]:
    """Open the engines over a database, or the one over the folder's bundle."""
    verify = environment.get("ANSWERABLE_SKIP_HASHES", "").strip() != "1"
    if open_database := find_database_opener(environment):
        return open_database(folder, environment, verify=verify)
    if settings.store:
        raise PolicyError(
            f"{DATABASE_URL_VARIABLE}: this site is served from a database; "
            "set its address, or build without `store`"
        )
    engine = open_function(folder, verify=verify)
    return lambda: engine
