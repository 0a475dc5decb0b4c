"""What goes wrong in the stub: errors it sends as OpenAI does, and one for its user.

The requests a stub has seen, kept for those who ask.

What the stub sends back, before it meets the network.

Server-sent events, as OpenAI sends them.

How a reply becomes bytes on a connection, whole or not.
"""

import json
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BufferedIOBase
from typing import Any, Literal

from ..serve.errors import AnswerableError


class StubError(AnswerableError):
    """A stub that cannot be started."""


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


# Headers that carry a secret: they are never kept.
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"}
)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
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


def drop_secret_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers under lower-case names, those that carry a secret left out."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name not in _SECRET_HEADERS}


class RequestLog:
    """A thread-safe list of requests, a count per endpoint, and one of clients that hung up.

    keep: how many requests to hold, the latest ones; None holds all. Counts are never forgotten.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._lock = threading.Lock()
        self._requests: deque[RecordedRequest] = deque(maxlen=keep)
        self._counts: Counter[str] = Counter()
        self._disconnects = 0

    def add(self, request: RecordedRequest) -> None:
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
    def requests(self) -> tuple[RecordedRequest, ...]:
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


# How a reply reaches the client; ``faults`` says what each of them does.
Delivery = Literal["whole", "hang", "drip", "cut", "drop", "truncated"]


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
    """A JSON reply. Escaped to ASCII, so that even a lone surrogate can be sent."""
    return StubReply((json.dumps(value).encode("ascii"),), status, headers=headers or {})


def error_reply(error: OpenAIError, headers: Mapping[str, str] | None = None) -> StubReply:
    """The reply that an error is sent as."""
    return json_reply(error.body, error.status, headers)


def event_stream_reply(chunks: Iterable[bytes]) -> StubReply:
    """A stream of server-sent events, one chunk each."""
    return StubReply(tuple(chunks), content_type="text/event-stream; charset=utf-8", stream=True)


STREAM_END = b"data: [DONE]\n\n"

# A long text comes in about this many pieces, a short one in pieces of a token or two.
_DELTAS = 100
_MIN_DELTA_CHARACTERS = 8


def encode_named_event(kind: str, number: int, fields: Mapping[str, Any]) -> bytes:
    """An event of the Responses API: its type as its name, and its sequence number."""
    return encode_event({"type": kind, "sequence_number": number, **fields}, kind)


def encode_event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One event. Escaped to ASCII, so that no text can end a line of it."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode("ascii")


def split_into_deltas(text: str) -> Iterator[str]:
    """A text in the pieces that deltas bring; together they are the text."""
    size = max(_MIN_DELTA_CHARACTERS, len(text) // _DELTAS)
    return (text[at : at + size] for at in range(0, len(text), size))


# How often a reply that hangs looks whether its client is still there, in seconds.
_HANG_POLL_SECONDS = 0.02


def send_reply(
    reply: StubReply,
    out: BufferedIOBase,
    to: socket.socket,
    stopping: threading.Event,
    pause: float,
) -> bool:
    """Write a reply to a connection; whether that can go on. pause: seconds between dripped bytes.

    OSError if the client has hung up before the reply was whole.
    """
    if reply.delivery == "hang":
        while not stopping.wait(_HANG_POLL_SECONDS):
            _raise_if_disconnected(to)
    if reply.delivery in ("hang", "drop"):
        return False
    if reply.delivery == "truncated":
        reply = StubReply(
            _first_half(reply.chunks), reply.status, reply.content_type, reply.headers, reply.stream
        )
    frames = list(_body_frames(reply))
    out.write(_response_head(reply))
    if reply.delivery == "drip":
        out.flush()
        return _drip_bytes(b"".join(frames), out, to, stopping, pause)
    cut = reply.delivery == "cut"
    for frame in _first_half(tuple(frames)) if cut else frames:
        out.write(frame)
    out.flush()
    return not cut


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
    """The first half of what there is to send; it ends within a chunk."""
    left = sum(len(chunk) for chunk in chunks) // 2
    kept = []
    for chunk in chunks:
        if left <= 0:
            break
        kept.append(chunk[:left])
        left -= len(chunk)
    return tuple(kept)


def _raise_if_disconnected(to: socket.socket) -> None:
    """ConnectionAbortedError if there is an end to read where there is no request."""
    waits = to.gettimeout()
    to.setblocking(False)
    try:
        if not to.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError
    except BlockingIOError:
        return
    finally:
        to.settimeout(waits)


def _drip_bytes(
    data: bytes, out: BufferedIOBase, to: socket.socket, stopping: threading.Event, pause: float
) -> bool:
    for index in range(len(data)):
        if stopping.wait(pause):
            return False
        _raise_if_disconnected(to)
        out.write(data[index : index + 1])
        out.flush()
    return True
