"""The HTTP core: one request in, one response out, no server and no framework."""

import json
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from . import languages, questions, refusals, selection, wire
from .engine import Engine
from .errors import AnswerableError
from .frozen import frozen
from .manifest import WIRE
from .refusals import Unanswered
from .retrieval import TOP_K

MAX_BODY = 4096

_TITLES = {
    400: "Bad request",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    413: "Body too large",
    415: "Unsupported media type",
    500: "Internal error",
}


@frozen
class Request:
    """An HTTP request as the core sees it: ``path`` is relative to the base, header names lower.

    ``asker`` is the address it comes from, "" if that is unknown.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    asker: str = ""


@frozen
class Response:
    """An HTTP response with a JSON body."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


_Respond = Callable[[Engine, Request], dict[str, Any]]


class _Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A request that is refused before it reaches the engine."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


def handle(engine: Engine, request: Request, refused: refusals.Keep | None = None) -> Response:
    """Answer one request: POST answer, GET search, GET health; anything else is a problem.

    refused: is told of a question that the engine has refused; its faults are no reader's.
    """
    try:
        return _json(200, _route(engine, request, refused))
    except _Problem as problem:
        return problem_response(problem.status, problem.detail, **problem.headers)
    except AnswerableError:
        return problem_response(503, "The question cannot be answered at the moment.")
    except Exception:
        # A fault of ours: the server goes on, and its text, which may hold anything, goes nowhere.
        return problem_response(500, "Something went wrong while answering.")


def problem_response(status: int, detail: str, **headers: str) -> Response:
    """An RFC 9457 problem; ``detail`` is a fixed text that repeats nothing of the request."""
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Unavailable"),
        "status": status,
        "detail": detail,
    }
    return _json(status, body, "application/problem+json", **headers)


def _json(
    status: int, body: object, content_type: str = "application/json", **headers: str
) -> Response:
    # A lone surrogate cannot be encoded; it becomes an escape, which JSON allows.
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    fixed = (("Content-Type", content_type), ("Cache-Control", "no-store"))
    return Response(status, text, (*fixed, *headers.items()))


def _route(engine: Engine, request: Request, refused: refusals.Keep | None) -> dict[str, Any]:
    answer: _Respond = partial(_answer, refused=refused)
    routes = {"answer": ("POST", answer), "search": ("GET", _search), "health": ("GET", _health)}
    found = routes.get(request.path.strip("/"))
    if found is None:
        raise _Problem(404, "There is nothing at this path.")
    method, respond = found
    if request.method != method:
        raise _Problem(405, f"This path takes {method} only.", Allow=method)
    return respond(engine, request)


def _answer(
    engine: Engine, request: Request, refused: refusals.Keep | None = None
) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise _Problem(415, "Send the question as application/json.")
    if len(request.body) > MAX_BODY:
        raise _Problem(413, f"A request has at most {MAX_BODY} bytes.")
    try:
        data = json.loads(request.body)
    except (ValueError, RecursionError):
        raise _Problem(400, "The body is not JSON.") from None
    question = data.get("question") if isinstance(data, dict) else None
    if not isinstance(question, str):
        raise _Problem(400, 'The body needs a text "question".')
    language = data.get("language")
    if language is not None and not (isinstance(language, str) and languages.is_tag(language)):
        raise _Problem(400, 'The "language" is no language tag such as "en" or "pt-BR".')
    cleaned = _question(question)
    found = engine.retrieve(cleaned, selection.POOL, language, near=1 if refused else 0)
    reply = engine.answer_from(cleaned, found)
    if refused and reply.reason:
        near = refusals.near(found, engine.bundle.manifest.profile.floor)
        bundle = engine.bundle.manifest.id
        with suppress(Exception):
            refused(Unanswered(cleaned, request.asker, reply.reason, bundle, near))
    return wire.answer(reply, engine.bundle, f"req_{uuid.uuid4().hex}")


def _search(engine: Engine, request: Request) -> dict[str, Any]:
    values = parse_qs(request.query, keep_blank_values=True).get("q")
    if not values:
        raise _Problem(400, "Search needs a query: ?q=words.")
    found = engine.retrieve(_question(values[0]), TOP_K).passages
    return {
        scored.item.id: {
            "url": scored.item.url,
            "title": scored.item.title,
            "text": scored.item.text,
        }
        for scored in found
    }


def _health(engine: Engine, request: Request) -> dict[str, Any]:
    del request
    manifest = engine.bundle.manifest
    return {
        "status": "ok",
        "wire": WIRE,
        "bundle": manifest.id,
        "built_at": manifest.built_at,
        "generator": manifest.generator,
    }


def _question(asked: str) -> str:
    """A question as it is answered; one that cannot be is a problem."""
    cleaned = questions.clean(asked)
    problem = questions.problem(cleaned)
    if problem:
        raise _Problem(400, problem)
    return cleaned
