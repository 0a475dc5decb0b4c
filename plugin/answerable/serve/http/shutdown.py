"""Track questions or connections in flight and wait for their end; call ``stop`` on a signal."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class InFlight(Generic[T]):
    """Track items in flight, such as questions or connections, and wait for their end."""

    def __init__(self) -> None:
        self._items: list[T] = []
        self._changed = threading.Condition()

    def add(self, item: T) -> None:
        """Track an item."""
        with self._changed:
            self._items.append(item)

    def discard(self, item: T) -> None:
        """Stop tracking an item, if it is tracked."""
        with self._changed:
            if item in self._items:
                self._items.remove(item)
                self._changed.notify_all()

    @contextmanager
    def hold(self, item: T) -> Iterator[None]:
        """Track an item for the length of this block."""
        self.add(item)
        try:
            yield
        finally:
            self.discard(item)

    def items(self) -> list[T]:
        """List the items in flight."""
        with self._changed:
            return list(self._items)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is in flight; False if that takes longer than ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._items, seconds)


@contextmanager
def stop_on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call ``stop`` in a thread of its own at the first signal in this block.

    A second signal does what it did before the block, which ends the process at once. Only the
    main thread may enter this block.
    """
    previous = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore_handlers() -> None:
        for number, handler in previous.items():
            # None: a handler that was not installed by Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle_signal(number: int, frame: FrameType | None) -> None:
        del number, frame
        restore_handlers()
        # A server that stops waits for the loop that this thread is in.
        threading.Thread(target=stop, daemon=True).start()

    for number in _SIGNALS:
        signal.signal(number, handle_signal)
    try:
        yield
    finally:
        restore_handlers()
