"""Send a request by the OpenAI client: one deadline, one retry; reword errors, count tokens."""

import os
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import CancelledError, ProviderError
from ..request_context import RequestContext, current_context
from . import response_limit
from .response_limit import bound_response, max_response_bytes

if TYPE_CHECKING:
    from .event_loop import EventLoopThread

T = TypeVar("T")

_MAX_RETRIES = 1
_RETRY_PAUSE = 0.5
# Statuses of a server that has asked no model yet, so that nothing was spent.
_FREE_STATUSES = frozenset({400, 401, 403, 404, 405, 422, 429})
# Statuses of a server that refuses what a request holds, such as a parameter it does not know.
_PARAMETER_STATUSES = frozenset({400, 413, 422})
# Errors of an HTTP client that could not connect.
_CONNECTION_FAILURES = frozenset({"ConnectError", "ConnectTimeout"})
# More tokens than any model reads or writes at once: such a count is not believed.
_MAX_PLAUSIBLE_TOKENS = 1_000_000_000


class MissingPathError(ProviderError):
    """Report a path that a server does not have, as ``/responses`` on an older one."""


def call_provider(
    base_url: str | None,
    request: Callable[[Any], Awaitable[T]],
    ends: float,
    bound: int,
    later: int | None = None,
    max_body: int = response_limit.MAX_RESPONSE_BYTES,
) -> T:
    """Call a provider, with one retry on a transient fault.

    request: calls an ``AsyncOpenAI``, whose key comes from OPENAI_API_KEY alone; it runs in
    another thread. ends: by ``time.monotonic()``; the current question may end before. bound: the
    tokens that one attempt costs if the server never tells. later: the most that other calls
    after this one can cost, None if unknown. max_body: the bytes that a reply may have. A call
    that is cancelled or late closes its connection at once. ProviderError names the kind of fault
    and repeats nothing of what the provider said. The current context counts each attempt, but
    not yet its tokens.
    """
    context = current_context()
    ends = min(ends, context.ends)
    for attempt in range(_MAX_RETRIES + 1):
        context.check_deadline()
        if time.monotonic() >= ends:
            raise _timeout_error()
        context.begin_provider_call(bound, later)
        try:
            return _call_once(base_url, request, ends, max_body, context)
        except CancelledError:
            raise
        except Exception as error:
            if _is_free_failure(error):
                context.end_provider_call(0, 0)
            fault, pause = _classify_error(error), _parse_retry_after(error)
        # Outside the handler: an error raised here has no reference to what the provider said.
        if attempt == _MAX_RETRIES or not fault.transient or time.monotonic() + pause >= ends:
            raise fault
        context.pause(pause)
    raise AssertionError("unreachable")


def read_token_usage(reply: Any, tokens_in: int, tokens_out: int) -> tuple[int, int]:
    """Read the tokens of a reply, in and out, as its server counts them.

    tokens_in, tokens_out: the counts where the server gives none.
    """
    usage = getattr(reply, "usage", None)
    read = _read_usage_field(usage, "input_tokens", "prompt_tokens")
    written = _read_usage_field(usage, "output_tokens", "completion_tokens")
    # Every prompt has tokens; a server that counts none of them counts nothing.
    return read or tokens_in, tokens_out if written is None or not read else written


def estimate_max_tokens(text: str) -> int:
    """Estimate a text's tokens pessimistically, where nobody has counted them.

    Half a token for an ASCII character, one for any other: English and code have about a third of
    a token a character, Chinese and Japanese about one.
    """
    plain = len(text.encode("ascii", "ignore"))
    return len(text) - plain // 2


def _read_usage_field(usage: object, *names: str) -> int | None:
    for name in names:
        value = getattr(usage, name, None)
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and 0 <= value < _MAX_PLAUSIBLE_TOKENS
        ):
            return value
    return None


def _call_once(
    base_url: str | None,
    request: Callable[[Any], Awaitable[T]],
    ends: float,
    max_body: int,
    context: RequestContext,
) -> T:
    """Call once, within a deadline: a client's own timeout starts anew with every byte."""
    from concurrent import futures

    from .event_loop import get_event_loop_thread

    loop = get_event_loop_thread()
    future = loop.submit(_send_request(loop, base_url, request, max_body))
    try:
        with context.stopping(future.cancel):
            return future.result(max(0.0, ends - time.monotonic()))
    except futures.CancelledError:
        raise CancelledError("the call of the provider was stopped: ask again") from None
    finally:
        future.cancel()


async def _send_request(
    loop: "EventLoopThread",
    base_url: str | None,
    request: Callable[[Any], Awaitable[T]],
    max_body: int,
) -> T:
    # Each attempt is a task with a context of its own.
    max_response_bytes.set(max_body)
    client = loop.clients.get(base_url)
    if client is None:
        client = loop.clients[base_url] = _make_client(base_url)
    return await request(client)


def _make_client(base_url: str | None) -> Any:
    """Make a client for the running loop; ProviderError without a key or the package."""
    try:
        import openai
    except ImportError:
        raise ProviderError(
            "the package openai is not installed: run `pip install 'mkdocs-answerable[openai]'`",
            cause="no-package",
        ) from None
    # A blank key would only fail as a header, which looks like a broken connection.
    if not os.environ.get("OPENAI_API_KEY", "").strip():
        raise ProviderError("OPENAI_API_KEY is not set: set it in the environment", cause="no-key")
    http_client = openai.DefaultAsyncHttpxClient(
        timeout=None,
        headers={"Accept-Encoding": response_limit.ACCEPT_ENCODING},
        event_hooks={"response": [bound_response]},
    )
    return openai.AsyncOpenAI(
        base_url=base_url, max_retries=0, timeout=None, http_client=http_client
    )


def _is_free_failure(error: Exception) -> bool:
    """Test whether a failed call has cost nothing: never sent, or refused at once."""
    if isinstance(error, ProviderError) or getattr(error, "status_code", None) in _FREE_STATUSES:
        return True
    # By name: the HTTP package of the client depends on its version.
    return type(error.__cause__).__name__ in _CONNECTION_FAILURES


def _classify_error(error: Exception) -> ProviderError:
    """Name the kind of a fault in our words: an upstream text may hold anything."""
    for fault in (error, error.__cause__):
        if isinstance(fault, ProviderError):
            return fault
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return _timeout_error()
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ProviderError(
            "the provider refused the key: check OPENAI_API_KEY", cause="key-refused"
        )
    if isinstance(error, openai.RateLimitError):
        # A quota that is used up does not come back within a deadline.
        is_used_up = error.code == "insufficient_quota"
        return ProviderError(
            "the provider's limit is reached: wait, or raise the limit",
            cause="quota" if is_used_up else "rate-limit",
            transient=not is_used_up,
        )
    if isinstance(error, openai.APIStatusError) and error.status_code in (404, 405):
        kind = ProviderError if error.code == "model_not_found" else MissingPathError
        return kind(
            "the provider knows no such model or path: check model and base_url", cause="no-model"
        )
    if isinstance(error, openai.APIStatusError):
        return ProviderError(
            f"the provider answered with status {error.status_code}: check model and base_url",
            cause="bad-parameter" if error.status_code in _PARAMETER_STATUSES else "status",
            transient=error.status_code >= 500,
        )
    if isinstance(error, openai.APIConnectionError):
        return ProviderError(
            "the provider cannot be reached: check the network and base_url",
            cause="unreachable",
            transient=True,
        )
    return response_limit.make_malformed_error()


def _timeout_error() -> ProviderError:
    return ProviderError("the provider did not answer in time: try again", cause="timeout")


def _parse_retry_after(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", _RETRY_PAUSE)))
    except ValueError:
        return _RETRY_PAUSE
