"""The client of OpenAI and of compatible servers, and the answerer that lets a model draft by it.

A call ends by the deadline of its question, is tried once more where that may help, and fails for
one of six causes, in words that repeat nothing of what the server said.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .answers.prompt import build_draft_schema, frame_evidence, render_instructions
from .errors import FailureCause, ProviderError
from .request_context import current_context
from .settings import FunctionSettings
from .text.urls import is_private_address
from .types import Evidence

T = TypeVar("T")

# Sends a request by a client, as a response that is read part by part.
Send = Callable[[Any], AbstractContextManager[Any]]
# A schema of JSON: its ``name`` and the ``schema`` itself.
JSONSchema = Mapping[str, Any]

# Bytes of a response: more than the vectors of one request have.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
# Of a question's time, what a model that takes too long leaves for the reply without it.
KEYLESS_SECONDS = 2.0
_RETRY_PAUSE = 0.5
# Sent to a server of one's own where there is no key: the client insists on one.
_PLACEHOLDER_KEY = "none"

FAILURES: Mapping[FailureCause, str] = {
    "key": "OPENAI_API_KEY is not set, or the provider refused it: set a key that it accepts",
    "limit": "the provider's limit is reached: wait, or raise the limit there",
    "request": "the provider refused the request: check model and base_url, and lower "
    "answers.max_evidence_characters if the model's context is small",
    "timeout": "the provider did not answer in time: raise answers.timeout, or choose a faster "
    "model",
    "unreachable": "the provider cannot be reached: is it running at its base_url, and is the "
    "network up?",
    "reply": "the provider's answer is cut off or unreadable: check base_url, and raise "
    "answers.max_output_tokens if the model writes more",
}


def fail(cause: FailureCause) -> ProviderError:
    """Make the error of a cause."""
    return ProviderError(FAILURES[cause], cause=cause)


def call_server(
    base_url: str | None,
    send: Send,
    read: Callable[[Any], T],
    deadline: float,
    tokens: tuple[int, int],
) -> T:
    """Call a server and read the JSON of its reply; ProviderError for a call that fails.

    deadline: in seconds; the question may end before. tokens: about what a call costs, in and out,
    which is counted where the server does not say.
    """
    context = current_context()
    ends = min(time.monotonic() + deadline, context.ends - min(KEYLESS_SECONDS, context.left / 10))
    # The client's own retries would wait for up to two minutes, and follow a time-out too.
    for is_last in (False, True):
        context.check_deadline()
        try:
            reply = _request(base_url, send, ends)
            break
        except Exception as error:
            failure, pause = _name_failure(error), _read_retry_pause(error)
        # Outside the handler: an error raised here has no reference to what the server said.
        if failure.cause == "timeout":
            context.count_tokens(*tokens)
        if is_last or not failure.transient or time.monotonic() + pause >= ends:
            raise failure
        context.pause(pause)
    context.count_tokens(*(_read_token_usage(reply) or tokens))
    try:
        return read(reply)
    except (AttributeError, LookupError, TypeError):
        raise fail("reply") from None


def _request(base_url: str | None, send: Send, ends: float) -> Any:
    """Send a request and parse its reply; the time-out of each read alone would bound no slow one.

    ends: by ``time.monotonic()``.
    """
    client = _open_client(base_url).with_options(timeout=max(0.001, ends - time.monotonic()))
    body = bytearray()
    with send(client.with_streaming_response) as response:
        for part in response.iter_bytes():
            body += part
            if len(body) > MAX_RESPONSE_BYTES:
                raise fail("reply")
            if time.monotonic() >= ends:
                raise fail("timeout")
    return json.loads(body)


@cache
def _open_client(base_url: str | None) -> Any:
    """Open a client; ProviderError without its package or a key."""
    try:
        import openai
    except ImportError:
        raise ProviderError(
            "the package openai is not installed: run `pip install 'mkdocs-answerable[openai]'`"
        ) from None
    # A blank key would only fail as a header, which looks like a broken connection.
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and not is_private_address(base_url):
        raise fail("key")
    return openai.OpenAI(base_url=base_url, api_key=key or _PLACEHOLDER_KEY, max_retries=0)


def _name_failure(error: Exception) -> ProviderError:
    """Name the cause of a failure in our words: the server's own may hold anything."""
    if isinstance(error, ProviderError):
        return error
    status = getattr(error, "status_code", None)
    if status is None:
        # By name, since the client's HTTP package depends on its version.
        is_late = "Timeout" in type(error).__name__
        is_unreadable = isinstance(error, ValueError | RecursionError)
        return fail("timeout" if is_late else "reply" if is_unreadable else "unreachable")
    if status in (401, 403):
        return fail("key")
    if status == 429:
        return fail("limit")
    return fail("unreachable" if status >= 500 else "request")


def _read_retry_pause(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", _RETRY_PAUSE)))
    except ValueError:
        return _RETRY_PAUSE


def _read_token_usage(reply: Any) -> tuple[int, int] | None:
    """Read the tokens of a reply, in and out, as its server counts them; None if it does not."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return None
    read = usage.get("input_tokens", usage.get("prompt_tokens"))
    written = usage.get("output_tokens", usage.get("completion_tokens", 0))
    # Every prompt has tokens; a server that counts none of them counts nothing.
    return (read, written) if isinstance(read, int) and isinstance(written, int) and read else None


def estimate_tokens(text: str) -> int:
    """Estimate a text's tokens by its bytes: one a letter in Chinese, too many in English."""
    return len(text.encode("utf-8", "replace")) // 3


def is_openai_address(base_url: str | None) -> bool:
    """True if a model's server is OpenAI's own, in whatever region."""
    host = urlsplit(base_url or "").hostname
    return base_url is None or f".{host}".endswith(".api.openai.com")


# The tokens that a model reasons with, beside its output; OpenAI's guide suggests 25,000 for both.
_REASONING_TOKENS = {"low": 2_600, "medium": 10_800, "high": 27_200, "xhigh": 27_200}
# Families that take a reasoning effort and no temperature.
_REASONING_MODEL = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")

_THOUGHTS_END = "</think>"
_CODE_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+[\w+-]*+\s*+(.*\S)\s*\1", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """An answerer that drafts by one call of OpenAI or of a compatible server.

    Nothing is trusted: the contract judges whatever comes back.
    """

    settings: FunctionSettings
    site: str
    author: str | None = None

    @property
    def max_evidence_characters(self) -> int:
        """See Answerer."""
        return self.settings.max_evidence_characters

    @property
    def max_question_tokens(self) -> int:
        """See Answerer; each call counts what it has cost."""
        return self.settings.max_evidence_characters + self.settings.max_output_tokens

    @property
    def label(self) -> str:
        """See Answerer; what is logged or stored where has no part in an answer."""
        settings = replace(self.settings, log_refusals="none", store=None, embedding_base_url=None)
        return repr(replace(self, settings=settings))

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Return the model's draft, as ``complete`` does; a model that refuses declines."""
        draft = self.complete(
            render_instructions(self.site, evidence, self.author),
            frame_evidence(question, evidence, violation, self.author),
            {"name": "draft", "schema": build_draft_schema(evidence)},
        )
        return {"claims": [], "routes": []} if draft is None else draft

    def complete(self, instructions: str, message: str, schema: JSONSchema) -> object:
        """Ask the model for JSON; return it, its text where that is no JSON, None for a refusal.

        ProviderError for a call that fails and for an output that is cut off, CancelledError for a
        call that is stopped.
        """
        base_url, api = self.settings.base_url, self.settings.api
        asks_responses = is_openai_address(base_url) if api == "auto" else api == "responses"
        send, read = (
            (self._respond, _read_response) if asks_responses else (self._chat, _read_completion)
        )
        tokens = estimate_tokens(instructions + message), self._max_tokens
        ask = partial(send, instructions, message, schema)
        text = call_server(base_url, ask, read, self.settings.timeout, tokens)
        return None if text is None else parse_model_output(text)

    @property
    def _effort(self) -> str | None:
        """The reasoning effort: low by default, None for a model without one."""
        is_reasoning = is_reasoning_model(self.settings.model)
        return self.settings.reasoning_effort or ("low" if is_reasoning else None)

    @property
    def _max_tokens(self) -> int:
        """The most tokens that are written, the reasoning among them."""
        effort, low = self._effort, _REASONING_TOKENS["low"]
        return self.settings.max_output_tokens + (
            _REASONING_TOKENS.get(effort, low) if effort else 0
        )

    def _respond(self, instructions: str, message: str, schema: JSONSchema, client: Any) -> Any:
        """Send a request to ``/responses``."""
        return client.responses.create(
            model=self.settings.model,
            instructions=instructions,
            input=[{"role": "user", "content": message}],
            text={"format": {"type": "json_schema", "strict": True, **schema}},
            store=False,
            max_output_tokens=self._max_tokens,
            **({"reasoning": {"effort": self._effort}} if self._effort else {"temperature": 0}),
        )

    def _chat(self, instructions: str, message: str, schema: JSONSchema, client: Any) -> Any:
        """Send a request to ``/chat/completions``."""
        # The families that reason refuse ``max_tokens``; an older server knows nothing else.
        limit = "max_completion_tokens" if is_reasoning_model(self.settings.model) else "max_tokens"
        return client.chat.completions.create(
            model=self.settings.model,
            messages=[
                {"role": "system", "content": instructions},
                {"role": "user", "content": message},
            ],
            response_format={"type": "json_schema", "json_schema": {"strict": True, **schema}},
            **{limit: self._max_tokens},
            **({"reasoning_effort": self._effort} if self._effort else {"temperature": 0}),
        )


def _read_response(reply: Any) -> str | None:
    """Read the output of ``/responses``; None for a refusal."""
    if reply.get("status") == "incomplete":
        raise fail("reply")
    items = [item for item in reply["output"] if item["type"] == "message"]
    parts = [part for item in items for part in item["content"]]
    is_refusal = any(part["type"] == "refusal" for part in parts)
    return None if is_refusal else "".join(part["text"] for part in parts)


def _read_completion(reply: Any) -> str | None:
    """Read the output of ``/chat/completions``; None for a refusal."""
    choice = reply["choices"][0]
    if choice.get("finish_reason") == "length":
        raise fail("reply")
    message = choice["message"]
    text: str = message.get("content") or ""
    return None if message.get("refusal") else text


def is_reasoning_model(name: str) -> bool:
    """True for a model of the families that take a reasoning effort and no temperature."""
    return _REASONING_MODEL.match(name) is not None


def parse_model_output(text: str) -> object:
    """Parse the JSON of a model's output; return the text as it is where there is none.

    A ``<think>`` block before the JSON and one Markdown code fence around it are removed; the
    block's first tag may be missing, because some servers' templates write it themselves. Words
    around a fence are not removed: a model that writes prose may repeat a page that plants a draft.
    """
    _, tag, after_thoughts = text.partition(_THOUGHTS_END)
    for output in (text, after_thoughts) if tag else (text,):
        fence = _CODE_FENCE.fullmatch(output.strip())
        for candidate in (output, fence[2]) if fence else (output,):
            try:
                return json.loads(candidate)
            except (ValueError, RecursionError):
                continue
    return text
