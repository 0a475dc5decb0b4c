"""The service on Google Cloud Run functions: a view of Flask, which their framework brings."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..messages import Response
from ..sse import KeepaliveEvents
from .app_factory import open_service, read_base_path, write_line
from .wsgi import convert_environ, read_limited_body

if TYPE_CHECKING:
    from ..service import Service

View = Callable[[Any], Any]

# Set wherever Google runs it; its front end, which nobody gets past, adds the asker's address.
_ON_GOOGLE = "K_SERVICE"
_ASKER_HEADER = {"ANSWERABLE_ASKER_HEADER": "x-forwarded-for"}


def view(folder: Path) -> View:
    """The view of a published function's folder, as the environment sets it."""
    environment: Mapping[str, str] = os.environ
    if _ON_GOOGLE in environment:
        environment = {**_ASKER_HEADER, **environment}
    # While a view runs, the framework may have put streams in their place that take no bytes.
    out, err = (partial(write_line, each.buffer) for each in (sys.stdout, sys.stderr))
    service = open_service(folder, environment, out, err)
    return make_view(service, read_base_path(environment))


def make_view(service: "Service", base: str = "/") -> View:
    """A view that answers under a base path."""

    def answer(request: Any) -> Any:
        # The framework reads on in Flask's own stream once a response is there.
        body = read_limited_body(request.stream)
        return _sent(service.handle(convert_environ(request.environ, base, body)))

    return answer


def _sent(response: Response) -> Any:
    import flask

    body: Any = response.body if response.events is None else KeepaliveEvents(response.events)
    sent = flask.Response(body, response.status)
    # Flask's own idea of a content type goes with them.
    sent.headers.clear()
    sent.headers.extend(response.headers)
    return sent
