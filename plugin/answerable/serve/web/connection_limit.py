"""Limit the connections of a server, of one address and of all."""

import threading
from collections import Counter


class Connections:
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
