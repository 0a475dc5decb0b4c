"""What is under way in a process, which its end waits for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
