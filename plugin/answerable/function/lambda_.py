"""AWS Lambda handler over an ASGI app: payload 2.0 of function URLs and HTTP APIs.

Lambda's Python runtime sends a response as a whole, so nothing is streamed.
"""

import asyncio
import base64
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Message

Handler = Callable[[object, object], dict[str, Any]]


def make_lambda_handler(app: ASGIApp) -> Handler:
    """Make the handler of a function: an event in, a response as API Gateway takes it out."""

    def handle(event: object, context: object) -> dict[str, Any]:
        del context
        status, headers, body = asyncio.run(_call_app(app, _as_mapping(event)))
        return {
            "statusCode": status,
            "headers": headers,
            "body": body.decode("utf-8"),
            "isBase64Encoded": False,
        }

    return handle


async def _call_app(app: ASGIApp, event: Mapping[str, Any]) -> tuple[int, dict[str, str], bytes]:
    body = str(event.get("body") or "").encode("utf-8", "surrogatepass")
    if event.get("isBase64Encoded") is True:
        body = base64.b64decode(body)
    received = asyncio.Queue[Message]()
    received.put_nowait({"type": "http.request", "body": body, "more_body": False})
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_make_scope(event), received.get, send)
    start, *parts = sent
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
    return start["status"], headers, b"".join(part["body"] for part in parts)


def _make_scope(event: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the request of an event; one that did not come by HTTP gets a path of no route."""
    context = _as_mapping(event.get("requestContext"))
    http = _as_mapping(context.get("http"))
    # A function URL passes a path on as it was sent, an HTTP API decoded, after its stage's name.
    path = unquote(str(event.get("rawPath") or "/")).removeprefix(f"/{context.get('stage')}")
    headers = _as_mapping(event.get("headers"))
    return {
        "type": "http",
        "method": str(http.get("method") or ""),
        "path": path,
        "raw_path": quote(path).encode(),
        "root_path": "",
        "scheme": "https",
        "query_string": str(event.get("rawQueryString") or "").encode("utf-8", "replace"),
        "headers": [
            (_encode(name).lower(), _encode(value))
            for name, value in headers.items()
            # Nobody reads a stream here.
            if str(name).lower() != "accept"
        ],
        "client": (str(http.get("sourceIp") or ""), 0),
    }


def _encode(value: object) -> bytes:
    return str(value).encode("latin-1", "replace")


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
