"""Heads that two programs could read in two ways: each is refused and ends its connection."""

import json
import socket
from collections.abc import Iterator

import pytest

from answerable.serve.http.adapters import request_head
from answerable.serve.http.adapters.request_head import MalformedRequestError, read_request_head
from answerable.serve.http.adapters.standalone import StandaloneServer
from serve.http.test_standalone_server import Handler, exchanged, serving, statuses

NEXT = b"GET /smuggled HTTP/1.1\r\nHost: harbour.example\r\n\r\n"


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
def server(handler: Handler) -> Iterator[StandaloneServer]:
    with serving(handler) as server:
        yield server


def post(*lines: bytes) -> bytes:
    return b"\r\n".join((b"POST /answer HTTP/1.1", b"Host: harbour.example", *lines, b"", b""))


MALFORMED = {
    "bare CR in a value": post(b"X: a\rTransfer-Encoding: chunked"),
    "bare CR before the end of a line": post(b"X: a\r"),
    "bare CR in the request line": b"GET /a\r HTTP/1.1\r\nHost: h\r\n\r\n",
    "bare CR as the end of the request line": b"GET /a HTTP/1.1\rX: a\r\nHost: h\r\n\r\n",
    "bare LF after the request line": b"GET /a HTTP/1.1\nHost: h\r\n\r\n",
    "bare LF after a field": b"GET /a HTTP/1.1\r\nHost: h\nX: a\r\n\r\n",
    "bare LF as the empty line": b"GET /a HTTP/1.1\r\nHost: h\r\n\n",
    "line without a colon": post(b"Transfer-Encoding chunked"),
    "line of one word": post(b"zanzibar"),
    "space before the colon": post(b"Transfer-Encoding : chunked"),
    "tab before the colon": post(b"Content-Length\t: 5"),
    "field without a name": post(b": chunked"),
    "name with a space": post(b"Content Length: 5"),
    "name with a control character": post(b"X\x0b: 5"),
    "name beyond ASCII": post(b"X\xe9: 5"),
    "folded line": post(b"X: a", b" b"),
    "line folded by a tab": post(b"Transfer-Encoding:", b"\tchunked"),
    "white space before the first field": b"GET /a HTTP/1.1\r\n X: a\r\nHost: h\r\n\r\n",
    "NUL in a value": post(b"X: a\0b"),
    "NUL in a name": post(b"X\0: a"),
    "NUL in the request line": b"GET /a\0 HTTP/1.1\r\nHost: h\r\n\r\n",
    "DEL in a value": post(b"X: a\x7f"),
    "two lengths that differ": post(b"Content-Length: 0", b"Content-Length: 5"),
    "two lengths that agree": post(b"Content-Length: 5", b"Content-Length: 5"),
    "two lengths in one field": post(b"Content-Length: 5, 5"),
    "length and coding": post(b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    "coding and length": post(b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "length with a sign": post(b"Content-Length: +5"),
    "negative length": post(b"Content-Length: -5"),
    "length with an underscore": post(b"Content-Length: 1_0"),
    "length in hexadecimal": post(b"Content-Length: 0x5"),
    "length of no digits": post(b"Content-Length:"),
    "length of other digits": post("Content-Length: \u00b2".encode("latin-1")),
    "coding that is unknown": post(b"Transfer-Encoding: xchunked"),
    "coding in quotes": post(b'Transfer-Encoding: "chunked"'),
    "coding twice": post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    "coding that is not last": post(b"Transfer-Encoding: chunked, identity"),
    "two hosts": post(b"Host: elsewhere.example"),
    "no version": b"GET /a\r\n\r\n",
    "version in lower case": b"GET /a http/1.1\r\nHost: h\r\n\r\n",
    "another version": b"GET /a HTTP/2.0\r\nHost: h\r\n\r\n",
    "version with a space": b"GET /a HTTP/1.1 \r\nHost: h\r\n\r\n",
    "two spaces": b"GET  /a HTTP/1.1\r\nHost: h\r\n\r\n",
    "a tab for a space": b"GET\t/a HTTP/1.1\r\nHost: h\r\n\r\n",
    "method that is no token": b"GE(T /a HTTP/1.1\r\nHost: h\r\n\r\n",
    "no target": b"GET HTTP/1.1\r\nHost: h\r\n\r\n",
    "too many fields": post(*[b"X: a"] * 101),
    "head that is too long": post(*[b"X: " + b"a" * 60_000] * 2),
}


@pytest.mark.parametrize("head", MALFORMED.values(), ids=MALFORMED)
def test_malformed_head_is_400_and_ends_connection(
    handler: Handler, server: StandaloneServer, head: bytes
) -> None:
    received, _, body = exchanged(server, head + NEXT).partition(b"\r\n\r\n")
    assert statuses(received + body) == [400]
    assert b"\r\nConnection: close" in received
    assert json.loads(body)["code"] == "bad-request"
    assert handler.requests == []


def test_unusual_but_valid_head_is_answered(handler: Handler, server: StandaloneServer) -> None:
    sent = (
        b"POST /a?q=\xc3\xa9 HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Tabs:\t a \t\r\n"
        b"X-Latin: caf\xe9\r\nX!#$%&'*+.^_`|~-1: a:b\r\nContent-Length: 003\r\n\r\nabc"
        # An empty line after a body is skipped.
        b"\r\nGET /b HTTP/1.1\r\nhOsT: h\r\nConnection: Keep-Alive, Close\r\n\r\n"
    )
    assert statuses(exchanged(server, sent)) == [200, 200]
    first, second = handler.requests
    assert (first.query, first.body, second.path) == ("q=é", b"abc", "b")
    assert first.headers == {
        "host": "h", "x-empty": "", "x-tabs": "a", "x-latin": "café",
        "x!#$%&'*+.^_`|~-1": "a:b", "content-length": "003",
    }  # fmt: skip


def test_http_1_0_connection_is_kept_only_on_request(server: StandaloneServer) -> None:
    old_request = b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    assert statuses(exchanged(server, old_request + old_request)) == [200, 200]
    assert statuses(exchanged(server, b"GET /a HTTP/1.0\r\n\r\n" + old_request)) == [200]


def test_head_over_limit_is_rejected() -> None:
    sizes: list[int] = []

    def read_line(most: int) -> bytes:
        sizes.append(min(most, 1000))
        return (
            b"X: " + b"a" * (sizes[-1] - 5) + b"\r\n" if len(sizes) > 1 else b"GET / HTTP/1.1\r\n"
        )

    with pytest.raises(MalformedRequestError):
        read_request_head(read_line)
    assert sum(sizes) <= request_head.MAX_HEAD_BYTES + 1000


@pytest.mark.parametrize("end", range(1, 40))
def test_client_that_leaves_within_head_gets_no_response(
    server: StandaloneServer, end: int
) -> None:
    head = b"GET / HTTP/1.1\r\nHost: harbour.example\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        client.sendall(head[:end])
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1000) == b""
