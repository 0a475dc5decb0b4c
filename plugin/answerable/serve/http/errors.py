"""What goes wrong while a question is answered, in fixed texts that repeat nothing."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AnswerableError, CancelledError, CrowdedError, ProviderError
from .messages import Problem

_RETRY_LATER = "5"
_RETRY_SOON = "2"
# Seconds.
_DAY_SECONDS = 86_400


def convert_error(error: BaseException) -> Problem:
    """The problem that an error is to a reader, who has no use for its own words."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, TimeoutError) or (isinstance(error, ProviderError) and error.timeout):
        return Problem("timeout", "The answer was not ready in time: try again.")
    if isinstance(error, CancelledError):
        return Problem("unavailable", "The question was withdrawn.", Retry_After=_RETRY_LATER)
    if isinstance(error, CrowdedError):
        return make_busy_problem()
    if isinstance(error, AnswerableError):
        return Problem(
            "unavailable",
            "The question cannot be answered at the moment.",
            Retry_After=_RETRY_LATER,
        )
    # A fault of ours: the server goes on, and its text, which may hold anything, goes nowhere.
    return Problem("internal", "Something went wrong while answering.")


def make_busy_problem() -> Problem:
    """More questions at once than are answered."""
    return Problem("busy", "Too many questions at once: try again.", Retry_After=_RETRY_SOON)


def make_capped_problem(what: str) -> Problem:
    """No more of what costs tokens until midnight UTC."""
    return Problem(
        "capped",
        f"There are no more {what} today: the site's budget is used up.",
        Retry_After=str(_DAY_SECONDS - int(time.time()) % _DAY_SECONDS),
    )


@contextmanager
def ignore_errors() -> Iterator[None]:
    """A fault in this block is no reason not to answer."""
    try:
        yield
    except Exception:
        return
