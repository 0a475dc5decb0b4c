"""Responses of events: one that waits until it is closed, and how they are read as they come."""

import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any, cast

from answerable.serve.http import sse
from answerable.serve.http.messages import Request, Response
from answerable.serve.http.service import Service


def events(lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The events of a response in their order, comments left out."""
    name = ""
    for line in lines:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
        else:
            assert field in ("", ":")


class Waiting:
    """An event, then a second one that waits until it is told to come or to stay away."""

    def __init__(self) -> None:
        self.is_closed = False
        self.ready = threading.Event()
        self._left = [b"second", b"first"]

    @property
    def service(self) -> Service:
        """Make a service that responds with these events to any request."""
        return cast(Service, self)

    def handle(self, request: Request) -> Response:
        assert request.can_stream
        return Response(200, b"", sse.STREAM_HEADERS, events=self)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if len(self._left) == 1:
            self.ready.wait()
        if self.is_closed or not self._left:
            raise StopIteration
        return self._left.pop()

    def close(self) -> None:
        self.is_closed = True
        self.ready.set()
