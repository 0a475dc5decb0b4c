"""The answerer behind an OpenAI-compatible API: one call, a strict schema, no trust."""

import json
import re
import time
from dataclasses import field
from typing import Any

from . import call, openai_client, prompt, raw_output
from .frozen import frozen
from .types import Evidence

DEADLINE = 30.0
# Six claims with a long quote each have some 1,500 tokens; a low effort thinks with the rest.
MAX_OUTPUT = 4_096
# What other efforts think with, by OpenAI's guide to reasoning: 25,000 tokens for all of it.
_THINKING = {"medium": 8_192, "high": 24_576, "xhigh": 24_576}
_ATTEMPTS = 2
# Tokens, more than the violation that a second attempt is told of.
_VIOLATION = 1_000
_NAME = "draft"
# Families that take a reasoning effort and no temperature.
_REASONING = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")

# A draft's text, None for a refusal, and the tokens it has cost, in and out.
_Written = tuple[str | None, int, int]


@frozen
class OpenAIAnswerer:
    """Drafts by one Responses call; by chat completions on a server without ``/responses``.

    Nothing here is believed: whatever comes back is settled by the contract.
    """

    model: str
    site: str
    base_url: str | None = None
    reasoning_effort: str | None = None
    deadline: float = DEADLINE
    _only_chat: list[bool] = field(default_factory=list, repr=False, compare=False)

    @property
    def worst_tokens(self) -> int:
        """More tokens than one question costs: both attempts, read and written to the limit.

        An answerer that costs nothing has no such count.
        """
        return _ATTEMPTS * (prompt.worst_tokens(self.site) + self._max_output())

    @property
    def label(self) -> str:
        """What names the model, its server and its effort, on which an answer depends."""
        return f"{self.model} at {self.base_url} with {self._effort()}"

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """The model's draft as parsed JSON, or its text where that is none.

        A model that refuses declines. What the limit of output cuts off is judged as it is.
        ProviderError for a call that fails, CancelledError for one that is stopped.
        """
        ask = _Ask(
            self.model,
            prompt.instructions(self.site, evidence),
            prompt.data(question, evidence, violation),
            prompt.schema(evidence),
            self._effort(),
            self._max_output(),
            len(question.encode("utf-8", "replace")),
        )
        # A second attempt is asked the same once more, and there is no third.
        later = ask.most + _VIOLATION if violation is None else 0
        text, *tokens = self._written(ask, time.monotonic() + self.deadline, later)
        call.current().counted(*tokens)
        if text is None:
            return {"claims": [], "routes": []}
        return raw_output.parse_output(text)

    def _written(self, ask: "_Ask", ends: float, later: int) -> _Written:
        if not self._only_chat:
            try:
                return openai_client.ask(self.base_url, ask.responses, ends, ask.most, later)
            except openai_client.MissingPathError:
                self._only_chat.append(True)
        return openai_client.ask(self.base_url, ask.chat, ends, ask.most, later)

    def _effort(self) -> str | None:
        if self.reasoning_effort:
            return self.reasoning_effort
        return "low" if _REASONING.match(self.model) else None

    def _max_output(self) -> int:
        return MAX_OUTPUT + _THINKING.get(self._effort() or "", 0)


@frozen
class _Ask:
    """A request for a draft, in the terms of either endpoint.

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
    def most(self) -> int:
        """More tokens than one attempt costs; a question may have a token for each of its bytes."""
        text = self.system + self.user + json.dumps(self.schema)
        return openai_client.at_most(text) + self.question_bytes + self.max_output

    async def responses(self, client: Any) -> _Written:
        response = await client.responses.create(
            model=self.model,
            instructions=self.system,
            input=[{"role": "user", "content": self.user}],
            text={"format": {"type": "json_schema", **self._format()}},
            store=False,
            max_output_tokens=self.max_output,
            **({"reasoning": {"effort": self.effort}} if self.effort else {"temperature": 0}),
        )
        parts = [
            part for item in response.output if item.type == "message" for part in item.content
        ]
        refused = any(part.type == "refusal" for part in parts)
        return self._read(response, None if refused else "".join(part.text for part in parts))

    async def chat(self, client: Any) -> _Written:
        # The families that reason refuse ``max_tokens``; an older server knows nothing else.
        limit = "max_completion_tokens" if _REASONING.match(self.model) else "max_tokens"
        completion = await client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": self.system},
                {"role": "user", "content": self.user},
            ],
            response_format={"type": "json_schema", "json_schema": self._format()},
            **{limit: self.max_output},
            **({"reasoning_effort": self.effort} if self.effort else {"temperature": 0}),
        )
        message = completion.choices[0].message
        return self._read(completion, None if message.refusal else message.content or "")

    def _format(self) -> dict[str, Any]:
        return {"name": _NAME, "schema": self.schema, "strict": True}

    def _read(self, reply: Any, text: str | None) -> _Written:
        most = openai_client.at_most(self.system + self.user + json.dumps(self.schema))
        return text, *openai_client.tokens(reply, most, self.max_output)
