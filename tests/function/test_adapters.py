"""The app under AWS Lambda, and beside the WSGI app of a development server."""

import base64
import io
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import msgspec
import pytest
from starlette.applications import Starlette

from answerable.engine.engine import Engine
from answerable.function.dev import WsgiApp, create_dev_app, mount_ask_route
from answerable.function.lambda_ import make_lambda_handler
from answerable.function.requests import MAX_BODY_BYTES
from support.app_requests import app_of
from support.doubles import OPEN, engine_of, record
from support.scripted import ScriptedAnswerer

Handler = Callable[[dict[str, Any]], dict[str, Any]]

ORIGIN = OPEN.allowed_origins[0]
ASKED = b'{"question": "rope?"}'


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 100)
    return engine_of(tmp_path_factory.mktemp("adapters"), page, answerer=declining)


@pytest.fixture(scope="module")
def app(engine: Engine) -> Starlette:
    return app_of(engine, msgspec.structs.replace(OPEN, base="/ask/"))


@pytest.fixture(scope="module")
def handler(app: Starlette) -> Handler:
    handle = make_lambda_handler(app)

    def handle_in_thread(event: dict[str, Any]) -> dict[str, Any]:
        # In this one a browser's tests may have left a loop that runs.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(handle, event, None).result()

    return handle_in_thread


def lambda_event(path: str, method: str = "GET", **fields: object) -> dict[str, Any]:
    """An event as a function URL makes it, as far as it is read."""
    http = {"method": method, "sourceIp": "192.0.2.7"}
    return {"rawPath": path, "requestContext": {"http": http, "stage": "prod"}, **fields}


@pytest.mark.parametrize("odd", [{}, {"key": "value"}, {"requestContext": {"http": {}}}])
def test_lambda_event_without_request_is_404(handler: Handler, odd: dict[str, Any]) -> None:
    result = handler(odd)
    assert result["statusCode"] == 404
    assert set(result) == {"statusCode", "headers", "body"}
    assert json.loads(json.dumps(result)) == result


def test_lambda_event_of_a_stage_is_answered(handler: Handler) -> None:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    encoded = {"body": base64.b64encode(ASKED).decode(), "isBase64Encoded": True}
    for fields in ({"body": ASKED.decode()}, encoded):
        for path in ("/ask/answer", "/prod/ask/answer", "/ask%2F%61nswer"):
            result = handler(lambda_event(path, "POST", headers=headers, **fields))
            assert json.loads(result["body"])["mode"] == "not-found"
            assert result["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("text", "is_encoded", "status"),
    [
        ("é" * 9000, False, 413),
        ("\ud800", False, 400),
        (base64.b64encode(b"\xff" * (MAX_BODY_BYTES + 1)).decode(), True, 413),
    ],
)
def test_lambda_body_has_its_limit_and_may_be_anything(
    handler: Handler, text: str, is_encoded: bool, status: int
) -> None:
    headers = {"content-type": "application/json"}
    event = lambda_event("/ask/answer", "POST", headers=headers, body=text,
                         isBase64Encoded=is_encoded)  # fmt: skip
    assert handler(event)["statusCode"] == status


def test_path_outside_base_is_404_with_cors_headers(handler: Handler) -> None:
    for path in ("/", "/health", "/other/health"):
        result = handler(lambda_event(path, headers={"Origin": ORIGIN}))
        assert (result["statusCode"], json.loads(result["body"])["code"]) == (404, "not-found")
        assert result["headers"]["access-control-allow-origin"] == ORIGIN
    assert handler(lambda_event("/ask/health"))["statusCode"] == 200


def run_wsgi(
    app: WsgiApp,
    path: str,
    method: str = "GET",
    sent: bytes = b"",
    variables: Mapping[str, str] = {},
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


@pytest.fixture(scope="module")
def mounted(engine: Engine) -> WsgiApp:
    def pages(_: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html")])
        return [b"a page"]

    ask_app = create_dev_app("/docs/_answerable/", "127.0.0.1", lambda: engine)
    return mount_ask_route(pages, ask_app, "/docs/_answerable/")


def test_development_server_answers_below_its_base_and_passes_all_else_on(
    mounted: WsgiApp,
) -> None:
    assert run_wsgi(mounted, "/docs/")[2] == b"a page"
    assert run_wsgi(mounted, "/docs/_answerable/health")[0] == 200
    variables = {
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(ASKED)),
    }
    path = "/docs/_answerable/answer"
    status, _, content = run_wsgi(mounted, path, "POST", ASKED, variables)
    assert (status, json.loads(content)["mode"]) == (200, "not-found")
    variables["HTTP_ACCEPT"] = "text/event-stream"
    status, headers, content = run_wsgi(mounted, path, "POST", ASKED, variables)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert b"event: answer" in content


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8000", None, 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("[::1]:8000", None, 200),
        ("rebound.example", None, 403),
        ("127.0.0.1:8000", "https://elsewhere.example", 403),
        ("a b", None, 403),
    ],
)
def test_development_server_answers_its_own_pages_only(
    mounted: WsgiApp, host: str, origin: str | None, status: int
) -> None:
    headers = {"HTTP_HOST": host} | ({"HTTP_ORIGIN": origin} if origin else {})
    sent = run_wsgi(mounted, "/docs/_answerable/health", variables=headers)
    assert sent[0] == status
