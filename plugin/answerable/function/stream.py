"""Answers as server-sent events: stages, then the whole answer or a problem, and keepalives.

Claims leave only when the whole draft has passed the contract, since a late one can still refuse
it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from ..serve.errors import CancelledError
from ..serve.request_context import RequestContext
from .problems import convert_error, encode_json

EVENT_STREAM_TYPE = "text/event-stream"
# Seconds until a response begins although nothing has happened yet.
_FIRST_EVENT_SECONDS = 1.0
# How an access log names the status of a client that did not wait (nginx).
CLIENT_CLOSED_STATUS = 499
# A proxy ends a connection on which nothing is sent.
KEEPALIVE_SECONDS = 1.0
# A reader of server-sent events skips a line that begins with a colon.
KEEPALIVE_COMMENT = b":\n\n"
STREAM_HEADERS = {
    "Content-Type": f"{EVENT_STREAM_TYPE}; charset=utf-8",
    "Cache-Control": "no-store",
    # A proxy that collects a response before it sends it on would make one event of all.
    "X-Accel-Buffering": "no",
}

_Event = tuple[str, Any]


async def stream_answer(
    make_answer: Callable[[], bytes], context: RequestContext, on_end: Callable[[int], object]
) -> Response:
    """Make an answer in a thread and respond with its events; an early error is raised.

    on_end: is called with the status when all is sent, or when nobody reads on, which cancels the
    question.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[_Event] = asyncio.Queue()

    def send(name: str, data: Any) -> None:
        loop.call_soon_threadsafe(events.put_nowait, (name, data))

    def work() -> None:
        try:
            send("answer", make_answer())
        except Exception as error:
            send("problem", error)

    context.listener = lambda stage: send("stage", {"stage": stage})
    worker = asyncio.ensure_future(run_in_threadpool(work))
    event = asyncio.ensure_future(events.get())
    await asyncio.wait({event}, timeout=_FIRST_EVENT_SECONDS)
    if event.done() and event.result()[0] == "problem":
        await worker
        raise event.result()[1]
    sent = _iterate_events(event, events, context, on_end)
    return StreamingResponse(sent, headers=STREAM_HEADERS)


async def _iterate_events(
    event: "asyncio.Future[_Event]",
    events: "asyncio.Queue[_Event]",
    context: RequestContext,
    on_end: Callable[[int], object],
) -> AsyncIterator[bytes]:
    """Yield encoded events until the answer or the problem, with comments in the pauses."""
    status = CLIENT_CLOSED_STATUS
    try:
        while True:
            await asyncio.wait({event}, timeout=KEEPALIVE_SECONDS)
            if not event.done():
                yield KEEPALIVE_COMMENT
                continue
            name, data = event.result()
            if name == "stage":
                event = asyncio.ensure_future(events.get())
                yield encode_event(name, encode_json(data))
            elif name == "answer":
                yield encode_event(name, data)
                status = 200
                return
            else:
                problem = convert_error(data)
                yield encode_event(name, encode_json(problem.as_json()))
                status = (
                    CLIENT_CLOSED_STATUS if isinstance(data, CancelledError) else problem.status
                )
                return
    finally:
        event.cancel()
        context.cancel()
        on_end(status)


def encode_event(name: str, data: bytes) -> bytes:
    """Encode one server-sent event. data: JSON."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
