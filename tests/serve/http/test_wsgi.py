"""The WSGI application by itself: whatever a server hands it."""

import io
import json
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.http.adapters import wsgi
from answerable.serve.http.adapters.wsgi import WsgiApp, convert_environ, decode_path
from answerable.serve.http.messages import MAX_BODY_BYTES
from answerable.serve.http.service import Service
from support.doubles import OPEN, engine_of, record
from support.event_streams import Waiting
from support.fuzz_settings import fuzzed
from support.scripted import ScriptedAnswerer

ORIGIN = OPEN.origins[0]
ASKED = b'{"question": "rope?"}'


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> WsgiApp:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 10_000)
    engine = engine_of(tmp_path_factory.mktemp("wsgi"), page, answerer=declining)
    return wsgi.make_wsgi_app(Service(lambda: engine, OPEN), "/ask/")


def environ(path: str = "/ask/health", method: str = "GET", **variables: object) -> dict[str, Any]:
    result: dict[str, Any] = {"PATH_INFO": path, "SCRIPT_NAME": "", "REQUEST_METHOD": method}
    setup_testing_defaults(result)
    return {**result, **variables}


def run(
    app: WsgiApp, variables: dict[str, Any], *, reads: bool = True
) -> tuple[str, dict[str, str], bytes]:
    """Status, headers in lower case and body of a response, which is closed, read or not."""
    started: list[Any] = []
    parts: Any = app(variables, lambda *args: started.append(args))
    try:
        body = b"".join(parts) if reads else b""
    finally:
        if hasattr(parts, "close"):
            parts.close()
    ((status, headers, *_),) = started
    return status, {name.lower(): value for name, value in headers}, body


def posted(app: WsgiApp, body: bytes, length: str, **variables: object) -> tuple[str, bytes]:
    stream = io.BytesIO(body)
    kind = {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": length, "wsgi.input": stream}
    status, _, _ = run(app, environ("/ask/answer", "POST", **{**kind, **variables}))
    return status, stream.read()


LATIN = st.text(st.characters(max_codepoint=0xFF), max_size=12)
VALUES = LATIN | st.sampled_from(["application/json", ORIGIN, "text/event-stream", "20", "-1"])
NAMES = st.sampled_from(
    ["PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH", "REMOTE_ADDR", "HTTP_ORIGIN",
     "HTTP_ACCEPT", "HTTP_", "REQUEST_METHOD"]
)  # fmt: skip


@given(
    variables=st.dictionaries(NAMES, VALUES | st.text(max_size=5)), body=st.binary(max_size=5000)
)
@fuzzed()
def test_any_environ_gets_exactly_one_response(
    app: WsgiApp, variables: dict[str, Any], body: bytes
) -> None:
    status, headers, _ = run(app, {**variables, "wsgi.input": io.BytesIO(body)})
    assert int(status[:3]) in (200, 204, 400, 403, 404, 405, 413, 415)
    assert headers["vary"] == "Origin"


@pytest.mark.parametrize(
    ("method", "path", "variables"),
    [
        ("GET", "/ask/health", {}),
        ("HEAD", "/ask/health", {}),
        ("GET", "/ask/search", {"QUERY_STRING": "q=rope"}),
        ("GET", "/elsewhere", {}),
        ("OPTIONS", "/ask/answer", {"HTTP_ORIGIN": ORIGIN}),
        ("POST", "/ask/answer", {}),
        ("POST", "/ask/answer", {"HTTP_ACCEPT": "text/event-stream"}),
    ],
)
def test_app_passes_wsgiref_validator(
    app: WsgiApp, method: str, path: str, variables: dict[str, Any]
) -> None:
    sent = environ(path, method, CONTENT_TYPE="application/json", QUERY_STRING="")
    checked: Any = validator(app)
    sent |= {"CONTENT_LENGTH": str(len(ASKED)), "wsgi.input": io.BytesIO(ASKED), **variables}
    status, headers, _ = run(checked, {name: v for name, v in sent.items() if v is not None})
    if status.startswith("204"):
        assert {"content-length", "content-type"}.isdisjoint(headers)
    assert headers["vary"] == "Origin"


def test_head_response_has_length_and_no_body(app: WsgiApp) -> None:
    _, whole, body = run(app, environ("/ask/nothing"))
    status, headers, none = run(app, environ("/ask/nothing", "HEAD"))
    assert (status[:3], none) == ("404", b"")
    assert headers["content-length"] == whole["content-length"] == str(len(body))


@pytest.mark.parametrize(
    ("length", "status", "left"),
    [
        (str(len(ASKED)), "200", 0),
        (f"000{len(ASKED)}", "200", 0),
        (str(MAX_BODY_BYTES), "200", 0),
        ("", "400", len(ASKED)),
        ("0", "400", len(ASKED)),
        ("-5", "400", len(ASKED)),
        ("٢١", "400", len(ASKED)),
        ("1e9", "400", len(ASKED)),
        ("9" * 5000, "200", 0),
    ],
)
def test_body_is_read_up_to_content_length(
    app: WsgiApp, length: str, status: str, left: int
) -> None:
    """A stream may not be read beyond it: a server waits there for what never comes."""
    line, body = posted(app, ASKED, length)
    assert (line[:3], len(body)) == (status, left)


def test_body_is_read_up_to_one_byte_over_limit(app: WsgiApp) -> None:
    status, body = posted(app, b" " * 40_000, "40000")
    assert (status[:3], len(body)) == ("413", 40_000 - MAX_BODY_BYTES - 1)


def test_body_in_pieces_is_joined(app: WsgiApp) -> None:
    class Pieces(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 1, 3))

    stream = Pieces(ASKED)
    assert posted(app, b"", str(len(ASKED)), **{"wsgi.input": stream})[0].startswith("200")


@pytest.mark.parametrize("error", [ConnectionResetError(), ValueError("closed"), RuntimeError()])
def test_body_that_breaks_off_is_400(app: WsgiApp, error: Exception) -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            del size
            raise error

    assert posted(app, b"", "20", **{"wsgi.input": Broken()})[0].startswith("400")


@pytest.mark.parametrize("query", ["q=caf%C3%A9", "q=café".encode().decode("latin-1")])
def test_query_is_decoded_as_utf8(query: str) -> None:
    decoded = convert_environ({"QUERY_STRING": query}, "/", b"").query
    assert decoded in ("q=caf%C3%A9", "q=café")


def test_path_is_decoded_as_utf8() -> None:
    variables = {"PATH_INFO": "/док/answer".encode().decode("latin-1")}
    assert decode_path(variables) == "/док/answer"
    assert convert_environ(variables, "/док/", b"").path == "answer"


def test_path_outside_base_is_404_with_cors_headers(app: WsgiApp) -> None:
    for path in ("/", "/ask", "/health", "/other/health"):
        status, headers, body = run(app, environ(path, HTTP_ORIGIN=ORIGIN))
        assert (status[:3], json.loads(body)["code"]) == ("404", "not-found")
        assert headers["access-control-allow-origin"] == ORIGIN


def test_unread_events_are_closed() -> None:
    waiting = Waiting()
    status, headers, _ = run(wsgi.make_wsgi_app(waiting.service), environ(), reads=False)
    assert (status[:3], headers["content-type"]) == ("200", "text/event-stream; charset=utf-8")
    assert "content-length" not in headers
    assert waiting.is_closed
