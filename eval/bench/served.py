"""This repository's own manual as a published function, served by the code that a build writes."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
# Who wrote the manual, as `mkdocs.yml` has it.
_AUTHOR = "The answerable authors"
_UNLIMITED = {
    "ANSWERABLE_RATE": "1000000/second",
    "ANSWERABLE_RATE_ALL": "1000000/second",
    "ANSWERABLE_IN_FLIGHT": "1000",
}
_PATIENCE = 60


@dataclass
class Server:
    """Hold a running function. ``started``, ``listening``: of ``time.perf_counter()``.

    ``stderr_lines``: what it prints to standard error.
    """

    port: int
    process: int
    started: float
    listening: float
    stderr_lines: list[str] = field(default_factory=list)

    @property
    def memory(self) -> float:
        """Read its resident memory in MB."""
        command = ["ps", "-o", "rss=", "-p", str(self.process)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(listing.stdout) / 1024

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection of its own."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)


def build(folder: Path) -> Path:
    """Build the manual in a folder of its own, and return the folder of its function."""
    for name in ("docs", "notebook", "overrides"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "--quiet", "build"],
        cwd=folder, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return folder / "function"


def questions() -> list[str]:
    """Read the questions of the manual's gold set, in its order."""
    gold = yaml.safe_load((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))
    return [row["query"].replace("{{author}}", _AUTHOR) for row in gold["queries"]]


@contextmanager
def serving(function: Path, *options: str, **environment: str) -> Iterator[Server]:
    """Serve a function folder on a free port, without limits; its log is thrown away.

    options: of the interpreter.
    """
    command = [sys.executable, "-I", *options, str(function / "main.py")]
    variables = {**os.environ, **_UNLIMITED, **environment, "PORT": "0"}
    pipe = subprocess.PIPE
    started = time.perf_counter()
    with subprocess.Popen(command, env=variables, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        assert process.stderr
        address = process.stdout.readline()
        if not address:
            raise SystemExit(process.stderr.read())
        port = int(address.rpartition(":")[2].partition("/")[0])
        server = Server(port, process.pid, started, time.perf_counter())
        readers = [
            threading.Thread(target=process.stdout.read, daemon=True),
            threading.Thread(
                target=server.stderr_lines.extend, args=(process.stderr,), daemon=True
            ),
        ]
        for reader in readers:
            reader.start()
        try:
            yield server
        finally:
            process.terminate()
            for reader in readers:
                reader.join()


def ask(connection: http.client.HTTPConnection, question: str) -> dict[str, Any]:
    """Ask a question; OSError or HTTPException if there is no answer."""
    return _post(connection, "/answer", {"question": question})


def ask_by_mcp(connection: http.client.HTTPConnection, question: str) -> dict[str, Any]:
    """Ask a question as an agent does; OSError or HTTPException if there is no answer."""
    params = {"name": "ask", "arguments": {"question": question}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answered: dict[str, Any] = _post(connection, "/mcp", call)["result"]["structuredContent"]
    return answered


def _post(
    connection: http.client.HTTPConnection, path: str, message: dict[str, Any]
) -> dict[str, Any]:
    body = json.dumps(message).encode()
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answered: dict[str, Any] = json.loads(response.read())
    except (OSError, http.client.HTTPException):
        connection.close()
        raise
    if response.status != 200:
        raise http.client.HTTPException(f"status {response.status}")
    return answered
