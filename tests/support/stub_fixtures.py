"""A fixture that runs the local OpenAI server, and the data lines that its models read."""

import json
from collections.abc import Iterator

import pytest

from answerable.serve.request_context import RequestContext
from answerable.testing.openai_stub import OpenAIStub, start_stub


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    """A server of its own for one test, on a free port; it must not have broken by the end."""
    with start_stub() as running:
        yield running
    assert running.failures == []


def source(number: int, text: str, title: str = "Mooring") -> dict[str, str | None]:
    return {"kind": "source", "id": f"s{number}", "title": title, "date": None, "text": text}


def hint(number: int, label: str, locator: str = "second shelf") -> dict[str, str | None]:
    return {"kind": "hint", "id": f"h{number}", "label": label, "locator": locator}


def lines(question: str, *evidence: dict[str, str | None], violation: str | None = None) -> str:
    """A user message as the project's prompt writes it: the evidence, then the question."""
    told = [] if violation is None else [{"kind": "violation", "text": violation}]
    data = [*evidence, *told, {"kind": "question", "text": question}]
    return "\n".join(json.dumps(line) for line in data)


def is_counted(question: RequestContext) -> bool:
    """Whether every call of a provider that has begun for a question has told its tokens."""
    return question.cost == question.tokens_in + question.tokens_out
