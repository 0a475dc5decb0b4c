"""What is under way in a process, which its end waits for.

Stop a server when the process is asked to end, by SIGTERM or by an interrupt.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")


class InFlight(Generic[T]):
    """Items that are under way, such as questions or connections."""

    def __init__(self) -> None:
        self._items: list[T] = []
        self._changed = threading.Condition()

    def add(self, item: T) -> None:
        """Begin an item."""
        with self._changed:
            self._items.append(item)

    def discard(self, item: T) -> None:
        """End an item if it has begun."""
        with self._changed:
            if item in self._items:
                self._items.remove(item)
                self._changed.notify_all()

    @contextmanager
    def hold(self, item: T) -> Iterator[None]:
        """Keep an item under way for the length of this block."""
        self.add(item)
        try:
            yield
        finally:
            self.discard(item)

    def items(self) -> list[T]:
        """List what is under way now."""
        with self._changed:
            return list(self._items)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is under way; False if that takes longer than ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._items, seconds)


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call ``stop`` in a thread of its own at the first signal in this block.

    A second signal does what it did before the block, which ends the process at once. Only the
    main thread may enter this block.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            # None: a handler that was not installed by Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle(number: int, frame: FrameType | None) -> None:
        del number, frame
        restore()
        # A server that stops waits for the loop that this thread is in.
        Thread(target=stop, daemon=True).start()

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
