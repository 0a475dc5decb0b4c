"""AWS Lambda handler over an ASGI app: payload 2.0 of function URLs and HTTP APIs.

Lambda's Python runtime sends a response as a whole, so nothing is streamed.
"""

import asyncio
import base64
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message


def make_lambda_handler(app: ASGIApp) -> Callable[[Mapping[str, Any], object], dict[str, Any]]:
    """Make the handler of a function: an event in, a response as API Gateway takes it out."""
    return lambda event, _: asyncio.run(_respond(app, event))


async def _respond(app: ASGIApp, event: Mapping[str, Any]) -> dict[str, Any]:
    body = str(event.get("body") or "").encode("utf-8", "replace")
    if event.get("isBase64Encoded"):
        body = base64.b64decode(body)
    received, sent = asyncio.Queue[Message](), asyncio.Queue[Message]()
    received.put_nowait({"type": "http.request", "body": body})
    await app(_make_scope(event), received.get, sent.put)
    start, *parts = (sent.get_nowait() for _ in range(sent.qsize()))
    return {
        "statusCode": start["status"],
        "headers": {name.decode(): value.decode() for name, value in start["headers"]},
        "body": b"".join(part["body"] for part in parts).decode(),
    }


def _make_scope(event: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the request of an event; one that did not come by HTTP gets a path of no route."""
    context = event.get("requestContext") or {}
    http = context.get("http") or {}
    # A function URL passes a path on as it was sent, an HTTP API decoded, after its stage's name.
    path = unquote(event.get("rawPath") or "/").removeprefix(f"/{context.get('stage')}")
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    # Nobody reads a stream here.
    headers.pop("accept", None)
    return {
        "type": "http",
        "method": http.get("method") or "",
        "path": path,
        "query_string": (event.get("rawQueryString") or "").encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": (http.get("sourceIp") or "", 0),
    }
