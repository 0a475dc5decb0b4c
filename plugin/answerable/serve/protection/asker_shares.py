"""Limit the answers that are made at once for one asker."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class AskerShares:
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
