"""Flask view over a service for Google Cloud Run functions; client address: X-Forwarded-For."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app_factory import open_service, write_line
from .wsgi import convert_environ, read_limited_body

if TYPE_CHECKING:
    from ..service import Service

View = Callable[[Any], Any]

# Set wherever Google runs a function. Its front end, which nobody can bypass, appends the client's
# address to the header.
_ON_GOOGLE = "K_SERVICE"
_ASKER_HEADER = {"ANSWERABLE_ASKER_HEADER": "x-forwarded-for"}


def open_google_view(folder: Path) -> View:
    """Open a published function's folder as a view, as the environment sets it."""
    environment: Mapping[str, str] = os.environ
    if _ON_GOOGLE in environment:
        environment = {**_ASKER_HEADER, **environment}
    # While a view runs, the framework may have put streams in their place that take no bytes.
    out, err = (partial(write_line, stream.buffer) for stream in (sys.stdout, sys.stderr))
    service = open_service(folder, environment, out, err)
    return make_google_view(service, service.base)


def make_google_view(service: "Service", base: str = "/") -> View:
    """Make a view that answers under a base path."""

    def answer(flask_request: Any) -> Any:
        import flask

        # The framework reads on in Flask's own stream once a response is there.
        body = read_limited_body(flask_request.stream)
        response = service.handle(convert_environ(flask_request.environ, base, body))
        content: Any = response.body if response.events is None else response.events
        flask_response = flask.Response(content, response.status)
        # Flask's own idea of a content type is removed too.
        flask_response.headers.clear()
        flask_response.headers.extend(response.headers)
        return flask_response

    return answer
