"""Map a function over tasks in order: in worker processes if tasks are large, else in this one."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

# Characters or bytes to read from which a process is worth its start, of a quarter of a second.
MIN_POOL_SIZE = 1_500_000
_MAX_PROCESSES = 8
# A process that is not forked runs the program's file again, under another name. These commands
# ask for their name first; somebody's script, which may build a site there and then, may not.
_COMMANDS = frozenset(("mkdocs", "properdocs", "answerable"))

T = TypeVar("T")
R = TypeVar("R")


class ProcessPool:
    """Processes that share the work of one build; the caller closes them after it."""

    def __init__(self, min_size: int = MIN_POOL_SIZE) -> None:
        self._min_size = min_size
        self._executor: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[T], R], tasks: Sequence[T], size: int) -> Iterator[R]:
        """Yield a function's result for each task, in order; without a pool, when asked for it.

        function and tasks can be pickled; size: how many characters or bytes the tasks read.
        """
        executor = self._start() if size >= self._min_size and len(tasks) > 1 else None
        if executor is None:
            return map(function, tasks)
        try:
            results = executor.map(function, tasks)
        except BrokenProcessPool:
            self.close()
            return map(function, tasks)
        return self._complete(results, function, tasks)

    def _complete(
        self, results: Iterable[R], function: Callable[[T], R], tasks: Sequence[T]
    ) -> Iterator[R]:
        """Yield all results; those of processes that have died are computed here."""
        done = 0
        try:
            for result in results:
                yield result
                done += 1
        except BrokenProcessPool:
            self.close()
            yield from map(function, tasks[done:])

    def close(self) -> None:
        """End the processes; what they still have to do is dropped."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def _start(self) -> ProcessPoolExecutor | None:
        if self._executor is None and _count_cores() > 1 and _can_spawn():
            # Not forked: a dev server has threads, and a fork of them can hang.
            context = multiprocessing.get_context("spawn")
            workers = min(_count_cores(), _MAX_PROCESSES)
            self._executor = ProcessPoolExecutor(workers, mp_context=context)
        return self._executor


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _can_spawn() -> bool:
    """Test whether a new process may import the main module without running a user's script."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        # A package that was run by its name: its `__main__` is not run again.
        return str(spec.name).endswith("__main__")
    return Path(getattr(main, "__file__", None) or "").name in _COMMANDS
