"""ASGI application over a service: streams answers, cancels a question when its client leaves."""

import asyncio
import math
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ...request_context import RequestContext
from ..messages import MAX_BODY_BYTES, EventStream, Headers, Request, Response, strip_base_path

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handle = Callable[[Request, RequestContext], Response]

# More requests than are ever answered at once, so that a cached answer waits for none of them.
THREADS = 64
# Connections at once of our own server; what comes above is told to come back.
MAX_CONNECTIONS = 256


class AsgiApp:
    """Answer under a base path as an ASGI application. handle, close: those of a service.

    A client that goes away cancels its question.
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
            await self._run_lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close"})

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._close:
                # The server has waited for the answers as long as it does; those that it has given
                # up end before the process does.
                await asyncio.get_running_loop().run_in_executor(None, self._close)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                self._threads.shutdown(wait=False, cancel_futures=True)
                return

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await _read_request(scope, self._base, receive)
        if request is None:
            return
        context = RequestContext()
        disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
        disconnect.add_done_callback(lambda _: context.cancel())
        try:
            response = await self._run_in_thread(self._handle, request, context)
            if response.events is None:
                await send(_make_start_message(response.status, response.sized_headers))
                await send({"type": "http.response.body", "body": response.body})
            else:
                await self._stream(response, response.events, send, disconnect)
        except OSError:
            # How a server may tell that there is nobody to send to.
            return
        finally:
            disconnect.cancel()

    async def _stream(
        self,
        response: Response,
        events: EventStream,
        send: Send,
        disconnect: "asyncio.Future[None]",
    ) -> None:
        try:
            await send(_make_start_message(response.status, response.headers))
            while not disconnect.done():
                next_part = asyncio.ensure_future(self._run_in_thread(next, events, None))
                # A model may write for long, and its reader has gone meanwhile.
                await asyncio.wait({next_part, disconnect}, return_when=asyncio.FIRST_COMPLETED)
                if not next_part.done() or (part := next_part.result()) is None:
                    break
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            events.close()

    async def _run_in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)


def serve_until_signal(
    app: AsgiApp, listening: socket.socket, announce: Callable[[], object], seconds: float
) -> None:
    """Serve an application by uvicorn until a signal, then exit with status 0.

    announce: called when a signal ends the process as it should. seconds: given to the answers
    that are under way.
    """
    import uvicorn

    # asyncio sets it for sockets that name TCP as their protocol only. Without it a body waits
    # for a client's delayed acknowledgment of the headers, some 40 ms on a kept connection.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        # Nothing is logged: a request line may hold a question.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        # The policy names the header of a trusted proxy.
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=math.ceil(seconds),
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # It hands the signal on when it has closed.
        signal.signal(number, lambda *_: sys.exit(0))
    announce()
    uvicorn.Server(config).run([listening])


async def _read_request(scope: Scope, base: str, receive: Receive) -> Request | None:
    """Read a request, its body only as far as is allowed; None if its client has gone."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        # A header that is sent twice is a list, as HTTP has it.
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    client = scope.get("client")
    return Request(
        method=scope["method"],
        path=strip_base_path(scope["path"], base),
        query=(scope.get("query_string") or b"").decode("utf-8", "replace"),
        headers=headers,
        body=body[: MAX_BODY_BYTES + 1],
        client_address=str(client[0]) if client else "",
        can_stream=True,
    )


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has gone; whatever else it sends is dropped."""
    with suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


def _make_start_message(status: int, headers: Headers) -> Message:
    raw_headers = [(name.encode(), value.encode()) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": raw_headers}
