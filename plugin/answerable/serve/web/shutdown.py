"""Stop a server when the process is asked to end, by SIGTERM or by an interrupt."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call ``stop`` in a thread of its own at the first signal in this block.

    A second signal does what it did before the block, which ends the process at once. Only the
    main thread may enter this block.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            # None: a handler that was not installed by Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle(number: int, frame: FrameType | None) -> None:
        del number, frame
        restore()
        # A server that stops waits for the loop that this thread is in.
        Thread(target=stop, daemon=True).start()

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
