"""The service on AWS Lambda, by its payload 2.0: function URLs and HTTP APIs.

Lambda's Python runtime sends a response as a whole, so nothing is streamed.
"""

import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..messages import MAX_BODY_BYTES, Request, Response, strip_base_path
from .app_factory import open_service, read_base_path, write_stderr, write_stdout

if TYPE_CHECKING:
    from ..service import Service

Handler = Callable[[object, object], dict[str, Any]]

# The characters of Base64 that hold one byte more than a body may have.
_MAX_BASE64_CHARS = 4 * (MAX_BODY_BYTES // 3 + 1)


def handler(folder: Path) -> Handler:
    """The handler of a published function's folder, as the environment sets it."""
    service = open_service(folder, os.environ, write_stdout, write_stderr)
    return make_handler(service, read_base_path(os.environ))


def make_handler(service: "Service", base: str = "/") -> Handler:
    """A handler that answers under a base path."""

    def handle(event: object, context: object) -> dict[str, Any]:
        del context
        return _result(service.handle(convert_event(event, base)))

    return handle


def convert_event(event: object, base: str = "/") -> Request:
    """The request of an event; one that no HTTP request has made is at no path."""
    told = _fields(event)
    context = _fields(told.get("requestContext"))
    http = _fields(context.get("http"))
    path = _path(_text(told.get("rawPath")), _text(context.get("stage")))
    return Request(
        method=_text(http.get("method")),
        path=strip_base_path(path, base),
        query=_text(told.get("rawQueryString")),
        headers={str(k).lower(): _text(v) for k, v in _fields(told.get("headers")).items()},
        body=_body(_text(told.get("body")), is_encoded=told.get("isBase64Encoded") is True),
        asker=_text(http.get("sourceIp")),
    )


def _path(raw: str, stage: str) -> str:
    """A path without the name of its stage, which an HTTP API that has stages puts before it."""
    # A function URL hands it on as it was sent, an HTTP API decoded.
    path = unquote(raw)
    return path.removeprefix(f"/{stage}") if path.startswith(f"/{stage}/") else path


def _body(text: str, *, is_encoded: bool) -> bytes:
    """The bytes of a body as far as they are read; "" if they cannot be told."""
    if not is_encoded:
        return text[: MAX_BODY_BYTES + 1].encode("utf-8", "surrogatepass")[: MAX_BODY_BYTES + 1]
    try:
        return base64.b64decode(text[:_MAX_BASE64_CHARS])[: MAX_BODY_BYTES + 1]
    except ValueError:
        return b""


def _fields(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _result(response: Response) -> dict[str, Any]:
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "body": response.body.decode("utf-8"),
        "isBase64Encoded": False,
    }
