"""Drafts by a language model: the prompt, one call with a strict schema, and its reading."""

import json
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FailureCause, ProviderError
from ..openai_client import (
    call_provider,
    estimate_max_tokens,
    is_openai_address,
    read_token_usage,
)
from ..request_context import current_context
from ..retrieval.question import MAX_QUESTION_CHARACTERS
from ..settings import MAX_EVIDENCE_CHARACTERS, MAX_OUTPUT_TOKENS, AnswerAPI
from ..text.markdown_writer import write_from
from ..types import TITLE_SEPARATOR, Evidence, Passage
from .draft_loop import MAX_DRAFTS

# In every cache key and report: changes with the instructions, the framing or the schema.
PROMPT_VERSION = "5"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2
_MAX_CLAIM_SUPPORTS = 3

# The most characters of eight hints, a label and a locator each; and of all that frames the data:
# the names of fields, the addresses of 24 sources, the schema, a violation that escapes all it
# repeats.
_MAX_HINT_CHARACTERS = 8 * (300 + 300)
_MAX_FRAMING_CHARACTERS = 12_000

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
        max_supports=_MAX_CLAIM_SUPPORTS,
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
    starts = evidence.starts or (0,) * len(evidence.passages)
    lines += [
        _frame_source(f"s{n}", passage, start)
        for n, (passage, start) in enumerate(zip(evidence.passages, starts, strict=True), 1)
    ]
    lines += [
        {"kind": "hint", "id": f"h{n}", "label": hint.label, "locator": hint.locator}
        for n, hint in enumerate(evidence.hints, 1)
    ]
    if violation:
        lines.append({"kind": "violation", "text": violation})
    lines.append({"kind": "question", "text": question})
    return "\n".join(_encode_json_line(line) for line in lines)


def _frame_source(name: str, passage: Passage, start: int) -> Mapping[str, Any]:
    """Frame the Markdown of a passage from where it says something new, with its address."""
    address = {"title": passage.title, "url": passage.url}
    markdown = write_from(passage.markdown, start)
    return {"kind": "source", "id": name, **address, "text": markdown}


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
    """Build the strict JSON schema of a draft, without the properties of an empty stream.

    An API compiles each schema that it has not seen, which takes seconds. So position ids are
    enumerated in steps of eight; one that names nothing is a violation as any other.
    """
    properties: dict[str, Any] = {}
    if evidence.passages:
        source = _build_id_schema("s", len(evidence.passages))
        support = _build_object_schema({"source": source, "quote": {"type": "string"}})
        supports = _build_array_schema(support, _MAX_CLAIM_SUPPORTS) | {"minItems": 1}
        claim = _build_object_schema({"text": {"type": "string"}, "evidence": supports})
        properties["claims"] = _build_array_schema(claim, MAX_PROMPT_CLAIMS)
    if evidence.hints:
        hint = _build_id_schema("h", len(evidence.hints))
        properties["routes"] = _build_array_schema(hint, MAX_PROMPT_ROUTES)
    if evidence.passages:
        # The last one: by then a model knows what it has written.
        properties["complete"] = {"type": "boolean"}
    return _build_object_schema(properties)


def bound_prompt_tokens(
    site: str, author: str | None = None, max_evidence: int = MAX_EVIDENCE_CHARACTERS
) -> int:
    """Bound the tokens that one draft reads. site, author: the names of both.

    Evidence counts a token a character: English has a third of one, Chinese and Japanese about one.
    A question counts one for each byte of UTF-8, the most that any text can have. Our own English
    and addresses count half a token a character.
    """
    ours = len(_TEMPLATE_PATH.read_bytes()) + _MAX_FRAMING_CHARACTERS
    return (
        ours // 2
        + len(f"{site}{author}".encode(errors="replace"))
        + _MAX_HINT_CHARACTERS
        + max_evidence
        # Titles and what pages say of themselves.
        + max_evidence // 4
        + 4 * MAX_QUESTION_CHARACTERS
    )


def _build_id_schema(letter: str, count: int) -> dict[str, Any]:
    """Build the schema of a position id, of the next multiple of eight ids."""
    return {"type": "string", "enum": [f"{letter}{n}" for n in range(1, -(-count // 8) * 8 + 1)]}


def _build_array_schema(items: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Build the schema of an array; without a limit, small models repeat themselves for ever."""
    return {"type": "array", "items": items, "maxItems": most}


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
# The tokens that a model reasons with, beside its output; OpenAI's guide suggests 25,000 for both.
_REASONING_TOKENS = {"medium": 10_800, "high": 27_200, "xhigh": 27_200}
_LOW_REASONING_TOKENS = 2_600
# More tokens than the violation in the prompt of a second attempt.
_VIOLATION_TOKENS = 1_000
# Families that take a reasoning effort and no temperature.
_REASONING_MODEL = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")
# What the options of a site can do about a draft that fails.
_REMEDIES: Mapping[FailureCause, str] = {
    "context": "the evidence is longer than the model's context: lower "
    "answers.max_evidence_characters, or give the server a larger context",
    "cut-off": "the draft was cut off: raise answers.max_output_tokens",
    "timeout": "the provider did not answer in time: raise answers.timeout, or choose a faster "
    "model",
}

_THOUGHTS_END = "</think>"
_CODE_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+[\w+-]*+\s*+(.*\S)\s*\1", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """An answerer that drafts by one call of OpenAI or of a compatible server.

    Nothing is trusted: the contract judges whatever comes back. ``deadline``: in seconds.
    """

    model: str
    site: str
    base_url: str | None = None
    reasoning_effort: str | None = None
    deadline: float = DRAFT_DEADLINE
    author: str | None = None
    api: AnswerAPI = "auto"
    max_evidence_characters: int = MAX_EVIDENCE_CHARACTERS
    max_output_tokens: int = MAX_OUTPUT_TOKENS

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens of one question: both attempts, read and written to the limit."""
        read = bound_prompt_tokens(self.site, self.author, self.max_evidence_characters)
        return MAX_DRAFTS * (read + self._max_output())

    @property
    def label(self) -> str:
        """Name the model, its server, its effort and what it reads: an answer depends on them."""
        return (
            f"{self.model} at {self.base_url} with {self._effort()} and "
            f"{self.max_evidence_characters} characters"
        )

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Return the model's draft as parsed JSON, or its text where that is not JSON.

        A model that refuses declines. ProviderError for a call that fails and for a draft that the
        output limit cuts off, CancelledError for a call that is stopped.
        """
        request = _JsonRequest(
            self.model,
            render_instructions(self.site, evidence, self.author),
            frame_evidence(question, evidence, violation, self.author),
            ("draft", build_draft_schema(evidence)),
            self._effort(),
            self._max_output(),
            len(question.encode("utf-8", "replace")),
        )
        try:
            text = request.send(self.base_url, self.api, self.deadline).text
        except ProviderError as error:
            cause = error.cause or "other"
            remedy = _REMEDIES.get(cause, str(error))
            raise ProviderError(remedy, cause=cause, transient=error.transient) from None
        return {"claims": [], "routes": []} if text is None else parse_model_output(text)

    def _effort(self) -> str | None:
        """Choose the reasoning effort: low by default, None for a model without one."""
        return self.reasoning_effort or _choose_effort(self.model)

    def _max_output(self) -> int:
        return self.max_output_tokens + _count_reasoning_tokens(self._effort())


def _choose_effort(model: str) -> str | None:
    return "low" if is_reasoning_model(model) else None


def _count_reasoning_tokens(effort: str | None) -> int:
    return _REASONING_TOKENS.get(effort, _LOW_REASONING_TOKENS) if effort else 0


@dataclass(frozen=True, slots=True)
class _ModelOutput:
    """The text of a model, None for a refusal, and the tokens that it has cost.

    ``is_cut``: the limit of the output has cut it off.
    """

    text: str | None
    is_cut: bool
    tokens: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _JsonRequest:
    """A request for JSON of a schema, in the terms of either endpoint.

    ``schema``: its name and itself. ``max_output``: in tokens. ``uncounted_bytes``: of UTF-8, in
    words of a reader, of which each byte may be a token.
    """

    model: str
    system: str
    user: str
    schema: tuple[str, Mapping[str, Any]]
    effort: str | None
    max_output: int
    uncounted_bytes: int = 0

    @property
    def max_tokens(self) -> int:
        """Bound the tokens of one attempt."""
        return self._max_prompt() + self.uncounted_bytes + self.max_output

    def send(self, base_url: str | None, api: AnswerAPI, deadline: float) -> _ModelOutput:
        """Send the request and count its tokens; ProviderError for an output that is cut off.

        deadline: in seconds.
        """
        asks_responses = is_openai_address(base_url) if api == "auto" else api == "responses"
        ask, read = (
            (self._respond, self._read_response) if asks_responses
            else (self._chat, self._read_completion)
        )  # fmt: skip
        ends = time.monotonic() + deadline
        output = call_provider(base_url, ask, read, ends, self.max_tokens)
        current_context().count_tokens(*output.tokens)
        if output.is_cut:
            raise ProviderError(
                f"the model's output was cut off at {self.max_output} tokens: choose a model that "
                "writes less",
                cause="cut-off",
            )
        return output

    def _respond(self, client: Any) -> AbstractContextManager[Any]:
        """Request the JSON from ``/responses``."""
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

    def _read_response(self, reply: Any) -> _ModelOutput:
        """Read the output that ``/responses`` has sent."""
        items = [item for item in reply["output"] if item["type"] == "message"]
        parts = [part for item in items for part in item["content"]]
        is_refusal = any(part["type"] == "refusal" for part in parts)
        text = None if is_refusal else "".join(part["text"] for part in parts)
        return self._make_output(reply, text, is_cut=reply.get("status") == "incomplete")

    def _chat(self, client: Any) -> AbstractContextManager[Any]:
        """Request the JSON from ``/chat/completions``."""
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

    def _read_completion(self, reply: Any) -> _ModelOutput:
        """Read the output that ``/chat/completions`` has sent."""
        choice = reply["choices"][0]
        message = choice["message"]
        text = None if message.get("refusal") else message.get("content") or ""
        return self._make_output(reply, text, is_cut=choice.get("finish_reason") == "length")

    def _format(self) -> dict[str, Any]:
        name, schema = self.schema
        return {"name": name, "schema": dict(schema), "strict": True}

    def _make_output(self, reply: Any, text: str | None, *, is_cut: bool) -> _ModelOutput:
        """Add to a model's text the tokens that the server has counted."""
        tokens = read_token_usage(reply, self._max_prompt(), self.max_output)
        return _ModelOutput(text, is_cut, tokens)

    def _max_prompt(self) -> int:
        return estimate_max_tokens(self.system + self.user + json.dumps(self.schema[1]))


def complete_json(
    model: str,
    base_url: str | None,
    instructions: str,
    message: str,
    schema: tuple[str, Mapping[str, Any]],
    max_output: int,
    deadline: float,
) -> tuple[object, tuple[int, int]]:
    """Ask a model of OpenAI or of any compatible server for JSON of a schema.

    schema: its name and itself. max_output: of its tokens; a model that reasons gets as many more
    as a low effort takes. deadline: in seconds. Returns what ``parse_model_output`` makes of the
    output, and the tokens in and out. ProviderError for a call that fails.
    """
    effort = _choose_effort(model)
    limit = max_output + _count_reasoning_tokens(effort)
    request = _JsonRequest(model, instructions, message, schema, effort, limit)
    output = request.send(base_url, "auto", deadline)
    return parse_model_output(output.text or ""), output.tokens


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
