"""Answers as server-sent events: stages, then the whole answer or a problem.

Claims leave only when the whole draft has passed the contract, since a late one can still refuse
it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from ..serve.request_context import RequestContext
from .problems import Problem, encode_json

EVENT_STREAM_TYPE = "text/event-stream"
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

# Its name and its data: a stage, the JSON of an answer, a problem, or nothing in a pause.
_Event = tuple[str, Any]


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
    events: asyncio.Queue[_Event] = asyncio.Queue()

    def send(name: str, data: object) -> None:
        loop.call_soon_threadsafe(events.put_nowait, (name, data))

    def work() -> None:
        try:
            send("answer", make_answer())
        except Exception as error:
            send("problem", convert_error(error))

    context.listener = lambda stage: send("stage", {"stage": stage})
    worker = asyncio.ensure_future(run_in_threadpool(work))
    first = await events.get()
    if first[0] != "problem":
        return StreamingResponse(_encode(first, events, context, on_end), headers=STREAM_HEADERS)
    await worker
    on_end(first[1].status)
    response: Response = first[1].make_response()
    return response


async def _encode(
    event: _Event,
    events: "asyncio.Queue[_Event]",
    context: RequestContext,
    on_end: Callable[[int], object],
) -> AsyncIterator[bytes]:
    """Encode events until the answer or the problem, with comments in the pauses."""
    status = CLIENT_CLOSED_STATUS
    beat = asyncio.ensure_future(_beat(events))
    try:
        while True:
            name, data = event
            if name == "answer":
                yield b"event: answer\ndata: " + data + b"\n\n"
                status = 200
                return
            if name == "problem":
                yield b"event: problem\ndata: " + encode_json(data.as_json()) + b"\n\n"
                status = data.status
                return
            stage = b"event: stage\ndata: " + encode_json(data) + b"\n\n"
            yield stage if name == "stage" else KEEPALIVE_COMMENT
            event = await events.get()
    finally:
        beat.cancel()
        context.cancel()
        on_end(status)


async def _beat(events: "asyncio.Queue[_Event]") -> None:
    while True:
        await asyncio.sleep(KEEPALIVE_SECONDS)
        events.put_nowait(("pause", None))
