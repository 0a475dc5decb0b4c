"""The answerer behind an OpenAI-compatible API: one call, a strict schema, no trust."""

import json
import re
from dataclasses import field
from typing import Any

from . import openai_client, prompt
from .frozen import frozen
from .types import Evidence

DEADLINE = 30.0
_NAME = "draft"
# Families that take a reasoning effort and no temperature.
_REASONING = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")


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
    _clients: list[Any] = field(default_factory=list, repr=False, compare=False)
    _only_chat: list[bool] = field(default_factory=list, repr=False, compare=False)

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """The model's draft as parsed JSON, or its text where that is none.

        A model that refuses declines. ProviderError for a call that fails.
        """
        system = prompt.instructions(self.site, evidence)
        user = prompt.data(question, evidence, violation)
        schema = prompt.schema(evidence)
        text = openai_client.call(
            lambda seconds: self._ask(system, user, schema, seconds), self.deadline
        )
        if text is None:
            return {"claims": [], "routes": []}
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text

    def _ask(self, system: str, user: str, schema: dict[str, Any], seconds: float) -> str | None:
        import openai

        if not self._clients:
            self._clients.append(openai_client.connect(self.base_url))
        client = self._clients[0]
        if not self._only_chat:
            try:
                return self._responses(client, system, user, schema, seconds)
            except openai.APIStatusError as error:
                if error.status_code not in (404, 405) or error.code == "model_not_found":
                    raise
                self._only_chat.append(True)
        return self._chat(client, system, user, schema, seconds)

    def _responses(
        self, client: Any, system: str, user: str, schema: dict[str, Any], seconds: float
    ) -> str | None:
        effort = self._effort()
        response = client.responses.create(
            model=self.model,
            instructions=system,
            input=[{"role": "user", "content": user}],
            text={
                "format": {"type": "json_schema", "name": _NAME, "schema": schema, "strict": True}
            },
            store=False,
            timeout=seconds,
            **({"reasoning": {"effort": effort}} if effort else {"temperature": 0}),
        )
        parts = [
            part for item in response.output if item.type == "message" for part in item.content
        ]
        if any(part.type == "refusal" for part in parts):
            return None
        return "".join(part.text for part in parts)

    def _chat(
        self, client: Any, system: str, user: str, schema: dict[str, Any], seconds: float
    ) -> str | None:
        effort = self._effort()
        completion = client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": _NAME, "schema": schema, "strict": True},
            },
            timeout=seconds,
            **({"reasoning_effort": effort} if effort else {"temperature": 0}),
        )
        message = completion.choices[0].message
        return None if message.refusal else message.content or ""

    def _effort(self) -> str | None:
        if self.reasoning_effort:
            return self.reasoning_effort
        return "low" if _REASONING.match(self.model) else None
