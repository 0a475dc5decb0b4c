"""Work shared out to other processes, where there is enough of it to pay for their start."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

# Characters or bytes to read from which a process pays for its start, of a quarter of a second.
WORTH = 1_500_000
_MOST = 8
# A process that is not forked imports the program again. These do nothing when they are imported;
# of somebody's script, which may build a site without asking how it is run, nothing is known.
_PROGRAMS = frozenset(("mkdocs", "properdocs", "answerable", "__main__"))

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Processes that share the work of one build, to be used in a ``with`` block or closed."""

    def __init__(self, worth: int = WORTH) -> None:
        self._worth = worth
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def each(self, function: Callable[[T], R], tasks: Sequence[T], size: int) -> Iterator[R]:
        """What a function makes of each task, in order: at once elsewhere, or here when asked for.

        function and tasks can be pickled; size: how many characters or bytes the tasks read.
        """
        if size < self._worth or len(tasks) < 2 or not self._start():
            return map(function, tasks)
        assert self._pool is not None
        return _surviving(self._pool.map(function, tasks, chunksize=1), function, tasks)

    def close(self) -> None:
        """Let go of the processes; what they still have to do is dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _start(self) -> bool:
        if self._pool is None and _cores() > 1 and _may_start():
            # Not forked: a dev server has threads, and a fork of them can hang.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(min(_cores(), _MOST), mp_context=context)
        return self._pool is not None


def _surviving(results: Iterable[R], function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
    """All results, those of a process that died made here."""
    done = 0
    try:
        for result in results:
            yield result
            done += 1
    except BrokenProcessPool:
        yield from map(function, tasks[done:])


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _may_start() -> bool:
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return file is not None and Path(file).stem in _PROGRAMS
