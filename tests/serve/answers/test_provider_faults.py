"""Whatever a provider does, a reader gets a refusal or a problem in time, in words of ours."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from answerable.function.stream import EVENT_STREAM_TYPE
from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.embedders.openai_embedder import OpenAIEmbedder
from answerable.serve.errors import AnswerableError, EmbedderError, ProviderError
from answerable.serve.types import Evidence, Passage
from support import published_functions
from support.deadlines import PATIENCE, finish, until
from support.openai_stub import UPSTREAM_WORDS, OpenAIStub
from support.openapi_check import events
from support.server_processes import Running

# What the log calls a fault, and how often a provider is asked that has it.
CAUSES = {
    "400": ("bad-parameter", 1), "413": ("bad-parameter", 1), "422": ("bad-parameter", 1),
    "401": ("key-refused", 1), "403": ("key-refused", 1), "404": ("no-model", 1),
    "405": ("no-model", 1), "no-model": ("no-model", 1), "408": ("status", 1),
    "409": ("status", 1), "429": ("rate-limit", 2), "quota": ("quota", 1), "500": ("status", 2),
    "502": ("status", 2), "503": ("status", 2), "context": ("context", 1),
    "context-words": ("context", 1), "html": ("not-json", 1), "garbage": ("not-json", 1),
    "null": ("not-json", 1), "unrelated": ("not-json", 1), "blank": ("not-json", 1),
    "truncated": ("not-json", 1), "cut": ("unreachable", 2), "drop": ("unreachable", 2),
    "hang": ("timeout", 1), "drip": ("timeout", 1), "incomplete": ("cut-off", 1),
}  # fmt: skip
CAUSES_OF_VECTORS = {
    "fixed-dimensions": "bad-parameter", "fewer-vectors": "bad-vectors", "zeros": "bad-vectors",
    "wrong-dimensions": "bad-vectors", "not-finite": "bad-vectors", "infinite": "bad-vectors",
    "401": "key-refused", "garbage": "not-json", "hang": "timeout",
}  # fmt: skip
# Only a deadline ends them.
ENDLESS = ("hang", "drip")
EVIDENCE = Evidence((Passage("a", "a", "/a/", "Mooring", "The chain is twelve mm thick."),))


def check_words(error: AnswerableError) -> None:
    assert not any(words in str(error) for words in UPSTREAM_WORDS)
    assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize("fault", CAUSES)
def test_a_fault_of_a_model_has_a_cause_and_is_retried_if_it_may_pass(
    stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.retry_after = 0.05
    stub.fail(fault)
    deadline = 1.0 if fault in ENDLESS else PATIENCE
    answerer = OpenAIAnswerer("honest", "Harbour", stub.base_url, deadline=deadline)
    with pytest.raises(ProviderError) as caught:
        finish(lambda: answerer.draft("How thick is the chain?", EVIDENCE))
    check_words(caught.value)
    cause, calls = CAUSES[fault]
    assert caught.value.cause == cause
    # On a busy machine a deadline may pass before the request is sent.
    assert stub.answer_calls == calls or fault in ENDLESS


@pytest.mark.parametrize("fault", CAUSES_OF_VECTORS)
def test_a_fault_of_an_embedder_has_a_cause(
    stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.fail(fault)
    identity = EmbedderIdentity("openai", "text-embedding-3-large", 64)
    embedder = OpenAIEmbedder(identity, stub.base_url, 1.0 if fault in ENDLESS else PATIENCE)
    with pytest.raises((ProviderError, EmbedderError)) as caught:
        finish(lambda: embedder.embed(["How thick is the chain?"]))
    check_words(caught.value)
    assert caught.value.cause == CAUSES_OF_VECTORS[fault]


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
    # What a provider has not counted stays spent, which is another test's subject.
    environment = {
        "ANSWERABLE_DEADLINE": str(deadline),
        "ANSWERABLE_TOKENS_PER_DAY": "9999999999",
    }
    with published_functions.serving(folder, **environment) as running:
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
def answering_stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        stub.retry_after = 0.05
        yield stub


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, answering_stub: OpenAIStub) -> Path:
    """A function whose answers come from a stub."""
    return published_functions.build_function(tmp_path_factory.mktemp("site"), answering_stub)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, OpenAIStub]]:
    """A function whose vectors come from a stub."""
    with OpenAIStub() as stub:
        embedding = {"provider": "openai", "dimensions": 256, "base_url": stub.base_url}
        folder = tmp_path_factory.mktemp("site")
        yield published_functions.build_function(folder, embedding=embedding), stub


@pytest.fixture(scope="module")
def patient(answers: Path, answering_stub: OpenAIStub) -> Iterator[Function]:
    with serving(answers, answering_stub) as function:
        yield function


@pytest.mark.parametrize("fault", ["500", "garbage", "incomplete"])
def test_where_only_the_model_fails_a_reader_gets_the_keyless_answer(
    patient: Function, fault: str
) -> None:
    status, body, line = patient.fail(fault)
    assert (status, json.loads(body)["fallback"]) == (200, True)
    assert (line["status"], line["cause"], line["reason"]) == (200, CAUSES[fault][0], None)
    status, stream, line = patient.fail(fault, Accept=EVENT_STREAM_TYPE)
    name, data = events(stream.replace(":\n\n", ""))[-1]
    assert (status, name, data["fallback"]) == (200, "answer", True)
    assert line["cause"] == CAUSES[fault][0]


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
    until(lambda: '"cause": "unreachable"' in patient.running.lines[-1])
    until(lambda: patient.ask()[0] == 200)


def test_an_endless_answer_ends_with_the_deadline(
    answers: Path, answering_stub: OpenAIStub
) -> None:
    with serving(answers, answering_stub, 1.5) as function:
        for headers in ({}, {"Accept": EVENT_STREAM_TYPE}):
            status, body, line = function.fail("hang", **headers)
            assert status == 200
            assert '"fallback": true' in body or '"fallback":true' in body
            assert line["cause"] == "timeout"


@pytest.mark.parametrize(
    ("fault", "deadline", "status", "code"),
    [("zeros", 240.0, 503, "unavailable"), ("hang", 1.5, 504, "timeout")],
)
def test_a_question_without_a_vector_is_a_problem(
    vectors: tuple[Path, OpenAIStub], fault: str, deadline: float, status: int, code: str
) -> None:
    with serving(*vectors, deadline) as function:
        answered, body, line = function.fail(fault)
    problem = json.loads(body)
    assert (answered, problem["status"]) == (status, status)
    assert (problem["code"], line["reason"]) == (code, code)
    assert line["cause"] == CAUSES_OF_VECTORS[fault]
