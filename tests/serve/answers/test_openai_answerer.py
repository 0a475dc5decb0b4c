"""Answers by a model: the real client against a real server, honest, hostile or broken."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.answers.contract import enforce_contract, make_source_violation
from answerable.serve.answers.openai_answerer import (
    OpenAIAnswerer,
    bound_prompt_tokens,
    build_draft_schema,
    frame_evidence,
    render_instructions,
)
from answerable.serve.engine import Engine
from answerable.serve.errors import ProviderError
from answerable.serve.openai_client import (
    estimate_max_tokens,
    is_openai_address,
    read_token_usage,
)
from answerable.serve.providers import make_engine as keyless
from answerable.serve.request_context import RequestContext, use_context
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.serve.types import Evidence, HintCitation, Passage, RecordCitation, RoutingHint
from support import sites
from support.deadlines import PATIENCE, finish
from support.hostile_models import HOSTILE_MODELS
from support.openai_stub import OpenAIStub, find_schema_fault
from support.stub_fixtures import is_counted
from support.stub_server import count_tokens

QUESTION = "How thick is the chain of a mooring?"
RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"


@pytest.fixture(autouse=True)
def set_api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(folder)
    return keyless(sites.opened(folder), sites.local())


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub
        assert stub.failures == []


def engine(base: Engine, server: OpenAIStub, model: str = "honest", **options: Any) -> Engine:
    answerer = OpenAIAnswerer(model, "Harbour", server.base_url, **{"api": "responses", **options})
    return replace(base, answerer=answerer)


def test_an_honest_model_is_cited(base: Engine, server: OpenAIStub) -> None:
    reply = sites.write_answer(engine(base, server), QUESTION)
    assert reply.answer.mode in ("partial", "supported")
    assert "mooring#chains" in {citation.id for citation in reply.answer.citations}
    assert server.answer_calls == 1


def test_the_request_is_strict_and_not_stored(base: Engine, server: OpenAIStub) -> None:
    sites.write_answer(engine(base, server), QUESTION)
    body = server.requests[-1].json
    assert (body["store"], body["temperature"]) == (False, 0)
    form = body["text"]["format"]
    assert (form["type"], form["strict"]) == ("json_schema", True)
    evidence = form["schema"]["properties"]["claims"]["items"]["properties"]["evidence"]
    assert (evidence["minItems"], evidence["maxItems"]) == (1, 3)
    assert evidence["items"]["properties"]["source"]["enum"] == [f"s{n}" for n in range(1, 9)]
    assert form["schema"]["properties"]["claims"]["maxItems"] == 6


@pytest.mark.parametrize(
    ("api", "path"), [("auto", CHAT), ("chat", CHAT), ("responses", RESPONSES)]
)
def test_a_server_is_asked_by_the_api_that_is_chosen(
    base: Engine, server: OpenAIStub, api: str, path: str
) -> None:
    assert sites.write_answer(engine(base, server, api=api), QUESTION).answer.claims
    assert (server.counts[path], server.answer_calls) == (1, 1)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (None, True),
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1/", True),
        ("https://api.openai.com.example.org/v1", False),
        ("https://myapi.openai.com/v1", False),
        ("http://127.0.0.1:8080/v1", False),
    ],
)
def test_only_openai_is_asked_by_responses(base_url: str | None, expected: bool) -> None:
    assert is_openai_address(base_url) is expected


def test_a_reasoning_model_gets_an_effort(base: Engine, server: OpenAIStub) -> None:
    sites.write_answer(engine(base, server, "gpt-5-mini"), QUESTION)
    body = server.requests[-1].json
    assert body["reasoning"] == {"effort": "low"}
    assert "temperature" not in body
    sites.write_answer(engine(base, server, "o3", reasoning_effort="high"), QUESTION)
    assert server.requests[-1].json["reasoning"] == {"effort": "high"}


@pytest.mark.parametrize(
    ("model", "options", "name", "limit"),
    [
        ("honest", {}, "max_tokens", 1_500),
        ("gpt-4o-mini", {"max_output_tokens": 900}, "max_tokens", 900),
        ("gpt-5-mini", {}, "max_completion_tokens", 4_100),
        ("o3", {"reasoning_effort": "high"}, "max_completion_tokens", 28_700),
    ],
)
def test_the_output_is_limited(
    base: Engine, server: OpenAIStub, model: str, options: dict[str, Any], name: str, limit: int
) -> None:
    assert sites.write_answer(engine(base, server, model, **options), QUESTION).answer.claims
    assert server.requests[-1].json["max_output_tokens"] == limit
    assert sites.write_answer(
        engine(base, server, model, api="chat", **options), QUESTION
    ).answer.claims
    body = server.requests[-1].json
    limits = {key: body[key] for key in ("max_tokens", "max_completion_tokens") if key in body}
    assert limits == {name: limit}


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_draft_that_the_limit_cuts_off_names_the_option(
    base: Engine, server: OpenAIStub, api: str
) -> None:
    context = RequestContext()
    cut = engine(base, server, "hostile-many-claims", api=api)
    with (
        pytest.raises(ProviderError, match=r"answers\.max_output_tokens") as error,
        use_context(context),
    ):
        sites.write_answer(cut, QUESTION)
    assert error.value.cause == "cut-off"
    assert server.answer_calls == 1
    # It was written, and so it is paid for.
    assert context.tokens_out >= 1_500
    assert is_counted(context)


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("context", "answers.max_evidence_characters"),
        ("hang", "answers.timeout"),
        ("drop", "is it running at its base_url"),
    ],
)
def test_a_fault_names_what_helps(
    base: Engine, server: OpenAIStub, fault: str, remedy: str
) -> None:
    server.fail(fault)
    late = engine(base, server, deadline=1.0 if fault == "hang" else PATIENCE)
    with pytest.raises(ProviderError, match=remedy):
        finish(lambda: sites.write_answer(late, QUESTION))


def counted(
    base: Engine, server: OpenAIStub, model: str = "honest", api: str = "responses"
) -> RequestContext:
    question = RequestContext()
    with use_context(question):
        assert sites.write_answer(engine(base, server, model, api=api), QUESTION).answer.claims
    return question


def test_tokens_are_what_the_server_counts(base: Engine, server: OpenAIStub) -> None:
    chat, context = counted(base, server, api="chat"), counted(base, server)
    assert (chat.tokens_in, chat.tokens_out) == (context.tokens_in, context.tokens_out)
    body = server.requests[-1].json
    sent = body["instructions"] + body["input"][0]["content"]
    assert is_counted(context)
    assert context.tokens_in == count_tokens(sent)
    assert 0 < context.tokens_out < 500


def test_both_drafts_are_counted(base: Engine, server: OpenAIStub) -> None:
    one, two = counted(base, server), counted(base, server, "contrite")
    assert is_counted(two)
    assert two.tokens_in > 2 * one.tokens_in


def test_uncounted_tokens_are_estimated_at_their_maximum(base: Engine, server: OpenAIStub) -> None:
    counted_by_server = counted(base, server)
    server.fail("no-usage")
    context = counted(base, server)
    assert is_counted(context)
    assert context.tokens_in > counted_by_server.tokens_in
    assert context.tokens_out == 1_500


@pytest.mark.parametrize(("fault", "counts"), [("429", True), ("500", False), ("drop", False)])
def test_a_failed_attempt_is_counted_only_if_nothing_was_done(
    base: Engine, server: OpenAIStub, fault: str, counts: bool
) -> None:
    server.retry_after = 0.1
    server.fail(fault, times=1)
    context = counted(base, server)
    assert server.answer_calls == 2
    assert is_counted(context) is counts
    assert context.tokens_in > 0


@pytest.mark.parametrize("characters", [2_000, 24_000])
@pytest.mark.parametrize("letter", ["a", "鎖", "é"])
def test_no_question_costs_more_than_the_worst(letter: str, characters: int) -> None:
    url = f"/{'guide/' * 20}"
    passages = tuple(
        Passage(f"p{n}", f"p{n}", url, "", letter * (characters // 24), date="2024-01-31")
        for n in range(24)
    )
    hints = tuple(RoutingHint(f"note:{n}", letter * 300, letter * 300, "/h/") for n in range(8))
    evidence = Evidence(passages, hints)
    violation = str(make_source_violation("\U000e0001" * 80))
    read = render_instructions("Harbour", evidence) + json.dumps(build_draft_schema(evidence))
    read += frame_evidence(letter * MAX_QUESTION_CHARACTERS, evidence, violation)
    worst = bound_prompt_tokens("Harbour", None, characters)
    assert estimate_max_tokens(read) <= worst

    def bound(model: str, effort: str | None = None) -> int:
        answerer = OpenAIAnswerer(
            model, "Harbour", None, effort, max_evidence_characters=characters
        )
        return answerer.max_question_tokens

    assert bound("gpt-4o-mini") == 2 * (worst + 1_500)
    assert bound("gpt-5") == 2 * (worst + 4_100)
    assert bound("o3", "high") == 2 * (worst + 28_700)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 10, "output_tokens": 2}, (10, 2)),
        ({"prompt_tokens": 10}, (10, 99)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (1000, 99)),
        ({"prompt_tokens": -5, "completion_tokens": -5}, (1000, 99)),
        ({"prompt_tokens": "10", "completion_tokens": None}, (1000, 99)),
        ({"prompt_tokens": 10**30, "completion_tokens": 3}, (1000, 99)),
    ],
)
def test_a_usage_that_is_not_a_count_is_ignored(
    usage: dict[str, object], expected: tuple[int, int]
) -> None:
    assert read_token_usage({"usage": usage}, 1000, 99) == expected


def test_a_violation_is_named_once(base: Engine, server: OpenAIStub) -> None:
    reply = sites.write_answer(engine(base, server, "contrite"), QUESTION)
    assert reply.answer.claims
    assert server.answer_calls == 2
    assert '"kind": "violation"' in server.requests[-1].json["input"][0]["content"]


@pytest.mark.parametrize("model", sorted(HOSTILE_MODELS))
def test_text_of_a_hostile_model_reaches_no_reader(
    base: Engine, server: OpenAIStub, model: str
) -> None:
    configured = engine(base, server, model)
    for question in (QUESTION, "Where was the gearbox of the electric winch taken from?"):
        evidence = configured.select_evidence(configured.retrieve_for_answer(question))
        reply = configured.answer(question)
        texts = {(p.id, p.url): p.text for p in evidence.passages}
        hints = {(h.id, h.url, h.label, h.locator) for h in evidence.hints}
        for citation in reply.answer.citations:
            if isinstance(citation, RecordCitation):
                assert citation.quote in texts[citation.id, citation.url]
            elif isinstance(citation, HintCitation):
                assert (citation.id, citation.url, citation.label, citation.locator) in hints
    assert server.answer_calls <= 4


def test_without_a_key_the_remedy_is_named(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    # A base_url that no test has a client for.
    answerer = OpenAIAnswerer("honest", "Harbour", "https://models.example.org/v1")
    question = RequestContext()
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"), use_context(question):
        sites.write_answer(replace(base, answerer=answerer), QUESTION)
    assert is_counted(question)


def test_a_private_server_needs_no_key(
    base: Engine, server: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    # The server refuses a request without any key.
    assert sites.write_answer(engine(base, server), QUESTION).answer.claims


def test_the_schema_leaves_out_an_empty_stream() -> None:
    passage = Passage("a", "a", "/a/", "A", "Text.")
    hint = RoutingHint("note:1", "L", "", "/a/")
    assert list(build_draft_schema(Evidence((passage,)))["properties"]) == ["claims", "complete"]
    assert list(build_draft_schema(Evidence((), (hint,)))["properties"]) == ["routes"]
    both = build_draft_schema(Evidence((passage,), (hint,)))
    assert both["required"] == ["claims", "routes", "complete"]
    assert find_schema_fault(both) is None


def test_a_source_has_its_address_and_its_markdown() -> None:
    text = "Run this:\n\n```sh\nkettle boil\n```"
    passage = Passage("a", "a", "/a/#run", "A › Run", text)
    first, _ = frame_evidence("q?", Evidence((passage,))).split("\n")
    assert json.loads(first) == {
        "kind": "source", "id": "s1", "title": "A › Run", "url": "/a/#run",
        "text": text,
    }  # fmt: skip


@pytest.mark.parametrize("hints", [(), (RoutingHint("note:1", "L", "", "/a/"),)])
def test_the_example_in_the_instructions_is_a_good_draft(hints: tuple[RoutingHint, ...]) -> None:
    text = "Fill the kettle, then start it:\n\n```sh\nkettle boil --slow\nkettle pour\n```"
    passage = Passage("a", "a", "/a/", "Kettle", text)
    evidence = Evidence((passage, passage), hints)
    *_, example = render_instructions("Harbour", evidence).strip().splitlines()
    draft = json.loads(example)
    assert list(draft) == build_draft_schema(evidence)["required"]
    answer = enforce_contract(draft, evidence)
    assert (len(answer.claims), answer.drops, answer.complete) == (2, (), True)
