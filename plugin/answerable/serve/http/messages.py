"""Requests, responses and problems (RFC 9457): checks of a request, CORS, and the OpenAPI."""

import copy
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

from ..errors import AnswerableError, CancelledError, CrowdedError, ProviderError
from ..limits.policy import parse_origin
from ..retrieval.question import clean_question, find_question_problem
from ..text.languages import is_language_tag

# Far more than a question: an agent tells of itself in each message, with an icon if it likes.
MAX_BODY_BYTES = 16_384

# Twelve digits are more bytes than any body has, and `int` takes only so many.
_MAX_LENGTH_DIGITS = 12

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
EVENT_STREAM_TYPE = "text/event-stream"

ProblemCode = Literal[
    "bad-request", "unauthorized", "forbidden", "not-found", "method-not-allowed", "too-large",
    "unsupported", "rate-limited", "internal", "busy", "capped", "paused",
    "unavailable", "timeout",
]  # fmt: skip

# The status of each code and its title, as RFC 9457 has them.
PROBLEM_STATUSES: Mapping[ProblemCode, tuple[int, str]] = {
    "bad-request": (400, "Bad request"),
    "unauthorized": (401, "Unauthorized"),
    "forbidden": (403, "Forbidden"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "too-large": (413, "Body too large"),
    "unsupported": (415, "Unsupported media type"),
    "rate-limited": (429, "Too many questions"),
    "internal": (500, "Internal error"),
    "busy": (503, "Busy"),
    "capped": (503, "Spending cap reached"),
    "paused": (503, "Paused"),
    "unavailable": (503, "Unavailable"),
    "timeout": (504, "Timeout"),
}

# Seconds, as the values of a header.
RETRY_LATER = "5"
_DAY_SECONDS = 86_400

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Hold one HTTP request: ``path`` is relative to the base, header names are in lower case.

    ``body`` has at most ``MAX_BODY_BYTES + 1`` bytes: an adapter stops to read there.
    ``client_address`` is "" where it is unknown. ``can_stream``: the platform can send a response
    in parts.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client_address: str = ""
    can_stream: bool = False


class EventStream(Protocol):
    """Yield the encoded events of a response; close it when nobody reads on."""

    def __iter__(self) -> Iterator[bytes]: ...

    def __next__(self) -> bytes: ...

    def close(self) -> None:
        """Stop the work that produces the events."""


@dataclass(frozen=True, slots=True)
class Response:
    """Hold one HTTP response: a body, or ``events`` that are sent one by one as they are made.

    Whoever sends events closes them when nobody reads on.
    """

    status: int
    body: bytes
    headers: Headers = ()
    events: EventStream | None = None

    @property
    def json(self) -> Any:
        """Parse the body."""
        return json.loads(self.body)

    @property
    def sized_headers(self) -> Headers:
        """Add the length of the body to the headers; a 204 has no body, and so no length."""
        if self.status == 204:
            return self.headers
        return (*self.headers, ("Content-Length", str(len(self.body))))


def make_json_response(
    body: object, status: int = 200, content_type: str = JSON_TYPE, **headers: str
) -> Response:
    """Encode a body as JSON and put it into a response that no cache stores."""
    fixed = (("Content-Type", content_type), ("Cache-Control", "no-store"))
    return Response(status, encode_json(body), (*fixed, *headers.items()))


def encode_json(body: object) -> bytes:
    """Encode JSON in UTF-8; a lone surrogate, which has no bytes, becomes an escape."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")


def encode_event(name: str, data: object) -> bytes:
    """Encode one server-sent event."""
    return b"event: " + name.encode() + b"\ndata: " + encode_json(data) + b"\n\n"


def parse_content_length(text: str) -> int | None:
    """Parse the length of a body in decimal digits; None for anything else."""
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text.lstrip("0")[:_MAX_LENGTH_DIGITS] or "0")


def strip_base_path(path: str, base: str) -> str:
    """Make a path relative to the base path; "" for one that is elsewhere.

    No route has the path "", so what is elsewhere gets the same 404 as any other path, with the
    headers of every response.
    """
    return path.removeprefix(base) if path.startswith(base) else ""


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """Refuse a request; ``detail`` is a fixed text that repeats nothing of it.

    headers: of the response, with ``_`` for ``-``.
    """

    def __init__(self, code: ProblemCode, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers

    @property
    def status(self) -> int:
        """Look up the HTTP status of the code."""
        return PROBLEM_STATUSES[self.code][0]

    def as_json(self) -> dict[str, Any]:
        """Format the problem by RFC 9457, with a code that a program can tell apart."""
        status, title = PROBLEM_STATUSES[self.code]
        return {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": self.detail,
            "code": self.code,
        }

    def make_response(self) -> Response:
        """Put the problem into a response."""
        headers = {name.replace("_", "-"): value for name, value in self.headers.items()}
        return make_json_response(self.as_json(), self.status, PROBLEM_TYPE, **headers)


def convert_error(error: BaseException) -> Problem:
    """Convert an error to a problem for a reader, who has no use for the error's own text."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, TimeoutError) or (isinstance(error, ProviderError) and error.timeout):
        return Problem("timeout", "The answer was not ready in time: try again.")
    if isinstance(error, CancelledError):
        return Problem("unavailable", "The question was withdrawn.", Retry_After=RETRY_LATER)
    if isinstance(error, CrowdedError):
        return make_busy_problem()
    if isinstance(error, AnswerableError):
        return Problem(
            "unavailable",
            "The question cannot be answered at the moment.",
            Retry_After=RETRY_LATER,
        )
    # A fault of ours: the server goes on, and its text, which may hold anything, goes nowhere.
    return Problem("internal", "Something went wrong while answering.")


def make_busy_problem() -> Problem:
    """Report that more questions are asked at once than can be answered."""
    return Problem("busy", "Too many questions at once: try again.", Retry_After="2")


def make_capped_problem(unit: str) -> Problem:
    """Report that the tokens of the day are spent until midnight UTC. unit: "answers", …"""
    return Problem(
        "capped",
        f"There are no more {unit} today: the site's budget is used up.",
        Retry_After=str(_DAY_SECONDS - int(time.time()) % _DAY_SECONDS),
    )


@contextmanager
def ignore_errors() -> Iterator[None]:
    """Swallow every exception of this block: its failure must not cost an answer."""
    try:
        yield
    except Exception:
        return


# What a page may send.
_ALLOWED_HEADERS = "Accept, Authorization, Content-Type"
# How long a browser may remember that it may ask.
_PREFLIGHT_SECONDS = "86400"


def check_origin(request: Request, *, is_allowed: bool) -> None:
    """Raise a Problem for a request that may not ask, and for a preflight that names no page."""
    if not is_allowed or (request.method == "OPTIONS" and "origin" not in request.headers):
        raise Problem("forbidden", "Ask from the pages of the site that this answers for.")


def is_origin_allowed(request: Request, origins: Sequence[str]) -> bool:
    """Tell whether a request comes from an allowed origin, or from no page and so has none."""
    headers = request.headers
    origin = headers.get("origin")
    if origin is not None:
        return origin in origins
    # A browser names no origin for what a page elsewhere merely embeds, such as a picture.
    is_embedded = headers.get("sec-fetch-dest", "document") != "document"
    return not (is_embedded and headers.get("sec-fetch-site") == "cross-site")


def find_page_origin(request: Request, *, is_site_host: bool) -> str | None:
    """Find the origin of the site's pages in a request that may ask; None if it names none.

    is_site_host: the host that was asked serves the site's pages too. Another host may be any,
    such as that of a function alone, and a link to it would lead nowhere.
    """
    if origin := request.headers.get("origin"):
        return parse_origin(origin)
    return parse_origin(f"http://{request.headers.get('host', '')}") if is_site_host else None


def answer_preflight(method: str, more_headers: Sequence[str] = ()) -> Response:
    """Answer a CORS preflight: the method and the headers that a page may send."""
    return Response(
        204,
        b"",
        (
            ("Access-Control-Allow-Methods", method),
            ("Access-Control-Allow-Headers", ", ".join((_ALLOWED_HEADERS, *more_headers))),
            ("Access-Control-Max-Age", _PREFLIGHT_SECONDS),
            ("Cache-Control", "no-store"),
        ),
    )


def add_cors_headers(request: Request, response: Response, origins: Sequence[str]) -> Response:
    """Let the page that asks read a response if its origin is allowed."""
    headers: Headers = (*response.headers, ("Vary", "Origin"))
    origin = request.headers.get("origin")
    if origin is not None and origin in origins:
        headers += (
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", "Retry-After"),
        )
    return Response(response.status, response.body, headers, response.events)


def check_body(request: Request) -> None:
    """Raise a Problem for a body that is not declared as JSON, or too large."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON_TYPE:
        raise Problem("unsupported", "Send the question as application/json.")
    if len(request.body) > MAX_BODY_BYTES:
        raise Problem("too-large", f"A request has at most {MAX_BODY_BYTES} bytes.")


def parse_body(request: Request) -> dict[str, Any]:
    """Parse the JSON object of a request; Problem if it is too large or not an object."""
    check_body(request)
    try:
        # `json` would take UTF-16 too.
        body = json.loads(request.body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Problem("bad-request", "The body is not JSON in UTF-8.") from None
    if not isinstance(body, dict):
        raise Problem("bad-request", 'The body needs a text "question".')
    return body


def parse_question(value: object) -> str:
    """Clean the text of a question; Problem if it is not a text, empty or too long."""
    if not isinstance(value, str):
        raise Problem("bad-request", 'The body needs a text "question".')
    text = clean_question(value)
    if problem := find_question_problem(text):
        raise Problem("bad-request", problem)
    return text


def parse_language(value: object) -> str | None:
    """Check the language tag of a question, None where there is none; Problem for anything else."""
    if value is None:
        return None
    if not isinstance(value, str) or not is_language_tag(value):
        raise Problem(
            "bad-request", 'The "language" is not a language tag such as "en" or "pt-BR".'
        )
    return value


_DOCUMENT_PATH = Path(__file__).with_name("openapi.json")


def make_document(
    version: str,
    base: str = "/",
    *,
    metrics: bool = False,
    bearer: bool = False,
) -> dict[str, Any]:
    """Fill in an OpenAPI document. version: of what serves it; base: where its paths begin.

    metrics, bearer: what is configured; a path that is not configured is a 404.
    """
    document: dict[str, Any] = json.loads(_DOCUMENT_PATH.read_bytes())
    _add_search_alias(document["paths"])
    document["info"]["version"] = version
    document["servers"] = [{"url": base.rstrip("/") or "/"}]
    paths, components = document["paths"], document["components"]
    if not bearer:
        for path, item in paths.items():
            # The metrics have a token of their own.
            if path != "/metrics":
                for operation in item.values():
                    operation.pop("security", None)
                    operation["responses"].pop("401", None)
    if not metrics:
        del paths["/metrics"]
    if not (bearer or metrics):
        del components["securitySchemes"]
    return document


def _add_search_alias(paths: dict[str, Any]) -> None:
    """Describe the search at its second path too, by operations of other names."""
    alias = copy.deepcopy(paths["/search"])
    for operation in alias.values():
        operation["operationId"] += "V1"
    paths["/v1/search"] = alias


@cache
def render_document(version: str, base: str = "/", **configured: bool) -> bytes:
    """Encode the same document as the body of a response, once."""
    document = make_document(version, base, **configured)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
