"""The Lambda handler: events of payload 2.0 and whatever else, by itself and under awslambdaric."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.http.adapters.aws_lambda import Handler, convert_event, make_lambda_handler
from answerable.serve.http.messages import MAX_BODY_BYTES
from answerable.serve.http.service import Service
from support import runtimes
from support.doubles import OPEN, engine_of, record
from support.fuzz_settings import fuzzed
from support.lambda_api import Platform
from support.runtime_requests import KNOWN
from support.scripted import ScriptedAnswerer

ORIGIN = OPEN.origins[0]
ASKED = '{"question": "rope?"}'


def event(path: str = "/health", method: str = "GET", **fields: object) -> dict[str, Any]:
    """An event as a function URL makes it, as far as it is read."""
    http = {"method": method, "sourceIp": "192.0.2.7"}
    return {"rawPath": path, "requestContext": {"http": http, "stage": "$default"}, **fields}


@pytest.fixture(scope="module")
def handler(tmp_path_factory: pytest.TempPathFactory) -> Handler:
    page, declining = record("rope", "<p>A rope.</p>"), ScriptedAnswerer([{}] * 10_000)
    engine = engine_of(tmp_path_factory.mktemp("lambda"), page, answerer=declining)
    return make_lambda_handler(Service(lambda: engine, OPEN), "/ask/")


def check_result(result: dict[str, Any]) -> None:
    """Check that a result is JSON of payload 2.0, and not an internal error."""
    assert set(result) == {"statusCode", "headers", "body", "isBase64Encoded"}
    assert result["statusCode"] in (200, 204, 400, 403, 404, 405, 413, 415)
    assert result["headers"]["Vary"] == "Origin"
    assert json.loads(json.dumps(result)) == result


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NAMES = ["version", "rawPath", "rawQueryString", "headers", "requestContext", "body",
         "isBase64Encoded", "cookies"]  # fmt: skip
PARTS = JSON | st.sampled_from(
    [True, "/ask/answer", "/ask/search", "q=rope", ASKED, base64.b64encode(ASKED.encode()).decode(),
     {"content-type": "application/json"}, {"origin": ORIGIN}, {"http": {"method": "POST"}},
     {"http": {"method": "GET", "sourceIp": 7}, "stage": 1}]
)  # fmt: skip


@given(event=JSON | st.dictionaries(st.sampled_from(NAMES), PARTS))
@fuzzed()
def test_any_event_gets_a_result(handler: Handler, event: object) -> None:
    check_result(handler(event, None))


@pytest.mark.parametrize("context", [None, {}, object()])
def test_handler_works_without_context(handler: Handler, context: object) -> None:
    assert handler(event("/ask/health"), context)["statusCode"] == 200


def test_event_is_converted_to_request() -> None:
    headers = {"Content-Type": "application/json", "x-a": None}
    payload = event("/answer", "POST", headers=headers, body=ASKED, rawQueryString="a=%20b")
    request = convert_event(payload)
    assert (request.method, request.path, request.query) == ("POST", "answer", "a=%20b")
    assert request.headers == {"content-type": "application/json", "x-a": ""}
    assert (request.body, request.client_address, request.can_stream) == (
        ASKED.encode(),
        "192.0.2.7",
        False,
    )


@pytest.mark.parametrize(
    ("text", "is_encoded", "expected"),
    [
        (ASKED, False, ASKED.encode()),
        ("é" * 9000, False, ("é" * 9000).encode()[: MAX_BODY_BYTES + 1]),
        ("x" * 40_000, False, b"x" * (MAX_BODY_BYTES + 1)),
        ("\ud800", False, b"\xed\xa0\x80"),
        (base64.b64encode(ASKED.encode()).decode(), True, ASKED.encode()),
        (base64.b64encode(b"\xff" * MAX_BODY_BYTES).decode(), True, b"\xff" * MAX_BODY_BYTES),
        (base64.b64encode(b"\xff" * 40_000).decode(), True, b"\xff" * (MAX_BODY_BYTES + 1)),
        ("AAA", True, b""),
        ("é", True, b""),
        (None, True, b""),
        (7, True, b""),
        ({"question": "rope"}, False, b""),
    ],
)
def test_body_is_decoded_up_to_one_byte_over_limit(
    text: object, is_encoded: bool, expected: bytes
) -> None:
    request = convert_event(event(body=text, isBase64Encoded=is_encoded))
    assert request.body == expected


@pytest.mark.parametrize(
    ("raw", "stage", "base", "path"),
    [
        ("/answer", "$default", "/", "answer"),
        ("/prod/answer", "prod", "/", "answer"),
        ("/prod/ask/answer", "prod", "/ask/", "answer"),
        ("/production", "prod", "/", "production"),
        ("/answer", "answer", "/", "answer"),
        ("/%61nswer", "$default", "/", "answer"),
        ("/ask%2Fanswer", "$default", "/ask/", "answer"),
        ("/%D0%BA/answer", "$default", "/к/", "answer"),
        ("/answer", "$default", "/ask/", ""),
        ("", "$default", "/", ""),
        ("answer", "$default", "/", ""),
    ],
)
def test_path_is_relative_to_stage_and_base(raw: str, stage: str, base: str, path: str) -> None:
    context = {"http": {"method": "GET"}, "stage": stage}
    assert convert_event(event(raw, requestContext=context), base).path == path


def test_path_outside_base_is_404_with_cors_headers(handler: Handler) -> None:
    for path in ("/", "/ask", "/health"):
        result = handler(event(path, headers={"Origin": ORIGIN}), None)
        assert result["statusCode"] == 404
        assert result["headers"]["Access-Control-Allow-Origin"] == ORIGIN


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runtimes.built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def platform(function: Path) -> Iterator[Platform]:
    with Platform() as platform, runtimes.bootstrap(function, platform, {}):
        yield platform


@pytest.mark.parametrize("odd", [None, [], {}, 5, "x", True, {"body": [1]}, {"headers": "a"}])
def test_event_without_request_is_404_in_lambda_runtime(platform: Platform, odd: object) -> None:
    invocation = platform.invoke(odd)
    assert invocation.error is None
    check_result(invocation.result)
    assert invocation.result["statusCode"] == 404


def test_event_of_stage_is_answered_in_lambda_runtime(platform: Platform) -> None:
    http = {"method": "POST", "sourceIp": "192.0.2.7"}
    invocation = platform.invoke(
        {
            "rawPath": "/prod/answer",
            "headers": {"content-type": "application/json"},
            "requestContext": {"http": http, "stage": "prod"},
            "body": base64.b64encode(json.dumps({"question": KNOWN}).encode()).decode(),
            "isBase64Encoded": True,
        }
    )
    assert json.loads(invocation.result["body"])["mode"] == "partial"


def test_function_that_cannot_start_names_its_error(function: Path) -> None:
    broken = runtimes.packaged(function, "broken", {})
    shutil.rmtree(broken / "bundle")
    with Platform() as platform:
        starting = runtimes.bootstrap(broken, platform, {}, ready=lambda _: False)
        with pytest.raises(AssertionError, match="BundleError"), starting:
            raise ValueError("it has started")
        (error,) = platform.init_errors
    assert error["errorType"] == "BundleError"
    assert "answerable build" in error["errorMessage"]
