"""Requests, responses and problems, without a server and without a framework.

Where on its host the service answers.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

MAX_BODY_BYTES = 4096

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
EVENT_STREAM_TYPE = "text/event-stream"

ProblemCode = Literal[
    "bad-request", "unauthorized", "forbidden", "not-found", "method-not-allowed", "too-large",
    "unsupported", "challenge", "rate-limited", "internal", "busy", "capped", "paused",
    "unavailable", "timeout",
]  # fmt: skip

# The status of each code, and RFC 9457's title of its kind.
PROBLEM_STATUSES: Mapping[ProblemCode, tuple[int, str]] = {
    "bad-request": (400, "Bad request"),
    "unauthorized": (401, "Unauthorized"),
    "forbidden": (403, "Forbidden"),
    "challenge": (403, "Challenge not solved"),
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

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request as the core sees it: ``path`` is relative to the base, header names lower.

    ``body`` has at most ``MAX_BODY + 1`` bytes: an adapter stops to read there. ``asker`` is the
    address that it comes from, "" if that is unknown. ``can_stream``: whether the platform can
    send a response in parts.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    asker: str = ""
    can_stream: bool = False


class EventStream(Protocol):
    """Parts of a response; closed when nobody reads on."""

    def __iter__(self) -> Iterator[bytes]: ...

    def __next__(self) -> bytes: ...

    def close(self) -> None:
        """Stop what makes them."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response: a body, or ``events`` that are sent one by one as they are made.

    Whoever sends events closes them when nobody reads on.
    """

    status: int
    body: bytes
    headers: Headers = ()
    events: EventStream | None = None

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A request that is not answered; ``detail`` is a fixed text that repeats nothing of it."""

    def __init__(self, code: ProblemCode, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers

    @property
    def status(self) -> int:
        """The HTTP status."""
        return PROBLEM_STATUSES[self.code][0]

    def as_json(self) -> dict[str, Any]:
        """The problem as RFC 9457 has it, with a code that a program can tell apart."""
        status, title = PROBLEM_STATUSES[self.code]
        return {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": self.detail,
            "code": self.code,
        }

    def response(self) -> Response:
        """The problem as a response."""
        named = {name.replace("_", "-"): value for name, value in self.headers.items()}
        return make_json_response(self.as_json(), self.status, PROBLEM_TYPE, **named)


def make_json_response(
    body: object, status: int = 200, content_type: str = JSON_TYPE, **headers: str
) -> Response:
    """A body as JSON."""
    fixed = (("Content-Type", content_type), ("Cache-Control", "no-store"))
    return Response(status, encode_json(body), (*fixed, *headers.items()))


def encode_json(body: object) -> bytes:
    """JSON in UTF-8; a lone surrogate, which has no bytes, becomes an escape."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")


def encode_event(name: str, data: object) -> bytes:
    """One server-sent event."""
    return b"event: " + name.encode() + b"\ndata: " + encode_json(data) + b"\n\n"


def strip_base_path(path: str, base: str) -> str:
    """A path below the base path, relative to it; "" for one that is elsewhere.

    There is nothing at "", so what is elsewhere gets the same 404 as any other path, with the
    headers of every response.
    """
    return path.removeprefix(base) if path.startswith(base) else ""
