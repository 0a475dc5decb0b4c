"""A fixture that runs a real Redis server."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.server_processes import free_port


class RedisServer:
    """A server on a loopback port of its own, which it keeps over a restart; nothing is saved."""

    def __init__(self, executable: str, folder: Path) -> None:
        self._executable = executable
        self._folder = folder
        self.port = free_port()
        # A question gives up after a second, a test does not.
        waits = f"socket_timeout={PATIENCE}&socket_connect_timeout={PATIENCE}"
        self.url = f"redis://127.0.0.1:{self.port}/0?{waits}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        self.process = subprocess.Popen(
            [self._executable, *options, "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL,
        )
        ends = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, "redis-server has ended"
            assert time.monotonic() < ends, "redis-server does not answer"
            time.sleep(0.01)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16) == b"+PONG\r\n"
        except OSError:
            return False


@contextmanager
def running(folder: Path) -> Iterator[RedisServer]:
    """A running server; tests that need it are skipped where there is none."""
    executable = shutil.which("redis-server") or shutil.which("valkey-server")
    if executable is None:
        pytest.skip("no redis-server on the path")
    server = RedisServer(executable, folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A running server of one test."""
    with running(tmp_path) as server:
        yield server
