"""The runtimes, real ones, over one site: each started on a free port of loopback."""

import http.client
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.notes.notebook import NOTE_KEY_FILE
from support import bound_processes, lambda_api
from support.deadlines import PATIENCE, until
from support.server_processes import Running, free_port
from support.sites import NOTES, build, put, write_site

# AWS publishes its runtime for Linux only.
HAS_LAMBDA = find_spec("awslambdaric") is not None
# The page that may ask the three which are deployed.
ORIGIN = "https://pages.example"
# Of the notebook: notes have the same ids wherever it is the same.
KEY = "5e" * 32
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000", "NO_MKDOCS_2_WARNING": "1"}
# Nothing is held back: what a suite asks is answered.
OPEN = {
    "ANSWERABLE_ALLOWED_ORIGINS": ORIGIN,
    "ANSWERABLE_RATE": "100000/minute",
    "ANSWERABLE_RATE_ALL": "100000/minute",
    "ANSWERABLE_IN_FLIGHT": "64",
}


@dataclass(frozen=True)
class Reply:
    """A response: ``headers`` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Runtime:
    """A server of a site's answers. ``origin``: of the page that may ask it."""

    name: str
    port: int
    base: str = "/"
    origin: str = ORIGIN
    process: Running | None = None

    @property
    def is_deployed(self) -> bool:
        return self.base == "/"

    @property
    def output(self) -> str:
        return self.process.output if self.process else ""

    def send(
        self, method: str, path: str, body: bytes | None, headers: Sequence[tuple[str, str]]
    ) -> http.client.HTTPResponse:
        """Send a request; its response may be read as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, self.base + path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        try:
            connection.endheaders(body)
        except ConnectionError:
            # A server that has refused a body may hang up on the rest of it.
            assert connection.sock is not None
        response = connection.getresponse()
        # The response holds the connection, so that to close it is to hang up.
        if connection.sock:
            connection.sock.close()
        return response

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> Reply:
        """Send a request and read its response."""
        sized = () if body is None else (("Content-Length", str(len(body))),)
        with self.send(method, path, body, (*sized, *headers)) as response:
            response_headers = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, response_headers, response.read())

    def post(self, body: object, *headers: tuple[str, str]) -> Reply:
        """Ask, as its own page does."""
        return self.request("POST", "answer", json.dumps(body).encode(), self.headers(*headers))

    def headers(self, *extra: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the headers that a page of its own origin sends with a question."""
        return (("Content-Type", "application/json"), ("Origin", self.origin), *extra)


def built(folder: Path) -> Path:
    """A site with a notebook, written to a folder and built; its function folder."""
    put(write_site(folder, notes=NOTES) / "notebook" / NOTE_KEY_FILE, KEY)
    done = build(folder, **EPOCH)
    assert done.returncode == 0, done.stderr
    return folder / "function"


@contextmanager
def on_uvicorn(function: Path, **environment: str) -> Iterator[Runtime]:
    """The ASGI application under uvicorn."""
    options = ["--app-dir", ".", "--host", "127.0.0.1", "--no-access-log", "--port"]
    port, own = free_port(), {**OPEN, **environment}
    command = [sys.executable, "-m", "uvicorn", "main:app", *options, str(port)]
    with bound_processes.run(command, function, _is_healthy, port, own) as running:
        yield Runtime("uvicorn", port, process=running)


@contextmanager
def on_loopback(function: Path, **environment: str) -> Iterator[Runtime]:
    """The published folder's own server."""
    port = free_port()
    own = {**OPEN, "PORT": str(port), **environment}
    command = [sys.executable, "-I", str(function / "main.py")]
    with bound_processes.run(command, function.parent, _is_healthy, port, own) as running:
        yield Runtime("loopback", port, process=running)


@contextmanager
def on_lambda(function: Path, **environment: str) -> Iterator[Runtime]:
    """The handler under awslambdaric, behind a function URL."""
    with lambda_api.Platform() as platform, bootstrap(function, platform, environment) as running:
        yield Runtime("lambda", platform.url_port, process=running)


@contextmanager
def on_mkdocs(site: Path) -> Iterator[Runtime]:
    """The dev server."""
    port = free_port()
    command = [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"]
    with bound_processes.run(
        command, site, lambda r: "Serving on" in r.output, port, EPOCH
    ) as running:
        yield Runtime("mkdocs", port, "/_answerable/", f"http://127.0.0.1:{port}", running)


def bootstrap(
    function: Path,
    platform: lambda_api.Platform,
    environment: Mapping[str, str],
    ready: Callable[[Running], bool] | None = None,
) -> AbstractContextManager[Running]:
    """AWS's own runtime over a copy of a function; ready: polled, until it is healthy otherwise."""
    if not HAS_LAMBDA:
        pytest.skip("awslambdaric is not installed")
    own = {
        **OPEN,
        "AWS_LAMBDA_RUNTIME_API": platform.api,
        "AWS_LAMBDA_FUNCTION_NAME": "answerable",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "LAMBDA_TASK_ROOT": str(function),
        **environment,
    }
    command = [sys.executable, "-m", "awslambdaric", "main.handler"]
    return bound_processes.run(command, function, ready or _is_healthy, platform.url_port, own)


def logged(runtime: Runtime, request_id: str) -> dict[str, Any]:
    """Return the log lines of a request; the output of a function is read as it comes."""
    runtimes_started: list[dict[str, Any]] = []

    def is_there() -> bool:
        for line in runtime.output.splitlines():
            if request_id in line:
                runtimes_started.append(json.loads(line))
        return bool(runtimes_started)

    until(is_there)
    return runtimes_started[0]


def packaged(function: Path, name: str, files: Mapping[str, str]) -> Path:
    """A copy of a function folder beside it, with files of its own."""
    folder = function.with_name(f"{function.name}-{name}")
    if not folder.exists():
        # Links to what is big and never written.
        shutil.copytree(function, folder, copy_function=os.link)
        for file, text in files.items():
            (folder / file).unlink(missing_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
    return folder


def _is_healthy(running: Running) -> bool:
    try:
        return running.request("GET", "/health")[0] == 200
    except OSError:
        return False
