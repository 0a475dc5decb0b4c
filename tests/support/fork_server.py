"""Commands in processes that are forked from one that has imported what they need.

To start Python and to import MkDocs costs more than to build a small site, and the tests build
hundreds. Each command still has a process of its own, with its own folder, environment, input and
output, and ends as any other does; only what is imported first is there already. What is about a
process' start, or about the order of sets, which is the same in all forks, needs `subprocess`.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from support.deadlines import PATIENCE

# Forks, and messages that keep their bounds, are had on Linux; elsewhere all is a new process.
HERE = sys.platform == "linux"
_IMPORTED = (
    "mkdocs.commands.build",
    "mkdocs.commands.serve",
    "mkdocs.contrib.search",
    "markdown.extensions.fenced_code",
    "markdown.extensions.tables",
    "markdown.extensions.toc",
    "answerable.mkdocs.plugin",
    "answerable.mkdocs.publish",
    "answerable.indexing.publish",
    "answerable.engine.providers",
    "answerable.cli.ask",
    "answerable.cli.eval",
    "answerable.cli.build",
    "wordllama",
)
_MESSAGE = 1 << 20

# Runs this module as a program; its package is found beside the tests, wherever the program starts.
_RUN_MODULE = f"""
import runpy, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
runpy.run_module("support.fork_server", run_name="__main__")
"""


def run(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    typed: str = "",
    timeout: float = PATIENCE,
) -> subprocess.CompletedProcess[str]:
    """Run what follows ``python`` in a command: ``-m MODULE`` or ``-c CODE``, with arguments.

    Raises TimeoutExpired after so many seconds, when it has killed the process and its children.
    """
    if not HERE:
        return subprocess.run(
            [sys.executable, *command], cwd=folder, env=environment, input=typed,
            capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        files[0].write(typed)
        files[0].seek(0)
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        connection.connect(_server())
        order = {"command": command, "folder": str(folder), "environment": dict(environment)}
        socket.send_fds(connection, [json.dumps(order).encode()], [f.fileno() for f in files])
        process = int(connection.recv(_MESSAGE))
        connection.settimeout(timeout)
        try:
            code = int(connection.recv(_MESSAGE))
        except TimeoutError:
            os.killpg(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout) from None
        for file in files[1:]:
            file.seek(0)
        return subprocess.CompletedProcess(command, code, files[1].read(), files[2].read())


@cache
def _server() -> str:
    """The address of the process that forks: one for each that asks, and it ends with that."""
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/socket"
    server = subprocess.Popen(
        [sys.executable, "-c", _RUN_MODULE, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin
    assert server.stdout
    assert server.stdout.readline() == "ready\n"

    def end() -> None:
        server.communicate()
        folder.cleanup()

    atexit.register(end)
    return path


def _order(path: str) -> dict[str, Any]:
    """Serve until standard input ends; returns in each process that is to run a command."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            _reap()
            if sys.stdin in ready:
                sys.exit()
            connection, _ = listener.accept()
            if os.fork() == 0:
                break
            connection.close()
    data, files, _, _ = socket.recv_fds(connection, _MESSAGE, 3)
    if process := os.fork():
        _watch(process, connection)
    connection.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    order: dict[str, Any] = json.loads(data)
    return order


def _reap() -> None:
    """Let go of those that have ended: else they would stay, and nobody count their time."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(process: int, connection: socket.socket) -> NoReturn:
    """Tell which process it is and how it has ended, and end what it has started."""
    # Here and in the process itself, so that the group is there whoever comes first.
    with contextlib.suppress(OSError):
        os.setpgid(process, process)
    connection.sendall(str(process).encode())
    _, status = os.waitpid(process, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    # Who asked may have waited long enough.
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _follow(order: Mapping[str, Any]) -> None:
    """Be the process that was ordered, until it ends."""
    os.setpgid(0, 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    flag, what, *args = order["command"]
    sys.argv = [flag, *args]
    if flag == "-m":
        sys.path[0] = str(Path.cwd())
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = ""
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(what, main.__dict__)


if __name__ == "__main__":
    for name in _IMPORTED:
        importlib.import_module(name)
    # What is there stays as it is, so that the forks share its memory.
    gc.freeze()
    _follow(_order(sys.argv[1]))
