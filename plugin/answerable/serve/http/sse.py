"""An answer as events: its stages while it is made, then all of it at once.

Claims leave only when the whole draft has settled, since a late one can still refuse it.

Events with a comment in each pause, for a server that only writes.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from ..errors import CancelledError
from ..request_context import RequestContext, RequestStage
from .errors import convert_error
from .messages import EVENT_STREAM_TYPE, EventStream, Response, encode_event

_Item = tuple[str, Any]

# Seconds until a response begins although nothing has happened yet.
_FIRST_EVENT_SECONDS = 1.0
# What a log says of a client that did not wait.
CLIENT_CLOSED_STATUS = 499

STREAM_HEADERS = (
    ("Content-Type", f"{EVENT_STREAM_TYPE}; charset=utf-8"),
    ("Cache-Control", "no-store"),
    # A proxy that collects a response before it sends it on would make one event of all.
    ("X-Accel-Buffering", "no"),
)


def stream_response(
    run: Callable[[], dict[str, Any]],
    call: RequestContext,
    deadline: float,
    ended: Callable[[int], object],
) -> Response:
    """A response of events; an error before the first of them is raised.

    run: makes the answer. deadline: its seconds. ended: is told the status when all is sent, or
    when nobody reads on, which cancels the call.
    """
    items: SimpleQueue[_Item] = SimpleQueue()

    def entered(stage: RequestStage) -> None:
        items.put(("stage", {"stage": stage}))

    def work() -> None:
        try:
            items.put(("answer", run()))
        except BaseException as error:
            items.put(("problem", error))

    call.begin(deadline, entered)
    Thread(target=copy_context().run, args=(work,), daemon=True).start()
    first: _Item | None = None
    with suppress(Empty):
        # Whoever waits for another's answer hears of its stages when it is made, and has to notice
        # until then if its reader goes.
        first = items.get(timeout=_FIRST_EVENT_SECONDS)
    if first and first[0] == "problem":
        raise first[1]
    return Response(200, b"", STREAM_HEADERS, _CallEvents(first, items, call, ended))


class _CallEvents:
    """The events of a call until its answer or its problem; closing them cancels it."""

    def __init__(
        self,
        first: _Item | None,
        items: "SimpleQueue[_Item]",
        call: RequestContext,
        ended: Callable[[int], object],
    ) -> None:
        self._next: _Item | None = first
        self._items = items
        self._call = call
        self._ended: Callable[[int], object] | None = ended
        self._is_last = False

    def __iter__(self) -> "Iterator[bytes]":
        return self

    def __next__(self) -> bytes:
        if self._is_last:
            raise StopIteration
        name, data = self._next or self._items.get()
        self._next = None
        if name == "stage":
            return encode_event(name, data)
        self._is_last = True
        if name == "answer":
            self._end(200)
            return encode_event(name, data)
        problem = convert_error(data)
        self._end(CLIENT_CLOSED_STATUS if isinstance(data, CancelledError) else problem.status)
        return encode_event(name, problem.as_json())

    def close(self) -> None:
        """Nobody reads on: stop what is under way."""
        self._call.cancel()
        self._is_last = True
        self._end(CLIENT_CLOSED_STATUS)

    def _end(self, status: int) -> None:
        ended, self._ended = self._ended, None
        if ended:
            ended(status)


# Two comments pass before a client that has gone is missed: the first makes its system refuse.
KEEPALIVE_SECONDS = 1.0
# What a reader of server-sent events skips.
KEEPALIVE_COMMENT = b":\n\n"


class KeepaliveEvents:
    """Events, and a comment whenever the next of them takes longer than ``seconds``.

    A WSGI server learns that its client has gone when it writes, and between two stages of an
    answer there is nothing to write.
    """

    def __init__(self, events: EventStream, seconds: float = KEEPALIVE_SECONDS) -> None:
        self._events = events
        self._seconds = seconds
        self._parts: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_over = False
        Thread(target=self._pass_on, daemon=True).start()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._is_over:
            raise StopIteration
        try:
            part = self._parts.get(timeout=self._seconds)
        except Empty:
            return KEEPALIVE_COMMENT
        if part is None:
            self._is_over = True
            raise StopIteration
        return part

    def close(self) -> None:
        """Stop what makes the events."""
        self._events.close()

    def _pass_on(self) -> None:
        try:
            for part in self._events:
                self._parts.put(part)
        finally:
            self._parts.put(None)
