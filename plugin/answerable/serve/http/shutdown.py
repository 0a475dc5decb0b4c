"""Track the questions in flight and wait for their end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..request_context import RequestContext


class InFlight:
    """Track the questions in flight, by their contexts, and wait for their end."""

    def __init__(self) -> None:
        self._questions: list[RequestContext] = []
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, question: RequestContext) -> Iterator[None]:
        """Track a question for the length of this block."""
        with self._changed:
            self._questions.append(question)
        try:
            yield
        finally:
            with self._changed:
                self._questions.remove(question)
                self._changed.notify_all()

    def cancel(self) -> None:
        """Cancel the questions in flight."""
        with self._changed:
            for question in self._questions:
                question.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is in flight; False if that takes longer than ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._questions, seconds)
