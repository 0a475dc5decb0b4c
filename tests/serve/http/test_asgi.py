"""ASGI application by itself: arbitrary scopes and messages, and clients that leave."""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.errors import CancelledError
from answerable.serve.http.adapters.asgi import AsgiApp, Message
from answerable.serve.http.messages import MAX_BODY_BYTES, Request, Response
from answerable.serve.http.service import Service
from answerable.serve.request_context import RequestContext
from support.deadlines import PATIENCE
from support.doubles import OPEN, engine_of, record
from support.fuzz_settings import fuzzed
from support.scripted import ScriptedAnswerer

ORIGIN = OPEN.origins[0]
GONE: Message = {"type": "http.disconnect"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 10_000)
    engine = engine_of(tmp_path_factory.mktemp("asgi"), page, answerer=declining)
    return Service(lambda: engine, OPEN)


@pytest.fixture(scope="module")
def app(service: Service) -> AsgiApp:
    return AsgiApp(service.handle, "/ask/")


def scope(path: str = "/ask/health", method: str = "GET", **fields: object) -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "headers": [], **fields}


def body(*chunks: bytes) -> list[Message]:
    last = len(chunks) - 1
    return [
        {"type": "http.request", "body": chunk, "more_body": number < last}
        for number, chunk in enumerate(chunks)
    ]


class Server:
    """Hands out messages and then none, unless its client leaves; keeps what it is sent."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = iter(messages)
        self.received = 0
        self.sent: list[Message] = []
        self.left = threading.Event()

    async def receive(self) -> Message:
        for message in self.messages:
            self.received += 1
            return message
        while not self.left.is_set():
            await asyncio.sleep(0.005)
        return GONE

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode().lower(): value.decode() for name, value in self.sent[0]["headers"]}


def in_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run in a thread: in this one a browser's tests may have left a loop that runs."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def run(app: AsgiApp, http_scope: dict[str, Any], messages: Iterable[Message]) -> Server:
    server = Server(messages)
    in_loop(app(http_scope, server.receive, server.send))
    return server


HEADERS = st.lists(
    st.tuples(
        st.sampled_from([b"origin", b"content-type", b"accept", b"Host"]) | st.binary(max_size=8),
        st.sampled_from([ORIGIN.encode(), b"application/json", b"text/event-stream"])
        | st.binary(max_size=8),
    ),
    max_size=5,
)
PATHS = st.sampled_from(["/ask/answer", "/ask/search", "/ask/", "/ask", "/"]) | st.text(max_size=8)
CLIENTS = st.sampled_from([None, (), [], ("192.0.2.1", 80), ["2001:db8::1", 0], (None, None)])


@given(
    path=PATHS,
    method=st.sampled_from(["GET", "POST", "OPTIONS", "HEAD"]) | st.text(max_size=5),
    headers=HEADERS,
    query=st.none() | st.binary(max_size=12),
    client=CLIENTS,
    chunks=st.lists(st.binary(max_size=2000) | st.just(b'{"question": "rope"}'), min_size=1),
)
@fuzzed(150)
def test_any_scope_gets_exactly_one_response(
    app: AsgiApp,
    path: str,
    method: str,
    headers: list[tuple[bytes, bytes]],
    query: bytes | None,
    client: object,
    chunks: list[bytes],
) -> None:
    http_scope = scope(path, method, headers=headers, query_string=query, client=client)
    server = run(app, http_scope, body(*chunks))
    start, *parts = server.sent
    assert start["status"] in (200, 204, 400, 403, 404, 405, 413, 415)
    assert server.headers["vary"] == "Origin"
    assert [part.get("more_body", False) for part in parts][-1:] == [False]


@given(messages=st.lists(st.sampled_from([*body(b"x"), *body(b"a", b"b")[:1], GONE, {}])))
@fuzzed(50)
def test_messages_without_request_get_at_most_one_response(
    app: AsgiApp, messages: list[Message]
) -> None:
    server = run(
        app, scope(method="POST"), [{"type": "http.request", **m} for m in messages] + [GONE]
    )
    assert [each["type"] for each in server.sent[:1]] in ([], ["http.response.start"])


def test_client_that_leaves_while_sending_gets_no_response(app: AsgiApp) -> None:
    assert run(app, scope("/ask/answer", "POST"), [*body(b"{", b"")[:1], GONE]).sent == []


def test_body_is_read_up_to_one_byte_over_limit(app: AsgiApp) -> None:
    def endless() -> Iterator[Message]:
        while True:
            yield {"type": "http.request", "body": b" " * 1000, "more_body": True}

    messages = endless()
    server = Server(next(messages) for _ in range(MAX_BODY_BYTES // 1000 + 1))
    http_scope = scope("/ask/answer", "POST", headers=[(b"Content-Type", b"application/json")])
    in_loop(app(http_scope, server.receive, server.send))
    assert (server.sent[0]["status"], server.received) == (413, MAX_BODY_BYTES // 1000 + 1)


def test_path_outside_base_is_404_with_cors_headers(app: AsgiApp) -> None:
    for path in ("/", "/ask", "/other/health", "/health", "//ask/health"):
        server = run(app, scope(path, headers=[(b"origin", ORIGIN.encode())]), body(b""))
        assert server.sent[0]["status"] == 404
        assert server.headers["access-control-allow-origin"] == ORIGIN
        assert server.headers["vary"] == "Origin"


def test_response_204_has_no_content_length(app: AsgiApp) -> None:
    http_scope = scope("/ask/answer", "OPTIONS", headers=[(b"origin", ORIGIN.encode())])
    server = run(app, http_scope, body(b""))
    assert server.sent[0]["status"] == 204
    assert "content-length" not in server.headers


def receive_request(**fields: Any) -> Request:
    """The request that an application makes of a scope."""
    requests: list[Request] = []

    def handle(request: Request, call: RequestContext) -> Response:
        del call
        requests.append(request)
        return Response(200, b"{}")

    run(AsgiApp(handle), scope("/search", **fields), body(b""))
    return requests[0]


def test_repeated_header_is_joined_by_comma() -> None:
    headers = [(b"X-Forwarded-For", b"192.0.2.1"), (b"x-forwarded-for", b"192.0.2.2")]
    assert receive_request(headers=headers).headers == {"x-forwarded-for": "192.0.2.1,192.0.2.2"}


def test_query_is_decoded_as_utf8() -> None:
    assert receive_request(query_string="q=é".encode()).query == "q=é"
    assert receive_request(query_string=b"q=\xff").query == "q=�"


def test_client_address_is_taken_from_scope() -> None:
    assert receive_request(client=("192.0.2.7", 5000)).client_address == "192.0.2.7"
    assert receive_request(client=None).client_address == ""


class Slow:
    """Handles a request until its call is cancelled, or streams events until they are closed."""

    def __init__(self, *, streams: bool) -> None:
        self.streams = streams
        self.begun = threading.Event()
        self.cancelled = threading.Event()
        self.closed = threading.Event()

    def __call__(self, request: Request, call: RequestContext) -> Response:
        del request
        if self.streams:
            self.call = call
            return Response(200, b"", events=self)
        self.begun.set()
        self.wait(call)
        return Response(200, b"{}")

    def wait(self, call: RequestContext) -> None:
        if not self.cancelled.is_set():
            with pytest.raises(CancelledError):
                call.pause(PATIENCE)
            self.cancelled.set()

    def __iter__(self) -> "Slow":
        return self

    def __next__(self) -> bytes:
        if not self.begun.is_set():
            self.begun.set()
            return b"event: stage\ndata: {}\n\n"
        self.wait(self.call)
        return b"event: problem\ndata: {}\n\n"

    def close(self) -> None:
        self.closed.set()


async def leaving(app: AsgiApp, server: Server, slow: Slow) -> None:
    task = asyncio.ensure_future(app(scope(), server.receive, server.send))
    while not slow.begun.is_set():
        await asyncio.sleep(0.005)
    server.left.set()
    await task


@pytest.mark.parametrize("streams", [False, True])
def test_client_that_leaves_cancels_its_question(streams: bool) -> None:
    slow, server = Slow(streams=streams), Server(body(b""))
    in_loop(leaving(AsgiApp(slow), server, slow))
    assert slow.cancelled.wait(PATIENCE)
    assert slow.closed.is_set() == streams


def test_server_that_cancels_request_cancels_its_question() -> None:
    slow, server = Slow(streams=False), Server(body(b""))

    async def end() -> None:
        task = asyncio.ensure_future(AsgiApp(slow)(scope(), server.receive, server.send))
        while not slow.begun.is_set():
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not slow.cancelled.is_set():
            await asyncio.sleep(0.005)

    in_loop(asyncio.wait_for(end(), PATIENCE))
    assert slow.cancelled.is_set()


@pytest.mark.parametrize("streams", [False, True])
def test_send_error_is_swallowed(streams: bool) -> None:
    class Broken(Server):
        async def send(self, message: Message) -> None:
            raise OSError(f"the client has gone before {message['type']}")

    slow = Slow(streams=streams)
    slow.cancelled.set()
    server = Broken(body(b""))
    in_loop(AsgiApp(slow)(scope(), server.receive, server.send))
    assert server.sent == []
    assert slow.closed.is_set() == streams


def test_broken_connection_cancels_question() -> None:
    def breaking() -> Iterator[Message]:
        yield from body(b"")
        raise ConnectionResetError

    slow = Slow(streams=False)
    server = Server(breaking())
    in_loop(AsgiApp(slow)(scope(), server.receive, server.send))
    assert slow.cancelled.is_set()


def test_lifespan_startup_and_shutdown_complete(service: Service) -> None:
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    server = run(AsgiApp(service.handle), {"type": "lifespan"}, messages)
    assert [each["type"] for each in server.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_websocket_is_closed(app: AsgiApp) -> None:
    server = run(app, {"type": "websocket", "path": "/"}, [{"type": "websocket.connect"}])
    assert server.sent == [{"type": "websocket.close"}]
