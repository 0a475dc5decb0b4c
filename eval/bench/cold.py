"""A published function's first answer, from the start of its process: this manual's own.

``listening_ms``: until it takes requests. ``answer_ms``: until its first answer has been read.
``next_ms``: how long another question takes after that. All are medians of as many starts, after
one that brings the files into memory. ``openai``: whether that package was imported by then, which
a start of its own tells. The provider is a server on this machine that answers at once. A cached
answer is one that another process has left in Redis; it is left out where there is no Redis.
"""

import http.client
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import served
from tables import Row, print_rows

from answerable.serve import settings
from answerable.serve.settings import read_settings
from answerable.testing import OpenAIServer

STARTS = int(os.environ.get("ANSWERABLE_STARTS") or 7)
ANSWERED = "How do I install the plugin?"
NEXT = "What is the default floor?"
REFUSED = "Who wrote the tragedy of Hamlet?"


@dataclass(frozen=True, slots=True)
class Start:
    """Choose how a function is started and what it is asked first."""

    name: str
    question: str = ANSWERED
    environment: Mapping[str, str] = field(default_factory=dict)
    ask: Callable[[http.client.HTTPConnection, str], dict[str, Any]] = served.ask


SKIP = {"ANSWERABLE_SKIP_HASHES": "1"}
KEYLESS = (
    Start("keyless"),
    Start("keyless, hashes skipped", environment=SKIP),
    Start("keyless, refused", REFUSED),
    Start("keyless, by MCP", ask=served.ask_by_mcp),
)
PAID = (
    Start("openai"),
    Start("openai, hashes skipped", environment=SKIP),
    Start("openai, refused", REFUSED),
)


def rows() -> list[Row]:
    """Measure one row for each way to start."""
    with tempfile.TemporaryDirectory() as work, OpenAIServer() as stub:
        function = served.build(Path(work))
        table = [_row(function, start) for start in KEYLESS]
        paid_settings = replace(read_settings(function), answers="openai", base_url=stub.base_url)
        (function / settings.SETTINGS_FILE).write_bytes(paid_settings.as_json())
        table += [_row(function, start) for start in PAID]
        with _redis(Path(work)) as url:
            if url:
                shared = {"ANSWERABLE_REDIS_URL": url, "ANSWERABLE_SECRET": secrets.token_hex(16)}
                table.append(_row(function, Start("openai, cached", environment=shared)))
    return table


def _row(function: Path, start: Start) -> Row:
    # Whatever is cached is cached by the first of them.
    _start(function, start)
    times = [_start(function, start) for _ in range(STARTS)]
    listening, first, then = (1000 * median(each) for each in zip(*times, strict=True))
    return {
        "name": start.name,
        "listening_ms": listening,
        "answer_ms": first,
        "next_ms": then,
        "openai": "imported" if _imports_openai(function, start) else "no",
    }


def _start(function: Path, start: Start) -> tuple[float, float, float]:
    """Time the seconds until it listens, until it has answered, and of another question."""
    with served.serving(function, **_environment(start)) as server:
        connection = server.connect()
        answered = start.ask(connection, start.question)
        first = time.perf_counter()
        if (answered["mode"] == "not-found") != (start.question == REFUSED):
            raise SystemExit(f"{start.name}: {start.question!r} is answered as {answered['mode']}")
        start.ask(connection, NEXT)
        then = time.perf_counter()
        connection.close()
        return server.listening - server.started, first - server.started, then - first


def _imports_openai(function: Path, start: Start) -> bool:
    """Trace whether a process that answers the first question imports the package."""
    with served.serving(function, "-X", "importtime", **_environment(start)) as server:
        connection = server.connect()
        start.ask(connection, start.question)
        connection.close()
    imported = {line.rpartition("|")[2].strip() for line in server.stderr_lines}
    if "numpy" not in imported:
        raise SystemExit("the interpreter does not tell what it imports")
    return "openai" in imported


def _environment(start: Start) -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-nobody", **start.environment}


@contextmanager
def _redis(folder: Path) -> Iterator[str | None]:
    """Start a Redis server and yield its address, None where none is installed."""
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    if server is None:
        print("a cached answer: skipped, there is no redis-server", file=sys.stderr)
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    options = ["--port", port, "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen([server, *options], stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


if __name__ == "__main__":
    print_rows(
        f"The first answer of a new process, medians of {STARTS} starts",
        rows(),
        as_json="--json" in sys.argv[1:],
    )
