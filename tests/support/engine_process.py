"""Call the functions of the browser's engine in Node, to compare them with their Python twins."""

import atexit
import json
import os
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from support.deadlines import PATIENCE

ENGINE = Path(str(files("answerable") / "widget" / "engine"))
_WORKER = Path(__file__).with_name("engine_worker.mjs")
# A module that opens files and stores in the engine, as `call` takes it.
OPENER = os.path.relpath(Path(__file__).with_name("engine_opener"), ENGINE)
# Asks questions and lists the waves of files that wait for one another.
WAVES = Path(__file__).with_name("engine_waves.mjs")


def node_command() -> list[str]:
    """Return the command of Node with the flags by which it reads every file as a module.

    Skips the test where there is no node.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    # From 22.7 on a file is a module by its syntax, and later the flag is gone.
    major = int(version.stdout.lstrip("v").split(".")[0])
    return [node, "--experimental-default-type=module"] if major < 22 else [node]


class EngineProcess:
    """Run one Node process, which imports the engine's modules when they are called."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [*node_command(), str(_WORKER), str(ENGINE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def call(self, module: str, function: str, *args: Any, save: str | None = None) -> Any:
        """Call a function of a module and return its result as JSON.

        args: JSON; ``{"$set": [...]}`` is a Set, ``{"$map": [[key, value], ...]}`` a Map,
        ``{"$bytes": base64}`` a Uint8Array, ``{"$floats": [...]}`` a Float32Array, and
        ``{"$pattern": source}`` a RegExp. save: a name for the result, which stays in the process,
        where ``{"$": name}`` passes it on. AssertionError: the stack of an error.
        """
        return self._send({"module": module, "call": function, "args": args, "as": save})

    def save(self, name: str, value: Any) -> None:
        """Keep a value in the process, where ``{"$": name}`` passes the same object each time."""
        self._send({"as": name, "args": [value]})

    def use(self, name: str, member: str, *args: Any) -> Any:
        """Call a method of an object that ``call`` has saved, or read a property of it."""
        return self._send({"object": name, "call": member, "args": args})

    def close(self) -> None:
        """Let the process end."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        # Escaped: a line of JSON holds no other line end, and a lone surrogate survives.
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        assert "error" not in reply, reply["error"]
        return reply["result"]


@cache
def engine() -> EngineProcess:
    """Start the engine's process once for all tests of a worker."""
    process = EngineProcess()
    atexit.register(process.close)
    return process
