"""A published function under AWS's own runtime for Lambda."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.deadlines import PATIENCE
from support.published_functions import UNLIMITED, build_function
from support.server_processes import started

pytestmark = pytest.mark.deep


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
def test_lambda_runtime_answers_an_event(tmp_path: Path) -> None:
    function = build_function(tmp_path)
    event = {
        "rawPath": "/answer",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST", "sourceIp": "192.0.2.7"}},
        "body": json.dumps({"question": "How thick is the chain of a mooring?"}),
    }
    with LambdaAPI() as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        variables = [
            f"AWS_LAMBDA_RUNTIME_API=127.0.0.1:{api.server_port}",
            f"LAMBDA_TASK_ROOT={function}",
            "AWS_LAMBDA_FUNCTION_NAME=answerable",
            "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
            *(f"{name}={value}" for name, value in UNLIMITED.items()),
        ]
        command = ["env", *variables, sys.executable, "-m", "awslambdaric", "main.handler"]
        with started(command, cwd=function):
            assert json.loads(api.invoke(event)["body"])["mode"] == "partial"
            assert api.invoke({})["statusCode"] == 404
        api.shutdown()
