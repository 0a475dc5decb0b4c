"""Which pages may ask, and what their browsers are told of it (the fetch standard's CORS)."""

from collections.abc import Sequence

from .messages import Headers, Problem, Request, Response

# How long a browser may remember that it may ask.
_PREFLIGHT_SECONDS = "86400"
_FORBIDDEN_DETAIL = "Ask from the pages of the site that this answers for."


def check_origin(request: Request, *, is_own: bool) -> None:
    """Refuse what may not ask, and a preflight that is of no page."""
    if not is_own or (request.method == "OPTIONS" and "origin" not in request.headers):
        raise Problem("forbidden", _FORBIDDEN_DETAIL)


def is_origin_allowed(request: Request, origins: Sequence[str]) -> bool:
    """Whether a page that asks is of an allowed origin; what no page sends has no origin."""
    headers = request.headers
    origin = headers.get("origin")
    if origin is not None:
        return origin in origins
    # A browser names no origin for what a page elsewhere merely embeds, such as a picture.
    embedded = headers.get("sec-fetch-dest", "document") != "document"
    return not (embedded and headers.get("sec-fetch-site") == "cross-site")


def answer_preflight(method: str) -> Response:
    """What a browser wants to know before it lets a page ask."""
    return Response(
        204,
        b"",
        (
            ("Access-Control-Allow-Methods", method),
            ("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type"),
            ("Access-Control-Max-Age", _PREFLIGHT_SECONDS),
            ("Cache-Control", "no-store"),
        ),
    )


def add_cors_headers(request: Request, response: Response, origins: Sequence[str]) -> Response:
    """The same response, which the page that asks may read if its origin is allowed."""
    more: Headers = (("Vary", "Origin"),)
    origin = request.headers.get("origin")
    if origin is not None and origin in origins:
        more += (
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", "Retry-After"),
        )
    return Response(response.status, response.body, (*response.headers, *more), response.events)
