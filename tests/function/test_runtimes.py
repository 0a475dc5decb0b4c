"""One suite through real runtimes, all of which answer alike, and AWS's own runtime."""

import json
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support import runtimes
from support.deadlines import PATIENCE
from support.event_streams import events
from support.runtime_requests import CASES, KNOWN, UNKNOWN, Case
from support.runtimes import Reply, Runtime
from support.server_processes import started

pytestmark = pytest.mark.deep

# What says how a response may be used; every other header is the server's.
COMPARED_HEADERS = (
    "content-type", "cache-control", "allow", "retry-after", "www-authenticate",
)  # fmt: skip


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runtimes.built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def running(function: Path) -> Iterator[Sequence[Runtime]]:
    starting = (runtimes.on_loopback(function), runtimes.on_mkdocs(function.parent))
    with ExitStack() as stack, ThreadPoolExecutor(len(starting)) as pool:
        yield tuple(pool.map(stack.enter_context, starting))


def sent(runtime: Runtime, case: Case) -> Reply:
    """Send a case to a runtime."""
    origin = {"own": runtime.origin, "none": None}.get(case.origin, case.origin)
    pairs = (("Content-Type", case.kind), ("Origin", origin))
    headers = tuple((name, value) for name, value in pairs if value is not None)
    return runtime.request(case.method, case.path, case.body, (*headers, *case.headers))


def describe_reply(runtime: Runtime, reply: Reply) -> dict[str, Any]:
    """Describe a reply without what differs by design: ids, and where it is served.

    The address of a site is a part of its bundle, and so of the bundle's id.
    """
    described: dict[str, Any] = {name: reply.headers.get(name) for name in COMPARED_HEADERS}
    described |= {"status": reply.status, "body": reply.body}
    described["allow"] = sorted((described["allow"] or "").split(", "))
    if reply.body:
        text = reply.body.decode()
        if not runtime.is_deployed:
            text = text.replace(f"{runtime.origin}/", "https://harbour.example/")
        body = described["body"] = json.loads(text)
        for passing in ("request_id", "bundle", "built_at", "site_url", "servers"):
            body.pop(passing, None)
    return described


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_runtimes_answer_alike(running: Sequence[Runtime], case: Case) -> None:
    replies = [(runtime, sent(runtime, case)) for runtime in running]
    first, *others = (describe_reply(runtime, reply) for runtime, reply in replies)
    for described in others:
        assert described == first
    assert first["status"] == case.status
    if case.expected is not None:
        assert first["body"]["code" if case.status >= 400 else "mode"] == case.expected
    for runtime, reply in replies:
        may_read = case.origin == "own" and "Origin" not in dict(case.headers)
        # To a dev server its own page is of the same origin, which no header is needed for.
        shared = runtime.origin if may_read and runtime.is_deployed else None
        assert reply.headers.get("access-control-allow-origin") == shared


def test_every_runtime_streams_the_plain_answer(running: Sequence[Runtime]) -> None:
    for runtime in running:
        for question in (KNOWN, UNKNOWN):
            body = json.dumps({"question": question}).encode()
            accept = (("Accept", "text/event-stream"), ("Content-Length", str(len(body))))
            with runtime.send("POST", "answer", body, runtime.headers(*accept)) as response:
                *stages, (name, answer) = events(response)
            assert [stage for stage, _ in stages] == ["stage"] * len(stages)
            plain = runtime.post({"question": question}).json
            assert (name, answer | {"request_id": ""}) == ("answer", plain | {"request_id": ""})


def test_concurrent_questions_are_answered_like_single_ones(running: Sequence[Runtime]) -> None:
    questions = [KNOWN] * 8 + [UNKNOWN, "red lantern", "double rope", "buoy", "storm", "?"]
    for runtime in running:

        def ask(question: str, runtime: Runtime = runtime) -> dict[str, Any]:
            return describe_reply(runtime, runtime.post({"question": question}))

        alone = [ask(question) for question in questions]
        # MkDocs' own listener lets five wait; a system may hang up on the sixth.
        with ThreadPoolExecutor(16 if runtime.is_deployed else 5) as pool:
            assert list(pool.map(ask, questions)) == alone, runtime.name


class LambdaAPI(ThreadingHTTPServer):
    """The API that AWS documents for runtimes: it hands out events and takes their results."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), LambdaHandler)
        self.events: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def invoke(self, event: object) -> Any:
        self.events.put(event)
        return self.results.get(timeout=PATIENCE)


class LambdaHandler(BaseHTTPRequestHandler):
    """Answers a runtime that asks for its next event or reports a result or an error."""

    protocol_version = "HTTP/1.1"
    server: LambdaAPI

    def do_GET(self) -> None:
        self.respond(200, json.dumps(self.server.events.get()).encode())

    def do_POST(self) -> None:
        result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.results.put(result)
        self.respond(202, b"{}")

    def respond(self, status: int, body: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Lambda-Runtime-Aws-Request-Id", "invocation")
        self.send_header("Lambda-Runtime-Deadline-Ms", "9999999999999")
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:x:1:function:a")
        # AWS's client crashes without these.
        self.send_header("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.skipif(find_spec("awslambdaric") is None, reason="AWS publishes it for Linux only")
def test_lambda_runtime_answers_an_event(function: Path) -> None:
    event = {
        "rawPath": "/answer",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST", "sourceIp": "192.0.2.7"}},
        "body": json.dumps({"question": KNOWN}),
    }
    with LambdaAPI() as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        variables = [
            f"AWS_LAMBDA_RUNTIME_API=127.0.0.1:{api.server_port}",
            f"LAMBDA_TASK_ROOT={function}",
            "AWS_LAMBDA_FUNCTION_NAME=answerable",
            "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
            *(f"{name}={value}" for name, value in runtimes.OPEN.items()),
        ]
        command = ["env", *variables, sys.executable, "-m", "awslambdaric", "main.handler"]
        with started(command, cwd=function):
            assert json.loads(api.invoke(event)["body"])["mode"] == "partial"
            assert api.invoke({})["statusCode"] == 404
        api.shutdown()
