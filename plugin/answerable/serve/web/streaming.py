"""An answer as events: its stages while it is made, then all of it at once.

Claims leave only when the whole draft has settled, since a late one can still refuse it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from ..call import Call, Stage
from ..errors import CancelledError
from . import problems
from .http import EVENTS, Response, event

_Item = tuple[str, Any]

# Seconds until a response begins although nothing has happened yet.
_PATIENCE = 1.0
# What a log says of a client that did not wait.
GONE = 499

HEADERS = (
    ("Content-Type", f"{EVENTS}; charset=utf-8"),
    ("Cache-Control", "no-store"),
    # A proxy that collects a response before it sends it on would make one event of all.
    ("X-Accel-Buffering", "no"),
)


def respond(
    run: Callable[[], dict[str, Any]],
    call: Call,
    deadline: float,
    ended: Callable[[int], object],
) -> Response:
    """A response of events; an error before the first of them is raised.

    run: makes the answer. deadline: its seconds. ended: is told the status when all is sent, or
    when nobody reads on, which cancels the call.
    """
    items: SimpleQueue[_Item] = SimpleQueue()

    def entered(stage: Stage) -> None:
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
        first = items.get(timeout=_PATIENCE)
    if first and first[0] == "problem":
        raise first[1]
    return Response(200, b"", HEADERS, _Events(first, items, call, ended))


class _Events:
    """The events of a call until its answer or its problem; closing them cancels it."""

    def __init__(
        self,
        first: _Item | None,
        items: "SimpleQueue[_Item]",
        call: Call,
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
            return event(name, data)
        self._is_last = True
        if name == "answer":
            self._end(200)
            return event(name, data)
        problem = problems.of(data)
        self._end(GONE if isinstance(data, CancelledError) else problem.status)
        return event(name, problem.as_json())

    def close(self) -> None:
        """Nobody reads on: stop what is under way."""
        self._call.cancel()
        self._is_last = True
        self._end(GONE)

    def _end(self, status: int) -> None:
        ended, self._ended = self._ended, None
        if ended:
            ended(status)
