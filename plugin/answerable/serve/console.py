"""The standard streams of a function, where its platform collects what it says."""

import sys


def out(line: bytes) -> None:
    """Write a line to standard output at once: what waits may be frozen with the function."""
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def err(line: bytes) -> None:
    """Write a line to standard error at once."""
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()
