"""The local OpenAI server as a fixture, and the prompts that its models read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from support.honest_model import parse_prompt
from support.openai_stub import ANSWER_PATHS, FAULT_HEADER, OpenAIStub
from support.stub_server import StubReply, StubRequest


class QuestionFaultStub(OpenAIStub):
    """A stub that meets the answers to some questions with a fault each.

    ``faults_by_question``: the name of a fault by the question that meets it.
    """

    def __init__(self, faults_by_question: Mapping[str, str]) -> None:
        super().__init__()
        self.faults_by_question = faults_by_question
        self.retry_after = 0.05

    def respond(self, request: StubRequest) -> StubReply:
        """Record a request and reply to it, or to its question, with a fault."""
        fault = self._find_fault(request)
        if fault is None:
            return super().respond(request)
        headers = {**request.headers, FAULT_HEADER: fault}
        return super().respond(replace(request, headers=headers))

    def _find_fault(self, request: StubRequest) -> str | None:
        if request.endpoint not in ANSWER_PATHS:
            return None
        return self.faults_by_question.get(find_question(request))


def find_question(request: StubRequest) -> str:
    """Find the question that a request for an answer is about."""
    values = request.json
    messages = values["input"] if "input" in values else values["messages"]
    return parse_prompt(message["content"] for message in messages).question


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    """Run a server for one test, on a free port; it must not have broken by the end."""
    with OpenAIStub() as running:
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
