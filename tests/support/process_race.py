"""Processes that are let go at once."""

import subprocess
import sys

from support.deadlines import PATIENCE


def race(script: str, processes: int, *arguments: str) -> list[str]:
    """Start processes that are let go at once, and return what each prints.

    script: Python that prepares, then calls ``go()``, then prints a line. arguments: its argv[1:].
    """
    start = "def go():\n    print('ready', flush=True)\n    input()\n"
    command = [sys.executable, "-c", start + script, *arguments]
    racing = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    try:
        for each in racing:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in racing:
            assert each.stdin is not None
            each.stdin.write("\n")
            each.stdin.flush()
        printed = [each.communicate(timeout=PATIENCE)[0].strip() for each in racing]
    finally:
        for each in racing:
            each.kill()
            each.communicate()
    assert [each.returncode for each in racing] == [0] * processes
    return printed
