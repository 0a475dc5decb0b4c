"""Problems (RFC 9457): why a request gets no answer, in fixed words that repeat nothing of it."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from starlette.responses import Response

from ..engine.errors import AnswerableError, CancelledError, ProviderError

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"

ProblemCode = Literal[
    "bad-request", "unauthorized", "forbidden", "not-found", "method-not-allowed", "too-large",
    "unsupported", "rate-limited", "internal", "busy", "capped", "paused",
    "unavailable", "timeout",
]  # fmt: skip

# The status and the title of each code.
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


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A refusal of a request. ``headers``: of the response, with ``_`` for ``-``."""

    def __init__(self, code: ProblemCode, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status, self.title = PROBLEM_STATUSES[code]
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def as_json(self) -> dict[str, Any]:
        """Format the problem by RFC 9457, with a code that a program can tell apart."""
        return {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }

    def make_response(self) -> Response:
        """Put the problem into a response."""
        return make_json_response(
            self.as_json(), self.status, {"Content-Type": PROBLEM_TYPE, **self.headers}
        )


def make_json_response(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Put JSON into a response that no cache stores. body: bytes are JSON already."""
    data = body if isinstance(body, bytes) else encode_json(body)
    fixed = {"Content-Type": JSON_TYPE, "Cache-Control": "no-store"}
    return Response(data, status, {**fixed, **(headers or {})})


def encode_json(body: object) -> bytes:
    """Encode JSON in UTF-8; a lone surrogate, which has no bytes, becomes an escape."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")


def make_unavailable(detail: str) -> Problem:
    """Make the problem of a function that may answer in some seconds."""
    return Problem("unavailable", detail, Retry_After="5")


def convert_error(error: BaseException) -> Problem:
    """Convert an error to a problem for a reader, who has no use for the error's own text."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ProviderError) and error.cause == "timeout":
        return Problem("timeout", "The answer was not ready in time: try again.")
    if isinstance(error, CancelledError):
        return make_unavailable("The question was withdrawn.")
    if isinstance(error, AnswerableError):
        return make_unavailable("The question cannot be answered at the moment.")
    # A fault of ours: the server goes on, and its text, which may hold anything, goes nowhere.
    return Problem("internal", "Something went wrong while answering.")
