"""The service on AWS Lambda, by its payload 2.0: function URLs and HTTP APIs.

Lambda's Python runtime sends a response as a whole, so nothing is streamed.
"""

import base64
import binascii
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import console, function
from .http import MAX_BODY, Problem, Request, Response

Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def handler(folder: Path) -> Handler:
    """The handler of a published function's folder, as the environment sets it."""
    service = function.open_service(folder, os.environ, console.out, console.err)
    base = function.base(os.environ)

    def handle(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        del context
        request = read(event, base)
        if request is None:
            return _result(Problem("not-found", "There is nothing at this path.").response())
        return _result(service.handle(request))

    return handle


def read(event: Mapping[str, Any], base: str = "/") -> Request | None:
    """The request of an event, None if it is not under the base path."""
    http = event.get("requestContext", {}).get("http", {})
    path = str(event.get("rawPath") or "/")
    stage = event.get("requestContext", {}).get("stage", "$default")
    # An HTTP API that has stages puts the stage's name before the path.
    if stage != "$default":
        path = path.removeprefix(f"/{stage}") or "/"
    if not path.startswith(base):
        return None
    headers = event.get("headers") or {}
    return Request(
        method=str(http.get("method", "GET")),
        path=path.removeprefix(base),
        query=str(event.get("rawQueryString") or ""),
        headers={str(name).lower(): str(value) for name, value in headers.items()},
        body=_body(event),
        asker=str(http.get("sourceIp", "")),
    )


def _body(event: Mapping[str, Any]) -> bytes:
    text = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(text).encode("utf-8", "surrogatepass")[: MAX_BODY + 1]
    try:
        return base64.b64decode(text)[: MAX_BODY + 1]
    except (ValueError, binascii.Error):
        return b""


def _result(response: Response) -> dict[str, Any]:
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "body": response.body.decode("utf-8"),
        "isBase64Encoded": False,
    }

