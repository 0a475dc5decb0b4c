"""The script of a function folder under uvicorn: what is sent to it raw, and what it says."""

import re
import signal
import socket
from collections.abc import Iterator

import pytest

from answerable.serve.http.adapters.asgi import AsgiApp, serve_until_signal
from answerable.serve.http.messages import MAX_BODY_BYTES, Request, Response
from answerable.serve.request_context import RequestContext
from support import published_functions
from support.deadlines import PATIENCE
from support.server_processes import Running

HEALTH = b"GET /health HTTP/1.1\r\nHost: h\r\n"
ASKED = b"POST /answer HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    function = published_functions.build_function(tmp_path_factory.mktemp("site"))
    with published_functions.serving(function) as running:
        yield running


def exchanged(server: Running, sent: bytes) -> bytes:
    """All that a server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(65_536), b""))


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


def test_response_head_names_no_software(running: Running) -> None:
    head, _, _ = exchanged(running, HEALTH + b"Connection: close\r\n\r\n").partition(b"\r\n\r\n")
    names = {line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
    assert names >= {b"date", b"content-type", b"cache-control", b"content-length", b"connection"}
    assert b"server" not in names
    assert b"uvicorn" not in head.lower()


def test_a_kept_connection_waits_for_no_acknowledgment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body follows its headers at once, and not some 40 ms later, after the client's delay."""

    def handle(_: Request, __: RequestContext) -> Response:
        raise AssertionError

    def announce() -> None:
        raise KeyboardInterrupt

    # What ends this process stays as it is.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with pytest.raises(KeyboardInterrupt):
            serve_until_signal(AsgiApp(handle), listening, announce, 1.0)
        with socket.create_connection(listening.getsockname(), PATIENCE):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_head_has_no_body(running: Running) -> None:
    sent = HEALTH.replace(b"GET", b"HEAD") + b"Connection: close\r\n\r\n"
    received = exchanged(running, sent)
    assert statuses(received) == [405]
    assert received.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"zanzibar\r\n\r\n",
        b"GET /zanzibar zanzibar HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nzanzibar : 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: zanzibar\r\n\r\n",
    ],
)
def test_malformed_request_is_refused_and_repeated_nowhere(running: Running, sent: bytes) -> None:
    received = exchanged(running, sent + HEALTH + b"\r\n")
    (status,) = statuses(received)
    assert 400 <= status < 600
    assert b"zanzibar" not in received
    assert "zanzibar" not in running.output
    assert running.request("GET", "/health")[0] == 200


def test_body_over_limit_is_refused_before_it_is_whole(running: Running) -> None:
    """A body that never ends is not waited for."""
    with socket.create_connection(("127.0.0.1", running.port), PATIENCE) as client:
        client.sendall(ASKED + b"Content-Length: 99999999\r\n\r\n" + b"x" * (MAX_BODY_BYTES + 1))
        received = client.recv(65_536)
    assert statuses(received) == [413]


def test_expect_continue_is_answered(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", running.port), PATIENCE) as client:
        client.sendall(ASKED + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert client.recv(65_536).startswith(b"HTTP/1.1 100 ")
        client.sendall(b"{}")
        assert statuses(client.recv(65_536)) == [400]
