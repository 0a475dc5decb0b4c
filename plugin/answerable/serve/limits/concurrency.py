"""Limit the answers that are made at once for one asker.

Limit the connections of a server, of one address and of all.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class AskerSlots:
    """Each asker's share of the slots of one process: ``most`` at once, None without a limit.

    Without a share one asker holds all slots of a model that answers slowly: as many questions as
    there are slots are within the rate of a minute, and each of them may take half of one.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._held: Counter[str] = Counter()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Count the askers that hold something."""
        with self._changed:
            return len(self._held)

    @contextmanager
    def share(self, asker: str, wait: float) -> Iterator[bool]:
        """Hold one of an asker's share in this block; tell whether there was one within ``wait``.

        wait: seconds.
        """
        with self._changed:
            is_held = self._changed.wait_for(lambda: self._has_room(asker), wait)
            if is_held:
                self._held[asker] += 1
        try:
            yield is_held
        finally:
            if is_held:
                self._release(asker)

    def _has_room(self, asker: str) -> bool:
        return self._most is None or self._held[asker] < self._most

    def _release(self, asker: str) -> None:
        with self._changed:
            self._held[asker] -= 1
            if not self._held[asker]:
                del self._held[asker]
            # All who wait: the first of them may be another asker.
            self._changed.notify_all()


class ConnectionSlots:
    """Count connections, of all addresses together and of each."""

    def __init__(self, most: int, per_address: int | None) -> None:
        self._most = most
        self._per_address = most if per_address is None else per_address
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        """Count the addresses that hold a connection."""
        with self._lock:
            return len(self._open)

    def take(self, address: str) -> bool:
        """Take a place; False if there is none left for this address."""
        with self._lock:
            is_free = self._open.total() < self._most
            if not is_free or self._open[address] >= self._per_address:
                return False
            self._open[address] += 1
            return True

    def release(self, address: str) -> None:
        """Give a place back."""
        with self._lock:
            self._open[address] -= 1
            # An address without connections is forgotten.
            self._open += Counter()
