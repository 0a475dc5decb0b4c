"""Context of a request: its deadline and its cancellation, its stages, and what it has cost."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from .errors import CancelledError, ProviderError

RequestStage = Literal["embedding", "searching", "writing", "checking"]


class RequestContext:
    """State of one question, which the function, the engine and the providers share.

    ``ends``: by ``time.monotonic()``. ``listener`` is told of each stage that begins. ``timings``:
    the milliseconds spent in each so far. ``refusals``: how often each rule of the contract has
    refused something, as ``stage/rule``.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        self.begin(seconds)
        self.listener: Callable[[RequestStage], object] | None = None
        self.tokens_in = 0
        self.tokens_out = 0
        self.refusals: Counter[str] = Counter()
        self._cancelled = threading.Event()
        self.timings: dict[str, float] = defaultdict(float)

    def begin(self, seconds: float) -> None:
        """Set the deadline, counted from now."""
        self.ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.ends - time.monotonic()

    @property
    def tokens(self) -> int:
        """The tokens of all calls so far."""
        return self.tokens_in + self.tokens_out

    def count_tokens(self, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of a provider's call: as it has counted them, else an estimate."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out

    @contextmanager
    def counting(self, tokens: int) -> Iterator[None]:
        """Count some tokens for a block that counts none itself, unless it fails."""
        before = self.tokens
        yield
        if self.tokens == before:
            self.count_tokens(tokens, 0)

    @contextmanager
    def stage(self, name: RequestStage) -> Iterator[None]:
        """Announce and time a block as a stage, after ``check_deadline``."""
        self.check_deadline()
        if self.listener:
            self.listener(name)
        start = time.monotonic()
        try:
            yield
        finally:
            self.timings[name] += 1000 * (time.monotonic() - start)

    def check_deadline(self) -> None:
        """Raise CancelledError if nobody waits any more, ProviderError(timeout) if it is late."""
        if self._cancelled.is_set():
            raise CancelledError("nobody waits for this answer any more: ask again")
        if self.left <= 0:
            raise ProviderError("the answer was not ready in time: try again", cause="timeout")

    def pause(self, seconds: float) -> None:
        """Sleep, but no longer than anybody waits; then ``check_deadline``."""
        self._cancelled.wait(min(seconds, max(0.0, self.left)))
        self.check_deadline()

    def cancel(self) -> None:
        """Begin nothing more: nobody waits any more. A provider's call under way still ends."""
        self._cancelled.set()


_current_context: ContextVar[RequestContext | None] = ContextVar("answerable_call", default=None)


def current_context() -> RequestContext:
    """Return the context of the question that this code works for, else one without a deadline."""
    return _current_context.get() or RequestContext()


@contextmanager
def use_context(context: RequestContext) -> Iterator[RequestContext]:
    """Make a context the current one in a block, and in what it calls."""
    token = _current_context.set(context)
    try:
        yield context
    finally:
        _current_context.reset(token)
