"""Messages of the stub server: recorded requests, errors, replies; send a reply whole or broken."""

import json
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from io import BufferedIOBase
from typing import Any, Literal

from ..serve.errors import AnswerableError

# How a reply reaches the client; ``faults`` tells what each of them does.
Delivery = Literal["whole", "hang", "drip", "cut", "drop", "truncated"]

STREAM_END = b"data: [DONE]\n\n"

_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"}
)
# A long text comes in about this many deltas, a short one in deltas of a token or two.
_DELTAS = 100
_MIN_DELTA_CHARACTERS = 8
# How often a reply that hangs looks whether its client is still there, in seconds.
_HANG_POLL_SECONDS = 0.02


class StubError(AnswerableError):
    """A stub that cannot be started or a fault that it does not have."""


class OpenAIError(Exception):
    """An error that is sent to the client, in OpenAI's envelope."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request. ``path`` includes the query; header names are lower case, without secrets."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def endpoint(self) -> str:
        """Return the path without its query."""
        return self.path.partition("?")[0]

    @property
    def json(self) -> Any:
        """Parse the body; ValueError if it is not JSON."""
        return json.loads(self.body)


def drop_secret_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Lower the names of headers and leave out those that carry a secret."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name not in _SECRET_HEADERS}


class RequestLog:
    """A thread-safe list of requests, with counts of requests and of clients that hung up.

    keep: how many requests to hold, the latest ones; None holds all. Counts are never dropped.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._lock = threading.Lock()
        self._requests: deque[RecordedRequest] = deque(maxlen=keep)
        self._counts: Counter[str] = Counter()
        self._disconnects = 0

    def append(self, request: RecordedRequest) -> None:
        """Record a request and count it for its endpoint."""
        with self._lock:
            self._requests.append(request)
            self._counts[request.endpoint] += 1

    def count_disconnect(self) -> None:
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
    def requests(self) -> tuple[RecordedRequest, ...]:
        """List the requests in the order they came."""
        with self._lock:
            return tuple(self._requests)

    @property
    def counts(self) -> Counter[str]:
        """Count the requests by endpoint."""
        with self._lock:
            return Counter(self._counts)

    @property
    def disconnects(self) -> int:
        """Count the clients that hung up before their reply was whole."""
        with self._lock:
            return self._disconnects


@dataclass(frozen=True, slots=True)
class StubReply:
    """A status, headers and a body; a stream's body is sent chunk by chunk."""

    chunks: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: bool = False
    delivery: Delivery = "whole"


def json_reply(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> StubReply:
    """Make a JSON reply, escaped to ASCII, so that even a lone surrogate can be sent."""
    return StubReply((json.dumps(value).encode("ascii"),), status, headers=headers or {})


def error_reply(error: OpenAIError, headers: Mapping[str, str] | None = None) -> StubReply:
    """Make the reply of an error."""
    return json_reply(error.body, error.status, headers)


def event_stream_reply(chunks: Iterable[bytes]) -> StubReply:
    """Make a stream of server-sent events, one chunk each."""
    return StubReply(tuple(chunks), content_type="text/event-stream; charset=utf-8", stream=True)


def encode_event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """Encode a server-sent event, escaped to ASCII, so that no text can end a line of it."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode("ascii")


def split_into_deltas(text: str) -> Iterator[str]:
    """Split a text into the pieces that a stream brings; together they are the text."""
    size = max(_MIN_DELTA_CHARACTERS, len(text) // _DELTAS)
    return (text[start : start + size] for start in range(0, len(text), size))


def send_reply(
    reply: StubReply,
    out: BufferedIOBase,
    connection: socket.socket,
    stopping: threading.Event,
    pause: float,
) -> bool:
    """Write a reply to a connection; returns False if the connection must end.

    pause: seconds between dripped bytes. OSError if the client hung up before the reply was whole.
    """
    if reply.delivery == "hang":
        while not stopping.wait(_HANG_POLL_SECONDS):
            _raise_if_disconnected(connection)
    if reply.delivery in ("hang", "drop"):
        return False
    if reply.delivery == "truncated":
        reply = replace(reply, chunks=_first_half(reply.chunks))
    frames = tuple(_body_frames(reply))
    out.write(_response_head(reply))
    if reply.delivery == "drip":
        out.flush()
        for byte in b"".join(frames):
            if stopping.wait(pause):
                return False
            _raise_if_disconnected(connection)
            out.write(bytes([byte]))
            out.flush()
        return True
    is_cut = reply.delivery == "cut"
    out.writelines(_first_half(frames) if is_cut else frames)
    out.flush()
    return not is_cut


def _response_head(reply: StubReply) -> bytes:
    size = sum(len(chunk) for chunk in reply.chunks)
    framing = "Transfer-Encoding: chunked" if reply.stream else f"Content-Length: {size}"
    lines = [
        f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
        f"Content-Type: {reply.content_type}",
        framing,
        *(f"{name}: {value}" for name, value in reply.headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _body_frames(reply: StubReply) -> Iterator[bytes]:
    if not reply.stream:
        yield from reply.chunks
        return
    for chunk in reply.chunks:
        yield b"%x\r\n%s\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"


def _first_half(chunks: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Take the first half of the bytes; it ends within a chunk."""
    remaining = sum(len(chunk) for chunk in chunks) // 2
    half = []
    for chunk in chunks:
        if remaining <= 0:
            break
        half.append(chunk[:remaining])
        remaining -= len(chunk)
    return tuple(half)


def _raise_if_disconnected(connection: socket.socket) -> None:
    """Raise ConnectionAbortedError if the client has closed its end."""
    timeout = connection.gettimeout()
    connection.setblocking(False)
    try:
        if not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError
    except BlockingIOError:
        return
    finally:
        connection.settimeout(timeout)
