"""The moving windows of ``limits`` in memory, bounded. Import it only where a limiter is made.

``limits.storage.MemoryStorage`` never forgets a key, and from a thread of its own it reads all of
them whenever one is used: with 10,000 askers that is most of a core.
"""

from collections import OrderedDict, deque
from collections.abc import Callable

from limits.storage import Storage
from limits.storage.base import MovingWindowSupport

# Windows of one length that are kept: whoever has not asked for longest is forgotten first.
MAX_WINDOWS = 10_000


class MemoryWindows(Storage, MovingWindowSupport):
    """The times of what each key was admitted for, by the length of the window.

    clock: seconds, as ``time.time``. Not for several threads at once.
    """

    def __init__(self, clock: Callable[[], float], keys: int = MAX_WINDOWS) -> None:
        super().__init__()
        self._clock = clock
        self._keys = keys
        self._lengths: dict[int, OrderedDict[str, deque[float]]] = {}

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        windows = self._lengths.setdefault(expiry, OrderedDict())
        self._forget(windows, expiry)
        times = self._times(key, expiry)
        if len(times) + amount > limit:
            return False
        times.extend([self._clock()] * amount)
        windows[key] = times
        windows.move_to_end(key)
        if len(windows) > self._keys:
            windows.popitem(last=False)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        del limit
        times = self._times(key, expiry)
        return (times[0] if times else self._clock()), len(times)

    def _times(self, key: str, expiry: int) -> deque[float]:
        """When a key was admitted within the window, the oldest first."""
        times = self._lengths.get(expiry, OrderedDict()).get(key)
        if times is None:
            return deque()
        start = self._clock() - expiry
        while times and times[0] <= start:
            times.popleft()
        return times

    def _forget(self, windows: OrderedDict[str, deque[float]], expiry: int) -> None:
        """Drop the keys that have nothing left; they are kept in the order of their last hit."""
        start = self._clock() - expiry
        while windows:
            times = next(iter(windows.values()))
            if times and times[-1] > start:
                return
            windows.popitem(last=False)

    def __len__(self) -> int:
        return sum(map(len, self._lengths.values()))

    # What other strategies than the moving window would count.

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        return ()

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError

    def get(self, key: str) -> int:
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        raise NotImplementedError

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        dropped = len(self)
        self._lengths.clear()
        return dropped

    def clear(self, key: str) -> None:
        for windows in self._lengths.values():
            windows.pop(key, None)
