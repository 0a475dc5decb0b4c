"""The OpenAI client as we use it: imported late, one retry, one deadline for everything."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import ProviderError

T = TypeVar("T")

_RETRIES = 1
_PAUSE = 0.5


def connect(base_url: str | None) -> Any:
    """A client; its key comes from OPENAI_API_KEY alone. ProviderError if there is none."""
    try:
        import openai
    except ImportError:
        raise ProviderError(
            "the package openai is not installed: run `pip install mkdocs-answerable[openai]`"
        ) from None
    try:
        return openai.OpenAI(base_url=base_url, max_retries=0)
    except openai.OpenAIError:
        raise ProviderError("OPENAI_API_KEY is not set: set it in the environment") from None


def call(ask: Callable[[float], T], deadline: float) -> T:
    """Call a provider within a wall-clock deadline, with one retry on a passing fault.

    ask: does the call; it is given the seconds that are left. deadline: seconds in all.
    ProviderError says what kind of fault it was, and nothing of what the provider said.
    """
    ends = time.monotonic() + deadline
    for attempt in range(_RETRIES + 1):
        try:
            return _bounded(ask, ends - time.monotonic())
        except Exception as error:
            fault = _fault(error)
            pause = _retry_after(error)
            if attempt == _RETRIES or not fault.passing or time.monotonic() + pause >= ends:
                raise fault from None
            time.sleep(pause)
    raise AssertionError("unreachable")


def _bounded(ask: Callable[[float], T], seconds: float) -> T:
    """Run a call in a thread of its own: the client's timeout starts anew with every byte."""
    if seconds <= 0:
        raise TimeoutError
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(ask(seconds))
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError
    return outcome[0]


def _fault(error: Exception) -> ProviderError:
    """The kind of a fault, in words of ours: an upstream text may hold anything."""
    if isinstance(error, ProviderError):
        return error
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ProviderError("the provider did not answer in time: try again", timeout=True)
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ProviderError("the provider refused the key: check OPENAI_API_KEY")
    if isinstance(error, openai.RateLimitError):
        # A quota that is used up does not come back within a deadline.
        return ProviderError(
            "the provider's limit is reached: wait, or raise the limit",
            passing=error.code != "insufficient_quota",
        )
    if isinstance(error, openai.NotFoundError):
        return ProviderError("the provider knows no such model or path: check model and base_url")
    if isinstance(error, openai.APIStatusError):
        return ProviderError(
            f"the provider answered with status {error.status_code}: check model and base_url",
            passing=error.status_code >= 500,
        )
    if isinstance(error, openai.APIConnectionError):
        return ProviderError(
            "the provider cannot be reached: check the network and base_url", passing=True
        )
    return ProviderError("the provider sent what is not an answer: check base_url")


def _retry_after(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", _PAUSE)))
    except ValueError:
        return _PAUSE
