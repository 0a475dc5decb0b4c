"""Validate origin, JSON body, question and language of a request; add CORS headers."""

import json
from collections.abc import Sequence
from typing import Any

from ..limits.policy import parse_origin
from ..retrieval.question_text import clean_question, find_question_problem
from ..text.languages import is_language_tag
from .messages import JSON_TYPE, MAX_BODY_BYTES, Headers, Problem, Request, Response

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
