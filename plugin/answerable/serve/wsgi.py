"""The service as a WSGI application."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from .http import MAX_BODY, Problem, Request, Response
from .service import Service

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def application(service: Service, base: str = "/") -> WsgiApp:
    """A WSGI application that answers under a base path."""

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = path_of(environ)
        if not path.startswith(base):
            problem = Problem("not-found", "There is nothing at this path.")
            return send(problem.response(), start_response)
        return send(service.handle(read(environ, path.removeprefix(base))), start_response)

    return app


def path_of(environ: Environ) -> str:
    """The path of a WSGI environment, whose bytes WSGI hands on as Latin-1."""
    return str(environ.get("PATH_INFO", "/")).encode("latin-1").decode("utf-8", "replace")


def read(environ: Environ, path: str) -> Request:
    """The request of a WSGI environment; of its body at most one byte more than is allowed."""
    length = environ.get("CONTENT_LENGTH") or "0"
    size = min(int(length), MAX_BODY + 1) if length.isascii() and length.isdigit() else 0
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    return Request(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=environ.get("QUERY_STRING", ""),
        headers=headers,
        body=environ["wsgi.input"].read(size) if size else b"",
        asker=environ.get("REMOTE_ADDR", ""),
        can_stream=True,
    )


def send(response: Response, start_response: StartResponse) -> Iterable[bytes]:
    """Write a response the WSGI way; a server closes what it does not read to its end."""
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    if response.events is not None:
        start_response(status, list(response.headers))
        return response.events
    length = ("Content-Length", str(len(response.body)))
    start_response(status, [*response.headers, length])
    return [response.body]
