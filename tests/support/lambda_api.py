"""Emulate AWS around a Lambda function on loopback: the Runtime API and a function URL.

The API is the one that AWS documents for custom runtimes; the URL makes events of payload 2.0.
"""

import base64
import itertools
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import Any, Self

from support.deadlines import PATIENCE

VERSION = "/2018-06-01/runtime"
_SECONDS = PATIENCE
_ARN = "arn:aws:lambda:eu-central-1:123456789012:function:answerable"


@dataclass
class Invocation:
    """An event and what has come of it: a result, or the error that the runtime reports."""

    id: str
    event: object
    result: Any = None
    error: Any = None
    over: threading.Event = field(default_factory=threading.Event)


class Platform:
    """The two servers, from ``with`` until its end. ``init_errors``: of what did not start."""

    def __init__(self) -> None:
        self.init_errors: list[Any] = []
        self.waiting: SimpleQueue[Invocation] = SimpleQueue()
        self.running: dict[str, Invocation] = {}
        self.stopping = threading.Event()
        self._ids = itertools.count(1)
        self._api = _server(self, _Api)
        self._url = _server(self, _Url)

    @property
    def api(self) -> str:
        """Return the value of AWS_LAMBDA_RUNTIME_API."""
        return f"127.0.0.1:{self._api.server_port}"

    @property
    def url_port(self) -> int:
        """The port of the function's URL."""
        return self._url.server_port

    def invoke(self, event: object) -> Invocation:
        """Hand an event to the function and wait for what comes of it."""
        invocation = Invocation(f"invocation-{next(self._ids)}", event)
        self.waiting.put(invocation)
        assert invocation.over.wait(_SECONDS), "the function has not answered"
        return invocation

    def next(self) -> Invocation | None:
        """Return the next event for the runtime; None when there is no other."""
        while not self.stopping.is_set():
            try:
                invocation = self.waiting.get(timeout=0.1)
            except Empty:
                continue
            self.running[invocation.id] = invocation
            return invocation
        return None

    def __enter__(self) -> Self:
        for server in (self._api, self._url):
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        for server in (self._api, self._url):
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    platform: Platform


def _server(platform: Platform, handler: type[BaseHTTPRequestHandler]) -> _Server:
    server = _Server(("127.0.0.1", 0), handler)
    server.platform = platform
    return server


class _Handler(BaseHTTPRequestHandler):
    """Takes any method."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Any

    def __getattr__(self, name: str) -> Callable[[], None]:
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self.respond

    def respond(self) -> None:
        """Answer one request."""
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing is printed."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        # A response of this status has no body and says nothing of its length.
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()


class _Api(_Handler):
    def respond(self) -> None:
        platform: Platform = self.server.platform
        path, data = self.path.removeprefix(VERSION), self.body()
        if (self.command, path) == ("GET", "/invocation/next"):
            self._next(platform)
        elif (self.command, path) == ("POST", "/init/error"):
            platform.init_errors.append(json.loads(data))
            self.send(202, b"{}", {})
        else:
            _, _, id_, outcome = path.split("/")
            invocation = platform.running.pop(id_)
            setattr(invocation, {"response": "result", "error": "error"}[outcome], json.loads(data))
            self.send(202, b"{}", {})
            invocation.over.set()

    def _next(self, platform: Platform) -> None:
        invocation = platform.next()
        if invocation is None:
            self.close_connection = True
            return
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": invocation.id,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + _SECONDS) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": _ARN,
            "Lambda-Runtime-Trace-Id": "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0",
        }
        self.send(200, json.dumps(invocation.event).encode(), headers)


class _Url(_Handler):
    def respond(self) -> None:
        platform: Platform = self.server.platform
        invocation = platform.invoke(self._event())
        result = invocation.result
        if result is None:
            self.send(502, b"Internal Server Error", {})
            return
        body = result.get("body", "").encode()
        if result.get("isBase64Encoded"):
            body = base64.b64decode(body)
        self.send(result["statusCode"], body, result["headers"])

    def _event(self) -> dict[str, Any]:
        path, _, query = self.path.partition("?")
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            earlier = headers.get(name.lower())
            headers[name.lower()] = value if earlier is None else f"{earlier},{value}"
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query,
            "headers": headers,
            "requestContext": {
                "accountId": "anonymous",
                "domainName": headers.get("host", ""),
                "http": {
                    "method": self.command,
                    "path": path,
                    "protocol": self.request_version,
                    "sourceIp": self.client_address[0],
                    "userAgent": headers.get("user-agent", ""),
                },
                "requestId": "0f7e2f4e-8c55-4a1c-a1a2-5c0b5f7d9e11",
                "routeKey": "$default",
                "stage": "$default",
                "timeEpoch": int(time.time() * 1000),
            },
            "isBase64Encoded": False,
        }
        if data := self.body():
            event |= _body(data, headers.get("content-type", ""))
        return event


def _body(data: bytes, kind: str) -> dict[str, Any]:
    """A body as a function URL hands it on: text where its type says so, else Base64."""
    if kind.lower().startswith(("application/json", "text/")):
        try:
            return {"body": data.decode()}
        except UnicodeDecodeError:
            # An event is JSON, so that bytes which are no text have no other way.
            pass
    return {"body": base64.b64encode(data).decode(), "isBase64Encoded": True}
