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
    make_answer: Callable[[], object],
    context: RequestContext,
    refuse: Callable[[Exception], Problem],
    report: Callable[[int], object],
) -> Response:
    """Make an answer in a thread and respond with its events; raise an error that comes first.

    report: is called with the status when all is sent, or when nobody reads on, which cancels the
    question.
    """
    loop = asyncio.get_running_loop()
    # Stages, and at the end an answer or an error.
    events = asyncio.Queue[object]()

    def send(event: object) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    def work() -> None:
        try:
            send(make_answer())
        except Exception as error:
            send(error)

    async def encode(event: object) -> AsyncIterator[bytes]:
        status = CLIENT_CLOSED_STATUS
        try:
            while isinstance(event, str):
                yield _encode_event("stage", {"stage": event})
                event = await events.get()
            if isinstance(event, Exception):
                problem = refuse(event)
                yield _encode_event("problem", problem.as_json())
                status = problem.status
            else:
                yield _encode_event("answer", event)
                status = 200
        finally:
            context.cancel()
            report(status)

    context.listener = send
    worker = asyncio.ensure_future(run_in_threadpool(work))
    first = await events.get()
    if isinstance(first, Exception):
        await worker
        raise first
    return StreamingResponse(encode(first), headers=STREAM_HEADERS)


def _encode_event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encode_json(data) + b"\n\n"
