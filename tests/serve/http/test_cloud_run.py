"""The view of Cloud Run functions: whatever Flask hands it, and under functions-framework."""

import io
from collections.abc import Iterator
from typing import Any

import flask
import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder

from answerable.serve.http.adapters.google import View, make_google_view
from answerable.serve.http.messages import EVENT_STREAM_TYPE
from answerable.serve.http.service import Service
from answerable.testing import ScriptedAnswerer
from support import runtimes
from support.doubles import OPEN, engine_of, record
from support.event_streams import Waiting
from support.fuzz_settings import fuzzed
from support.runtime_requests import KNOWN, UNKNOWN
from support.runtimes import Reply, Runtime

ORIGIN = OPEN.origins[0]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 10_000)
    engine = engine_of(tmp_path_factory.mktemp("google"), page, answerer=declining)
    return make_google_view(Service(lambda: engine, OPEN), "/ask/")


def request_view(view: View, path: str = "/ask/health", **options: Any) -> flask.Response:
    environ = EnvironBuilder(path, **options).get_environ()
    response: flask.Response = view(flask.Request(environ))
    return response


LATIN = st.text(st.characters(max_codepoint=0xFF), max_size=12)
VALUES = LATIN | st.sampled_from(
    ["application/json", ORIGIN, EVENT_STREAM_TYPE, "20", "-1", "9" * 5000]
)
NAMES = st.sampled_from(
    ["PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH", "REMOTE_ADDR", "HTTP_ORIGIN",
     "HTTP_ACCEPT", "HTTP_TRANSFER_ENCODING"]
)  # fmt: skip
METHODS = st.sampled_from(["GET", "POST", "OPTIONS", "HEAD"]) | LATIN


@given(
    options=st.dictionaries(NAMES, VALUES),
    method=METHODS,
    body=st.binary(max_size=5000),
    is_terminated=st.booleans(),
)
@fuzzed()
def test_any_flask_request_gets_exactly_one_response(
    view: View, options: dict[str, Any], method: str, body: bytes, is_terminated: bool
) -> None:
    server = {"wsgi.input": io.BytesIO(body), "wsgi.input_terminated": is_terminated}
    environ = {**EnvironBuilder().get_environ(), **options, **server, "REQUEST_METHOD": method}
    response = view(flask.Request(environ))
    assert response.status_code in (200, 204, 400, 403, 404, 405, 413, 415)
    assert response.headers["Vary"] == "Origin"
    response.close()


def test_flask_adds_no_headers_to_response(view: View) -> None:
    response = request_view(view)
    assert {name.lower() for name in response.headers.keys()} == {  # noqa: SIM118 - pairs, if iterated
        "content-type", "cache-control", "vary",
    }  # fmt: skip
    preflight = request_view(view, "/ask/answer", method="OPTIONS", headers={"Origin": ORIGIN})
    assert preflight.status_code == 204
    assert "Content-Type" not in preflight.headers


def test_path_outside_base_is_404_with_cors_headers(view: View) -> None:
    for path in ("/", "/ask", "/health"):
        response = request_view(view, path, headers={"Origin": ORIGIN})
        assert response.status_code == 404
        assert response.headers["Access-Control-Allow-Origin"] == ORIGIN


def test_unread_events_are_closed() -> None:
    waiting = Waiting()
    response = request_view(make_google_view(waiting.service))
    assert response.headers["Content-Type"] == f"{EVENT_STREAM_TYPE}; charset=utf-8"
    response.close()
    assert waiting.is_closed


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The framework as Google runs it, which allows each asker one question a day."""
    function = runtimes.built(tmp_path_factory.mktemp("site"))
    google = {"K_SERVICE": "answerable", "LOG_EXECUTION_ID": "true", "ANSWERABLE_RATE": "1/day"}
    with runtimes.on_google(function, **google) as running:
        yield running


def test_asker_is_last_address_of_forwarded_for_on_google(running: Runtime) -> None:
    def ask(forwarded: str) -> int:
        return running.post({"question": KNOWN}, ("X-Forwarded-For", forwarded)).status

    assert ask("198.51.100.1, 192.0.2.1") == 200
    assert ask("198.51.100.2, 192.0.2.1") == 429
    assert ask("198.51.100.1, 192.0.2.2") == 200
    assert ask("192.0.2.2") == 429


def test_requests_are_logged_under_functions_framework(running: Runtime) -> None:
    reply: Reply = running.post({"question": UNKNOWN}, ("X-Forwarded-For", "192.0.2.9"))
    row = runtimes.logged(running, reply.json["request_id"])
    assert (row["event"], row["status"], row["mode"]) == ("request", 200, "not-found")
