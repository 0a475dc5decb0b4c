"""WSGI application over a service: reads bodies up to a limit, streams events with keepalives."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ..messages import (
    MAX_BODY_BYTES,
    Request,
    Response,
    parse_content_length,
    strip_base_path,
)
from ..sse import KeepaliveEvents

if TYPE_CHECKING:
    from ..service import Service

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def make_wsgi_app(service: "Service", base: str = "/") -> WsgiApp:
    """Make a WSGI application that answers under a base path."""

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = read_limited_body(environ.get("wsgi.input"), _parse_length(environ))
        request = convert_environ(environ, base, body)
        response = service.handle(request)
        return send_wsgi_response(response, start_response, with_body=request.method != "HEAD")

    return app


def decode_path(environ: Environ) -> str:
    """Decode the path of a WSGI environment."""
    return _decode_utf8(environ.get("PATH_INFO") or "/")


def convert_environ(environ: Environ, base: str, body: bytes) -> Request:
    """Convert a WSGI environment, and the body that was read from it, to a request."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    return Request(
        method=str(environ.get("REQUEST_METHOD", "")),
        path=strip_base_path(decode_path(environ), base),
        query=_decode_utf8(environ.get("QUERY_STRING") or ""),
        headers=headers,
        body=body,
        client_address=str(environ.get("REMOTE_ADDR") or ""),
        can_stream=True,
    )


def read_limited_body(stream: Any, length: int = MAX_BODY_BYTES + 1) -> bytes:
    """Read a body up to one byte more than is allowed; empty if its sender goes away.

    length: of the body, where a stream may not be read beyond it.
    """
    limit, body = min(length, MAX_BODY_BYTES + 1), b""
    try:
        while len(body) < limit and (part := stream.read(limit - len(body))):
            body += part
    except Exception:
        # Each server has errors of its own for a client that goes while it sends.
        return b""
    return body


def send_wsgi_response(
    response: Response, start_response: StartResponse, *, with_body: bool = True
) -> Iterable[bytes]:
    """Start a response and return its body; a server closes what it does not read to its end."""
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    if response.events is not None:
        start_response(status, list(response.headers))
        return KeepaliveEvents(response.events)
    start_response(status, list(response.sized_headers))
    return [response.body] if with_body and response.body else []


def _parse_length(environ: Environ) -> int:
    return parse_content_length(str(environ.get("CONTENT_LENGTH") or "0")) or 0


def _decode_utf8(text: object) -> str:
    """Decode a text whose bytes WSGI passes on as Latin-1."""
    return str(text).encode("latin-1", "replace").decode("utf-8", "replace")
