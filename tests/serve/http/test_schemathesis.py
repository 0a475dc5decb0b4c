"""A real function over loopback, asked by schemathesis whether its OpenAPI document is true."""

import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.http.messages import EVENT_STREAM_TYPE, make_document
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS
from support import openapi_check
from support.fuzz_settings import DEEP, fuzzed
from support.server_processes import Running, run
from support.sites import NOTES, build, write_site

ORIGIN = "https://harbour.example"
TOKEN = "harbour-master"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
OFTEN = ("ANSWERABLE_RATE=1000000/minute", "ANSWERABLE_RATE_ALL=1000000/minute")
EXAMPLES = "1000" if DEEP else "25"
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "allow_header_conformance", "missing_required_header",
)  # fmt: skip

Seen = dict[tuple[str, str], set[int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published function."""
    site = write_site(tmp_path_factory.mktemp("site"), notes=NOTES)
    done = build(site)
    assert done.returncode == 0, done.stderr
    return site / "function"


@pytest.fixture(scope="module")
def public(folder: Path) -> Iterator[Running]:
    """A function for everyone, whose metrics have a token."""
    yield from serving(folder, f"ANSWERABLE_METRICS_TOKEN={DIGEST}", *OFTEN)


@pytest.fixture
def guarded(folder: Path) -> Iterator[Running]:
    """A function that wants a token."""
    yield from serving(folder, f"ANSWERABLE_BEARER={DIGEST}", *OFTEN)


@pytest.fixture
def limited(folder: Path) -> Iterator[Running]:
    """A function that takes few questions."""
    yield from serving(folder, "ANSWERABLE_RATE=10/hour")


def serving(folder: Path, *variables: str) -> Iterator[Running]:
    command = ["env", "PORT=0", *variables, sys.executable, "-I", str(folder / "main.py")]
    with run(command, folder, has_address) as running:
        yield running


def has_address(running: Running) -> bool:
    match = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
    running.port = int(match[1]) if match else 0
    return bool(match)


def run_schemathesis(running: Running, folder: Path, *headers: str) -> Seen:
    """The statuses that each method and path has had; AssertionError if a check has failed.

    folder: where reports go. headers: of every request.
    """
    url = f"http://127.0.0.1:{running.port}"
    report = folder / "requests.har"
    options = [option for header in headers for option in ("-H", header)]
    done = subprocess.run(
        [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
         "run", f"{url}/openapi.json", "--checks", ",".join(CHECKS), "--max-examples", EXAMPLES,
         *([] if DEEP else ["--seed", "1"]), "--no-color", "--continue-on-failure",
         "--report", "har", "--report-har-path", str(report), *options],
        cwd=folder, capture_output=True, text=True, timeout=1800 if DEEP else 300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    statuses: Seen = defaultdict(set)
    for entry in json.loads(report.read_bytes())["log"]["entries"]:
        path = entry["request"]["url"].removeprefix(url).partition("?")[0]
        statuses[entry["request"]["method"], path].add(entry["response"]["status"])
    return statuses


def test_public_function_conforms_to_document(public: Running, tmp_path: Path) -> None:
    statuses = run_schemathesis(public, tmp_path)
    assert statuses["POST", "/answer"] >= {200, 400, 415}
    assert statuses["GET", "/answer"] == {405}
    assert statuses["GET", "/search"] >= {200, 400}
    assert statuses["GET", "/metrics"] == {401}
    assert statuses["OPTIONS", "/answer"] == {403}


def test_function_with_origin_conforms_to_document(public: Running, tmp_path: Path) -> None:
    statuses = run_schemathesis(
        public, tmp_path, f"Origin: {ORIGIN}", f"Authorization: Bearer {TOKEN}"
    )
    assert statuses["POST", "/answer"] >= {200, 400}
    assert statuses["OPTIONS", "/answer"] == {204}
    assert 200 in statuses["GET", "/metrics"]


def test_guarded_function_conforms_to_document(guarded: Running, tmp_path: Path) -> None:
    # The document needs the token too.
    statuses = run_schemathesis(guarded, tmp_path, f"Authorization: Bearer {TOKEN}")
    assert statuses["POST", "/answer"] >= {200, 400}
    assert 200 in statuses["GET", "/search"]


def test_limited_function_conforms_to_document(limited: Running, tmp_path: Path) -> None:
    statuses = run_schemathesis(limited, tmp_path)
    assert 429 in statuses["POST", "/answer"] | statuses["GET", "/search"]
    assert statuses["GET", "/health"] >= {200}


@fuzzed(few=25, many=1000)
@given(
    st.text(max_size=MAX_QUESTION_CHARACTERS + 10)
    | st.sampled_from(["mooring", "winch", "Hamlet?"])
)
def test_stream_ends_with_plain_answer(public: Running, question: str) -> None:
    status, plain = public.request("POST", "/answer", {"question": question})
    streamed = public.request("POST", "/answer", {"question": question}, Accept=EVENT_STREAM_TYPE)
    assert streamed[0] == status
    if status != 200:
        assert json.loads(streamed[1]) == json.loads(plain)
        return
    document = make_document("1")
    media = document["paths"]["/answer"]["post"]["responses"]["200"]["content"][EVENT_STREAM_TYPE]
    name, answer = openapi_check.check_events(document, media, streamed[1])[-1]
    assert name == "answer"
    assert answer | {"request_id": None} == json.loads(plain) | {"request_id": None}
