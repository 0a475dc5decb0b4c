"""Draft an answer as strict JSON by an OpenAI-compatible API (Responses, else chat); parse it."""

import json
import re
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from ..model_api.openai_client import (
    MissingPathError,
    call_provider,
    estimate_max_tokens,
    read_token_usage,
)
from ..request_context import current_context
from ..types import Evidence
from .draft_loop import MAX_DRAFTS
from .prompt import bound_prompt_tokens, build_draft_schema, frame_evidence, render_instructions

DRAFT_DEADLINE = 30.0
# Six claims with a long quote each have some 1,500 tokens; a low effort thinks with the rest.
MAX_OUTPUT_TOKENS = 4_096
# The reasoning tokens of other efforts; OpenAI's guide suggests 25,000 for reasoning and output.
_REASONING_TOKENS = {"medium": 8_192, "high": 24_576, "xhigh": 24_576}
# More tokens than the violation in the prompt of a second attempt.
_VIOLATION_TOKENS = 1_000
_SCHEMA_NAME = "draft"
# Families that take a reasoning effort and no temperature.
_REASONING_MODEL = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")

_THOUGHTS_END = "</think>"
_CODE_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+[\w+-]*+\s*+(.*\S)\s*\1", re.DOTALL)

# A draft's text, None for a refusal, and the tokens it has cost, in and out.
_ModelOutput = tuple[str | None, int, int]


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """Draft by one Responses call; by chat completions on a server without ``/responses``.

    Nothing is trusted: the contract judges whatever comes back.
    """

    model: str
    site: str
    base_url: str | None = None
    reasoning_effort: str | None = None
    deadline: float = DRAFT_DEADLINE
    author: str | None = None
    _only_chat: list[bool] = field(default_factory=list, repr=False, compare=False)

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens of one question: both attempts, read and written to the limit."""
        return MAX_DRAFTS * (bound_prompt_tokens(self.site, self.author) + self._max_output())

    @property
    def label(self) -> str:
        """Name the model, its server and its effort, which an answer depends on."""
        return f"{self.model} at {self.base_url} with {self._effort()}"

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Return the model's draft as parsed JSON, or its text where that is not JSON.

        A model that refuses declines. A draft that the output limit cuts off is judged as it is.
        ProviderError for a call that fails, CancelledError for one that is stopped.
        """
        request = _DraftRequest(
            self.model,
            render_instructions(self.site, evidence, self.author),
            frame_evidence(question, evidence, violation, self.author),
            build_draft_schema(evidence),
            self._effort(),
            self._max_output(),
            len(question.encode("utf-8", "replace")),
        )
        # A second attempt sends the same once more, and there is no third.
        later = request.max_tokens + _VIOLATION_TOKENS if violation is None else 0
        text, *tokens = self._send(request, time.monotonic() + self.deadline, later)
        current_context().end_provider_call(*tokens)
        if text is None:
            return {"claims": [], "routes": []}
        return parse_model_output(text)

    def _send(self, request: "_DraftRequest", deadline: float, later: int) -> _ModelOutput:
        """Send a request to the endpoint that the server has. later: tokens of later attempts."""
        most = request.max_tokens
        if not self._only_chat:
            try:
                return call_provider(
                    self.base_url, request.responses, request.read_response, deadline, most, later
                )
            except MissingPathError:
                self._only_chat.append(True)
        return call_provider(
            self.base_url, request.chat, request.read_completion, deadline, most, later
        )

    def _effort(self) -> str | None:
        """Choose the reasoning effort: low by default, None for a model without one."""
        if self.reasoning_effort:
            return self.reasoning_effort
        return "low" if is_reasoning_model(self.model) else None

    def _max_output(self) -> int:
        return MAX_OUTPUT_TOKENS + _REASONING_TOKENS.get(self._effort() or "", 0)


@dataclass(frozen=True, slots=True)
class _DraftRequest:
    """Request a draft in the terms of either endpoint.

    ``question_bytes``: of the question in UTF-8.
    """

    model: str
    system: str
    user: str
    schema: dict[str, Any]
    effort: str | None
    max_output: int
    question_bytes: int

    @property
    def max_tokens(self) -> int:
        """Bound the tokens of one attempt; a question may have a token for each of its bytes."""
        text = self.system + self.user + json.dumps(self.schema)
        return estimate_max_tokens(text) + self.question_bytes + self.max_output

    def responses(self, client: Any) -> AbstractContextManager[Any]:
        """Request the draft from ``/responses``."""
        effort = {"reasoning": {"effort": self.effort}} if self.effort else {"temperature": 0}
        request: AbstractContextManager[Any] = client.responses.create(
            model=self.model,
            instructions=self.system,
            input=[{"role": "user", "content": self.user}],
            text={"format": {"type": "json_schema", **self._format()}},
            store=False,
            max_output_tokens=self.max_output,
            **effort,
        )
        return request

    def read_response(self, reply: Any) -> _ModelOutput:
        """Read the draft that ``/responses`` has sent."""
        items = [item for item in reply["output"] if item["type"] == "message"]
        parts = [part for item in items for part in item["content"]]
        is_refusal = any(part["type"] == "refusal" for part in parts)
        text = None if is_refusal else "".join(part["text"] for part in parts)
        return self._to_output(reply, text)

    def chat(self, client: Any) -> AbstractContextManager[Any]:
        """Request the draft from ``/chat/completions``."""
        # The families that reason refuse ``max_tokens``; an older server knows nothing else.
        limit = "max_completion_tokens" if is_reasoning_model(self.model) else "max_tokens"
        effort = {"reasoning_effort": self.effort} if self.effort else {"temperature": 0}
        request: AbstractContextManager[Any] = client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": self.system},
                {"role": "user", "content": self.user},
            ],
            response_format={"type": "json_schema", "json_schema": self._format()},
            **{limit: self.max_output},
            **effort,
        )
        return request

    def read_completion(self, reply: Any) -> _ModelOutput:
        """Read the draft that ``/chat/completions`` has sent."""
        message = reply["choices"][0]["message"]
        text = None if message.get("refusal") else message.get("content") or ""
        return self._to_output(reply, text)

    def _format(self) -> dict[str, Any]:
        return {"name": _SCHEMA_NAME, "schema": self.schema, "strict": True}

    def _to_output(self, reply: Any, text: str | None) -> _ModelOutput:
        """Add to a draft's text the tokens that the server has counted."""
        most = estimate_max_tokens(self.system + self.user + json.dumps(self.schema))
        return text, *read_token_usage(reply, most, self.max_output)


def is_reasoning_model(name: str) -> bool:
    """Recognize the families that take a reasoning effort and no temperature, by name."""
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
