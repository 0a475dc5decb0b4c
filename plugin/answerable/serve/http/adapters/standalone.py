"""Threaded HTTP/1.1 server over a handler: keep-alive, deadlines, connection limits, draining."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, TCPServer, ThreadingMixIn
from threading import Event
from typing import Any
from urllib.parse import unquote_to_bytes

from ...limits.askers import ConnectionSlots, mask_address
from ..messages import (
    MAX_BODY_BYTES,
    EventStream,
    Headers,
    Problem,
    Request,
    Response,
    strip_base_path,
)
from ..shutdown import InFlight
from ..sse import KeepaliveEvents
from .request_head import MalformedRequestError, RequestHead, read_request_head
from .wsgi import read_limited_body

# Connections at once, each of which has a thread; more of them are closed as they come.
MAX_CONNECTIONS = 256
# Of these, so many from one address: a browser opens six, an office behind one address many.
MAX_CONNECTIONS_PER_ADDRESS = 64
# Seconds within which a request has to arrive, the wait for it included, and for which the server
# waits for a client that does not read.
IO_SECONDS = 15.0
# Seconds between two checks of a connection without a request for a server that closes.
_CLOSING_CHECK_SECONDS = 0.2
# Seconds for which a rejected body is still read, so that its sender comes to read the response.
_DISCARD_SECONDS = 2.0

Handle = Callable[[Request], Response]


class _DeadlineSocket(socket.socket):
    """Read until ``ends``, by ``time.monotonic()``: a timeout begins anew with every byte.

    While it ``waits`` for a request, it reports its end when nothing comes and the server closes.
    """

    ends = float("inf")
    waits = False
    closing: Event

    def recv_into(self, *args: Any) -> int:
        while self.waits:
            self.settimeout(max(0.001, min(_CLOSING_CHECK_SECONDS, self.ends - time.monotonic())))
            try:
                received = super().recv_into(*args)
            except TimeoutError:
                if self.closing.is_set():
                    return 0
                if time.monotonic() >= self.ends:
                    raise
                continue
            self.waits = False
            return received
        self.settimeout(max(0.001, self.ends - time.monotonic()))
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:
        self.settimeout(IO_SECONDS)
        return super().send(*args)


class StandaloneServer(ThreadingMixIn, TCPServer):
    """Serve under a base path; port 0 takes any free one, OSError if the port is taken.

    per_address: connections that one address, or one IPv6 network of 64 bits, may hold at once;
    None for no limit, where all of them come from a proxy.
    """

    allow_reuse_address = True
    daemon_threads = True
    # Connections that the kernel queues while all threads are busy: a burst is not rejected.
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        handle: Handle,
        base: str = "/",
        *,
        per_address: int | None = MAX_CONNECTIONS_PER_ADDRESS,
    ) -> None:
        self.handle = handle
        self.base = base
        self.connections = ConnectionSlots(MAX_CONNECTIONS, per_address)
        self.closing = Event()
        self._in_flight = InFlight[socket.socket]()
        super().__init__((host, port), _ConnectionHandler)

    @property
    def port(self) -> int:
        """Return the port that the server listens on."""
        port: int = self.server_address[1]
        return port

    def get_request(self) -> tuple[socket.socket, Any]:
        accepted, address = super().get_request()
        connection = _DeadlineSocket(fileno=accepted.detach())
        connection.closing = self.closing
        return connection, address

    def verify_request(self, request: Any, client_address: Any) -> bool:
        del request
        return self.connections.acquire(mask_address(client_address[0]))

    def process_request(self, request: Any, client_address: Any) -> None:
        self._in_flight.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._release(request, client_address)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._release(request, client_address)

    def drain(self, seconds: float) -> bool:
        """Close the port and answer what has been asked; False if ``seconds`` are too few.

        For a server whose ``serve_forever`` has returned. Connections that the kernel has accepted
        already are answered too, and those without a request are closed.
        """
        if not self.closing.is_set():
            self.closing.set()
            self.timeout = 0
            for _ in range(self.request_queue_size):
                self.handle_request()
            self.server_close()
        return self._in_flight.wait(seconds)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a client that hangs up is not a fault, and the text names its address."""
        del request, client_address

    def _release(self, request: Any, client_address: Any) -> None:
        self._in_flight.discard(request)
        self.connections.release(mask_address(client_address[0]))


class _ConnectionHandler(BaseHTTPRequestHandler):
    """Answer the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    # A response leaves in one piece.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: BaseServer
    connection: _DeadlineSocket

    def handle_one_request(self) -> None:
        self.close_connection = True
        self._set_deadline(IO_SECONDS)
        self.connection.waits = True
        head: RequestHead | None = None
        with suppress(TimeoutError):
            try:
                head = read_request_head(self.rfile.readline)
            except MalformedRequestError:
                self._reject()
        if head:
            # The base class formats a response by these.
            self.request_version, self.command = self.protocol_version, head.method
            self.close_connection = not head.keeps_alive
            if head.expects_continue:
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            self._answer(head)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print no access log: a query string may hold a question."""

    def _reject(self) -> None:
        """Answer what is not HTTP with a problem that repeats none of its words, and hang up."""
        self.request_version, self.command = self.protocol_version, ""
        problem = Problem("bad-request", "This is not an HTTP request.")
        self._send(problem.make_response(), is_last=True)
        self._discard_input()

    def _answer(self, head: RequestHead) -> None:
        assert isinstance(self.server, StandaloneServer)
        length = head.length
        body = read_limited_body(self.rfile, length) if length else b""
        # What is left of a body would be read as the next request.
        is_complete = length is not None and len(body) == length
        path, _, query = head.target.partition(b"?")
        response = self.server.handle(
            Request(
                method=head.method,
                path=strip_base_path(_decode_utf8(unquote_to_bytes(path)), self.server.base),
                query=_decode_utf8(query),
                headers=head.fields,
                body=body[: MAX_BODY_BYTES + 1],
                client_address=self.client_address[0],
                can_stream=True,
            )
        )
        if response.events is None:
            is_last = self.close_connection or self.server.closing.is_set()
            self._send(response, is_last=is_last or not is_complete)
        else:
            self._stream(response, response.events)
        if not is_complete:
            self._discard_input()

    def _send(self, response: Response, *, is_last: bool) -> None:
        self.close_connection = is_last
        self._send_head(response.status, response.sized_headers)
        if response.status != 204 and self.command != "HEAD":
            self.wfile.write(response.body)
        self.wfile.flush()

    def _stream(self, response: Response, events: EventStream) -> None:
        self.close_connection = True
        parts = KeepaliveEvents(events)
        try:
            self._send_head(response.status, response.headers)
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
        finally:
            parts.close()

    def _send_head(self, status: int, headers: Headers) -> None:
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        for name, value in headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _discard_input(self) -> None:
        """Read on for a moment: a connection that is closed unread loses its response too."""
        self._set_deadline(_DISCARD_SECONDS)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(65_536):
                pass

    def _set_deadline(self, seconds: float) -> None:
        self.connection.ends = time.monotonic() + seconds


def _decode_utf8(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
