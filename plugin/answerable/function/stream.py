"""Answers as server-sent events: stages, then the whole answer or a problem.

Claims leave only when the whole draft has passed the contract, since a late one can still refuse
it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from ..engine.request_context import RequestContext
from .requests import Problem, encode_json

EVENT_STREAM_TYPE = "text/event-stream"
# How an access log names the status of a client that did not wait (nginx).
CLIENT_CLOSED_STATUS = 499
STREAM_HEADERS = {
    "Content-Type": f"{EVENT_STREAM_TYPE}; charset=utf-8",
    "Cache-Control": "no-store",
    # A proxy that collects a response before it sends it on would make one event of all.
    "X-Accel-Buffering": "no",
}


async def stream_answer(
    make_answer: Callable[[], bytes],
    context: RequestContext,
    convert_error: Callable[[Exception], Problem],
    on_end: Callable[[int], object],
) -> Response:
    """Make an answer in a thread and respond with its events, or with a problem that comes first.

    on_end: is called with the status when all is sent, or when nobody reads on, which cancels the
    question.
    """
    loop = asyncio.get_running_loop()
    # Stages, and at the end an answer as JSON or a problem.
    events: asyncio.Queue[str | bytes | Problem] = asyncio.Queue()

    def send(event: str | bytes | Problem) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    def work() -> None:
        try:
            send(make_answer())
        except Exception as error:
            send(convert_error(error))

    async def encode(event: str | bytes | Problem) -> AsyncIterator[bytes]:
        status = CLIENT_CLOSED_STATUS
        try:
            while isinstance(event, str):
                yield _encode_event("stage", encode_json({"stage": event}))
                event = await events.get()
            if isinstance(event, Problem):
                yield _encode_event("problem", encode_json(event.as_json()))
                status = event.status
            else:
                yield _encode_event("answer", event)
                status = 200
        finally:
            context.cancel()
            on_end(status)

    context.listener = send
    worker = asyncio.ensure_future(run_in_threadpool(work))
    first = await events.get()
    if isinstance(first, Problem):
        await worker
        on_end(first.status)
        return first.make_response()
    return StreamingResponse(encode(first), headers=STREAM_HEADERS)


def _encode_event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
