"""A real function over loopback, asked by schemathesis whether its OpenAPI document is true."""

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from support.published_functions import build_function, serving

pytestmark = pytest.mark.deep

ORIGIN = "https://harbour.example"
TOKEN = "harbour-master"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
BEARER = f"Authorization: Bearer {TOKEN}"
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "allow_header_conformance", "missing_required_header",
)  # fmt: skip


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_function(tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize(
    ("environment", "headers", "seen"),
    [
        # A function for everyone, whose metrics have a token.
        (
            {"ANSWERABLE_METRICS_TOKEN": DIGEST},
            (),
            {"POST /answer": {200, 400, 415}, "GET /metrics": {401}},
        ),
        # The same asked by a page of its origin.
        (
            {"ANSWERABLE_METRICS_TOKEN": DIGEST},
            (f"Origin: {ORIGIN}", BEARER),
            {"POST /answer": {200, 400}, "GET /metrics": {200}},
        ),
        # A function that wants a token, also for its document.
        ({"ANSWERABLE_BEARER": DIGEST}, (BEARER,), {"POST /answer": {200}, "GET /search": {200}}),
        # A function that takes few questions.
        ({"ANSWERABLE_RATE": "10/hour"}, (), {"POST /answer": {429}, "GET /health": {200}}),
    ],
)
def test_function_conforms_to_its_document(
    function: Path,
    tmp_path: Path,
    environment: dict[str, str],
    headers: tuple[str, ...],
    seen: dict[str, set[int]],
) -> None:
    report = tmp_path / "requests.har"
    with serving(function, **environment) as running:
        url = f"http://127.0.0.1:{running.port}"
        done = subprocess.run(
            [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
             "run", f"{url}/openapi.json", "--checks", ",".join(CHECKS), "--max-examples", "25",
             "--no-color", "--continue-on-failure", "--report", "har", "--report-har-path",
             str(report), *(option for header in headers for option in ("-H", header))],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    statuses: dict[str, set[int]] = defaultdict(set)
    for entry in json.loads(report.read_bytes())["log"]["entries"]:
        request = entry["request"]
        path = request["url"].removeprefix(url).partition("?")[0]
        statuses[f"{request['method']} {path}"].add(entry["response"]["status"])
    assert all(statuses[route] >= expected for route, expected in seen.items()), statuses
