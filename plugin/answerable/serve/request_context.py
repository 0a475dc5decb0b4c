"""Context of a request: its deadline, cancellation and counts, and the spans of its trace."""

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal

from .errors import CancelledError, ContractStage, ProviderError, Rule

AttributeValue = bool | int | float | str | None
# Adds attributes to a span that is open.
SetAttributes = Callable[..., None]

_SCOPE = "answerable"
# An id, a word of ours, a model's name; a sentence is none of these.
_SAFE_TEXT = re.compile(r"[A-Za-z0-9_.:/@+-]{1,100}")


def start_span(name: str, **attributes: AttributeValue) -> AbstractContextManager[SetAttributes]:
    """Open a span around a block, which gets a function that adds attributes to it.

    An attribute's name gets the prefix ``answerable.``. A text with a space in it is left out, as
    is None, and of an exception only its type is recorded: its words may be private.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NO_SPAN
    provider = trace.get_tracer_provider()
    if isinstance(provider, (trace.ProxyTracerProvider, trace.NoOpTracerProvider)):
        return _NO_SPAN
    return _record_span(trace, provider, name, attributes)


def _ignore(**attributes: AttributeValue) -> None:
    del attributes


# Without state: every block may share it.
_NO_SPAN: AbstractContextManager[SetAttributes] = nullcontext(_ignore)


@contextmanager
def _record_span(
    trace: Any, provider: Any, name: str, attributes: Mapping[str, AttributeValue]
) -> Iterator[SetAttributes]:
    span = provider.get_tracer(_SCOPE).start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    )
    with span as active:

        def set_attributes(**attributes: AttributeValue) -> None:
            active.set_attributes(_name_attributes(attributes))

        set_attributes(**attributes)
        try:
            yield set_attributes
        except Exception as error:
            active.set_status(trace.StatusCode.ERROR)
            active.set_attribute("error.type", type(error).__name__)
            raise


def _name_attributes(
    attributes: Mapping[str, AttributeValue],
) -> dict[str, bool | int | float | str]:
    return {
        f"{_SCOPE}.{name}": value
        for name, value in attributes.items()
        if value is not None and not (isinstance(value, str) and not _SAFE_TEXT.fullmatch(value))
    }


RequestStage = Literal["embedding", "searching", "writing", "checking"]


class RequestContext:
    """State of one question, which the function, the engine and the providers share.

    ``ends``: by ``time.monotonic()``. ``listener`` is notified of stages. ``tokens_in`` and
    ``tokens_out``: counted by providers so far. ``stages``: those begun so far, in order, each as
    often as it was begun. ``refusals``: how often each rule of the contract has refused something,
    as ``stage/rule``.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        self.ends = time.monotonic() + seconds
        self.listener: Callable[[RequestStage], None] | None = None
        self.tokens_in = 0
        self.tokens_out = 0
        self.stages: list[RequestStage] = []
        self.refusals: Counter[str] = Counter()
        self._uncounted = 0
        self._cancelled = threading.Event()
        self._milliseconds: dict[str, float] = {}

    @property
    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.ends - time.monotonic()

    @property
    def tokens(self) -> int:
        """The tokens of all calls: what providers have counted, else the most they can have."""
        return self.tokens_in + self.tokens_out + self._uncounted

    def begin(self, seconds: float) -> None:
        """Set the deadline, counted from now."""
        self.ends = time.monotonic() + seconds

    @contextmanager
    def stage(self, name: RequestStage) -> Iterator[None]:
        """Time and trace a block as a stage, after ``check_deadline``."""
        self.check_deadline()
        self.announce(name)
        start = time.monotonic()
        try:
            with start_span(f"answerable.{name}"):
                yield
        finally:
            elapsed = 1000 * (time.monotonic() - start)
            self._milliseconds[name] = self._milliseconds.get(name, 0.0) + elapsed

    def announce(self, name: RequestStage) -> None:
        """Notify the listener that a stage begins, without timing it."""
        self.stages.append(name)
        if self.listener:
            self.listener(name)

    @contextmanager
    def reserving(self, seconds: float) -> Iterator[None]:
        """End the deadline of a block earlier by at most a tenth, for what follows the block."""
        seconds = min(seconds, self.left / 10)
        self.ends -= seconds
        try:
            yield
        finally:
            self.ends += seconds

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

    def count_tokens(self, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of a provider's call, as the provider has counted them."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out

    def assume_tokens(self, tokens: int) -> None:
        """Count the most tokens that a call can have cost whose provider has told none."""
        self._uncounted += tokens

    def count_refusals(self, stage: ContractStage, *rules: Rule) -> None:
        """Count the drafts, claims and routes that the contract has refused."""
        self.refusals.update(f"{stage}/{rule}" for rule in rules)

    def cancel(self) -> None:
        """Begin nothing more: nobody waits any more. A provider's call under way still ends."""
        self._cancelled.set()

    def timings(self) -> dict[str, float]:
        """Return the milliseconds spent in each stage that has ended."""
        return dict(self._milliseconds)


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
