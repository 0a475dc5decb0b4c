"""HTTP requests and responses as dataclasses, errors as problem+json (RFC 9457), JSON encoding."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..errors import AnswerableError, CancelledError, CrowdedError, ProviderError

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
_RETRY_SOON = "2"
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
    return Problem("busy", "Too many questions at once: try again.", Retry_After=_RETRY_SOON)


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
