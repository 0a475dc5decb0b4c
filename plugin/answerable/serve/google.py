"""The service on Google Cloud Run functions: a view of Flask, which their framework brings."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import console, function
from .http import MAX_BODY, Problem, Request, Response

View = Callable[[Any], Any]


def view(folder: Path) -> View:
    """The view of a published function's folder, as the environment sets it."""
    service = function.open_service(folder, os.environ, console.out, console.err)
    base = function.base(os.environ)

    def answer(request: Any) -> Any:
        path = str(request.path)
        if not path.startswith(base):
            return _sent(Problem("not-found", "There is nothing at this path.").response())
        return _sent(service.handle(read(request, path.removeprefix(base))))

    return answer


def read(request: Any, path: str) -> Request:
    """The request that Flask has read; of its body at most one byte more than is allowed."""
    return Request(
        method=request.method,
        path=path,
        query=request.query_string.decode("latin-1"),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=request.stream.read(MAX_BODY + 1),
        asker=request.remote_addr or "",
        can_stream=True,
    )


def _sent(response: Response) -> Any:
    import flask

    body: Any = response.body if response.events is None else response.events
    return flask.Response(body, response.status, list(response.headers))

