"""Run a stub of OpenAI's API on a loopback port: scripted models, faults, recorded requests."""

import socket
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer, TCPServer
from types import TracebackType
from typing import Any, Self

from .embeddings_endpoint import EMBEDDINGS_PATH
from .endpoints import ANSWER_PATHS, StubSettings, route_request
from .faults import FaultPlan, FaultSchedule
from .request_fields import SchemaCheck
from .scripted_models import SCRIPTED_MODELS, ScriptedModel
from .stub_messages import (
    OpenAIError,
    RecordedRequest,
    RequestLog,
    StubError,
    StubReply,
    drop_secret_headers,
    error_reply,
    send_reply,
)

HOST = "127.0.0.1"


class OpenAIStub:
    """A server that runs in threads of its own, from ``start`` or ``with`` until ``stop``.

    port: 0 for any free one. keep: how many requests to hold, None for all of them.
    models: further models by name, or others under the names of ``SCRIPTED_MODELS``.
    check_schema: tells why strict mode refuses a schema; without it every schema is taken.
    ``retry_after`` is the header that a 429 or 503 bears, in seconds; ``drip_seconds`` the pause
    between dripped bytes; ``no_responses`` makes it a server without /v1/responses.
    ``failures`` are exceptions that should never have happened.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        keep: int | None = None,
        models: Mapping[str, ScriptedModel] | None = None,
        check_schema: SchemaCheck = lambda _: None,
    ) -> None:
        self.retry_after = 1.0
        self.drip_seconds = 0.05
        self.no_responses = False
        self.failures: list[BaseException] = []
        self._port = port
        self._models = {**SCRIPTED_MODELS, **(models or {})}
        self._check_schema = check_schema
        self._log = RequestLog(keep)
        self._plans = FaultSchedule()
        self._server: _StubServer | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def start(self) -> Self:
        """Listen and answer; StubError if the port is taken."""
        if self._server is None:
            try:
                self._server = _StubServer(self, self._port)
            except OSError as error:
                raise StubError(
                    f"cannot listen on {HOST}:{self._port} ({error.strerror}): choose another port"
                ) from None
            self._stopped.clear()
            self._thread = threading.Thread(
                target=self._server.serve_forever, args=(0.01,), name="stub", daemon=True
            )
            self._thread.start()
        return self

    def stop(self) -> None:
        """Close the port and every connection; a request that hangs ends without an answer."""
        if self._server is None or self._thread is None:
            return
        self._server.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.hang_up()
        self._server = None
        self._stopped.set()

    def wait(self) -> None:
        """Return when the server has been stopped, by another thread or by an interrupt."""
        self._stopped.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """Return the port it listens on, or listened on last."""
        if self._server is not None:
            self._port = self._server.server_address[1]
        return self._port

    @property
    def base_url(self) -> str:
        """Return the base URL that a client is configured with."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def fault(self) -> str | None:
        """Return the fault that requests meet; one of ``faults.FAULTS``."""
        plan = self._plans.current
        return plan.name if plan else None

    @fault.setter
    def fault(self, name: str | None) -> None:
        self._plans.follow(FaultPlan(name) if name else None)

    def fail(self, fault: str, times: int | None = None, path: str | None = None) -> None:
        """Meet the next ``times`` requests (None: all) to an endpoint (None: any) with a fault."""
        self._plans.follow(FaultPlan(fault, times, path))

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """List the requests in the order they came, keys left out."""
        return self._log.requests

    @property
    def counts(self) -> Counter[str]:
        """Count the requests by endpoint, whatever came of them."""
        return self._log.counts

    @property
    def answer_calls(self) -> int:
        """Count the requests for an answer."""
        return sum(self.counts[path] for path in ANSWER_PATHS)

    @property
    def embedding_calls(self) -> int:
        """Count the requests for vectors."""
        return self.counts[EMBEDDINGS_PATH]

    @property
    def disconnects(self) -> int:
        """Count the clients that hung up before their reply was whole."""
        return self._log.disconnects

    def count_disconnect(self) -> None:
        """Count a client that hung up before its reply was whole."""
        self._log.count_disconnect()

    def forget(self) -> None:
        """Clear the record of requests and their counts."""
        self._log.clear()

    def respond(self, request: RecordedRequest, authorization: str | None) -> StubReply:
        """Record a request and reply to it."""
        self._log.append(request)
        settings = StubSettings(
            self._plans.take, self._models, self._check_schema, self.retry_after, self.no_responses
        )
        return route_request(request, authorization, settings)


def start_stub(port: int = 0, *, keep: int | None = None) -> OpenAIStub:
    """Start a stub with the models of the package; StubError if the port is taken."""
    return OpenAIStub(port, keep=keep).start()


class _StubServer(ThreadingHTTPServer):
    """Keeps its connections, so that it can hang up on all of them."""

    request_queue_size = 128

    def __init__(self, stub: OpenAIStub, port: int) -> None:
        self.stub = stub
        self.stopping = threading.Event()
        self._open: dict[threading.Thread, socket.socket] = {}
        self._lock = threading.Lock()
        super().__init__((HOST, port), _StubHandler)

    def server_bind(self) -> None:
        # The base class looks up this host's name, which can take seconds.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        # Known before it runs, so that a connection accepted while stopping is not missed.
        with self._lock:
            self._open[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                del self._open[threading.current_thread()]

    def hang_up(self) -> None:
        """End every connection and wait for its thread."""
        with self._lock:
            connections = dict(self._open)
        for connection in connections.values():
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in connections:
            thread.join(5)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hangs up is no failure. Nothing is printed: the base class would.
        del request, client_address
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.stub.failures.append(error)


class _StubHandler(BaseHTTPRequestHandler):
    """Reads requests off one connection until it ends."""

    protocol_version = "HTTP/1.1"
    # A reply leaves in one piece; otherwise the client's delayed acknowledgement stalls it.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: BaseServer

    def do_POST(self) -> None:
        self._answer()

    do_GET = do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed."""

    def _answer(self) -> None:
        assert isinstance(self.server, _StubServer)
        stub, stopping = self.server.stub, self.server.stopping
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            refused = error_reply(OpenAIError("A Content-Length is required.", status=411))
            self._send(stub, refused, stopping)
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            return
        request = RecordedRequest(
            self.command, self.path, drop_secret_headers(dict(self.headers.items())), body
        )
        reply = stub.respond(request, self.headers.get("Authorization"))
        if not self._send(stub, reply, stopping):
            self.close_connection = True

    def _send(self, stub: OpenAIStub, reply: StubReply, stopping: threading.Event) -> bool:
        try:
            return send_reply(reply, self.wfile, self.connection, stopping, stub.drip_seconds)
        except OSError:
            if not stopping.is_set():
                stub.count_disconnect()
            raise
