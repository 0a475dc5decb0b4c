"""Whatever a provider does, a reader gets a reply or a problem in time, in words of ours."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from answerable.function.stream import EVENT_STREAM_TYPE
from support import published_functions
from support.deadlines import until
from support.openai_stub import UPSTREAM_WORDS, OpenAIStub
from support.openapi_check import events
from support.server_processes import Running


@dataclass
class Function:
    """A function that asks a stub, and how often it was asked."""

    running: Running
    stub: OpenAIStub
    questions: int = 0

    def ask(self, **headers: str) -> tuple[int, str]:
        """Status and body of a question that was never asked before."""
        self.questions += 1
        question = {"question": "How thick is the chain of a mooring" + "?" * self.questions}
        return self.running.request("POST", "/answer", question, **headers)

    def fail(self, fault: str, **headers: str) -> tuple[int, str, dict[str, Any]]:
        """Status, body and log line of a question that meets a fault."""
        before = len(self.running.lines)
        self.stub.fault = fault
        status, body = self.ask(**headers)
        self.stub.fault = None
        until(lambda: len(self.running.lines) > before)
        (line,) = self.running.lines[before:]
        return status, body, json.loads(line)


@contextmanager
def serving(folder: Path, stub: OpenAIStub, deadline: float = 240.0) -> Iterator[Function]:
    with published_functions.serving(folder, ANSWERABLE_DEADLINE=str(deadline)) as running:
        function = Function(running, stub)
        # The first question imports the client, which is no fault of the provider's.
        until(lambda: function.ask()[0] == 200)
        # Lines arrive after their responses: one of these must not count as a fault's.
        until(lambda: sum('"event"' in line for line in running.lines) == function.questions)
        yield function
    assert published_functions.KEY not in running.output
    assert "Traceback" not in running.output
    assert not any(words in running.output for words in UPSTREAM_WORDS)
    assert stub.failures == []


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        stub.retry_after = 0.05
        yield stub


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, stub: OpenAIStub) -> Path:
    """A function whose answers come from a stub."""
    return published_functions.build_function(tmp_path_factory.mktemp("site"), stub)


@pytest.fixture(scope="module")
def patient(answers: Path, stub: OpenAIStub) -> Iterator[Function]:
    with serving(answers, stub) as function:
        yield function


@pytest.mark.parametrize(
    ("fault", "cause"), [("500", "unreachable"), ("garbage", "reply"), ("incomplete", "reply")]
)
def test_where_only_the_model_fails_a_reader_gets_the_keyless_answer(
    patient: Function, fault: str, cause: str
) -> None:
    status, body, line = patient.fail(fault)
    assert (status, json.loads(body)["fallback"]) == (200, True)
    assert (line["status"], line["cause"], line["reason"]) == (200, cause, None)
    status, stream, line = patient.fail(fault, Accept=EVENT_STREAM_TYPE)
    name, data = events(stream.replace(":\n\n", ""))[-1]
    assert (status, name, data["fallback"], line["cause"]) == (200, "answer", True, cause)


@pytest.mark.parametrize(("fault", "reason"), [("refusal", "declined"), ("empty", "contract")])
def test_a_model_that_gives_no_draft_refuses(patient: Function, fault: str, reason: str) -> None:
    status, body, line = patient.fail(fault)
    reply = json.loads(body)
    assert (status, reply["mode"], reply["reason"]) == (200, "not-found", reason)
    assert (reply["answer"], reply["citations"]) == ("", [])
    # The line names the rule that refused where the contract did, and only there.
    assert line.get("contract") == ({"validate/not-json": 2} if fault == "empty" else None)
    assert "cause" not in line


def test_an_unreachable_provider_gives_the_keyless_reply(patient: Function) -> None:
    patient.stub.stop()
    status, body = patient.ask()
    patient.stub.start()
    assert (status, json.loads(body)["fallback"]) == (200, True)
    until(lambda: '"cause":"unreachable"' in patient.running.lines[-1])
    until(lambda: patient.ask()[0] == 200)


def test_an_endless_answer_ends_with_the_deadline(answers: Path, stub: OpenAIStub) -> None:
    with serving(answers, stub, 1.5) as function:
        for headers in ({}, {"Accept": EVENT_STREAM_TYPE}):
            status, body, line = function.fail("hang", **headers)
            assert (status, line["cause"]) == (200, "timeout")
            assert '"fallback": true' in body


@pytest.mark.parametrize(
    ("fault", "cause", "deadline", "status", "code"),
    [("zeros", "reply", 240.0, 503, "unavailable"), ("hang", "timeout", 1.5, 504, "timeout")],
)
def test_a_question_without_a_vector_is_a_problem(
    tmp_path: Path, fault: str, cause: str, deadline: float, status: int, code: str
) -> None:
    with OpenAIStub() as stub:
        embedding = {"provider": "openai", "dimensions": 256, "base_url": stub.base_url}
        folder = published_functions.build_function(tmp_path, embedding=embedding)
        with serving(folder, stub, deadline) as function:
            answered, body, line = function.fail(fault)
    problem = json.loads(body)
    assert (answered, problem["status"]) == (status, status)
    assert (problem["code"], line["reason"], line["cause"]) == (code, code, cause)
