"""Run the tests of the engine that are written in JavaScript, all in one process of Node."""

import subprocess
from pathlib import Path

from support.deadlines import PATIENCE
from support.engine_process import node_command

SUITE = sorted(Path(__file__).parent.glob("*.test.mjs"))


def test_node_suite_passes() -> None:
    assert SUITE
    done = subprocess.run(
        [*node_command(), "--test", *map(str, SUITE)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
