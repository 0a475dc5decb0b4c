"""The requests a stub has seen, kept for those who ask."""

import json
import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Headers that carry a secret: they are never kept.
_SECRET = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request. ``path`` includes the query; header names are lower case, without the key."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def endpoint(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    @property
    def json(self) -> Any:
        """The body, parsed; ValueError if it is not JSON."""
        return json.loads(self.body)


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers under lower-case names, those that carry a secret left out."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name not in _SECRET}


class Record:
    """A thread-safe list of requests, a count per endpoint, and one of clients that hung up.

    keep: how many requests to hold, the latest ones; None holds all. Counts are never forgotten.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._lock = threading.Lock()
        self._requests: deque[Recorded] = deque(maxlen=keep)
        self._counts: Counter[str] = Counter()
        self._disconnects = 0

    def add(self, request: Recorded) -> None:
        """Keep a request."""
        with self._lock:
            self._requests.append(request)
            self._counts[request.endpoint] += 1

    def disconnect(self) -> None:
        """Count a client that hung up before its reply was whole."""
        with self._lock:
            self._disconnects += 1

    def clear(self) -> None:
        """Forget requests and counts."""
        with self._lock:
            self._disconnects = 0
            self._requests.clear()
            self._counts.clear()

    @property
    def requests(self) -> tuple[Recorded, ...]:
        """The requests in the order they came."""
        with self._lock:
            return tuple(self._requests)

    @property
    def counts(self) -> Counter[str]:
        """How often each endpoint was called."""
        with self._lock:
            return Counter(self._counts)

    @property
    def disconnects(self) -> int:
        """How many clients hung up before their reply was whole."""
        with self._lock:
            return self._disconnects
