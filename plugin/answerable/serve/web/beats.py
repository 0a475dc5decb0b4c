"""Events with a comment in each pause, for a server that only writes."""

from collections.abc import Iterator
from queue import Empty, SimpleQueue
from threading import Thread

from .http import Events

# Two comments pass before a client that has gone is missed: the first makes its system refuse.
SECONDS = 1.0
# What a reader of server-sent events skips.
COMMENT = b":\n\n"


class Beating:
    """Events, and a comment whenever the next of them takes longer than ``seconds``.

    A WSGI server learns that its client has gone when it writes, and between two stages of an
    answer there is nothing to write.
    """

    def __init__(self, events: Events, seconds: float = SECONDS) -> None:
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
            return COMMENT
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
