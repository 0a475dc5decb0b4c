"""Context of a request: its deadline, cancellation and counts, and the spans of its trace."""

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .errors import CancelledError, ContractStage, ProviderError, Rule

if TYPE_CHECKING:
    from concurrent.futures import Future


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
# Receives the most tokens that a question can have cost when the provider call that is about to
# begin is over, and the most that later ones can add; None for what has no bound. May refuse.
Charge = Callable[[int | None, int | None], object]


@dataclass(slots=True)
class _CallBlock:
    """Hold the tokens of the provider calls of a block.

    ``bounds``: of calls that have reported none; with ``has_default`` there is one, of the block as
    a whole. ``counted``: what the others have reported.
    """

    bounds: list[int | None] = field(default_factory=list)
    counted: int = 0
    has_default: bool = False


class RequestContext:
    """Share the state of one question between the HTTP service, the engine and the providers.

    ``ends``: by ``time.monotonic()``. ``tokens_in`` and ``tokens_out``: counted by providers so
    far. ``stages``: those begun so far, in order, each as often as it was begun.
    ``storage_seconds``: spent waiting for a database. ``refusals``: how often each rule of the
    contract has refused something, as ``stage/rule``. ``abandoned``: once it is done, the wait for
    a provider ends with CancelledError; without one, a call under way is awaited and counted though
    its reader left.
    """

    def __init__(
        self,
        seconds: float = float("inf"),
        listener: Callable[[RequestStage], None] | None = None,
        abandoned: "Future[None] | None" = None,
    ) -> None:
        self.ends = time.monotonic() + seconds
        self.tokens_in = 0
        self.tokens_out = 0
        self.storage_seconds = 0.0
        self.stages: list[RequestStage] = []
        self.refusals: Counter[str] = Counter()
        self._blocks = [_CallBlock()]
        # Blocks that have ended, by caller: nothing in them is counted any more.
        self._past_blocks: list[tuple[str, _CallBlock]] = []
        self.abandoned = abandoned
        self._listener = listener
        self._charge: Charge | None = None
        self._cancelled = threading.Event()
        self._milliseconds: dict[str, float] = {}

    @property
    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.ends - time.monotonic()

    @property
    def cost(self) -> int | None:
        """Bound the tokens spent so far; None if a call that was never counted has no bound."""
        blocks = (*self._blocks, *(block for _, block in self._past_blocks))
        return _sum_bounds(self.tokens_in + self.tokens_out, blocks)

    def begin(self, seconds: float, listener: Callable[[RequestStage], None] | None = None) -> None:
        """Set the deadline, counted from now, and who is notified of stages."""
        self.ends = time.monotonic() + seconds
        self._listener = listener

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
        if self._listener:
            self._listener(name)

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

    def begin_provider_call(self, bound: int | None = None, later: int | None = None) -> None:
        """Charge ``bound`` tokens for a provider call until it is counted.

        later: the most that calls after it can cost this question; None if that is unknown.
        Raises what the charge of ``charging`` raises: then the provider may not be called.
        """
        block = self._blocks[-1]
        if block.has_default:
            block.bounds.clear()
            block.has_default = False
        self._charge_bound(bound, later)
        block.bounds.append(bound)

    def end_provider_call(self, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of the provider call that began last, in place of its bound."""
        block = self._blocks[-1]
        # Without a current context, every caller gets a new one, where no call has begun.
        if block.bounds:
            block.bounds.pop()
        block.has_default = False
        block.counted += tokens_in + tokens_out
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out

    @contextmanager
    def bounding(self, caller: str, bound: int) -> Iterator[None]:
        """Charge ``bound`` tokens for a block, unless its calls begin or count themselves.

        All blocks of a caller cost that bound together. Raises as ``begin_provider_call`` does.
        """
        past = [block for name, block in self._past_blocks if name == caller]
        charged = _sum_bounds(sum(block.counted for block in past), past)
        remaining = 0 if charged is None else max(0, bound - charged)
        block = _CallBlock([remaining], has_default=True) if remaining else _CallBlock()
        if remaining:
            self._charge_bound(remaining, None)
        self._blocks.append(block)
        try:
            yield
        finally:
            self._past_blocks.append((caller, self._blocks.pop()))

    @contextmanager
    def charging(self, charge: Charge) -> Iterator[None]:
        """Call ``charge`` before each provider call of a block."""
        self._charge = charge
        try:
            yield
        finally:
            self._charge = None

    def _charge_bound(self, bound: int | None, later: int | None) -> None:
        if self._charge:
            cost = self.cost
            self._charge(None if cost is None or bound is None else cost + bound, later)

    def count_refusals(self, stage: ContractStage, *rules: Rule) -> None:
        """Count the drafts, claims and routes that the contract has refused."""
        self.refusals.update(f"{stage}/{rule}" for rule in rules)

    def cancel(self) -> None:
        """Begin nothing more: nobody waits any more. A provider's call under way still ends."""
        self._cancelled.set()

    def timings(self) -> dict[str, float]:
        """Return the milliseconds spent in each stage that has ended."""
        return dict(self._milliseconds)


def _sum_bounds(counted: int, blocks: Iterable[_CallBlock]) -> int | None:
    """Add the bounds of uncounted calls to a count; None if one of them is None."""
    total = counted
    for block in blocks:
        for bound in block.bounds:
            if bound is None:
                return None
            total += bound
    return total


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
