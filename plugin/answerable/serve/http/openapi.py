"""The function as an OpenAPI document, made from what the core itself uses."""

import json
from functools import cache
from typing import Any, get_args

from . import openapi_examples
from .messages import (
    EVENT_STREAM_TYPE,
    JSON_TYPE,
    MAX_BODY_BYTES,
    PROBLEM_STATUSES,
    PROBLEM_TYPE,
    ProblemCode,
)
from .metrics import METRICS_TYPE as METRICS
from .openapi_examples import make_events_example
from .openapi_schemas import (
    Schema,
    make_problem_schema,
    make_question_text_schema,
    make_schemas,
    ref,
)

OPENAPI_VERSION = "3.1.0"

_ABOUT = (
    "Questions to one documentation site. An answer is made of sentences with their sources; what "
    'the site does not answer gets a plain "not found", which is no error. Nothing is remembered.'
)
_STREAMED = (
    "Server-sent events, for a request whose Accept names text/event-stream and where the platform "
    "can stream: `stage` events while the answer is made, then one `answer` or one `problem`. "
    "`x-events` has the schema of each event's data."
)
_WHEN: dict[int, str] = {
    400: "The request holds no question that can be answered.",
    401: "The bearer token is missing or unknown.",
    403: "The page that asks is of another site, or the challenge is not solved.",
    404: "There is nothing at this path.",
    405: "This path takes another method.",
    413: f"The body has more than {MAX_BODY_BYTES} bytes.",
    415: "The body is not declared as JSON.",
    429: "Too many questions of one asker, or of all together.",
    500: "A fault of the function.",
    503: "Not at the moment: too busy, spent, paused, or without what it needs.",
    504: "The answer was not ready in time.",
}
_ASKED = (400, 403, 405, 429, 500, 503, 504)
# What a response of each status has beside what every response has.
_EXTRA: dict[int, tuple[str, ...]] = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_EVERY = ("Cache-Control", "Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers")
_PREFLIGHT = (
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Max-Age",
)


def make_document(
    version: str,
    base: str = "/",
    *,
    challenge: bool = False,
    metrics: bool = False,
    bearer: bool = False,
) -> dict[str, Any]:
    """An OpenAPI document of a function. version: of what serves it; base: where its paths begin.

    challenge, metrics, bearer: what is configured; a path that is not configured is a 404.
    """
    bodies = make_schemas()
    paths = {
        "/answer": _path("POST", "ask", _ask(challenge), bearer),
        "/search": _path("GET", "search", _search(), bearer),
        "/health": _path("GET", "health", _health(), False),
        "/ready": _path("GET", "ready", _ready(), False),
        "/openapi.json": _path("GET", "openapi", _openapi(), bearer),
    }
    if challenge:
        paths["/challenge"] = _path("GET", "challenge", _challenge(), bearer)
    else:
        del bodies["Challenge"]
    if metrics:
        paths["/metrics"] = _path("GET", "metrics", _metrics(), True)
    components: dict[str, Any] = {
        "schemas": bodies,
        "headers": _headers(),
        "responses": {str(status): _problem(status) for status in _WHEN},
    }
    if bearer or metrics:
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": OPENAPI_VERSION,
        "info": {"title": "Answer function", "version": version, "description": _ABOUT},
        "servers": [{"url": base.rstrip("/") or "/"}],
        "paths": paths,
        "components": components,
    }


@cache
def render_document(version: str, base: str = "/", **configured: bool) -> bytes:
    """The same document as the bytes of a response, made once."""
    made = make_document(version, base, **configured)
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


def _path(method: str, name: str, operation: dict[str, Any], bearer: bool) -> dict[str, Any]:
    """A path: its one method, and the preflight that browsers send before it."""
    responses = operation["responses"]
    if bearer:
        responses["401"] = {"$ref": "#/components/responses/401"}
        operation["security"] = [{"bearer": []}]
    preflight = {
        "operationId": f"{name}Preflight",
        "summary": "Whether a page of another origin may ask",
        "responses": {
            "204": {"description": "It may.", "headers": _named(*_EVERY, *_PREFLIGHT)},
            **_problems(403, 500),
        },
    }
    whole = {"operationId": name, **operation, "responses": dict(sorted(responses.items()))}
    return {method.lower(): whole, "options": preflight}


def _ask(challenge: bool) -> dict[str, Any]:
    example = {"question": openapi_examples.QUESTION}
    solve = " It wants a solved challenge as `altcha`." if challenge else ""
    content = {
        JSON_TYPE: {
            "schema": ref("Answer"),
            "examples": {
                "answer": {"summary": openapi_examples.QUESTION, "value": openapi_examples.ANSWER},
                "refusal": {"summary": openapi_examples.REFUSED, "value": openapi_examples.REFUSAL},
            },
        },
        EVENT_STREAM_TYPE: {
            "schema": {"type": "string", "description": _STREAMED},
            "example": make_events_example(),
            "x-events": {
                "stage": ref("Stage"),
                "answer": ref("Answer"),
                "problem": ref("Problem"),
            },
        },
    }
    return {
        "summary": "Ask a question",
        "description": f"A refusal has the status 200 too.{solve}",
        "requestBody": {
            "required": True,
            "description": f"At most {MAX_BODY_BYTES} bytes.",
            "content": {JSON_TYPE: {"schema": ref("Question"), "example": example}},
        },
        "responses": {
            "200": _response("An answer or a refusal.", content, "X-Accel-Buffering"),
            **_problems(*_ASKED, 413, 415),
        },
    }


def _search() -> dict[str, Any]:
    query = {
        "name": "q",
        "in": "query",
        "required": True,
        "description": "What to look for.",
        "schema": make_question_text_schema(),
        "example": openapi_examples.SEARCHED,
    }
    return {
        "summary": "Search public passages",
        "parameters": [query],
        "responses": {
            "200": _json("What was found, best first.", "Passages", openapi_examples.PASSAGES),
            **_problems(*_ASKED),
        },
    }


def _health() -> dict[str, Any]:
    return _get(
        "Ask which bundle is served", _json("It runs.", "Health", openapi_examples.HEALTH), 503
    )


def _ready() -> dict[str, Any]:
    found = _json("A question would be answered.", "Ready", openapi_examples.READY)
    return _get("Ask whether a question would be answered", found, 503)


def _openapi() -> dict[str, Any]:
    content = {JSON_TYPE: {"schema": {"type": "object", "required": ["openapi", "info", "paths"]}}}
    return _get("Get this document", _response("This document.", content), 503)


def _challenge() -> dict[str, Any]:
    content = {JSON_TYPE: {"schema": ref("Challenge")}}
    return _get("Get a challenge to solve", _response("A challenge.", content), 503)


def _metrics() -> dict[str, Any]:
    content = {METRICS: {"schema": {"type": "string"}}}
    return _get("Get what is counted", _response("Counters of this process.", content), 503)


def _get(summary: str, found: dict[str, Any], *also: int) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": found, **_problems(403, 405, 500, *also)}}


def _json(description: str, schema: str, example: object) -> dict[str, Any]:
    return _response(description, {JSON_TYPE: {"schema": ref(schema), "example": example}})


def _response(description: str, content: Schema, *headers: str) -> dict[str, Any]:
    return {"description": description, "headers": _named(*_EVERY, *headers), "content": content}


def _problems(*statuses: int) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    codes: list[ProblemCode] = [
        code for code in get_args(ProblemCode) if PROBLEM_STATUSES[code][0] == status
    ]
    return {
        "description": _WHEN[status],
        "headers": _named(*_EVERY, *_EXTRA.get(status, ())),
        "content": {PROBLEM_TYPE: {"schema": make_problem_schema(codes)}},
    }


def _named(*headers: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


def _headers() -> dict[str, Any]:
    """Every header by its name; those of CORS are sent to pages of an allowed origin only."""
    seconds = {"type": "integer", "minimum": 1}
    return {
        "Cache-Control": _header("Nothing is stored by caches.", {"const": "no-store"}),
        "Vary": _header("What a response depends on.", {"type": "string", "pattern": "Origin"}),
        "Access-Control-Allow-Origin": _header("The page's origin.", required=False),
        "Access-Control-Expose-Headers": _header("What the page may read.", required=False),
        "Access-Control-Allow-Methods": _header("The path's method."),
        "Access-Control-Allow-Headers": _header("What the page may send."),
        "Access-Control-Max-Age": _header("How long this holds, in seconds.", seconds),
        "Allow": _header("The methods of this path."),
        "Retry-After": _header("The seconds until another attempt may succeed.", seconds),
        "X-Accel-Buffering": _header("Of a stream, for proxies.", {"const": "no"}, required=False),
        "WWW-Authenticate": _header("How to authenticate.", {"const": "Bearer"}),
    }


def _header(description: str, schema: Schema | None = None, required: bool = True) -> Schema:
    text = {"type": "string"}
    return {"description": description, "required": required, "schema": schema or text}
