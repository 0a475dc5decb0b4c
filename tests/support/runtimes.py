"""The runtimes, real ones, over one site: each started on a free port of loopback."""

import http.client
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.indexing.notes.note_key import NOTE_KEY_FILE
from support.deadlines import PATIENCE
from support.server_processes import Running, free_port, mkdocs, run
from support.sites import NOTES, build, put, write_site

# The page that may ask those which are deployed.
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
def start(
    name: str, command: list[str], folder: Path, port: int, variables: Mapping[str, str]
) -> Iterator[Runtime]:
    """Run a server until the block ends, once it is healthy."""
    settings = [f"{variable}={value}" for variable, value in variables.items()]
    with run(["env", *settings, *command], folder, _is_healthy, port) as running:
        yield Runtime(name, port, process=running)


def on_loopback(function: Path, **environment: str) -> AbstractContextManager[Runtime]:
    """The published folder's own server."""
    port = free_port()
    command = [sys.executable, "-I", str(function / "main.py")]
    variables = {**OPEN, "PORT": str(port), **environment}
    return start("loopback", command, function.parent, port, variables)


@contextmanager
def on_mkdocs(site: Path) -> Iterator[Runtime]:
    """The dev server."""
    with mkdocs(site) as running:
        origin = f"http://127.0.0.1:{running.port}"
        yield Runtime("mkdocs", running.port, "/_answerable/", origin, running)


def _is_healthy(running: Running) -> bool:
    try:
        return running.request("GET", "/health")[0] == 200
    except OSError:
        return False
