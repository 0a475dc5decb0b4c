"""The answer function: one request in, one response out, its protections in their order."""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from ..bundle_format.manifest import WIRE_VERSION
from ..engine import Engine
from ..limits.askers import hash_with_secret, mask_address
from ..limits.policy import Policy
from ..request_context import RequestContext, use_context
from .access_log import AccessLogEntry
from .cors import add_cors_headers, answer_preflight, check_origin, is_origin_allowed
from .errors import convert_error, ignore_errors
from .guarded_engine import Question, ServedReply
from .messages import (
    EVENT_STREAM_TYPE,
    JSON_TYPE,
    Problem,
    ProblemCode,
    Request,
    Response,
    make_json_response,
)
from .parsing import parse_body, parse_language, parse_question
from .protections import Protections
from .refusal_log import LogRefusal, RefusedQuestion
from .shutdown import InFlight
from .sse import stream_response

_PAUSED_SECONDS = "3600"
# Seconds for which questions that were cancelled may take to settle.
_SETTLE_SECONDS = 5.0


@dataclass(slots=True)
class _Turn:
    """One request, and what is to be said of it in the log."""

    request: Request
    call: RequestContext
    id: str = field(default_factory=lambda: f"req_{uuid.uuid4().hex}")
    started: float = field(default_factory=time.monotonic)
    question: str | None = None
    found: ServedReply | None = None
    code: ProblemCode | None = None


def _require_engine(engine: Engine | None) -> Engine:
    if engine is None:
        raise Problem("unavailable", "There is no index yet.", Retry_After="5")
    return engine


class Service:
    """Answers requests. ``engine`` gives the one to ask, None while there is none.

    ``log`` gets a line for each request, which holds the question if ``log_questions``; ``keep``
    each question that was refused. ``may_ask`` decides of requests instead of the policy's origins.
    ``base`` is the path that it answers under. ``tell`` gets each error that kept a question from
    an answer.
    """

    def __init__(
        self,
        engine: Callable[[], Engine | None],
        policy: Policy,
        *,
        log: Callable[[bytes], object] | None = None,
        keep: LogRefusal | None = None,
        may_ask: Callable[[Request], bool] | None = None,
        log_questions: bool = False,
        base: str = "/",
        held: Callable[[], Engine | None] | None = None,
        tell: Callable[[Exception], object] | None = None,
    ) -> None:
        self.policy = policy
        self.guards = Protections(policy, keeps_near=keep is not None)
        self._engine = engine
        self._held = held or engine
        self._log = log
        self._keep = keep
        self._tell = tell
        self._may_ask = may_ask or (lambda request: is_origin_allowed(request, policy.origins))
        self._log_questions = log_questions
        self._base = base
        self._in_flight = InFlight[RequestContext]()
        self._routes: dict[str, tuple[str, Callable[[_Turn], Response]]] = {
            "answer": ("POST", self._answer),
            "search": ("GET", self._search),
            "health": ("GET", self._health),
            "ready": ("GET", self._ready),
            "openapi.json": ("GET", self._openapi),
            "challenge": ("GET", self._challenge),
            "metrics": ("GET", self._metrics),
        }

    def handle(self, request: Request, call: RequestContext | None = None) -> Response:
        """Answer one request, whatever it is. call: what an adapter cancels when nobody waits."""
        turn = _Turn(request, call or RequestContext())
        try:
            with use_context(turn.call):
                response = self._guarded(turn)
        except Exception as error:
            problem = convert_error(error)
            turn.code = problem.code
            response = problem.response()
        response = add_cors_headers(request, response, self.policy.origins)
        if response.events is None:
            self._observe(turn, response.status)
        return response

    def close(self, seconds: float = 0.0) -> None:
        """Wait so long for the questions under way, then cancel them and let them settle."""
        if self._in_flight.wait(seconds):
            return
        for call in self._in_flight.items():
            call.cancel()
        self._in_flight.wait(_SETTLE_SECONDS)

    def _guarded(self, turn: _Turn) -> Response:
        """The protections that every request meets, then its route."""
        request = turn.request
        route = self._routes.get(request.path.strip("/"))
        if route is None:
            raise Problem("not-found", "There is nothing at this path.")
        method, respond = route
        if request.method not in (method, "OPTIONS"):
            allowed = f"{method}, OPTIONS"
            raise Problem("method-not-allowed", f"This path takes {method} only.", Allow=allowed)
        check_origin(request, is_own=self._may_ask(request))
        if request.method == "OPTIONS":
            return answer_preflight(method)
        if self.policy.bearer and respond not in (self._health, self._ready, self._metrics):
            self._check_bearer(request, self.policy.bearer)
        return respond(turn)

    def _answer(self, turn: _Turn) -> Response:
        self._check_paused()
        body = parse_body(turn.request)
        asked = Question(
            parse_question(body.get("question")),
            parse_language(body.get("language")),
            self._asker(turn.request),
        )
        turn.question = asked.question
        # A store that instances share has its time of the question's.
        turn.call.begin(self.policy.deadline)
        # A request without a solution counts nowhere, or it would lock out those who have one; a
        # solution is used up by a request that is admitted.
        with self._solved(body):
            self._admit(asked)
        engine = self._opened(turn)

        def run() -> dict[str, Any]:
            try:
                with self._in_flight.hold(turn.call):
                    found = self.guards.answering.answer(engine, asked, turn.call)
            except Exception as error:
                turn.code = convert_error(error).code
                if self._tell:
                    with ignore_errors():
                        self._tell(error)
                raise
            turn.found = found
            self._keep_refusal(turn, found)
            return found.body | {"request_id": turn.id}

        if turn.request.can_stream and EVENT_STREAM_TYPE in turn.request.headers.get("accept", ""):
            return stream_response(
                run, turn.call, turn.call.left, lambda status: self._observe(turn, status)
            )
        return make_json_response(run())

    def _search(self, turn: _Turn) -> Response:
        self._check_paused()
        values = parse_qs(turn.request.query, keep_blank_values=True).get("q")
        if not values:
            raise Problem("bad-request", "Search needs a query: ?q=words.")
        asked = Question(parse_question(values[0]), asker=self._asker(turn.request))
        turn.question = asked.question
        turn.call.begin(self.policy.deadline)
        # A search needs no solution: counted with answers it would lock out those who have one.
        self._admit(asked, "searches" if self.policy.challenge_key else "all")
        with self._in_flight.hold(turn.call):
            found = self.guards.answering.search(self._opened(turn), asked, turn.call)
        return make_json_response(found)

    def _health(self, turn: _Turn) -> Response:
        del turn
        manifest = _require_engine(self._held()).store.manifest
        return make_json_response(
            {
                "status": "ok",
                "wire": WIRE_VERSION,
                "bundle": manifest.id,
                "built_at": manifest.built_at,
                "generator": manifest.generator,
            }
        )

    def _ready(self, turn: _Turn) -> Response:
        """Whether a question would be answered now: the stores are there."""
        engine = self._opened(turn)
        with use_context(turn.call):
            engine.store.check()
        self._check_paused()
        if self.policy.redis_url:
            from ..limits.redis_store import connect_redis

            connect_redis(self.policy.redis_url).ping()
        return make_json_response({"status": "ready"})

    def _openapi(self, turn: _Turn) -> Response:
        del turn
        from .openapi import render_document

        policy = self.policy
        body = render_document(
            _require_engine(self._held()).store.manifest.generator,
            self._base,
            challenge=policy.challenge_key is not None,
            metrics=policy.metrics is not None,
            bearer=bool(policy.bearer),
        )
        return Response(200, body, (("Content-Type", JSON_TYPE), ("Cache-Control", "no-store")))

    def _challenge(self, turn: _Turn) -> Response:
        del turn
        challenge = self.guards.challenge
        if challenge is None:
            raise Problem("not-found", "There is nothing at this path.")
        return make_json_response(challenge.new())

    def _metrics(self, turn: _Turn) -> Response:
        metrics = self.guards.metrics
        if metrics is None or self.policy.metrics is None:
            raise Problem("not-found", "There is nothing at this path.")
        self._check_bearer(turn.request, (self.policy.metrics,))
        from .metrics import METRICS_TYPE

        kind = ("Content-Type", METRICS_TYPE)
        return Response(200, metrics.text(), (kind, ("Cache-Control", "no-store")))

    def _opened(self, turn: _Turn) -> Engine:
        # Asking which bundle is served is a part of the question's time.
        with use_context(turn.call):
            return _require_engine(self._engine())

    def _check_paused(self) -> None:
        if self.policy.paused:
            raise Problem(
                "paused",
                "Questions are not answered at the moment. Search the site instead.",
                Retry_After=_PAUSED_SECONDS,
            )

    def _check_bearer(self, request: Request, digests: tuple[str, ...]) -> None:
        from ..limits.askers import accepts_bearer_token

        if not accepts_bearer_token(request.headers.get("authorization"), digests):
            raise Problem("unauthorized", "This needs a bearer token.", WWW_Authenticate="Bearer")

    @contextmanager
    def _solved(self, body: dict[str, Any]) -> Iterator[None]:
        """Use up the solution of a challenge, where one is wanted, unless this block raises."""
        challenge = self.guards.challenge
        if challenge is None:
            yield
            return
        from ..limits.proof_of_work import UnsolvedError

        payload = body.get("altcha")
        try:
            with challenge.using(payload if isinstance(payload, str) else None):
                yield
        except UnsolvedError as error:
            raise Problem("challenge", str(error)) from None

    def _admit(self, asked: Question, group: str = "all") -> None:
        seconds = self.guards.limiter.admit(asked.asker, group)
        if seconds is not None:
            raise Problem(
                "rate-limited",
                "Too many questions: wait a moment.",
                Retry_After=str(max(1, round(seconds + 0.5))),
            )

    def _asker(self, request: Request) -> str:
        """Who asks, as a hash that lasts a day; all that are unknown are one."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        return hash_with_secret(self._address(request), self.policy.secret, day) or "unknown"

    def _address(self, request: Request) -> str:
        header = self.policy.asker_header
        if header is None:
            return mask_address(request.asker)
        # What stands last is what the nearest proxy has put there; before it anyone may write.
        return mask_address(request.headers.get(header, "").rpartition(",")[2].strip())

    def _keep_refusal(self, turn: _Turn, found: ServedReply) -> None:
        if self._keep is None or found.body["reason"] is None:
            return
        asked = RefusedQuestion(
            turn.question or "",
            self._address(turn.request),
            found.body["reason"],
            found.body["bundle"],
            found.near,
        )
        with ignore_errors():
            self._keep(asked)

    def _observe(self, turn: _Turn, status: int) -> None:
        """Tell the log and the metrics of a request; their faults are no reader's."""
        with ignore_errors():
            metrics = self.guards.metrics
            if self._log is None and metrics is None:
                return
            seen = self._seen(turn, status)
            if metrics:
                metrics.observe(seen)
            if self._log:
                self._log(seen.line())

    def _seen(self, turn: _Turn, status: int) -> AccessLogEntry:
        body = turn.found.body if turn.found else {}
        engine = self._held()
        return AccessLogEntry(
            request_id=turn.id,
            method=turn.request.method,
            path=turn.request.path.strip("/"),
            status=status,
            mode=body.get("mode"),
            reason=body.get("reason") or turn.code,
            cache=turn.found.outcome if turn.found else None,
            timings_ms=turn.call.timings(),
            tokens_in=turn.call.tokens_in,
            tokens_out=turn.call.tokens_out,
            bundle=engine.store.manifest.id if engine else None,
            contract=turn.call.refusals,
            question=turn.question if self._log_questions else None,
            duration_ms=1000 * (time.monotonic() - turn.started),
        )
