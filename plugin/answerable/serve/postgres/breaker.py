"""A breaker: who asks right after others have failed is told so at once."""

import threading
import time
from collections.abc import Callable

from ..errors import StorageError

# So many failures one after the other open it, for so many seconds at a time.
FAILURES = 3
PAUSE = 1.0


class Breaker:
    """Counts failures one after the other. While it is open, one caller a pause may try again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0

    def check(self) -> None:
        """StorageError while it is open; whoever passes then keeps the others away meanwhile."""
        with self._lock:
            if self._failures < FAILURES:
                return
            now = self._clock()
            if now < self._until:
                raise StorageError("the database did not answer a moment ago: ask again")
            self._until = now + PAUSE

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._until = self._clock() + PAUSE

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0
