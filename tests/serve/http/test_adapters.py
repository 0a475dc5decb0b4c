"""The service under ASGI, WSGI and AWS Lambda: bodies, paths, and clients that leave."""

import asyncio
import base64
import io
import json
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from answerable.serve.errors import CancelledError
from answerable.serve.http.adapters.asgi import AsgiApp, Message
from answerable.serve.http.adapters.aws_lambda import Handler, convert_event, make_lambda_handler
from answerable.serve.http.adapters.wsgi import WsgiApp, make_wsgi_app
from answerable.serve.http.messages import MAX_BODY_BYTES, Request, Response
from answerable.serve.http.service import Service
from answerable.serve.request_context import RequestContext
from support.deadlines import PATIENCE
from support.doubles import OPEN, engine_of, record
from support.scripted import ScriptedAnswerer

ORIGIN = OPEN.origins[0]
ASKED = b'{"question": "rope?"}'
GONE: Message = {"type": "http.disconnect"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 100)
    engine = engine_of(tmp_path_factory.mktemp("adapters"), page, answerer=declining)
    return Service(lambda: engine, OPEN)


def scope(path: str = "/ask/health", method: str = "GET", **fields: object) -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "headers": [], **fields}


def body(*chunks: bytes) -> list[Message]:
    last = len(chunks) - 1
    return [
        {"type": "http.request", "body": chunk, "more_body": number < last}
        for number, chunk in enumerate(chunks)
    ]


class Server:
    """Hands out messages and then none, unless its client leaves; records what it is sent."""

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


def run_asgi(app: AsgiApp, http_scope: dict[str, Any], messages: Iterable[Message]) -> Server:
    server = Server(messages)
    in_loop(app(http_scope, server.receive, server.send))
    return server


def test_asgi_body_is_read_up_to_its_limit(service: Service) -> None:
    app = AsgiApp(service.handle, "/ask/")
    typed = scope("/ask/answer", "POST", headers=[(b"Content-Type", b"application/json")])
    assert run_asgi(app, typed, body(ASKED[:5], ASKED[5:])).sent[0]["status"] == 200

    # The last message says that more follows, and nobody waits for it.
    count = MAX_BODY_BYTES // 1000 + 1
    endless = [{"type": "http.request", "body": b" " * 1000, "more_body": True}] * count
    server = run_asgi(app, typed, endless)
    assert (server.sent[0]["status"], server.received) == (413, count)
    assert run_asgi(app, typed, [*body(b"{", b"")[:1], GONE]).sent == []


def test_asgi_request_has_joined_headers_and_a_decoded_query() -> None:
    requests: list[Request] = []

    def handle(request: Request, call: RequestContext) -> Response:
        del call
        requests.append(request)
        return Response(200, b"{}")

    headers = [(b"X-Forwarded-For", b"192.0.2.1"), (b"x-forwarded-for", b"192.0.2.2")]
    for query in ("q=\u00e9".encode(), b"q=\xff"):
        run_asgi(AsgiApp(handle), scope(headers=headers, query_string=query), body(b""))
    assert requests[0].headers == {"x-forwarded-for": "192.0.2.1,192.0.2.2"}
    assert [request.query for request in requests] == ["q=\u00e9", "q=\ufffd"]


class Slow:
    """A handler that answers when its question is cancelled."""

    def __init__(self, *, streams: bool) -> None:
        self.streams = streams
        self.begun, self.cancelled, self.closed = (threading.Event() for _ in range(3))
        self.call = RequestContext()

    def __call__(self, request: Request, call: RequestContext) -> Response:
        del request
        self.call = call
        if self.streams:
            return Response(200, b"", events=self)
        self.begun.set()
        self.wait()
        return Response(200, b"{}")

    def wait(self) -> None:
        with pytest.raises(CancelledError):
            self.call.pause(PATIENCE)
        self.cancelled.set()

    def __iter__(self) -> "Slow":
        return self

    def __next__(self) -> bytes:
        if not self.begun.is_set():
            self.begun.set()
            return b"event: stage\ndata: {}\n\n"
        self.wait()
        raise StopIteration

    def close(self) -> None:
        self.closed.set()


@pytest.mark.parametrize("streams", [False, True])
def test_asgi_client_that_leaves_cancels_its_question(streams: bool) -> None:
    slow, server = Slow(streams=streams), Server(body(b""))

    async def leave() -> None:
        task = asyncio.ensure_future(AsgiApp(slow)(scope(), server.receive, server.send))
        while not slow.begun.is_set():
            await asyncio.sleep(0.005)
        server.left.set()
        await task

    in_loop(leave())
    assert slow.cancelled.wait(PATIENCE)
    assert slow.closed.is_set() == streams


def test_asgi_shutdown_closes_the_service() -> None:
    closed = threading.Event()
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    app = AsgiApp(Slow(streams=False), close=closed.set)
    assert [message["type"] for message in run_asgi(app, {"type": "lifespan"}, messages).sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert closed.is_set()


def run_wsgi(
    app: WsgiApp, path: str, method: str = "GET", sent: bytes = b"", **variables: object
) -> tuple[int, dict[str, str], bytes]:
    environ: dict[str, Any] = {"PATH_INFO": path, "SCRIPT_NAME": "", "REQUEST_METHOD": method}
    setup_testing_defaults(environ)
    environ |= {"wsgi.input": io.BytesIO(sent), "QUERY_STRING": "", **variables}
    started: list[Any] = []
    checked: Any = validator(app)
    parts: Any = checked(environ, lambda *args: started.append(args))
    try:
        content = b"".join(parts)
    finally:
        parts.close()
    ((status, headers, *_),) = started
    return int(status[:3]), {name.lower(): value for name, value in headers}, content


@pytest.mark.parametrize(
    ("length", "status"),
    [(len(ASKED), 200), (99, 200), (0, 400), (40_000, 413)],
)
def test_wsgi_body_is_read_up_to_its_length_and_limit(
    service: Service, length: int, status: int
) -> None:
    sent = ASKED if length != 40_000 else ASKED.ljust(40_000)
    variables = {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(length)}
    app = make_wsgi_app(service, "/ask/")
    assert run_wsgi(app, "/ask/answer", "POST", sent, **variables)[0] == status


def test_wsgi_stream_ends_with_the_answer(service: Service) -> None:
    variables = {
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(ASKED)),
        "HTTP_ACCEPT": "text/event-stream",
    }
    app = make_wsgi_app(service, "/ask/")
    status, headers, content = run_wsgi(app, "/ask/answer", "POST", ASKED, **variables)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert "content-length" not in headers
    assert b"event: answer" in content


def lambda_event(path: str, method: str = "GET", **fields: object) -> dict[str, Any]:
    """An event as a function URL makes it, as far as it is read."""
    http = {"method": method, "sourceIp": "192.0.2.7"}
    return {"rawPath": path, "requestContext": {"http": http, "stage": "prod"}, **fields}


@pytest.fixture(scope="module")
def handler(service: Service) -> Handler:
    return make_lambda_handler(service, "/ask/")


@pytest.mark.parametrize("odd", [None, [], {}, 5, "x", {"body": [1]}, {"requestContext": "a"}])
def test_lambda_event_without_request_is_404(handler: Handler, odd: object) -> None:
    result = handler(odd, None)
    assert result["statusCode"] == 404
    assert set(result) == {"statusCode", "headers", "body", "isBase64Encoded"}
    assert json.loads(json.dumps(result)) == result


def test_lambda_event_of_a_stage_is_answered(handler: Handler) -> None:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream", "x-a": None}
    encoded = {"body": base64.b64encode(ASKED).decode(), "isBase64Encoded": True}
    for fields in ({"body": ASKED.decode()}, encoded):
        for path in ("/ask/answer", "/prod/ask/answer", "/ask%2F%61nswer"):
            result = handler(lambda_event(path, "POST", headers=headers, **fields), None)
            assert json.loads(result["body"])["mode"] == "not-found"
            assert result["headers"]["Content-Type"] == "application/json"
    request = convert_event(lambda_event("/answer", headers=headers, rawQueryString="a=%20b"))
    assert (request.query, request.client_address) == ("a=%20b", "192.0.2.7")


@pytest.mark.parametrize(
    ("text", "is_encoded", "expected"),
    [
        ("é" * 9000, False, ("é" * 9000).encode()[: MAX_BODY_BYTES + 1]),
        ("\ud800", False, b"\xed\xa0\x80"),
        (base64.b64encode(b"\xff" * MAX_BODY_BYTES).decode(), True, b"\xff" * MAX_BODY_BYTES),
        (base64.b64encode(b"\xff" * 40_000).decode(), True, b"\xff" * (MAX_BODY_BYTES + 1)),
        ("AAA", True, b""),
        ({"question": "rope"}, False, b""),
    ],
)
def test_lambda_body_is_decoded_up_to_one_byte_over_its_limit(
    text: object, is_encoded: bool, expected: bytes
) -> None:
    event = lambda_event("/answer", body=text, isBase64Encoded=is_encoded)
    assert convert_event(event).body == expected


def ask_asgi(service: Service, path: str, method: str) -> tuple[int, dict[str, str], bytes]:
    http_scope = scope(path, method, headers=[(b"origin", ORIGIN.encode())])
    server = run_asgi(AsgiApp(service.handle, "/ask/"), http_scope, body(b""))
    return server.sent[0]["status"], server.headers, server.sent[1]["body"]


def ask_wsgi(service: Service, path: str, method: str) -> tuple[int, dict[str, str], bytes]:
    return run_wsgi(make_wsgi_app(service, "/ask/"), path, method, HTTP_ORIGIN=ORIGIN)


def ask_lambda(service: Service, path: str, method: str) -> tuple[int, dict[str, str], bytes]:
    result = make_lambda_handler(service, "/ask/")(
        lambda_event(path, method, headers={"Origin": ORIGIN}), None
    )
    headers = {name.lower(): value for name, value in result["headers"].items()}
    return result["statusCode"], headers, result["body"].encode()


@pytest.mark.parametrize("ask", [ask_asgi, ask_wsgi, ask_lambda])
def test_path_outside_base_is_404_with_cors_headers(
    service: Service, ask: Callable[..., tuple[int, dict[str, str], bytes]]
) -> None:
    for path in ("/", "/ask", "/health", "/other/health"):
        status, headers, content = ask(service, path, "GET")
        assert (status, json.loads(content)["code"]) == (404, "not-found")
        assert headers["access-control-allow-origin"] == ORIGIN
        assert headers["vary"] == "Origin"
    assert ask(service, "/ask/health", "GET")[0] == 200
    status, headers, content = ask(service, "/ask/answer", "OPTIONS")
    assert (status, content) == (204, b"")
    assert "content-length" not in headers
