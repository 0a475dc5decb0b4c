"""The real client against a real server: what is sent, what is read, what it costs, what fails."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import openai  # noqa: F401 - its import takes as long as the deadlines here
import pytest

from answerable.engine.embedders.openai_embedder import OpenAIEmbedder
from answerable.engine.engine import Engine
from answerable.engine.errors import AnswerableError, CancelledError, EmbedderError, ProviderError
from answerable.engine.openai import (
    MAX_RESPONSE_BYTES,
    OpenAIAnswerer,
    is_openai_address,
    parse_model_output,
)
from answerable.engine.providers import make_engine
from answerable.engine.request_context import RequestContext, use_context
from answerable.engine.settings import FunctionSettings
from answerable.engine.types import Evidence, Passage, RecordCitation, RoutingHint
from answerable.engine.vectors import EmbedderIdentity
from support import sites
from support.deadlines import PATIENCE, finish, until
from support.hostile_models import HOSTILE_MODELS
from support.openai_stub import (
    UPSTREAM_WORDS,
    OpenAIStub,
    StubReply,
    StubRequest,
    count_tokens,
)

QUESTION = "How thick is the chain of a mooring?"
EVIDENCE = Evidence((Passage("a", "a", "/a/", "Mooring", "The chain is twelve mm thick."),))
RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"
DRAFT = {"claims": [{"text": "Use ``` for code.", "evidence": []}], "routes": ["h1"]}


@pytest.fixture(autouse=True)
def set_api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(folder)
    return make_engine(sites.opened(folder), sites.local())


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        stub.retry_after = 0.05
        yield stub
        assert stub.failures == []


def answering(server: OpenAIStub, model: str = "honest", **options: Any) -> OpenAIAnswerer:
    chosen: dict[str, Any] = {"model": model, "base_url": server.base_url, "api": "responses"}
    return OpenAIAnswerer(FunctionSettings(**{**chosen, **options}), "Harbour")


def embedding(server: OpenAIStub, deadline: float = PATIENCE) -> OpenAIEmbedder:
    identity = EmbedderIdentity("openai", "text-embedding-3-large", 64)
    return OpenAIEmbedder(identity, server.base_url, deadline)


def draft(server: OpenAIStub, model: str = "honest", **options: Any) -> RequestContext:
    """The context of a question after its draft."""
    with use_context(RequestContext()) as context:
        answering(server, model, **options).draft(QUESTION, EVIDENCE)
    return context


def test_an_honest_model_is_cited(base: Engine, server: OpenAIStub) -> None:
    reply = sites.write_answer(replace(base, answerer=answering(server)), QUESTION)
    assert reply.answer.mode in ("partial", "supported")
    assert "mooring#chains" in {citation.id for citation in reply.answer.citations}
    assert server.answer_calls == 1


def test_a_violation_is_named_to_the_model_once(base: Engine, server: OpenAIStub) -> None:
    reply = sites.write_answer(replace(base, answerer=answering(server, "contrite")), QUESTION)
    assert reply.answer.claims
    assert server.answer_calls == 2
    assert '"kind": "violation"' in server.requests[-1].json["input"][0]["content"]


@pytest.mark.parametrize("model", sorted(HOSTILE_MODELS))
def test_text_of_a_hostile_model_reaches_no_reader(
    base: Engine, server: OpenAIStub, model: str
) -> None:
    configured = replace(base, answerer=answering(server, model))
    for question in (QUESTION, "Where was the gearbox of the electric winch taken from?"):
        evidence = configured.select_evidence(configured.retrieve_for_answer(question))
        texts = {(p.id, p.url): p.text for p in evidence.passages}
        hints = {(h.id, h.url, h.label, h.locator) for h in evidence.hints}
        for citation in configured.answer(question).answer.citations:
            if isinstance(citation, RecordCitation):
                assert citation.quote in texts[citation.id, citation.url]
            elif isinstance(citation, RoutingHint):
                assert (citation.id, citation.url, citation.label, citation.locator) in hints
    assert server.answer_calls <= 4


def test_a_response_is_strict_and_not_stored(server: OpenAIStub) -> None:
    draft(server)
    body = server.requests[-1].json
    assert (body["store"], body["temperature"]) == (False, 0)
    assert (body["text"]["format"]["type"], body["text"]["format"]["strict"]) == (
        "json_schema",
        True,
    )
    draft(server, api="chat")
    form = server.requests[-1].json["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert form["json_schema"]["schema"] == body["text"]["format"]["schema"]


@pytest.mark.parametrize(
    ("api", "path"), [("auto", CHAT), ("chat", CHAT), ("responses", RESPONSES)]
)
def test_a_server_is_asked_by_the_api_that_is_chosen(
    server: OpenAIStub, api: str, path: str
) -> None:
    draft(server, api=api)
    assert (server.counts[path], server.answer_calls) == (1, 1)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (None, True),
        ("https://eu.api.openai.com/v1/", True),
        ("https://api.openai.com.example.org/v1", False),
        ("https://myapi.openai.com/v1", False),
    ],
)
def test_only_openai_is_asked_by_responses(base_url: str | None, expected: bool) -> None:
    assert is_openai_address(base_url) is expected


@pytest.mark.parametrize(
    ("model", "options", "name", "limit", "effort"),
    [
        ("honest", {}, "max_tokens", 1_500, None),
        ("gpt-4o-mini", {"max_output_tokens": 900}, "max_tokens", 900, None),
        ("gpt-5-mini", {}, "max_completion_tokens", 4_100, "low"),
        ("gpt-5", {"reasoning_effort": "minimal"}, "max_completion_tokens", 4_100, "minimal"),
        ("o3", {"reasoning_effort": "high"}, "max_completion_tokens", 28_700, "high"),
    ],
)
def test_output_is_limited_and_a_reasoning_model_gets_an_effort(
    server: OpenAIStub,
    model: str,
    options: dict[str, Any],
    name: str,
    limit: int,
    effort: str | None,
) -> None:
    draft(server, model, **options)
    body = server.requests[-1].json
    assert body["max_output_tokens"] == limit
    assert body.get("reasoning") == ({"effort": effort} if effort else None)
    draft(server, model, api="chat", **options)
    body = server.requests[-1].json
    assert {key: body[key] for key in body if key.endswith("tokens")} == {name: limit}
    assert body.get("reasoning_effort") == effort
    assert ("temperature" in body) is (effort is None)


WRAPPED = [
    "{}",
    "```json\n{}\n```",
    "<think>\nThe page says so.\n```json\n[1]\n```\n</think>{}",
    "The page says so.\n</think>\n{}",
]
PROSE = [
    "",
    "Sure! Here it is:\n```json\n{}\n```",
    "```json\n{}\n```\nAnything else?",
    "<think>{}",
    "```" + "a" * 200_000,
    "</think>" * 50_000,
]


@pytest.mark.parametrize("text", WRAPPED)
def test_json_is_parsed_from_fences_and_after_thoughts(text: str) -> None:
    assert parse_model_output(text.replace("{}", json.dumps(DRAFT))) == DRAFT


@pytest.mark.parametrize("text", PROSE, ids=range(len(PROSE)))
def test_output_without_json_is_returned_as_text(text: str) -> None:
    output = text.replace("{}", json.dumps(DRAFT))
    assert parse_model_output(output) == output


def test_a_refusal_of_the_model_declines(server: OpenAIStub) -> None:
    server.fail("refusal")
    for api in ("responses", "chat"):
        assert answering(server, api=api).draft(QUESTION, EVIDENCE) == {"claims": [], "routes": []}


def test_tokens_are_what_the_server_counts(server: OpenAIStub) -> None:
    context = draft(server)
    body = server.requests[-1].json
    sent = body["instructions"] + body["input"][0]["content"]
    assert context.tokens_in == count_tokens(sent)
    assert 0 < context.tokens_out < 500
    chat = draft(server, api="chat")
    assert (chat.tokens_in, chat.tokens_out) == (context.tokens_in, context.tokens_out)


def test_tokens_that_nobody_counts_are_estimated_pessimistically(server: OpenAIStub) -> None:
    counted = draft(server)
    server.fail("no-usage")
    estimated = draft(server)
    assert estimated.tokens_in > counted.tokens_in
    assert estimated.tokens_out == 1_500


@pytest.mark.parametrize(
    ("fault", "costs"), [("401", False), ("500", False), ("incomplete", True), ("hang", True)]
)
def test_a_failed_call_counts_what_it_can_have_cost(
    server: OpenAIStub, fault: str, costs: bool
) -> None:
    server.fail(fault)
    deadline = 1.0 if fault == "hang" else PATIENCE
    with use_context(RequestContext()) as context, pytest.raises(ProviderError):
        answering(server, timeout=deadline).draft(QUESTION, EVIDENCE)
    assert (context.tokens > 0) is costs


# The cause of each fault, and how often a provider is asked that has it.
CAUSES = {
    "400": ("request", 1), "context": ("request", 1), "401": ("key", 1), "403": ("key", 1),
    "429": ("limit", 2), "quota": ("limit", 2),
    "500": ("unreachable", 2), "502": ("unreachable", 2), "cut": ("unreachable", 2),
    "html": ("reply", 1), "garbage": ("reply", 1), "unrelated": ("reply", 1),
    "truncated": ("reply", 1), "incomplete": ("reply", 1),
    "hang": ("timeout", 1), "drip": ("timeout", 1),
}  # fmt: skip
REMEDIES = {
    "request": "answers.max_evidence_characters",
    "key": "OPENAI_API_KEY is not set, or the provider refused it",
    "limit": "raise the limit",
    "unreachable": "is it running at its base_url",
    "reply": "answers.max_output_tokens",
    "timeout": "answers.timeout",
}


def check_failure(error: AnswerableError, cause: str) -> None:
    """An error that names its cause, and in which nothing is the server's."""
    assert error.cause == cause
    assert not any(words in str(error) for words in UPSTREAM_WORDS)
    assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize("fault", CAUSES)
def test_a_fault_has_a_cause_and_a_remedy_and_is_retried_if_it_may_pass(
    server: OpenAIStub, fault: str
) -> None:
    server.fail(fault)
    cause, calls = CAUSES[fault]
    answerer = answering(server, timeout=1.0 if cause == "timeout" else PATIENCE)
    with pytest.raises(ProviderError, match=REMEDIES[cause]) as caught:
        finish(lambda: answerer.draft(QUESTION, EVIDENCE))
    check_failure(caught.value, cause)
    # On a busy machine a deadline may pass before the request is sent.
    assert server.answer_calls == calls or cause == "timeout"


def test_a_fault_that_passes_is_no_failure(server: OpenAIStub) -> None:
    server.fail("429", times=1)
    assert draft(server).tokens_in > 0
    assert server.answer_calls == 2


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("fixed-dimensions", "request"),
        ("fewer-vectors", "reply"),
        ("wrong-dimensions", "reply"),
        ("zeros", "reply"),
        ("not-finite", "reply"),
        ("401", "key"),
        ("hang", "timeout"),
    ],
)
def test_a_fault_of_an_embedder_has_a_cause(server: OpenAIStub, fault: str, cause: str) -> None:
    server.fail(fault)
    embedder = embedding(server, 1.0 if cause == "timeout" else PATIENCE)
    with pytest.raises((ProviderError, EmbedderError)) as caught:
        finish(lambda: embedder.embed(["a red lantern"]))
    check_failure(caught.value, cause)
    assert "lantern" not in str(caught.value)


@pytest.mark.parametrize("key", [None, "", "  "])
def test_without_a_key_only_a_private_server_is_asked(
    server: OpenAIStub, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    if key is None:
        monkeypatch.delenv("OPENAI_API_KEY")
    else:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    # The server refuses a request without any key.
    draft(server)
    public = answering(server, base_url="https://models.example.org/v1")
    with use_context(RequestContext()) as context, pytest.raises(ProviderError) as caught:
        public.draft(QUESTION, EVIDENCE)
    check_failure(caught.value, "key")
    assert context.tokens == 0


def flood(listening: socket.socket, head: bytes, part: bytes, sent: list[int]) -> None:
    """Answer one request by a head and by parts, until the client hangs up."""
    client, _ = listening.accept()
    with client, suppress(OSError):
        client.settimeout(PATIENCE)
        client.recv(65_536)
        client.sendall(head)
        while sent[0] < 20 * MAX_RESPONSE_BYTES:
            client.sendall(part)
            sent[0] += len(part)


BOMB = gzip.compress(b" " * (2 * MAX_RESPONSE_BYTES), 9)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("head", "part"),
    [(HEAD, b" " * 65_536), (HEAD + b"Content-Encoding: gzip\r\n", BOMB)],
    ids=["plain", "gzip"],
)
def test_an_endless_body_is_read_up_to_a_limit(head: bytes, part: bytes) -> None:
    sent = [0]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        arguments = (listening, head + b"\r\n", part, sent)
        thread = threading.Thread(target=flood, args=arguments)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        settings = FunctionSettings(model="gpt-4.1", base_url=url, timeout=PATIENCE)
        with pytest.raises(ProviderError) as caught:
            OpenAIAnswerer(settings, "Harbour").draft(QUESTION, EVIDENCE)
        check_failure(caught.value, "reply")
        thread.join(PATIENCE)
    # What the two ends of a connection hold on to comes on top.
    assert sent[0] < MAX_RESPONSE_BYTES + 32 * 1024 * 1024


class Gated(OpenAIStub):
    """A server that holds up its replies until its gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def respond(self, request: StubRequest) -> StubReply:
        reply = super().respond(request)
        self.gate.wait(PATIENCE)
        return reply


def test_a_call_under_way_ends_and_is_counted() -> None:
    with Gated() as server, ThreadPoolExecutor() as threads:
        question = RequestContext()

        def ask() -> object:
            with use_context(question):
                return answering(server).draft(QUESTION, EVIDENCE)

        future = threads.submit(ask)
        until(lambda: server.answer_calls == 1)
        question.cancel()
        server.gate.set()
        assert future.result(PATIENCE)
        assert question.tokens == draft(server).tokens


@pytest.mark.parametrize(
    "call",
    [
        lambda server: answering(server).draft(QUESTION, EVIDENCE),
        lambda server: embedding(server).embed([QUESTION]),
    ],
)
def test_a_call_that_nobody_waits_for_is_never_sent(
    server: OpenAIStub, call: Callable[[OpenAIStub], object]
) -> None:
    question = RequestContext()
    question.cancel()
    with use_context(question), pytest.raises(CancelledError):
        call(server)
    assert (server.requests, question.tokens) == ((), 0)
