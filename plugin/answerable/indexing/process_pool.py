"""Work shared out to other processes, where there is enough of it to pay for their start."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

# Characters or bytes to read from which a process pays for its start, of a quarter of a second.
MIN_POOL_SIZE = 1_500_000
_MAX_PROCESSES = 8
# A process that is not forked runs the program's file again, under another name. These commands
# ask for their name first; somebody's script, which may build a site there and then, may not.
_COMMANDS = frozenset(("mkdocs", "properdocs", "answerable"))

T = TypeVar("T")
R = TypeVar("R")


class ProcessPool:
    """Processes that share the work of one build, to be closed after it."""

    def __init__(self, worth: int = MIN_POOL_SIZE) -> None:
        self._worth = worth
        self._pool: ProcessPoolExecutor | None = None

    def each(self, function: Callable[[T], R], tasks: Sequence[T], size: int) -> Iterator[R]:
        """What a function makes of each task, in order: at once elsewhere, or here when asked for.

        function and tasks can be pickled; size: how many characters or bytes the tasks read.
        """
        if size < self._worth or len(tasks) < 2 or not self._start():
            return map(function, tasks)
        assert self._pool is not None
        try:
            results = self._pool.map(function, tasks)
        except BrokenProcessPool:
            self.close()
            return map(function, tasks)
        return self._surviving(results, function, tasks)

    def _surviving(
        self, results: Iterable[R], function: Callable[[T], R], tasks: Sequence[T]
    ) -> Iterator[R]:
        """All results; those of processes that have died are made here."""
        done = 0
        try:
            for result in results:
                yield result
                done += 1
        except BrokenProcessPool:
            self.close()
            yield from map(function, tasks[done:])

    def close(self) -> None:
        """Let go of the processes; what they still have to do is dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _start(self) -> bool:
        if self._pool is None and _count_cores() > 1 and _can_spawn():
            # Not forked: a dev server has threads, and a fork of them can hang.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                min(_count_cores(), _MAX_PROCESSES), mp_context=context
            )
        return self._pool is not None


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _can_spawn() -> bool:
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        # A package that was run by its name: its `__main__` is not run again.
        return str(spec.name).endswith("__main__")
    return Path(getattr(main, "__file__", None) or "").name in _COMMANDS
