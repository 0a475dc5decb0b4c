"""Answer questions, searches and agents' messages behind the protections; log what is refused."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from ..answers.wire import add_absolute_url
from ..engine import Engine
from ..limits.policy import Policy
from ..retrieval.store import Store
from .exchange import Exchange
from .guarded_engine import Question, ServedReply
from .messages import (
    EVENT_STREAM_TYPE,
    Problem,
    Request,
    Response,
    ignore_errors,
    make_json_response,
)
from .protections import Protections
from .refusal_log import LogRefusal, RefusedQuestion
from .shutdown import InFlight
from .sse import stream_response
from .validation import (
    check_body,
    find_page_origin,
    parse_body,
    parse_language,
    parse_question,
)


class QuestionRoutes:
    """The routes that ask the engine: answer, search and mcp.

    open_engine: returns the engine or raises a Problem. report: logs a request whose response was
    sent in parts, with its status. The others are those of ``Service``.
    """

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        policy: Policy,
        protections: Protections,
        in_flight: InFlight,
        report: Callable[[Exchange, int], None],
        *,
        log_refusal: LogRefusal | None,
        report_error: Callable[[Exception], object] | None,
        is_site_host: bool,
    ) -> None:
        self._open_engine = open_engine
        self._policy = policy
        self._protections = protections
        self._in_flight = in_flight
        self._report = report
        self._log_refusal = log_refusal
        self._report_error = report_error
        self._is_site_host = is_site_host

    def answer(self, exchange: Exchange) -> Response:
        """Answer the question of a body, in one piece or as a stream of events."""
        request, context, protections = exchange.request, exchange.context, self._protections
        protections.check_not_paused()
        body = parse_body(request)
        question = Question(
            parse_question(body.get("question")),
            parse_language(body.get("language")),
            protections.identify_asker(request),
        )
        exchange.question = question.text
        # The deadline begins here, so that waiting for a shared store counts against it.
        context.begin(self._policy.deadline)
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
                reply = self._protections.guarded_engine.answer(engine, question, context)
        except Exception as error:
            if self._report_error:
                with ignore_errors():
                    self._report_error(error)
            raise
        exchange.reply = reply
        self._report_refusal(exchange, reply)
        citations = self._add_absolute_urls(exchange.request, engine, reply.body["citations"])
        return reply.body | {"citations": citations, "request_id": exchange.id}

    def search(self, exchange: Exchange) -> Response:
        """Find public passages for the query of a url."""
        self._protections.check_not_paused()
        queries = parse_qs(exchange.request.query, keep_blank_values=True).get("q")
        if not queries:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        exchange.question = text = parse_question(queries[0])
        exchange.context.begin(self._policy.deadline)
        asker = self._admit_search(exchange)
        return make_json_response(self._find_passages(exchange, self._open_engine(), text, asker))

    def _admit_search(self, exchange: Exchange) -> str:
        """Count a search against the rates, and return its asker."""
        asker = self._protections.identify_asker(exchange.request)
        self._protections.admit(asker)
        return asker

    def _find_passages(
        self, exchange: Exchange, engine: Engine, text: str, asker: str
    ) -> dict[str, dict[str, Any]]:
        """Find public passages, by id, for an admitted search."""
        question = Question(text, asker=asker)
        with self._in_flight.hold(exchange.context):
            passages = self._protections.guarded_engine.search(engine, question, exchange.context)
        rows = self._add_absolute_urls(exchange.request, engine, passages.values())
        return dict(zip(passages, rows, strict=True))

    def answer_agent(self, exchange: Exchange) -> Response:
        """Reply to one MCP message; its tools meet the same protections as the other routes."""
        # Imported by the first agent: most functions are asked by readers alone.
        from .mcp.methods import reply_to_message
        from .mcp.tools import AgentSite

        request, context, protections = exchange.request, exchange.context, self._protections
        protections.check_not_paused()
        check_body(request)
        context.begin(self._policy.deadline)
        engine = self._open_engine()
        site = engine.store.site

        def ask(text: str, language: str | None) -> dict[str, Any]:
            exchange.question = text
            question = Question(text, language, protections.identify_asker(request))
            protections.admit(question.asker)
            return self._make_answer(exchange, engine, question)

        def search(text: str) -> dict[str, dict[str, Any]]:
            exchange.question = text
            return self._find_passages(exchange, engine, text, self._admit_search(exchange))

        @contextmanager
        def open_store() -> Iterator[Store]:
            asker = self._admit_search(exchange)
            context.check_deadline()
            guarded = protections.guarded_engine
            with (
                self._in_flight.hold(context),
                guarded.hold_slot(Question("", asker=asker), context),
            ):
                yield engine.store

        origin = find_page_origin(request, is_site_host=self._is_site_host)
        reply = reply_to_message(
            request.body,
            request.headers,
            AgentSite(
                name=site.name,
                version=engine.store.manifest.generator,
                base=site.url or origin,
                # A url that was made for one origin is of no use to another.
                is_public=not self._policy.bearer and (site.url is not None or origin is None),
                open_store=open_store,
                ask=ask,
                search=search,
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
        return [add_absolute_url(row, engine.store.site.url or origin) for row in rows]

    def _report_refusal(self, exchange: Exchange, reply: ServedReply) -> None:
        if self._log_refusal is None or reply.body["reason"] is None:
            return
        refused = RefusedQuestion(
            exchange.question or "",
            self._protections.find_address(exchange.request),
            reply.body["reason"],
            reply.body["bundle"],
            reply.near,
        )
        with ignore_errors():
            self._log_refusal(refused)


@contextmanager
def _noting_problem(exchange: Exchange) -> Iterator[None]:
    """Note for the log what an agent, or the reader of a stream, is told with the status 200."""
    try:
        yield
    except Exception as error:
        exchange.convert_error(error)
        raise
