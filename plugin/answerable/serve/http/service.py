"""The service: routes, questions in and answers out, alike under every adapter."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from ..answers.wire import add_absolute_url, serialize_section
from ..engine import Engine
from ..errors import AnswerableError, FailureCause, ProviderError
from ..index.manifest import WIRE_VERSION
from ..limits.policy import Policy
from ..request_context import RequestContext, use_context
from ..retrieval.store import Store
from .logs import METRICS_TYPE, AccessLogEntry, LogRefusal, RefusedQuestion, format_hour
from .messages import (
    EVENT_STREAM_TYPE,
    JSON_TYPE,
    RETRY_LATER,
    Problem,
    ProblemCode,
    Request,
    Response,
    add_cors_headers,
    answer_preflight,
    check_body,
    check_origin,
    convert_error,
    find_page_origin,
    ignore_errors,
    is_origin_allowed,
    make_json_response,
    parse_body,
    parse_language,
    parse_question,
    render_document,
)
from .protections import InFlight, Protections, Question, ServedReply
from .sse import stream_response


@dataclass(slots=True)
class Exchange:
    """Follow one request, with what its log line needs."""

    request: Request
    context: RequestContext
    id: str = field(default_factory=lambda: f"req_{uuid.uuid4().hex}")
    started: float = field(default_factory=time.monotonic)
    question: str | None = None
    reply: ServedReply | None = None
    code: ProblemCode | None = None
    cause: FailureCause | None = None

    def convert_error(self, error: Exception) -> Problem:
        """Convert an error to a problem, and keep of both what the log line names."""
        problem = convert_error(error)
        self.code = problem.code
        self.cause = error.cause if isinstance(error, AnswerableError) else None
        return problem


@contextmanager
def _noting_problem(exchange: Exchange) -> Iterator[None]:
    """Note for the log what an agent, or the reader of a stream, is told with the status 200."""
    try:
        yield
    except Exception as error:
        exchange.convert_error(error)
        raise


def _leave_out(rows: Mapping[str, Mapping[str, Any]], *names: str) -> dict[str, dict[str, Any]]:
    return {
        id_: {name: value for name, value in row.items() if name not in names}
        for id_, row in rows.items()
    }


# What a page may send more to some paths: an agent repeats parts of its message in headers.
_MORE_HEADERS = {"mcp": ("Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version")}
# Seconds in which questions that were cancelled have to end.
_SETTLE_SECONDS = 5.0


class Service:
    """Answer requests by the engine that ``find_engine`` returns, None while there is none.

    find_current_engine: the engine at hand, without a look at a database, for the log and the
    metadata. log: takes a line for each request, which never holds the question.
    log_refusal: takes each question that was refused or got only what is nearest. is_allowed:
    decides of requests instead of the policy's origins. base: the path that it answers under.
    is_site_host: the host that is asked serves the site's pages too. report_error: takes each error
    that kept a question from an answer. list_missing_keys: the variables of the keys that an
    engine's providers need and the environment does not have; a service that lacks one is not
    ready.
    """

    def __init__(
        self,
        find_engine: Callable[[], Engine | None],
        policy: Policy,
        *,
        find_current_engine: Callable[[], Engine | None] | None = None,
        log: Callable[[bytes], object] | None = None,
        log_refusal: LogRefusal | None = None,
        is_allowed: Callable[[Request], bool] | None = None,
        base: str = "/",
        is_site_host: bool = False,
        report_error: Callable[[Exception], object] | None = None,
        list_missing_keys: Callable[[Engine], Sequence[str]] | None = None,
    ) -> None:
        self.policy = policy
        self.protections = Protections(policy, finds_nearest=log_refusal is not None)
        self._find_engine = find_engine
        self._find_current_engine = find_current_engine or find_engine
        self._log = log
        self._log_refusal = log_refusal
        self._report_error = report_error
        self._is_site_host = is_site_host
        self._is_allowed = is_allowed or (
            lambda request: is_origin_allowed(request, policy.origins)
        )
        self.base = base
        self._list_missing_keys = list_missing_keys or (lambda _: ())
        self._in_flight = InFlight()
        self._routes: dict[str, tuple[str, Callable[[Exchange], Response]]] = {
            "answer": ("POST", self._answer),
            "search": ("GET", self._search),
            "v1/search": ("GET", self._search),
            "places": ("POST", self._list_places),
            "section": ("GET", self._read_section),
            "mcp": ("POST", self._answer_agent),
            "health": ("GET", self._report_health),
            "ready": ("GET", self._report_readiness),
            "openapi.json": ("GET", self._describe),
            "metrics": ("GET", self._render_metrics),
        }

    def handle(self, request: Request, context: RequestContext | None = None) -> Response:
        """Answer one request, whatever it is. An adapter cancels the context if nobody waits."""
        exchange = Exchange(request, context or RequestContext())
        try:
            with use_context(exchange.context):
                response = self._dispatch(exchange)
        except Exception as error:
            response = exchange.convert_error(error).make_response()
        response = add_cors_headers(request, response, self.policy.origins)
        if response.events is None:
            self._report(exchange, response.status)
        return response

    def close(self, seconds: float = 0.0) -> None:
        """Wait so long for the questions in flight, then cancel them and wait until they end."""
        if self._in_flight.wait(seconds):
            return
        self._in_flight.cancel()
        self._in_flight.wait(_SETTLE_SECONDS)

    def _dispatch(self, exchange: Exchange) -> Response:
        """Apply the protections that every request meets, then call its route."""
        request = exchange.request
        route = self._routes.get(request.path.strip("/"))
        if route is None:
            raise Problem("not-found", "There is nothing at this path.")
        method, respond = route
        if request.method not in (method, "OPTIONS"):
            allowed = f"{method}, OPTIONS"
            raise Problem("method-not-allowed", f"This path takes {method} only.", Allow=allowed)
        check_origin(request, is_allowed=self._is_allowed(request))
        if request.method == "OPTIONS":
            return answer_preflight(method, _MORE_HEADERS.get(request.path.strip("/"), ()))
        is_open = respond in (self._report_health, self._report_readiness, self._render_metrics)
        if self.policy.bearer and not is_open:
            self.protections.check_bearer(request, self.policy.bearer)
        return respond(exchange)

    def _answer(self, exchange: Exchange) -> Response:
        """Answer the question of a body, in one piece or as a stream of events."""
        request, context, protections = exchange.request, exchange.context, self.protections
        protections.check_not_paused()
        body = parse_body(request)
        question = Question(
            parse_question(body.get("question")),
            parse_language(body.get("language")),
            protections.identify_asker(request),
        )
        exchange.question = question.text
        # The deadline begins here, so that waiting for a shared store counts against it.
        context.begin(self.policy.deadline)
        protections.admit(question.asker)
        engine = self._open_engine()

        def make_answer() -> dict[str, Any]:
            return self._make_answer(exchange, engine, question)

        if request.can_stream and EVENT_STREAM_TYPE in request.headers.get("accept", ""):
            return stream_response(
                make_answer, context, context.left, lambda status: self._report(exchange, status)
            )
        return make_json_response(make_answer())

    def _make_answer(
        self, exchange: Exchange, engine: Engine, question: Question
    ) -> dict[str, Any]:
        """Make the body of an answer to an admitted question, and log a refusal."""
        context = exchange.context
        try:
            with _noting_problem(exchange), self._in_flight.hold(context):
                reply = self.protections.guarded_engine.answer(engine, question, context)
        except Exception as error:
            self._report_failure(error)
            raise
        exchange.reply = reply
        if reply.failure:
            exchange.cause = reply.failure.cause
            self._report_failure(reply.failure)
        self._report_refusal(exchange, reply)
        return self._complete_body(exchange, engine, reply.body)

    def _report_failure(self, error: Exception) -> None:
        if self._report_error:
            with ignore_errors():
                self._report_error(error)

    def _complete_body(
        self, exchange: Exchange, engine: Engine, body: dict[str, Any]
    ) -> dict[str, Any]:
        """Add to the body of an answer, and of the excerpts after it, what is of this request."""
        after = body.get("excerpts")
        citations = self._add_absolute_urls(exchange.request, engine, body["citations"])
        return (
            body
            | {"citations": citations, "request_id": exchange.id}
            | ({"excerpts": self._complete_body(exchange, engine, after)} if after else {})
        )

    def _search(self, exchange: Exchange) -> Response:
        """Find public passages for the query of a url."""
        self.protections.check_not_paused()
        queries = parse_qs(exchange.request.query, keep_blank_values=True).get("q")
        if not queries:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        exchange.question = text = parse_question(queries[0])
        exchange.context.begin(self.policy.deadline)
        asker = self._admit_search(exchange)
        rows = self._find_passages(exchange, self._open_engine(), text, asker)
        return make_json_response(_leave_out(rows, "is_cut"))

    def _list_places(self, exchange: Exchange) -> Response:
        """List where to look for the question of a body: what the search finds, without texts.

        An ask box sends it after each question, so it counts for itself, and the question of the
        body is in no address and no line of the log a second time.
        """
        self.protections.check_not_paused()
        body = parse_body(exchange.request)
        text, language = parse_question(body.get("question")), parse_language(body.get("language"))
        exchange.context.begin(self.policy.deadline)
        asker = self._admit_search(exchange, "places")
        rows = self._find_passages(exchange, self._open_engine(), text, asker, language)
        return make_json_response(_leave_out(rows, "text", "is_cut"))

    def _read_section(self, exchange: Exchange) -> Response:
        """Read the whole section of a passage, for the card of an answer that cites it."""
        self.protections.check_not_paused()
        ids = parse_qs(exchange.request.query).get("id", [""])
        exchange.context.begin(self.policy.deadline)
        with self._open_store(exchange, self._open_engine(), "places") as store:
            section = serialize_section(store, ids[0])
        if section is None:
            raise Problem("not-found", "There is nothing at this path.")
        return make_json_response(section)

    @contextmanager
    def _open_store(
        self, exchange: Exchange, engine: Engine, kind: str = "search"
    ) -> Iterator[Store]:
        """Open the store for a block that counts as a search. kind: see ``admit``."""
        asker = self._admit_search(exchange, kind)
        exchange.context.check_deadline()
        question = Question("", asker=asker)
        guarded = self.protections.guarded_engine
        with (
            self._in_flight.hold(exchange.context),
            guarded.hold_slot(question, exchange.context),
        ):
            yield engine.store

    def _admit_search(self, exchange: Exchange, kind: str = "search") -> str:
        """Count a search apart from questions, and return its asker. kind: see ``admit``."""
        asker = self.protections.identify_asker(exchange.request)
        self.protections.admit(asker, kind)
        return asker

    def _find_passages(
        self,
        exchange: Exchange,
        engine: Engine,
        text: str,
        asker: str,
        language: str | None = None,
    ) -> dict[str, dict[str, Any]]:
        """Find public passages, by id, for an admitted search."""
        question = Question(text, language, asker)
        with self._in_flight.hold(exchange.context):
            passages = self.protections.guarded_engine.search(engine, question, exchange.context)
        rows = self._add_absolute_urls(exchange.request, engine, passages.values())
        return dict(zip(passages, rows, strict=True))

    def _answer_agent(self, exchange: Exchange) -> Response:
        """Reply to one MCP message; its tools meet the same protections as the other routes."""
        # Imported by the first agent: most functions are asked by readers alone.
        from .mcp.pages import list_questions
        from .mcp.protocol import reply_to_message
        from .mcp.tools import AgentSite

        request, context, protections = exchange.request, exchange.context, self.protections
        protections.check_not_paused()
        check_body(request)
        context.begin(self.policy.deadline)
        engine = self._open_engine()
        site = engine.store.index.site

        def ask(text: str, language: str | None) -> dict[str, Any]:
            exchange.question = text
            question = Question(text, language, protections.identify_asker(request))
            protections.admit(question.asker)
            return self._make_answer(exchange, engine, question)

        def search(text: str) -> dict[str, dict[str, Any]]:
            exchange.question = text
            return self._find_passages(exchange, engine, text, self._admit_search(exchange))

        def list_places(text: str, language: str | None) -> dict[str, dict[str, Any]]:
            # An answer is worth more than what stands under it.
            with ignore_errors():
                asker = self._admit_search(exchange, "places")
                return self._find_passages(exchange, engine, text, asker, language)
            return {}

        origin = find_page_origin(request, is_site_host=self._is_site_host)
        reply = reply_to_message(
            request.body,
            request.headers,
            AgentSite(
                name=site.name,
                version=engine.store.manifest.generator,
                built_at=engine.store.manifest.built_at,
                base=site.url or origin,
                # A url that was made for one origin is of no use to another.
                is_public=not self.policy.bearer and (site.url is not None or origin is None),
                open_store=lambda: self._open_store(exchange, engine),
                ask=ask,
                search=search,
                read_notes=engine.read_notes,
                list_places=list_places,
                questions=list_questions(engine.store),
                is_draft=self._is_site_host,
                report_error=exchange.convert_error,
            ),
        )
        if reply.body is None:
            return Response(reply.status, b"", (("Cache-Control", "no-store"),))
        waiting = {"Retry-After": reply.retry_after} if reply.retry_after else {}
        return make_json_response(reply.body, reply.status, **waiting)

    def _add_absolute_urls(
        self, request: Request, engine: Engine, rows: Iterable[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Add to each row where its page lies, as far as the site or the request tells it.

        Here and not where an answer is made: a cached answer is sent to pages of other origins.
        """
        origin = find_page_origin(request, is_site_host=self._is_site_host)
        return [add_absolute_url(row, engine.store.index.site.url or origin) for row in rows]

    def _report_refusal(self, exchange: Exchange, reply: ServedReply) -> None:
        reason = reply.body["reason"]
        is_unknown = any(note["kind"] == "unknown" for note in reply.body["notes"])
        if reply.body["claims"] and (is_unknown or reply.body["confidence"] == "low"):
            reason = "nearest"
        if self._log_refusal is None or reason is None:
            return
        refused = RefusedQuestion(
            exchange.question or "",
            self.protections.find_address(exchange.request),
            reason,
            reply.body["bundle"],
            reply.near,
        )
        with ignore_errors():
            self._log_refusal(refused)

    def _report_health(self, exchange: Exchange) -> Response:
        del exchange
        manifest = _require_engine(self._find_current_engine()).store.manifest
        return make_json_response(
            {
                "status": "ok",
                "wire": WIRE_VERSION,
                "bundle": manifest.id,
                "built_at": manifest.built_at,
                "generator": manifest.generator,
            }
        )

    def _report_readiness(self, exchange: Exchange) -> Response:
        """Check that a question would be answered now: no key is missing, stores are reachable."""
        del exchange
        engine = self._open_engine()
        if self._list_missing_keys(engine):
            raise ProviderError("a key is not set: set it in the environment", cause="no-key")
        # It fails where a database is out of reach.
        engine.store.rows_of_page("")
        self.protections.check_not_paused()
        if self.policy.redis_url:
            from ..limits.answer_cache import connect_redis

            connect_redis(self.policy.redis_url).ping()
        return make_json_response({"status": "ready"})

    def _describe(self, exchange: Exchange) -> Response:
        del exchange
        policy = self.policy
        body = render_document(
            _require_engine(self._find_current_engine()).store.manifest.generator,
            self.base,
            metrics=policy.metrics is not None,
            bearer=bool(policy.bearer),
        )
        return Response(200, body, (("Content-Type", JSON_TYPE), ("Cache-Control", "no-store")))

    def _render_metrics(self, exchange: Exchange) -> Response:
        metrics = self.protections.metrics
        if metrics is None or self.policy.metrics is None:
            raise Problem("not-found", "There is nothing at this path.")
        self.protections.check_bearer(exchange.request, (self.policy.metrics,))
        headers = (("Content-Type", METRICS_TYPE), ("Cache-Control", "no-store"))
        return Response(200, metrics.render(), headers)

    def _open_engine(self) -> Engine:
        # Within the request's context: to ask a database what is served takes a part of its time.
        return _require_engine(self._find_engine())

    def _report(self, exchange: Exchange, status: int) -> None:
        """Log and count a request; an error in here must not reach the reader."""
        with ignore_errors():
            metrics = self.protections.metrics
            if self._log is None and metrics is None:
                return
            entry = self._make_log_entry(exchange, status)
            if metrics:
                metrics.observe(entry)
            if self._log:
                self._log(entry.to_line())

    def _make_log_entry(self, exchange: Exchange, status: int) -> AccessLogEntry:
        request, context, reply = exchange.request, exchange.context, exchange.reply
        body = reply.body if reply else {}
        engine = self._find_current_engine()
        return AccessLogEntry(
            request_id=exchange.id,
            method=request.method,
            path=request.path.strip("/"),
            status=status,
            mode=body.get("mode"),
            reason=body.get("reason") or exchange.code,
            cache=reply.outcome if reply else None,
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


def _require_engine(engine: Engine | None) -> Engine:
    if engine is None:
        raise Problem("unavailable", "There is no index yet.", Retry_After=RETRY_LATER)
    return engine
