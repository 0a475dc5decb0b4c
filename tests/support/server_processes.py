"""Processes that always end with their test, and those that serve: asked over HTTP on a port."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.deadlines import PATIENCE, until


@dataclass
class Running:
    """A process that serves and what it has printed."""

    port: int
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def request(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, str]:
        """Status and body. headers: with underscores for dashes."""
        status, text, _ = self.respond(method, path, body, **headers)
        return status, text

    def respond(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers, their names in lower case."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, data, {"Content-Type": "application/json", **sent})
            response = connection.getresponse()
            response_headers = {name.lower(): value for name, value in response.getheaders()}
            return response.status, response.read().decode(), response_headers
        finally:
            connection.close()

    def ask(self, path: str, question: str) -> Any:
        status, body = self.request("POST", path, {"question": question})
        assert status == 200, body
        return json.loads(body)


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process, and end it with all that it has started when the block ends.

    options: of ``subprocess.Popen``. A test that fails leaves nothing behind that way.
    """
    process: subprocess.Popen[Any] = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            # What was to be sent may have nobody to read it.
            with suppress(BrokenPipeError):
                if stream:
                    stream.close()


@contextmanager
def run(
    command: Sequence[str], folder: Path, ready: Callable[[Running], bool], port: int = 0
) -> Iterator[Running]:
    """Run a command until the block ends; ``ready`` is polled first and may set the port."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with started(command, cwd=folder, **pipes) as process:
        running = Running(port, process)
        assert process.stdout
        reader = threading.Thread(target=running.lines.extend, args=(process.stdout,), daemon=True)
        reader.start()
        try:
            until(lambda: process.poll() is not None or ready(running))
            if process.poll() is not None:
                reader.join(PATIENCE)
            assert process.poll() is None, running.output
            yield running
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            reader.join(PATIENCE)


@contextmanager
def mkdocs(folder: Path, *args: str) -> Iterator[Running]:
    """Run `mkdocs serve` until the block ends. args: of `mkdocs serve`, or `-v` of mkdocs."""
    port = free_port()
    flags = [arg for arg in args if arg == "-v"]
    options = [arg for arg in args if arg not in flags]
    command = [sys.executable, "-m", "mkdocs", *flags, "serve", "-a", f"127.0.0.1:{port}", *options]
    with run(command, folder, lambda running: "Serving on" in running.output, port) as running:
        yield running


@contextmanager
def answerable_serve(folder: Path, *args: str) -> Iterator[Running]:
    """Run `answerable serve` on a free port until the block ends."""
    port = free_port()
    code = "from answerable.cli import main; main()"
    line = [sys.executable, "-u", "-c", code, "serve", f"--port={port}", *args]
    with run(line, folder, lambda running: "Serving on" in running.output, port) as running:
        yield running


# Below the ports that the kernel hands out, and seldom those of another process of tests.
_PORTS = iter(range(11_000 + os.getpid() * 101 % 20_000, 32_768))


def free_port() -> int:
    """A port that is free, and that nobody is given who asks for any."""
    for port in _PORTS:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")
