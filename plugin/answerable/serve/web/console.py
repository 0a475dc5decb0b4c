"""The standard streams of a function, where its platform collects what it says."""

import sys
from typing import BinaryIO


def out(line: bytes) -> None:
    """Write a line to standard output."""
    write(sys.stdout.buffer, line)


def err(line: bytes) -> None:
    """Write a line to standard error."""
    write(sys.stderr.buffer, line)


def write(stream: BinaryIO, line: bytes) -> None:
    """Write a line at once: what waits may be frozen with the function."""
    stream.write(line)
    stream.flush()
