"""The service on the standard library's HTTP server: threads, and connections that are kept."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import unquote_to_bytes

from . import paths, wsgi
from .beats import Beating
from .http import MAX_BODY, Events, Problem, Request, Response

# Connections at once, each of which has a thread; more of them are closed as they come.
MOST = 256
# Seconds within which a request has to be there, the wait for it included, and for which a client
# that does not read is waited for.
PATIENCE = 15.0
# Seconds for which a body that was refused is read, so that its sender comes to read why.
_WASTING = 2.0
_LONGEST_LINE = 65_536

Handle = Callable[[Request], Response]


class _Connection(socket.socket):
    """Reads until ``ends``, by ``time.monotonic()``: a timeout begins anew with every byte."""

    ends = float("inf")

    def recv_into(self, *args: Any) -> int:
        self.settimeout(max(0.001, self.ends - time.monotonic()))
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:
        self.settimeout(PATIENCE)
        return super().send(*args)


class Server(ThreadingMixIn, TCPServer):
    """Answers requests under a base path; port 0 takes any free one. OSError if it is taken."""

    allow_reuse_address = True
    daemon_threads = True
    # What the kernel keeps waiting while all are answered: a burst is no reason to hang up.
    request_queue_size = 128

    def __init__(self, host: str, port: int, handle: Handle, base: str = "/") -> None:
        self.respond = handle
        self.base = base
        self._places = threading.BoundedSemaphore(MOST)
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        found: int = self.server_address[1]
        return found

    def get_request(self) -> tuple[socket.socket, Any]:
        accepted, address = super().get_request()
        return _Connection(fileno=accepted.detach()), address

    def verify_request(self, request: Any, client_address: Any) -> bool:
        del request, client_address
        return self._places.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no fault, and what would be printed names its address."""
        del request, client_address


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    # A response leaves in one piece.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: BaseServer

    def handle_one_request(self) -> None:
        self.close_connection = True
        self._read_for(PATIENCE)
        with suppress(TimeoutError):
            self.raw_requestline = self.rfile.readline(_LONGEST_LINE + 1)
        if not self.raw_requestline:
            return
        if len(self.raw_requestline) > _LONGEST_LINE:
            self.send_error(414)
        elif self.parse_request():
            self._answer()

    def handle_expect_100(self) -> bool:
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no HTTP is a problem too, and its words are not repeated."""
        del code, message, explain
        # A version without heads would be left with the body alone.
        self.request_version, self.command = self.protocol_version, ""
        self._send(Problem("bad-request", "This is no request of HTTP.").response(), is_last=True)
        self._waste()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """No access log: a query string may hold a question."""

    def _answer(self) -> None:
        assert isinstance(self.server, Server)
        length = _length(self.headers)
        body = wsgi.body(self.rfile, length) if length else b""
        # What is left of a body would be read as the next request.
        is_read = length is not None and len(body) == length
        path, _, query = self.path.partition("?")
        response = self.server.respond(
            Request(
                method=self.command,
                path=paths.relative(_utf8(unquote_to_bytes(_raw(path))), self.server.base),
                query=_utf8(_raw(query)),
                headers=_merged(self.headers),
                body=body[: MAX_BODY + 1],
                asker=self.client_address[0],
                can_stream=True,
            )
        )
        if response.events is None:
            self._send(response, is_last=self.close_connection or not is_read)
        else:
            self._stream(response, response.events)
        if not is_read:
            self._waste()

    def _send(self, response: Response, *, is_last: bool) -> None:
        self.close_connection = is_last
        has_body = response.status != 204
        size = [("Content-Length", str(len(response.body)))] if has_body else []
        self._head(response, *size)
        if has_body and self.command != "HEAD":
            self.wfile.write(response.body)
        self.wfile.flush()

    def _stream(self, response: Response, events: Events) -> None:
        self.close_connection = True
        parts = Beating(events)
        try:
            self._head(response)
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
        finally:
            parts.close()

    def _head(self, response: Response, *more: tuple[str, str]) -> None:
        self.send_response_only(response.status)
        self.send_header("Date", self.date_time_string())
        for name, value in (*response.headers, *more):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _waste(self) -> None:
        """Read on for a moment: a connection that is closed unread loses its response too."""
        self._read_for(_WASTING)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(65_536):
                pass

    def _read_for(self, seconds: float) -> None:
        assert isinstance(self.connection, _Connection)
        self.connection.ends = time.monotonic() + seconds


def _length(headers: Message) -> int | None:
    """The bytes of a request's body; None if they are not told in advance, or in no number."""
    told = headers.get_all("Content-Length", ["0"])
    text = told[0].strip()
    # Of two lengths a proxy might have read the other one.
    if len(told) > 1 or headers.get("Transfer-Encoding") or not (text.isascii() and text.isdigit()):
        return None
    # Twelve digits are too many bytes already, and `int` takes only so many.
    return int(text.lstrip("0")[:12] or "0")


def _raw(text: str) -> bytes:
    """The bytes of a part of a request's first line."""
    return text.encode("latin-1")


def _utf8(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _merged(headers: Message) -> dict[str, str]:
    """Headers by their names in lower case; one that is sent twice is a list, as HTTP has it."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        key, text = name.lower(), str(value)
        found[key] = f"{found[key]},{text}" if key in found else text
    return found
