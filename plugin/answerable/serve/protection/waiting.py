"""What an answer cache promises, and those who wait for an answer that another caller makes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from ..errors import CrowdedError

Outcome = Literal["hit", "miss", "shared"]
# Returns a value and whether it may be kept.
Make = Callable[[], tuple[bytes, bool]]
# Raises where nobody waits any more.
Check = Callable[[], object]

# Callers that wait for another's answer at once, of all keys: each of them has a thread.
MOST_WAITING = 32
# Seconds after which one that waits looks whether its asker still does.
LOOK = 0.25

LATE = "the same question is being answered and was not ready in time: ask again"


def nothing() -> None:
    """Whoever waits is still there."""


class Crowd:
    """Those who wait for another's answer, so many at once."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._places = threading.BoundedSemaphore(most)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place to wait in; CrowdedError if there is none."""
        if not self._places.acquire(blocking=False):
            raise CrowdedError("too many wait for an answer already: ask again")
        try:
            yield
        finally:
            self._places.release()


class AnswerCache(Protocol):
    def once(
        self, key: str, make: Make, wait: float, check: Check = nothing
    ) -> tuple[bytes, Outcome]:
        """The value of a key: a kept one ("hit"), one of ``make`` ("miss") or another's ("shared").

        One caller of a key makes the value; those who come meanwhile wait for it and get it even
        if it may not be kept. An error of ``make`` is raised to who made it, and the next of those
        who wait makes its own. wait: seconds to wait at most, then TimeoutError. check: is called
        now and then by who waits, and may raise. CrowdedError if too many wait already,
        StorageError, before anything is made, if what is kept is shared and out of reach.
        """
        ...
