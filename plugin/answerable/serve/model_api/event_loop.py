"""Run coroutines on one asyncio event loop in a daemon thread, as futures that can be cancelled.

Imported where a provider is called and nowhere else: asyncio would slow down a cold start.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

# Seconds that the end of a process waits for each step of the loop's own end.
_SHUTDOWN_STEP_SECONDS = 1.0


class AsyncClosable(Protocol):
    """Close with the loop."""

    async def close(self) -> object:
        """Close its connections."""


class EventLoopThread:
    """Run an event loop that starts with the first task.

    ``clients`` belongs to the loop: only tasks may touch it.
    """

    def __init__(self) -> None:
        self.clients: dict[object, AsyncClosable] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a task; cancelling its future stops it."""
        with self._lock:
            loop = self._loop = self._loop or self._start()
        return asyncio.run_coroutine_threadsafe(work, loop)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        loop.set_default_executor(_DaemonExecutor())
        # An interpreter waits for other threads before it comes to what is registered here.
        thread = threading.Thread(target=loop.run_forever, name="answerable-calls", daemon=True)
        thread.start()
        atexit.register(self._end, loop, thread)
        return loop

    def _end(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        # In a fork there is no such thread, and to close the loop would disturb its owner's.
        if os.getpid() != self._process:
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._close(), loop).result(_SHUTDOWN_STEP_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SHUTDOWN_STEP_SECONDS)
        if not thread.is_alive():
            loop.close()

    async def _close(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in self.clients.values():
            await client.close()


class _DaemonExecutor(ThreadPoolExecutor):
    """Look up each name in a thread; one that hangs blocks neither others nor the end."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # handed to the loop
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


# By process: threads do not survive a fork, so that a child has to start its own. Its parent's
# stays referenced, since to collect it would close what the parent still uses.
_loops_by_process: dict[int, EventLoopThread] = {}


def get_event_loop_thread() -> EventLoopThread:
    """Return the loop of this process."""
    return _loops_by_process.setdefault(os.getpid(), EventLoopThread())
