"""Drafts by a language model: the prompt, one call with a strict schema, and its reading."""

import json
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..openai_client import MissingPathError, call_provider, estimate_max_tokens, read_token_usage
from ..request_context import current_context
from ..retrieval.question import MAX_QUESTION_CHARACTERS
from ..retrieval.selection import MAX_EVIDENCE_CHARACTERS
from ..structure import TITLE_SEPARATOR
from ..types import Evidence, Passage
from .draft_loop import MAX_DRAFTS

# In every cache key and report: changes with the instructions, the framing or the schema.
PROMPT_VERSION = "3"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2

# The most characters of eight hints, a label and a locator each; and of all that frames the data:
# the names of fields, the schema, a violation that escapes all it repeats.
_MAX_HINT_CHARACTERS = 8 * (300 + 300)
_MAX_FRAMING_CHARACTERS = 4_000

_TEMPLATE_PATH = Path(__file__).parent / "prompts" / "answer.jinja"


def render_instructions(site: str, evidence: Evidence, author: str | None = None) -> str:
    """Render the system part of the prompt. site: the site's name; author: see the user part."""
    text: str = _load_template().render(
        site=" ".join(site.split()),
        sources=bool(evidence.passages),
        hints=bool(evidence.hints),
        pages=any(map(_has_context, evidence.passages)),
        author=bool(author and evidence.passages),
        max_claims=MAX_PROMPT_CLAIMS,
        max_routes=MAX_PROMPT_ROUTES,
    )
    return text


def frame_evidence(
    question: str, evidence: Evidence, violation: str | None = None, author: str | None = None
) -> str:
    """Frame the user part: one JSON object a line, so that no text reads as an instruction.

    author: of the site. It and the pages of passages are context: their lines have no id, and so
    no draft can cite them.
    """
    lines: list[Mapping[str, Any]] = []
    if author and evidence.passages:
        lines.append({"kind": "site", "author": author})
    lines += _frame_pages(evidence)
    lines += [
        {"kind": "source", "id": f"s{n}", "title": passage.title, "text": passage.text}
        for n, passage in enumerate(evidence.passages, 1)
    ]
    lines += [
        {"kind": "hint", "id": f"h{n}", "label": hint.label, "locator": hint.locator}
        for n, hint in enumerate(evidence.hints, 1)
    ]
    if violation:
        lines.append({"kind": "violation", "text": violation})
    lines.append({"kind": "question", "text": question})
    return "\n".join(_encode_json_line(line) for line in lines)


def _frame_pages(evidence: Evidence) -> list[Mapping[str, Any]]:
    """Describe each page that says more of itself than its passages do, once."""
    sources: dict[str, list[str]] = {}
    for n, passage in enumerate(evidence.passages, 1):
        sources.setdefault(passage.record, []).append(f"s{n}")
    first = {passage.record: passage for passage in reversed(evidence.passages)}
    return [
        {
            "kind": "page",
            "sources": ids,
            "title": first[record].title.partition(TITLE_SEPARATOR)[0],
            "date": first[record].date,
            "summary": first[record].summary,
            "themes": first[record].themes,
        }
        for record, ids in sources.items()
        if _has_context(first[record])
    ]


def _has_context(passage: Passage) -> bool:
    return bool(passage.date or passage.summary or passage.themes)


def build_draft_schema(evidence: Evidence) -> dict[str, Any]:
    """Build the strict JSON schema of a draft, without the property of an empty stream.

    Position ids are enumerated, so that equal counts give an equal schema, which the API has to
    compile only once.
    """
    properties: dict[str, Any] = {}
    if evidence.passages:
        source = {"type": "string", "enum": [f"s{n}" for n in range(1, len(evidence.passages) + 1)]}
        support = _build_object_schema({"source": source, "quote": {"type": "string"}})
        supports = {"type": "array", "items": support, "minItems": 1}
        claim = _build_object_schema({"text": {"type": "string"}, "evidence": supports})
        properties["claims"] = {"type": "array", "items": claim}
    if evidence.hints:
        hint = {"type": "string", "enum": [f"h{n}" for n in range(1, len(evidence.hints) + 1)]}
        properties["routes"] = {"type": "array", "items": hint}
    return _build_object_schema(properties)


def bound_prompt_tokens(site: str, author: str | None = None) -> int:
    """Bound the tokens that one draft reads. site, author: the names of both.

    Evidence counts a token a character: English has a third of one, Chinese and Japanese about one.
    A question counts one for each byte of UTF-8, the most that any text can have. Our own English
    counts half a token a character.
    """
    ours = len(_TEMPLATE_PATH.read_bytes()) + _MAX_FRAMING_CHARACTERS
    return (
        ours // 2
        + len(f"{site}{author}".encode(errors="replace"))
        + _MAX_HINT_CHARACTERS
        + MAX_EVIDENCE_CHARACTERS
        + 4 * MAX_QUESTION_CHARACTERS
    )


def _build_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of an object that requires all its properties and has no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _encode_json_line(value: Mapping[str, Any]) -> str:
    """Encode JSON on one line; a lone surrogate, which UTF-8 cannot encode, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False)
    # U+2028, U+2029 and U+0085 end a line for some readers, though not for JSON.
    for separator in ("\u2028", "\u2029", "\x85"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _load_template() -> Any:
    """Load the Jinja template of the instructions."""
    # Imported here, since a function that answers without a model has no Jinja.
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.from_string(_TEMPLATE_PATH.read_text(encoding="utf-8"))


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
    def max_evidence_characters(self) -> int | None:
        """See Answerer."""
        return MAX_EVIDENCE_CHARACTERS

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


def complete_json(
    model: str,
    base_url: str | None,
    instructions: str,
    message: str,
    schema: tuple[str, Mapping[str, Any]],
    max_output: int,
    deadline: float,
) -> tuple[object, tuple[int, int]]:
    """Ask a model of any compatible server over ``/chat/completions`` for JSON of a schema.

    schema: its name and itself. max_output: of its tokens; a model that reasons gets as many more
    as a low effort takes. deadline: in seconds. Returns what ``parse_model_output`` makes of the
    output, and the tokens in and out. ProviderError for a call that fails.
    """
    reasons = is_reasoning_model(model)
    limit = max_output + (MAX_OUTPUT_TOKENS if reasons else 0)
    options: dict[str, Any] = (
        {"max_completion_tokens": limit, "reasoning_effort": "low"}
        if reasons
        else {"max_tokens": limit, "temperature": 0}
    )

    def request(client: Any) -> Any:
        return client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": instructions},
                {"role": "user", "content": message},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": schema[0], "schema": dict(schema[1]), "strict": True},
            },
            **options,
        )

    most = estimate_max_tokens(instructions + message)

    def read_reply(reply: Any) -> tuple[str, int, int]:
        usage = read_token_usage(reply, most, limit)
        return reply["choices"][0]["message"]["content"] or "", *usage

    ends = time.monotonic() + deadline
    text, *tokens = call_provider(base_url, request, read_reply, ends, most + limit)
    current_context().end_provider_call(*tokens)
    return parse_model_output(text), (tokens[0], tokens[1])


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
