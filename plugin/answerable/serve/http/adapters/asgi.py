"""The service as an ASGI application: containers, Vercel, Azure."""

import asyncio
import os
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ...request_context import RequestContext
from ..messages import MAX_BODY_BYTES, EventStream, Request, Response, strip_base_path
from .app_factory import open_service, read_base_path, write_stderr, write_stdout

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handle = Callable[[Request, RequestContext], Response]

# More requests than are ever answered at once, so that a cached answer waits for none of them.
THREADS = 64


class AsgiApp:
    """An ASGI application that answers under a base path. handle, close: a service's own.

    A client that goes away cancels its call.
    """

    def __init__(
        self, handle: Handle, base: str = "/", close: Callable[[], object] | None = None
    ) -> None:
        self._handle = handle
        self._base = base
        self._close = close
        self._threads = ThreadPoolExecutor(THREADS, "answerable")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._respond(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close"})

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._close:
                # The server has waited for the answers as long as it does; what it has given up
                # settles before the process ends.
                await asyncio.get_running_loop().run_in_executor(None, self._close)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                self._threads.shutdown(wait=False, cancel_futures=True)
                return

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await _read_request(scope, self._base, receive)
        if request is None:
            return
        call = RequestContext()
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        gone.add_done_callback(lambda _: call.cancel())
        try:
            response = await self._in_thread(self._handle, request, call)
            if response.events is None:
                await _send_response(response, send)
            else:
                await self._stream(response, response.events, send, gone)
        except OSError:
            # How a server may tell that there is nobody to send to.
            return
        finally:
            gone.cancel()

    async def _stream(
        self, response: Response, events: EventStream, send: Send, gone: "asyncio.Future[None]"
    ) -> None:
        try:
            await send(_make_start_message(response))
            while not gone.done():
                part = await self._in_thread(next, events, None)
                if part is None:
                    break
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            events.close()

    async def _in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)


def application(folder: Path) -> AsgiApp:
    """The ASGI application of a published function's folder, as the environment sets it."""
    service = open_service(folder, os.environ, write_stdout, write_stderr)
    return AsgiApp(service.handle, read_base_path(os.environ), service.close)


async def _read_request(scope: Scope, base: str, receive: Receive) -> Request | None:
    """The request of a scope, None if its client has gone; its body is read as far as allowed."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        # A header that is sent twice is a list, as HTTP has it.
        headers[name] = f"{headers[name]},{text}" if name in headers else text
    client = scope.get("client")
    return Request(
        method=scope["method"],
        path=strip_base_path(scope["path"], base),
        query=(scope.get("query_string") or b"").decode("utf-8", "replace"),
        headers=headers,
        body=body[: MAX_BODY_BYTES + 1],
        asker=str(client[0]) if client else "",
        can_stream=True,
    )


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has gone; what more it sends is not read."""
    with suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


async def _send_response(response: Response, send: Send) -> None:
    length = (
        []
        if response.status == HTTPStatus.NO_CONTENT
        else [("Content-Length", str(len(response.body)))]
    )
    await send(_make_start_message(response, *length))
    await send({"type": "http.response.body", "body": response.body})


def _make_start_message(response: Response, *more: tuple[str, str]) -> Message:
    headers = [(name.encode(), value.encode()) for name, value in (*response.headers, *more)]
    return {"type": "http.response.start", "status": response.status, "headers": headers}
