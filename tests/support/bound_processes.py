"""Processes that end with whoever started them, however that one ends.

``python -m support.bound_processes COMMAND...`` runs a command, and ends it with all of its
children when its own standard input is closed, as the system does for a process that is gone.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from support.deadlines import PATIENCE
from support.server_processes import Running, watched

# What a command has to end by itself, in seconds, before all of it is killed: none of them needs
# it but on a machine that does much else.
_GRACE = 60

# Runs this module as a program; its package is found beside the tests, wherever the program starts.
_RUN_MODULE = f"""
import runpy, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
runpy.run_module("support.bound_processes", run_name="__main__")
"""


@contextmanager
def run(
    command: Sequence[str],
    folder: Path,
    ready: Callable[[Running], bool],
    port: int,
    environment: Mapping[str, str],
) -> Iterator[Running]:
    """Run a command until the block ends; ``ready`` is polled first. environment: added to ours."""
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN_MODULE, *command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdin
    tether = process.stdin

    def end() -> None:
        tether.close()
        process.wait(PATIENCE)

    with watched(process, ready, end, port) as running:
        yield running


def _main() -> None:
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    sys.exit(child.wait())


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
        os.killpg(child.pid, signal.SIGKILL)


if __name__ == "__main__":
    _main()
