"""Requests to an ASGI app in this process, as a server passes them on."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette

from answerable.engine.engine import Engine
from answerable.function.app import create_app
from answerable.function.exchange import Function
from answerable.function.policy import Policy

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Request:
    """A request; ``path`` is relative to the root."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client_address: str = "192.0.2.1"


@dataclass(frozen=True)
class Response:
    """A response, read to its end."""

    status: int
    headers: Headers
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A client that sends one request, whole or in parts, and may leave; records the response."""

    def __init__(self, *parts: bytes) -> None:
        last = len(parts) - 1
        self.messages = [
            {"type": "http.request", "body": part, "more_body": number < last}
            for number, part in enumerate(parts)
        ]
        self.sent: list[dict[str, Any]] = []
        self.left = threading.Event()

    async def receive(self) -> dict[str, Any]:
        if self.messages:
            return self.messages.pop(0)
        while not self.left.is_set():
            await asyncio.sleep(0.005)
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(dict(message))

    @property
    def response(self) -> Response:
        start, *parts = self.sent
        headers = tuple((name.decode(), value.decode()) for name, value in start["headers"])
        return Response(start["status"], headers, b"".join(part.get("body", b"") for part in parts))


def make_scope(request: Request) -> dict[str, Any]:
    path = f"/{request.path.removeprefix('/')}"
    return {
        "type": "http",
        "asgi": {"spec_version": "2.3"},
        "method": request.method,
        "path": path,
        "raw_path": quote(path, errors="replace").encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": request.query.encode(),
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in request.headers.items()
        ],
        "client": (request.client_address, 0) if request.client_address else None,
    }


def in_loop(work: Callable[[], Awaitable[None]]) -> None:
    """Run in a thread: in this one a browser's tests may have left a loop that runs."""

    async def run() -> None:
        await work()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()


def send(app: Starlette, request: Request) -> Response:
    """Send a request and read the response to its end."""
    client = Client(request.body)
    in_loop(lambda: app(make_scope(request), client.receive, client.send))
    return client.response


def app_of(engine: Engine | None, policy: Policy, **options: Any) -> Starlette:
    """The app of a function over an engine."""
    return create_app(Function(lambda: engine, policy, **options))
