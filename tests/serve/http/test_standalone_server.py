"""The function's own server: connections that are kept, and all that a client may do to one."""

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from answerable.serve.http.adapters import standalone
from answerable.serve.http.adapters.standalone import StandaloneServer
from answerable.serve.http.messages import MAX_BODY_BYTES, Request, Response, make_json_response
from support.deadlines import PATIENCE, until

OK = make_json_response({"status": "ok"})


@dataclass
class Handler:
    """Record requests and answer them; the response may be replaced."""

    response: Response = OK
    requests: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return self.response


@pytest.fixture
def handler() -> Handler:
    return Handler()


@contextmanager
def serving(
    handler: Handler,
    base: str = "/",
    *,
    per_address: int | None = standalone.MAX_CONNECTIONS_PER_ADDRESS,
) -> Iterator[StandaloneServer]:
    with StandaloneServer("127.0.0.1", 0, handler, base, per_address=per_address) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def connect(server: StandaloneServer, address: str = "127.0.0.1") -> socket.socket:
    """Connect from a loopback address."""
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE, (address, 0))


def exchanged(server: StandaloneServer, sent: bytes) -> bytes:
    """All that a server sends until it closes the connection."""
    with connect(server) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65_536), b""))


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


def test_keep_alive_connection_serves_several_requests(handler: Handler) -> None:
    with serving(handler) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        places = set()
        for n in range(3):
            connection.request("POST", f"/answer?n={n}", b"x" * n, {"Content-Type": "text/plain"})
            response = connection.getresponse()
            assert (response.status, json.loads(response.read())) == (200, {"status": "ok"})
            assert response.version == 11
            places.add(connection.sock.getsockname())
        connection.close()
    assert len(places) == 1
    assert [(each.query, each.body) for each in handler.requests] == [
        ("n=0", b""), ("n=1", b"x"), ("n=2", b"xx")
    ]  # fmt: skip
    assert {(each.method, each.path, each.client_address) for each in handler.requests} == {
        ("POST", "answer", "127.0.0.1")
    }


def test_pipelined_requests_are_answered_in_order(handler: Handler) -> None:
    sent = (
        b"GET /a HTTP/1.1\r\n\r\n"
        b"POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz"
        b"GET /c HTTP/1.1\r\n\r\n"
    )
    with serving(handler) as server:
        assert statuses(exchanged(server, sent)) == [200, 200, 200]
    assert [(each.path, each.body) for each in handler.requests] == [
        ("a", b""), ("b", b"xyz"), ("c", b"")
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["GET / HTTP/1.0\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n"])
def test_connection_close_is_honored(handler: Handler, line: str) -> None:
    with serving(handler) as server, connect(server) as client:
        client.sendall(line.encode() + b"\r\n")
        received = b"".join(iter(lambda: client.recv(65_536), b""))
    assert b"\r\nConnection: close\r\n" in received
    assert received.endswith(b"\r\n\r\n" + OK.body)


def test_response_head_names_no_software(handler: Handler) -> None:
    with serving(handler) as server:
        head, _, body = exchanged(server, b"GET / HTTP/1.1\r\n\r\n").partition(b"\r\n\r\n")
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:]]
    assert names == [b"Date", b"Content-Type", b"Cache-Control", b"Content-Length"]
    assert body == OK.body


def test_path_is_decoded_and_relative_to_base(handler: Handler) -> None:
    with serving(handler, "/ask/") as server:
        for path in ("/ask/answer", "/ask/%61nswer", "/ask/%C3%A9?q=%C3%A9", "/other", "/ask"):
            exchanged(server, f"GET {path} HTTP/1.1\r\n\r\n".encode())
    assert [(each.path, each.query) for each in handler.requests] == [
        ("answer", ""), ("answer", ""), ("é", "q=%C3%A9"), ("", ""), ("", "")
    ]  # fmt: skip


def test_repeated_header_is_joined_by_comma(handler: Handler) -> None:
    """A client cannot add to what a proxy says by writing its header in another way."""
    sent = (
        b"GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\nX_Forwarded_For: 192.0.2.9\r\n"
        b"x-forwarded-for: 192.0.2.2\r\n\r\n"
    )
    with serving(handler) as server:
        exchanged(server, sent)
    (request,) = handler.requests
    assert request.headers["x-forwarded-for"] == "192.0.2.1,192.0.2.2"


def test_any_method_reaches_service_and_head_and_204_have_no_body(handler: Handler) -> None:
    with serving(handler) as server:
        assert statuses(exchanged(server, b"BREW /answer HTTP/1.1\r\n\r\n")) == [200]
        received = exchanged(server, b"HEAD /answer HTTP/1.1\r\n\r\n")
        assert received.endswith(f"Content-Length: {len(OK.body)}\r\n\r\n".encode())
        handler.response = Response(204, b"")
        received = exchanged(server, b"OPTIONS /answer HTTP/1.1\r\n\r\n")
    assert received.endswith(b"\r\n\r\n")
    assert b"Content-Length" not in received
    assert [each.method for each in handler.requests] == ["BREW", "HEAD", "OPTIONS"]


@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, 3_000_000])
def test_body_over_limit_is_truncated_and_closes_connection(handler: Handler, size: int) -> None:
    with serving(handler) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("POST", "/answer", b"x" * size)
        response = connection.getresponse()
        assert response.status == 200
        assert (response.read(), response.will_close) == (OK.body, size > MAX_BODY_BYTES + 1)
        connection.close()
    assert [len(each.body) for each in handler.requests] == [MAX_BODY_BYTES + 1]


@pytest.mark.parametrize("header", ["Transfer-Encoding: chunked", "transfer-encoding: Chunked"])
def test_chunked_body_is_not_read_as_next_request(handler: Handler, header: str) -> None:
    with serving(handler) as server:
        sent = f"POST /a HTTP/1.1\r\n{header}\r\n\r\n4\r\nGET /b HTTP/1.1\r\n\r\n"
        received = exchanged(server, sent.encode())
    assert statuses(received) == [200]
    assert b"\r\nConnection: close\r\n" in received
    assert [(each.path, each.body) for each in handler.requests] == [("a", b"")]


def test_expect_continue_is_answered(handler: Handler) -> None:
    with serving(handler) as server, connect(server) as client:
        client.sendall(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert client.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"{}")
        assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert handler.requests[0].body == b"{}"


@pytest.mark.parametrize(
    "sent",
    [
        b"zanzibar\r\n\r\n",
        b"GET /zanzibar zanzibar HTTP/1.1\r\n\r\n",
        b"GET /zanzibar HTTP/9.9\r\n\r\n",
        b"GET /" + b"zanzibar" * 9_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: zanzibar\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"zanzibar" * 9_000 + b"\r\n\r\n",
    ],
)
def test_malformed_request_is_problem_that_repeats_nothing(handler: Handler, sent: bytes) -> None:
    with serving(handler) as server:
        head, _, body = exchanged(server, sent).partition(b"\r\n\r\n")
    assert statuses(head) == [400]
    assert json.loads(body)["code"] == "bad-request"
    assert b"zanzibar" not in head + body
    assert handler.requests == []


def test_client_that_disconnects_is_not_printed(
    handler: Handler, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(handler) as server:
        for sent in (
            b"",
            b"GET",
            b"GET / HTTP/1.1\r\nX",
            b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
        ):
            with connect(server) as client:
                client.sendall(sent)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        assert statuses(exchanged(server, b"GET / HTTP/1.1\r\n\r\n")) == [200]
    assert capfd.readouterr() == ("", "")


def test_silent_client_times_out(handler: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standalone, "IO_SECONDS", 0.1)
    with serving(handler) as server:

        def received(sent: bytes) -> bytes:
            with connect(server) as client:
                with contextlib.suppress(BrokenPipeError):
                    client.sendall(sent)
                with contextlib.suppress(ConnectionResetError):
                    return b"".join(iter(lambda: client.recv(65_536), b""))
                return b""

        for sent in (b"", b"GET / HTTP/1.1\r\n"):
            assert statuses(received(sent)) == []
        # On a busy machine even this may come too late.
        until(lambda: statuses(received(b"GET / HTTP/1.1\r\n\r\n")) == [200])


def test_slow_client_times_out(handler: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standalone, "IO_SECONDS", 0.5)
    with serving(handler) as server:

        def was_seen() -> bool:
            """Drip until it is hung up; on a busy machine that may be before the head is read."""
            with connect(server) as client, contextlib.suppress(OSError):
                client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 4000\r\n\r\n")
                # At this pace the body would take far longer than anybody waits.
                while True:
                    client.sendall(b"x")
                    time.sleep(0.05)
            return bool(handler.requests)

        until(was_seen)
    assert [each.body for each in handler.requests] == [b""]


def test_connections_over_limit_are_closed(
    handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standalone, "MAX_CONNECTIONS", 2)
    with serving(handler) as server:
        clients = [connect(server) for _ in range(2)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(65_536)
        with connect(server) as another:
            assert another.recv(1) == b""
        for client in clients:
            client.close()
        until(lambda: bool(exchanged_or_nothing(server)))


def exchanged_or_nothing(server: StandaloneServer) -> bytes:
    try:
        return exchanged(server, b"GET / HTTP/1.1\r\n\r\n")
    except OSError:
        return b""


def test_slow_response_outlives_request_timeout(
    handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standalone, "IO_SECONDS", 0.5)
    answered = threading.Event()

    def slow(request: Request) -> Response:
        del request
        answered.wait(0.7)
        return OK

    with serving(handler) as server:
        server.handle = slow
        # On a busy machine the request may come too late.
        until(lambda: statuses(exchanged_or_nothing(server)) == [200])


@dataclass
class Parts:
    """Events that never end, and whether they were closed."""

    closed: threading.Event = field(default_factory=threading.Event)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self.closed.wait(0.01):
            raise StopIteration
        return b"event: stage\ndata: {}\n\n"

    def close(self) -> None:
        self.closed.set()


def test_events_are_streamed_and_stop_when_reader_leaves(handler: Handler) -> None:
    parts = Parts()
    handler.response = Response(200, b"", (("Content-Type", "text/event-stream"),), parts)
    with serving(handler) as server:
        with connect(server) as client:
            client.sendall(b"POST /answer HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            received = b""
            while received.count(b"event: stage") < 3:
                received += client.recv(65_536)
        assert parts.closed.wait(PATIENCE)
    head = received.partition(b"\r\n\r\n")[0]
    assert b"\r\nConnection: close" in head
    assert b"Content-Length" not in head


def test_connection_limit_per_address_leaves_room_for_others(
    handler: Handler,
) -> None:
    with serving(handler, per_address=2) as server:
        clients = [connect(server) for _ in range(2)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(65_536)
        with connect(server) as another:
            assert another.recv(1) == b""
        with connect(server, "127.0.0.2") as neighbor:
            neighbor.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert statuses(neighbor.recv(65_536)) == [200]
        for client in clients:
            client.close()
        until(lambda: bool(exchanged_or_nothing(server)))


def test_no_per_address_limit_lets_proxy_hold_all_connections(
    handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standalone, "MAX_CONNECTIONS_PER_ADDRESS", 1)
    with serving(handler, per_address=None) as server:
        clients = [connect(server) for _ in range(3)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert statuses(client.recv(65_536)) == [200]
        for client in clients:
            client.close()


def test_address_without_connections_is_forgotten(handler: Handler) -> None:
    with serving(handler) as server:
        for address in ("127.0.0.2", "127.0.0.3", "127.0.0.4"):
            with connect(server, address) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert client.recv(65_536)
        until(lambda: len(server.connections) == 0)
