"""The service as a WSGI application."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ..messages import MAX_BODY_BYTES, Request, Response, strip_base_path
from ..sse import KeepaliveEvents

if TYPE_CHECKING:
    from ..service import Service

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def application(service: "Service", base: str = "/") -> WsgiApp:
    """A WSGI application that answers under a base path."""

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        found = convert_environ(
            environ, base, read_limited_body(environ.get("wsgi.input"), _length(environ))
        )
        return send_wsgi_response(
            service.handle(found), start_response, with_body=found.method != "HEAD"
        )

    return app


def decode_path(environ: Environ) -> str:
    """The path of a WSGI environment."""
    return _utf8(environ.get("PATH_INFO") or "/")


def convert_environ(environ: Environ, base: str, body: bytes) -> Request:
    """The request of a WSGI environment and of a body, which has been read."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    return Request(
        method=str(environ.get("REQUEST_METHOD", "")),
        path=strip_base_path(decode_path(environ), base),
        query=_utf8(environ.get("QUERY_STRING") or ""),
        headers=headers,
        body=body,
        asker=str(environ.get("REMOTE_ADDR") or ""),
        can_stream=True,
    )


def read_limited_body(stream: Any, length: int = MAX_BODY_BYTES + 1) -> bytes:
    """A body as far as it may be read, one byte more than is allowed; "" if it never comes.

    length: of the body, where a stream may not be read beyond it.
    """
    wanted, found = min(length, MAX_BODY_BYTES + 1), b""
    try:
        while len(found) < wanted and (part := stream.read(wanted - len(found))):
            found += part
    except Exception:
        # Each server has errors of its own for a client that goes while it sends.
        return b""
    return found


def send_wsgi_response(
    response: Response, start_response: StartResponse, *, with_body: bool = True
) -> Iterable[bytes]:
    """Write a response the WSGI way; a server closes what it does not read to its end."""
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    if response.events is not None:
        start_response(status, list(response.headers))
        return KeepaliveEvents(response.events)
    if response.status == HTTPStatus.NO_CONTENT:
        start_response(status, list(response.headers))
        return []
    length = ("Content-Length", str(len(response.body)))
    start_response(status, [*response.headers, length])
    return [response.body] if with_body else []


def _length(environ: Environ) -> int:
    text = str(environ.get("CONTENT_LENGTH") or "0")
    if not (text.isascii() and text.isdigit()):
        return 0
    # Five digits are too many bytes already, and `int` takes only so many.
    return int(text.lstrip("0")[:5] or "0")


def _utf8(text: object) -> str:
    """A text whose bytes WSGI hands on as Latin-1."""
    return str(text).encode("latin-1", "replace").decode("utf-8", "replace")
