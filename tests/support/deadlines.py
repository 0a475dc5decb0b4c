"""Deadlines of tests for events that should happen at once: only a defect takes so long."""

import contextvars
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

# Seconds. Far longer than any work of a test, even on a machine that is busy with other things: a
# test does not measure how fast something happens, but that it happens without anything else.
PATIENCE = float(os.environ.get("ANSWERABLE_TEST_PATIENCE", "600"))


def until(is_so: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something is so; AssertionError if it takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so after {seconds} seconds"
        time.sleep(0.01)


def finish(work: Callable[[], T]) -> T:
    """Return what some work returns, or raise what it raises; TimeoutError if it never ends.

    For work that only a deadline under test can end. In a thread that nobody joins, so that a
    defect is a failure and not a test run that hangs.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(PATIENCE)
