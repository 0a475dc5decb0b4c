"""Stream an answer as server-sent events: stages, then the whole answer or a problem; keepalives.

Claims leave only when the whole draft has passed the contract, since a late one can still refuse
it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from ..errors import CancelledError
from ..request_context import RequestContext, RequestStage
from .messages import EVENT_STREAM_TYPE, Response, convert_error, encode_event

_Item = tuple[str, Any]

# Seconds until a response begins although nothing has happened yet.
_FIRST_EVENT_SECONDS = 1.0
# How an access log names the status of a client that did not wait (nginx).
CLIENT_CLOSED_STATUS = 499

# Two comments pass before a client that has gone is missed: the first makes its system refuse.
KEEPALIVE_SECONDS = 1.0
# A reader of server-sent events skips a line that begins with a colon.
KEEPALIVE_COMMENT = b":\n\n"

STREAM_HEADERS = (
    ("Content-Type", f"{EVENT_STREAM_TYPE}; charset=utf-8"),
    ("Cache-Control", "no-store"),
    # A proxy that collects a response before it sends it on would make one event of all.
    ("X-Accel-Buffering", "no"),
)


def stream_response(
    make_answer: Callable[[], dict[str, Any]],
    context: RequestContext,
    deadline: float,
    on_end: Callable[[int], object],
) -> Response:
    """Make an answer in a thread and respond with its events; an early error is raised.

    deadline: seconds. on_end: is called with the status when all is sent, or when nobody reads on,
    which cancels the question.
    """
    items: SimpleQueue[_Item] = SimpleQueue()

    def announce(stage: RequestStage) -> None:
        items.put(("stage", {"stage": stage}))

    def work() -> None:
        try:
            items.put(("answer", make_answer()))
        except BaseException as error:
            items.put(("problem", error))

    context.begin(deadline, announce)
    Thread(target=copy_context().run, args=(work,), daemon=True).start()
    first: _Item | None = None
    with suppress(Empty):
        # A question that waits for another's answer has no stages until that is made, and has to
        # notice until then if its reader goes.
        first = items.get(timeout=_FIRST_EVENT_SECONDS)
    if first and first[0] == "problem":
        raise first[1]
    return Response(200, b"", STREAM_HEADERS, _AnswerEvents(first, items, context, on_end))


class _AnswerEvents:
    """Events of one question until its answer or its problem, which closing them cancels.

    A comment fills each pause between two stages: a server may learn that its client has gone only
    when it writes, and a proxy ends a connection on which nothing is sent.
    """

    def __init__(
        self,
        first: _Item | None,
        items: "SimpleQueue[_Item]",
        context: RequestContext,
        on_end: Callable[[int], object],
    ) -> None:
        self._next: _Item | None = first
        self._items = items
        self._context = context
        self._on_end: Callable[[int], object] | None = on_end
        self._is_over = False

    def __iter__(self) -> "Iterator[bytes]":
        return self

    def __next__(self) -> bytes:
        if self._is_over:
            raise StopIteration
        try:
            name, data = self._next or self._items.get(timeout=KEEPALIVE_SECONDS)
        except Empty:
            return KEEPALIVE_COMMENT
        self._next = None
        if name == "stage":
            return encode_event(name, data)
        self._is_over = True
        if name == "answer":
            self._report_end(200)
            return encode_event(name, data)
        problem = convert_error(data)
        is_cancelled = isinstance(data, CancelledError)
        self._report_end(CLIENT_CLOSED_STATUS if is_cancelled else problem.status)
        return encode_event(name, problem.as_json())

    def close(self) -> None:
        """Cancel the question, since nobody reads on."""
        self._context.cancel()
        self._is_over = True
        self._report_end(CLIENT_CLOSED_STATUS)

    def _report_end(self, status: int) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end:
            on_end(status)
