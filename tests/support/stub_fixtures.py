"""The local OpenAI server as a fixture, and one whose faults depend on the question."""

from collections.abc import Iterator, Mapping

import pytest

from support.honest_model import parse_prompt
from support.openai_stub import ANSWER_PATHS, OpenAIStub, StubRequest


class QuestionFaultStub(OpenAIStub):
    """A stub that meets the answers to some questions with a fault each, given by its name."""

    def __init__(self, faults_by_question: Mapping[str, str]) -> None:
        super().__init__()
        self.faults_by_question = faults_by_question
        self.retry_after = 0.05

    def find_fault(self, request: StubRequest) -> str | None:
        if request.path not in ANSWER_PATHS:
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
