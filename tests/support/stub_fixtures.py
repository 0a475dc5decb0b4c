"""The local OpenAI server with strict schemas, hostile and lying models, and what they read."""

import json
from collections.abc import Iterator

import pytest

from answerable.serve.request_context import RequestContext
from answerable.testing.honest_model import ParsedPrompt, write_honest_draft
from support.hostile_models import HOSTILE_MODELS
from support.lying_models import LYING_MODELS
from support.openai_stub import OpenAIStub
from support.strict_schema import conform_to_schema, find_schema_fault


class StrictStub(OpenAIStub):
    """A stub that checks schemas as strict mode does, and has the hostile and lying models."""

    def __init__(self, port: int = 0, *, keep: int | None = None) -> None:
        models = {**HOSTILE_MODELS, **LYING_MODELS, "honest": conforming_model}
        super().__init__(port, keep=keep, models=models, check_schema=find_schema_fault)


def conforming_model(prompt: ParsedPrompt) -> str:
    """Write an honest draft in whatever form the schema of a request demands."""
    draft = write_honest_draft(prompt)
    return json.dumps(conform_to_schema(draft, prompt.schema) if prompt.schema else draft)


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    """Run a server for one test, on a free port; it must not have broken by the end."""
    with StrictStub() as running:
        yield running
    assert running.failures == []


def source(number: int, text: str, title: str = "Mooring") -> dict[str, str | None]:
    return {"kind": "source", "id": f"s{number}", "title": title, "date": None, "text": text}


def hint(number: int, label: str, locator: str = "second shelf") -> dict[str, str | None]:
    return {"kind": "hint", "id": f"h{number}", "label": label, "locator": locator}


def lines(question: str, *evidence: dict[str, str | None], violation: str | None = None) -> str:
    """Write a user message as the project's prompt does: the evidence, then the question."""
    violations = [] if violation is None else [{"kind": "violation", "text": violation}]
    data = [*evidence, *violations, {"kind": "question", "text": question}]
    return "\n".join(json.dumps(line) for line in data)


def is_counted(question: RequestContext) -> bool:
    """Check that every provider call that has begun for a question has counted its tokens."""
    return question.cost == question.tokens_in + question.tokens_out
