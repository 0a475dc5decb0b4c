"""One question's way through the engine: where it is, what it has cost, and when it has to end."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from .errors import CancelledError, ProviderError, Rule
from .errors import ContractStage as Step
from .tracing import start_span

RequestStage = Literal["embedding", "searching", "writing", "checking"]
# Is told the most tokens that a question can have cost when the provider call that is about to
# begin is over, and the most that later ones can add; None for what has no bound. May refuse.
Charge = Callable[[int | None, int | None], object]


class RequestContext:
    """What everything between the request and a provider shares of one question.

    ``ends``: by ``time.monotonic()``. ``tokens``: what providers have counted so far, in and out.
    ``entered``: the stages begun so far, in their order, each as often as it was begun.
    ``stored``: the seconds that it has waited for a database. ``refusals``: how often each rule of
    the contract has refused something, as ``stage/rule``.
    """

    def __init__(
        self, seconds: float = float("inf"), listener: Callable[[RequestStage], None] | None = None
    ) -> None:
        self.ends = time.monotonic() + seconds
        self.tokens_in = 0
        self.tokens_out = 0
        self.stored = 0.0
        self.entered: list[RequestStage] = []
        self.refusals: Counter[str] = Counter()
        self._uncounted: list[int | None] = []
        self._listener = listener
        self._charge: Charge | None = None
        self._cancelled = threading.Event()
        self._stops: set[Callable[[], object]] = set()
        self._lock = threading.Lock()
        self._spent: dict[str, float] = {}

    @property
    def left(self) -> float:
        """The seconds until it has to end."""
        return self.ends - time.monotonic()

    @property
    def cost(self) -> int | None:
        """The tokens it has cost at most; None if a call that never told has no such bound."""
        known = self.tokens_in + self.tokens_out
        for most in self._uncounted:
            if most is None:
                return None
            known += most
        return known

    def begin(self, seconds: float, listener: Callable[[RequestStage], None] | None = None) -> None:
        """Say when it has to end, from now on, and who is told of its stages."""
        self.ends = time.monotonic() + seconds
        self._listener = listener

    @contextmanager
    def stage(self, name: RequestStage) -> Iterator[None]:
        """A stage is this block; CancelledError or a timeout if it is too late to begin it."""
        self.check()
        self.announce(name)
        start = time.monotonic()
        try:
            with start_span(f"answerable.{name}"):
                yield
        finally:
            spent = 1000 * (time.monotonic() - start)
            self._spent[name] = self._spent.get(name, 0.0) + spent

    def announce(self, name: RequestStage) -> None:
        """Tell whoever listens that a stage begins, without timing it."""
        self.entered.append(name)
        if self._listener:
            self._listener(name)

    def check(self) -> None:
        """CancelledError if nobody waits any more; ProviderError with ``timeout`` if it is late."""
        if self._cancelled.is_set():
            raise CancelledError("nobody waits for this answer any more: ask again")
        if self.left <= 0:
            raise ProviderError("the answer was not ready in time: try again", timeout=True)

    def pause(self, seconds: float) -> None:
        """Wait so long, but no longer than anybody waits for it; then ``check``."""
        self._cancelled.wait(min(seconds, max(0.0, self.left)))
        self.check()

    def begun(self, most: int | None = None, later: int | None = None) -> None:
        """Count a provider call that begins, which costs ``most`` tokens until it is counted.

        later: the most that calls after it can cost this question; None if that is unknown.
        Raises what ``charging`` refuses it with: then the provider may not be called.
        """
        if self._charge:
            before = self.cost
            cost = None if before is None or most is None else before + most
            self._charge(cost, later)
        self._uncounted.append(most)

    def counted(self, tokens_in: int, tokens_out: int) -> None:
        """The call of a provider that began last has ended and told its tokens."""
        # Where there is no current call, each who asks for it gets another one.
        if self._uncounted:
            self._uncounted.pop()
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out

    @contextmanager
    def charging(self, charge: Charge) -> Iterator[None]:
        """In this block ``charge`` is told of each provider call before it begins."""
        self._charge = charge
        try:
            yield
        finally:
            self._charge = None

    def refused(self, stage: Step, *rules: Rule) -> None:
        """Count the drafts, claims and routes that the contract has refused."""
        self.refusals.update(f"{stage}/{rule}" for rule in rules)

    def cancel(self) -> None:
        """Stop what is under way: nobody waits any more."""
        with self._lock:
            self._cancelled.set()
            stops = list(self._stops)
        for stop in stops:
            stop()

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """In this block ``stop`` is called, from another thread, if the call is cancelled."""
        with self._lock:
            self._stops.add(stop)
            late = self._cancelled.is_set()
        try:
            if late:
                stop()
            yield
        finally:
            with self._lock:
                self._stops.discard(stop)

    def timings(self) -> dict[str, float]:
        """The milliseconds spent in each stage that has ended."""
        return dict(self._spent)


_current_context: ContextVar[RequestContext | None] = ContextVar("answerable_call", default=None)


def current_context() -> RequestContext:
    """The call that this code works for; one without an end where there is none."""
    return _current_context.get() or RequestContext()


@contextmanager
def use_context(call: RequestContext) -> Iterator[RequestContext]:
    """In this block, and in what it calls, a call is the current one."""
    token = _current_context.set(call)
    try:
        yield call
    finally:
        _current_context.reset(token)
