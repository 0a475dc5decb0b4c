"""AWS Lambda handler over a service: payload 2.0 (function URLs, HTTP APIs), never streamed.

Lambda's Python runtime sends a response as a whole, so nothing is streamed.
"""

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..messages import MAX_BODY_BYTES, Request, strip_base_path

if TYPE_CHECKING:
    from ..service import Service

Handler = Callable[[object, object], dict[str, Any]]

# The characters of Base64 that hold one byte more than a body may have.
_MAX_BASE64_CHARS = 4 * (MAX_BODY_BYTES // 3 + 1)


def make_lambda_handler(service: "Service", base: str = "/") -> Handler:
    """Make a Lambda handler that answers under a base path."""

    def handle(event: object, context: object) -> dict[str, Any]:
        del context
        response = service.handle(convert_event(event, base))
        return {
            "statusCode": response.status,
            "headers": dict(response.headers),
            "body": response.body.decode("utf-8"),
            "isBase64Encoded": False,
        }

    return handle


def convert_event(event: object, base: str = "/") -> Request:
    """Convert an event to a request; one that did not come by HTTP gets a path that is a 404."""
    fields = _as_mapping(event)
    context = _as_mapping(fields.get("requestContext"))
    http = _as_mapping(context.get("http"))
    headers = _as_mapping(fields.get("headers"))
    # A function URL passes a path on as it was sent, an HTTP API decoded, after its stage's name.
    path, stage = unquote(_as_text(fields.get("rawPath"))), _as_text(context.get("stage"))
    if path.startswith(f"/{stage}/"):
        path = path.removeprefix(f"/{stage}")
    is_encoded = fields.get("isBase64Encoded") is True
    return Request(
        method=_as_text(http.get("method")),
        path=strip_base_path(path, base),
        query=_as_text(fields.get("rawQueryString")),
        headers={str(name).lower(): _as_text(value) for name, value in headers.items()},
        body=_decode_body(_as_text(fields.get("body")), is_encoded=is_encoded),
        client_address=_as_text(http.get("sourceIp")),
    )


def _decode_body(text: str, *, is_encoded: bool) -> bytes:
    """Decode a body up to one byte more than is allowed; empty if it is not Base64."""
    if not is_encoded:
        return text[: MAX_BODY_BYTES + 1].encode("utf-8", "surrogatepass")[: MAX_BODY_BYTES + 1]
    try:
        return base64.b64decode(text[:_MAX_BASE64_CHARS])[: MAX_BODY_BYTES + 1]
    except ValueError:
        return b""


def _as_mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
