"""Calls of an OpenAI-compatible server, within the deadline of the request."""

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .errors import ProviderError
from .provider_registry import is_private_address
from .request_context import current_context

T = TypeVar("T")

# Bytes of a response without vectors: some 30,000 tokens of a draft, escaped, and its envelope.
MAX_RESPONSE_BYTES = 4 * 1024 * 1024
_MAX_RETRIES = 1
_RETRY_PAUSE = 0.5
# Statuses of a server that has asked no model yet, so that nothing was spent.
_FREE_STATUSES = frozenset({400, 401, 403, 404, 405, 422, 429})
# Statuses of a server that refuses what a request holds, such as a parameter it does not know.
_PARAMETER_STATUSES = frozenset({400, 413, 422})
# By name: the HTTP package of the client depends on its version. Errors of one that could not
# connect, then of one whose connection broke while it read a body.
_CONNECTION_FAILURES = frozenset({"ConnectError", "ConnectTimeout"})
_READ_FAILURES = frozenset({"ReadError", "RemoteProtocolError"})
# More tokens than any model reads or writes at once: such a count is not believed.
_MAX_PLAUSIBLE_TOKENS = 1_000_000_000
# What a server says of a prompt that its model cannot hold: llama.cpp, vLLM, OpenAI and others.
_CONTEXT_ERROR = re.compile(r"context[_ ](?:length|size|window)", re.IGNORECASE)
# Sent to a server of one's own where there is no key: the client insists on one.
_PLACEHOLDER_KEY = "none"


def is_openai_address(base_url: str | None) -> bool:
    """True if a model's server is OpenAI's own, in whatever region."""
    host = urlsplit(base_url or "").hostname
    return base_url is None or f".{host}".endswith(".api.openai.com")


def call_provider(
    base_url: str | None,
    request: Callable[[Any], AbstractContextManager[Any]],
    read: Callable[[Any], T],
    ends: float,
    bound: int,
    max_body: int = MAX_RESPONSE_BYTES,
) -> T:
    """Call a provider, with one retry on a transient fault.

    request: calls an ``OpenAI`` with streaming responses, whose key comes from OPENAI_API_KEY
    alone. read: takes the parsed JSON of the reply. ends: by ``time.monotonic()``; the current
    question may end before. bound: the most tokens that one attempt can cost, which count where
    it fails after it was sent. max_body: the bytes that a reply may have. ProviderError names the
    kind of fault and repeats nothing of what the provider said.
    """
    context = current_context()
    ends = min(ends, context.ends)
    for attempt in range(_MAX_RETRIES + 1):
        context.check_deadline()
        if time.monotonic() >= ends:
            raise _timeout_error()
        try:
            return read(_send(base_url, request, ends, max_body))
        except Exception as error:
            if not _is_free_failure(error):
                context.assume_tokens(bound)
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
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return tokens_in, tokens_out
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


def _read_usage_field(usage: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and 0 <= value < _MAX_PLAUSIBLE_TOKENS
        ):
            return value
    return None


def _send(
    base_url: str | None,
    request: Callable[[Any], AbstractContextManager[Any]],
    ends: float,
    max_body: int,
) -> Any:
    """Send a request and parse its reply, read part by part within the limits."""
    # The connections of a process are of no use to its fork.
    client = _open_client(base_url, os.getpid())
    left = max(0.001, ends - time.monotonic())
    body = bytearray()
    with request(client.with_options(timeout=left).with_streaming_response) as response:
        for part in response.iter_bytes():
            body += part
            if len(body) > max_body:
                raise ProviderError(
                    "the provider sent more than an answer takes: check base_url",
                    cause="too-large",
                )
            if time.monotonic() >= ends:
                raise _timeout_error()
    return json.loads(body)


@cache
def _open_client(base_url: str | None, process: int) -> Any:
    """Open the client of a process; ProviderError without a key or the package."""
    del process
    try:
        import openai
    except ImportError:
        raise ProviderError(
            "the package openai is not installed: run `pip install 'mkdocs-answerable[openai]'`",
            cause="no-package",
        ) from None
    # A blank key would only fail as a header, which looks like a broken connection.
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and not is_private_address(base_url):
        raise ProviderError("OPENAI_API_KEY is not set: set it in the environment", cause="no-key")
    return openai.OpenAI(base_url=base_url, api_key=key or _PLACEHOLDER_KEY, max_retries=0)


def _is_free_failure(error: Exception) -> bool:
    """Test whether a failed call has cost nothing: never sent, or refused at once."""
    if isinstance(error, ProviderError) or getattr(error, "status_code", None) in _FREE_STATUSES:
        return True
    return type(error.__cause__).__name__ in _CONNECTION_FAILURES


def _classify_error(error: Exception) -> ProviderError:
    """Name the kind of a fault in our words: an upstream text may hold anything."""
    for fault in (error, error.__cause__):
        if isinstance(fault, ProviderError):
            return fault
    import openai

    name = type(error).__name__
    if isinstance(error, TimeoutError | openai.APITimeoutError) or name == "ReadTimeout":
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
        return ProviderError(
            "the provider knows no such model or path: check model and base_url", cause="no-model"
        )
    if isinstance(error, openai.APIStatusError) and _CONTEXT_ERROR.search(
        f"{error.code} {error.type} {error}"
    ):
        return ProviderError(
            "the text is longer than the model's context: give the server a larger context, or "
            "choose another model",
            cause="context",
        )
    if isinstance(error, openai.APIStatusError):
        return ProviderError(
            f"the provider answered with status {error.status_code}: check model and base_url",
            cause="bad-parameter" if error.status_code in _PARAMETER_STATUSES else "status",
            transient=error.status_code >= 500,
        )
    if isinstance(error, openai.APIConnectionError) or name in _READ_FAILURES:
        return ProviderError(
            "the provider cannot be reached: is it running at its base_url, and is the network up?",
            cause="unreachable",
            transient=True,
        )
    return ProviderError(
        "the provider sent what is not an answer: check base_url", cause="not-json"
    )


def _timeout_error() -> ProviderError:
    return ProviderError("the provider did not answer in time: try again", cause="timeout")


def _parse_retry_after(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", _RETRY_PAUSE)))
    except ValueError:
        return _RETRY_PAUSE
