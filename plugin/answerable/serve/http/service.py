"""Route requests to answer, search, mcp, health, metrics, …; apply protections, log each."""

import time
from collections.abc import Callable, Sequence

from ..bundle_format.manifest import WIRE_VERSION
from ..engine import Engine
from ..errors import ProviderError
from ..limits.policy import Policy
from ..request_context import RequestContext, use_context
from .exchange import Exchange
from .messages import (
    JSON_TYPE,
    RETRY_LATER,
    Problem,
    Request,
    Response,
    ignore_errors,
    make_json_response,
)
from .protections import Protections
from .question_routes import QuestionRoutes
from .refusal_log import LogRefusal, format_hour
from .shutdown import InFlight
from .telemetry import METRICS_TYPE, AccessLogEntry
from .validation import (
    add_cors_headers,
    answer_preflight,
    check_origin,
    is_origin_allowed,
)

# What a page may send more to some paths: an agent repeats parts of its message in headers.
_MORE_HEADERS = {"mcp": ("Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version")}
# Seconds in which questions that were cancelled have to end.
_SETTLE_SECONDS = 5.0


class Service:
    """Answer requests by the engine that ``find_engine`` returns, None while there is none.

    find_current_engine: the engine at hand, without a look at a database, for the log and the
    metadata. log: takes a line for each request, which holds the question if ``log_questions``.
    log_refusal: takes each question that was refused. is_allowed: decides of requests instead of
    the policy's origins. base: the path that it answers under. is_site_host: the host that is asked
    serves the site's pages too. report_error: takes each error that kept a question from an answer.
    list_missing_keys: the variables of the keys that an engine's providers need and the environment
    does not have; a service that lacks one is not ready.
    """

    def __init__(
        self,
        find_engine: Callable[[], Engine | None],
        policy: Policy,
        *,
        find_current_engine: Callable[[], Engine | None] | None = None,
        log: Callable[[bytes], object] | None = None,
        log_questions: bool = False,
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
        self._log_questions = log_questions
        self._is_allowed = is_allowed or (
            lambda request: is_origin_allowed(request, policy.origins)
        )
        self.base = base
        self._list_missing_keys = list_missing_keys or (lambda _: ())
        self._in_flight = InFlight()
        questions = QuestionRoutes(
            self._open_engine,
            policy,
            self.protections,
            self._in_flight,
            self._report,
            log_refusal=log_refusal,
            report_error=report_error,
            is_site_host=is_site_host,
        )
        self._routes: dict[str, tuple[str, Callable[[Exchange], Response]]] = {
            "answer": ("POST", questions.answer),
            "search": ("GET", questions.search),
            "v1/search": ("GET", questions.search),
            "mcp": ("POST", questions.answer_agent),
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
        engine.store.check_reachable()
        self.protections.check_not_paused()
        if self.policy.redis_url:
            from ..limits.redis_store import connect_redis

            connect_redis(self.policy.redis_url).ping()
        return make_json_response({"status": "ready"})

    def _describe(self, exchange: Exchange) -> Response:
        del exchange
        from .openapi import render_document

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
            question=exchange.question if self._log_questions else None,
            duration_ms=1000 * (time.monotonic() - exchange.started),
            hour=format_hour(time.time()),
            cited=reply.cited if reply else (),
        )


def _require_engine(engine: Engine | None) -> Engine:
    if engine is None:
        raise Problem("unavailable", "There is no index yet.", Retry_After=RETRY_LATER)
    return engine
