"""The HTTP core as a WSGI application."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from .api import MAX_BODY, Request, Response, handle, problem_response
from .engine import Engine
from .refusals import Keep

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def application(engine: Engine, base: str = "/", refused: Keep | None = None) -> WsgiApp:
    """A WSGI application that answers under a base path. refused: keeps refused questions."""

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = path_of(environ)
        if not path.startswith(base):
            return send(problem_response(404, "There is nothing at this path."), start_response)
        request = read(environ, path.removeprefix(base))
        return send(handle(engine, request, refused), start_response)

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
        asker=environ.get("REMOTE_ADDR") or "",
    )


def send(response: Response, start_response: StartResponse) -> Iterable[bytes]:
    """Write a response the WSGI way."""
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    length = ("Content-Length", str(len(response.body)))
    start_response(status, [*response.headers, length])
    return [response.body]
