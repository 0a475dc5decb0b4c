"""The service as an ASGI application: containers, Vercel, Azure."""

import asyncio
import os
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ..call import Call
from . import console, function, paths
from .http import MAX_BODY, Events, Request, Response

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handle = Callable[[Request, Call], Response]

# More requests than are ever answered at once, so that a cached answer waits for none of them.
THREADS = 64


class Application:
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
        request = await _read(scope, self._base, receive)
        if request is None:
            return
        call = Call()
        gone = asyncio.ensure_future(_gone(receive))
        gone.add_done_callback(lambda _: call.cancel())
        try:
            response = await self._in_thread(self._handle, request, call)
            if response.events is None:
                await _send(response, send)
            else:
                await self._stream(response, response.events, send, gone)
        except OSError:
            # How a server may tell that there is nobody to send to.
            return
        finally:
            gone.cancel()

    async def _stream(
        self, response: Response, events: Events, send: Send, gone: "asyncio.Future[None]"
    ) -> None:
        try:
            await send(_start(response))
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


def application(folder: Path) -> Application:
    """The ASGI application of a published function's folder, as the environment sets it."""
    service = function.open_service(folder, os.environ, console.out, console.err)
    return Application(service.handle, function.base(os.environ), service.close)


async def _read(scope: Scope, base: str, receive: Receive) -> Request | None:
    """The request of a scope, None if its client has gone; its body is read as far as allowed."""
    body = b""
    while len(body) <= MAX_BODY:
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
        path=paths.relative(scope["path"], base),
        query=(scope.get("query_string") or b"").decode("utf-8", "replace"),
        headers=headers,
        body=body[: MAX_BODY + 1],
        asker=str(client[0]) if client else "",
        can_stream=True,
    )


async def _gone(receive: Receive) -> None:
    """Return when the client has gone; what more it sends is not read."""
    with suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


async def _send(response: Response, send: Send) -> None:
    length = (
        []
        if response.status == HTTPStatus.NO_CONTENT
        else [("Content-Length", str(len(response.body)))]
    )
    await send(_start(response, *length))
    await send({"type": "http.response.body", "body": response.body})


def _start(response: Response, *more: tuple[str, str]) -> Message:
    headers = [(name.encode(), value.encode()) for name, value in (*response.headers, *more)]
    return {"type": "http.response.start", "status": response.status, "headers": headers}
