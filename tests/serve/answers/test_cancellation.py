"""Calls of providers that end: when nobody waits, at the deadline, in a fork, with the process."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import openai  # noqa: F401 - its import takes as long as the deadlines here
import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.embedders.openai_embedder import OpenAIEmbedder
from answerable.serve.errors import AnswerableError, CancelledError
from answerable.serve.request_context import RequestContext, use_context
from answerable.serve.types import Evidence, Passage
from support.deadlines import PATIENCE, until
from support.metered_stub import Metered
from support.openai_stub import OpenAIStub
from support.stub_fixtures import is_counted

QUESTION = "How thick is the chain of a mooring?"
EVIDENCE = Evidence(
    (Passage("a", "a", "/a/", "Mooring", "The chain is twelve millimetres thick."),)
)

Work = Callable[[], object]


@pytest.fixture(autouse=True)
def set_api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub
        assert stub.failures == []


def answering(server: OpenAIStub) -> Work:
    answerer = OpenAIAnswerer("honest", "Harbour", server.base_url)
    return lambda: answerer.draft(QUESTION, EVIDENCE)


def embedding(server: OpenAIStub) -> Work:
    embedder = OpenAIEmbedder(
        EmbedderIdentity("openai", "text-embedding-3-large", 64), server.base_url
    )
    return lambda: embedder.embed([QUESTION])


both = pytest.mark.parametrize("provider", [answering, embedding])


def failure(work: Work, question: RequestContext) -> AnswerableError | None:
    with use_context(question):
        try:
            work()
        except AnswerableError as error:
            return error
    return None


def test_a_call_under_way_ends_and_is_counted() -> None:
    with Metered() as server, ThreadPoolExecutor() as threads:
        server.gate.clear()
        question = RequestContext()
        future = threads.submit(failure, answering(server), question)
        until(lambda: server.waiting == 1)
        question.cancel()
        server.gate.set()
        assert future.result(PATIENCE) is None
        assert is_counted(question)
        assert isinstance(failure(answering(server), question), CancelledError)
        assert server.answer_calls == 1


@both
def test_a_call_cancelled_before_it_starts_is_never_sent(
    server: OpenAIStub, provider: Callable[[OpenAIStub], Work]
) -> None:
    question = RequestContext()
    question.cancel()
    assert isinstance(failure(provider(server), question), CancelledError)
    assert server.requests == ()
    assert is_counted(question)


SETUP = """
    import os, socket, sys, threading, time
    from contextlib import suppress
    from answerable.serve.errors import AnswerableError, CancelledError
    from answerable.serve.answers.openai_answerer import OpenAIAnswerer
    from answerable.serve.types import Evidence, Passage

    evidence = Evidence((Passage("a", "a", "/a/", "A", "The chain is twelve millimetres thick."),))

    def ask(model="honest", base_url=sys.argv[1], deadline=240.0):
        answerer = OpenAIAnswerer(model, "A", base_url, deadline=deadline)
        return answerer.draft("How thick is a chain?", evidence)
"""


def run_script(server: OpenAIStub, script: str, may_end: Callable[[], bool] = lambda: True) -> str:
    """Run a script and return what it prints; it must neither fail nor warn.

    may_end: when its standard input ends, which it can wait for.
    """
    # Python 3.12 warns of every fork beside threads, which is what is tried here.
    options = ("-W", "error", "-W", "ignore:This process:DeprecationWarning")
    code = textwrap.dedent(SETUP) + textwrap.dedent(script)
    with subprocess.Popen(
        [sys.executable, *options, "-c", code, server.base_url],
        env={**os.environ, "OPENAI_API_KEY": "test"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until(lambda: may_end() or process.poll() is not None)
            printed, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert errors == ""
    return printed


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.mark.deep
@needs_fork
def test_a_fork_in_the_middle_of_calls_can_call(server: OpenAIStub) -> None:
    # A module that is being imported during a fork stays half imported in the child.
    script = """
    ask()
    threads = [threading.Thread(target=lambda: [ask() for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    child = os.fork()
    ask()
    if child:
        for thread in threads:
            thread.join()
        print("child", os.waitpid(child, 0)[1])
    """
    assert run_script(server, script) == "child 0\n"
    assert server.answer_calls == 23


def test_a_process_ends_with_its_calls_under_way(server: OpenAIStub) -> None:
    script = """
    def wait():
        with suppress(CancelledError):
            ask("honest-fault-hang", deadline=600.0)

    ask()
    threading.Thread(target=wait, daemon=True).start()
    sys.stdin.read()
    """
    assert run_script(server, script, lambda: server.answer_calls == 2) == ""
    until(lambda: server.disconnects == 1)
