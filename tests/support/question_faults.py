"""A stub whose faults are of single questions, however many are asked at once."""

from collections.abc import Mapping
from dataclasses import replace

from answerable.testing.honest_model import parse_prompt
from answerable.testing.openai_stub import StubReply, StubRequest
from support.openai_stub import ANSWER_PATHS, FAULT_HEADER
from support.stub_fixtures import StrictStub


class QuestionFaultStub(StrictStub):
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
