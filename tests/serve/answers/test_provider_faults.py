"""Whatever a provider does, a reader gets a refusal or a problem in time, in words of ours."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.http.messages import EVENT_STREAM_TYPE
from support import published_functions
from support.deadlines import until
from support.openai_stub import FAULTS, UPSTREAM_WORDS, OpenAIStub
from support.openapi_check import events
from support.server_processes import Running

# Seconds in which a fault that never ends is ended; other faults end by themselves, however slowly.
HASTY, PATIENT = 1.5, 240.0
# What the other endpoint does, or what only streams do, which are never asked for.
OF_VECTORS = {
    "fewer-vectors", "wrong-dimensions", "not-finite", "infinite", "zeros", "last-zeros",
    "reversed", "fixed-dimensions",
}  # fmt: skip
OF_ANSWERS = {"refusal", "empty", "incomplete"}
HARMLESS = {
    "answers": {*OF_VECTORS, "stream-error", "no-usage"},
    "vectors": {*OF_ANSWERS, "stream-error", "no-usage", "reversed"},
}
LATE = {"hang", "drip"}
REFUSED = {"refusal": "declined", "empty": "contract"}
# What the log calls a fault that keeps a reader from an answer.
CAUSES = {
    "context": "context", "context-words": "context", "incomplete": "cut-off",
    "400": "bad-parameter", "413": "bad-parameter", "422": "bad-parameter",
    "fixed-dimensions": "bad-parameter", "401": "key-refused", "403": "key-refused",
    "404": "no-model", "405": "no-model", "no-model": "no-model", "429": "rate-limit",
    "quota": "quota", "408": "status", "409": "status", "500": "status", "502": "status",
    "503": "status", "html": "not-json", "garbage": "not-json", "null": "not-json",
    "unrelated": "not-json", "blank": "not-json", "truncated": "not-json", "cut": "unreachable",
    "drop": "unreachable", "hang": "timeout", "drip": "timeout", "fewer-vectors": "bad-vectors",
    "wrong-dimensions": "bad-vectors", "not-finite": "bad-vectors", "infinite": "bad-vectors",
    "zeros": "bad-vectors", "last-zeros": "bad-vectors",
}  # fmt: skip
UNAVAILABLE = {
    "type": "about:blank",
    "title": "Unavailable",
    "status": 503,
    "detail": "The question cannot be answered at the moment.",
    "code": "unavailable",
}
TIMEOUT = {
    "type": "about:blank",
    "title": "Timeout",
    "status": 504,
    "detail": "The answer was not ready in time: try again.",
    "code": "timeout",
}
FIELDS = {
    "event", "request_id", "method", "path", "status", "mode", "reason", "cache", "duration_ms",
    "timings_ms", "tokens_in", "tokens_out", "bundle", "time", "cited",
}  # fmt: skip


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


@dataclass
class Functions:
    """The same function with two deadlines."""

    hasty: Function
    patient: Function

    def facing(self, fault: str) -> Function:
        """The one in which only the deadline ends a fault that never ends, and no other one."""
        return self.hasty if fault in LATE else self.patient


@contextmanager
def asking(folder: Path, stub: OpenAIStub) -> Iterator[Functions]:
    stub.retry_after = 0.05
    with (
        asking_within(HASTY, folder, stub) as hasty,
        asking_within(PATIENT, folder, stub) as patient,
    ):
        yield Functions(hasty, patient)
    assert stub.failures == []


@contextmanager
def asking_within(deadline: float, folder: Path, stub: OpenAIStub) -> Iterator[Function]:
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


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """A function whose answers come from a stub."""
    with OpenAIStub() as stub:
        folder = published_functions.build_function(tmp_path_factory.mktemp("site"), stub)
        with asking(folder, stub) as functions:
            yield functions


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """A function whose vectors come from a stub."""
    with OpenAIStub() as stub:
        embedding = {
            "provider": "openai",
            "model": "text-embedding-3-small",
            "dimensions": 256,
            "base_url": stub.base_url,
        }
        folder = published_functions.build_function(
            tmp_path_factory.mktemp("site"), embedding=embedding
        )
        with asking(folder, stub) as functions:
            yield functions


def check_body(body: dict[str, Any], fault: str, endpoint: str) -> None:
    """Check that a reader gets the fixed text of a problem, an empty refusal or an answer.

    The answer is a model's, or where only the model fails the keyless one in its place.
    """
    if fault in HARMLESS[endpoint] or (endpoint == "answers" and fault not in REFUSED):
        assert body["mode"] in ("partial", "supported")
        assert body["fallback"] == (fault not in HARMLESS[endpoint])
    elif fault in REFUSED:
        assert (body["mode"], body["reason"]) == ("not-found", REFUSED[fault])
        assert (body["answer"], body["citations"]) == ("", [])
    else:
        assert body == (TIMEOUT if fault in LATE else UNAVAILABLE)


def check_log(running: Running, before: int, status: int, fault: str, endpoint: str) -> None:
    """Check that a process prints one line for a request, with its cause, and nothing else."""
    until(lambda: len(running.lines) > before)
    (line,) = (json.loads(line) for line in running.lines[before:])
    # The line names the rule that refused where the contract did, and only there.
    refused = line["reason"] == "contract"
    failed = fault not in HARMLESS[endpoint] and fault not in REFUSED
    assert set(line) == FIELDS | ({"contract"} if refused else {"cause"} if failed else set())
    assert not failed or line["cause"] == CAUSES[fault]
    if refused:
        assert line["contract"] == {"validate/not-json": 2}
    assert line["status"] == status
    problems = {"unavailable", "timeout"} if endpoint == "vectors" else set()
    assert line["reason"] in {None, "declined", "contract", *problems}


@pytest.mark.parametrize("endpoint", ["answers", "vectors"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_time_in_words_of_ours(
    request: pytest.FixtureRequest, fault: str, endpoint: str
) -> None:
    both: Functions = request.getfixturevalue(endpoint)
    function = both.facing(fault)
    before = len(function.running.lines)
    function.stub.fault = fault
    status, body = function.ask()
    function.stub.fault = None
    check_body(json.loads(body), fault, endpoint)
    check_log(function.running, before, status, fault, endpoint)


@pytest.mark.parametrize("fault", ["hang", "drip", "500", "garbage", "incomplete"])
def test_a_fault_ends_a_stream_in_time(answers: Functions, fault: str) -> None:
    function = answers.facing(fault)
    before = len(function.running.lines)
    function.stub.fault = fault
    status, body = function.ask(Accept=EVENT_STREAM_TYPE)
    function.stub.fault = None
    name, data = events(body.replace(":\n\n", ""))[-1]
    assert (status, name) == (200, "answer")
    check_body(data, fault, "answers")
    check_log(function.running, before, status, fault, "answers")


def test_an_unreachable_provider_gives_the_keyless_reply(answers: Functions) -> None:
    function = answers.patient
    function.stub.stop()
    status, body = function.ask()
    function.stub.start()
    assert (status, json.loads(body)["fallback"]) == (200, True)
    until(lambda: '"cause": "unreachable"' in function.running.lines[-1])
    until(lambda: function.ask()[0] == 200)


def test_nothing_a_provider_said_and_no_key_was_printed(
    answers: Functions, vectors: Functions
) -> None:
    for function in (answers.hasty, answers.patient, vectors.hasty, vectors.patient):
        output = function.running.output
        assert published_functions.KEY not in output
        # The pages that an answer cites are told by their paths, which are public.
        rows = [json.loads(line) for line in function.running.lines if line.startswith("{")]
        cited = {page for row in rows for page in row.pop("cited")}
        assert cited <= {"index", "mooring", "storms"}
        assert "mooring" not in json.dumps(rows)
        assert "Traceback" not in output
        for words in UPSTREAM_WORDS:
            assert words not in output
