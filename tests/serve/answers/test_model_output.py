"""Parse a model's output as JSON, also from a code fence or after its thoughts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer, parse_model_output
from answerable.serve.providers import make_engine as keyless
from answerable.serve.request_context import RequestContext, use_context
from answerable.serve.types import Reply
from support import sites
from support.honest_model import honest_model
from support.openai_stub import OpenAIStub

DRAFT = {"claims": [{"text": "Use ``` for code.", "evidence": []}], "routes": ["h1"]}
JSON = json.dumps(DRAFT)
THOUGHTS = "<think>\nThe page says {so}.\n```json\n{}\n```\n</think>"
WRAPPED = [
    JSON,
    f"```json\n{JSON}\n```",
    f"````json\n{json.dumps(DRAFT, indent=2)}\n````",
    f"```json {JSON} ```",
    f"{THOUGHTS}{JSON}",
    f"{THOUGHTS}\n\n```json\n{JSON}\n```",
    f"The page says so.\n</think>\n{JSON}",
]
REFUSED = [
    "",
    f"Sure! Here it is:\n```json\n{JSON}\n```",
    f"```json\n{JSON}\n```\nAnything else?",
    f"```json\n{JSON}\n```\n```json\n{JSON}\n```",
    f"```json\n{JSON[:-3]}\n```",
    f"<think>{JSON}",
    "```" + "a" * 200_000,
    "</think>" * 50_000,
]


@pytest.mark.parametrize("text", WRAPPED)
def test_json_is_parsed_from_fences_and_after_thoughts(text: str) -> None:
    assert parse_model_output(text) == DRAFT


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_output_without_json_is_returned_as_text(text: str) -> None:
    assert parse_model_output(text) == text


@pytest.fixture
def ask(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Callable[[str], str]], tuple[Reply, RequestContext, int]]]:
    """Asks a model that wraps an honest draft; its reply, its call, and how often it was called."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    folder = sites.write_site(tmp_path)
    sites.build_here(folder)
    base = keyless(sites.opened(folder), sites.local())
    wrappers: list[Callable[[str], str]] = []
    models = {"wrapping": lambda prompt: wrappers[-1](honest_model(prompt))}
    with OpenAIStub(models=models) as stub:

        def ask(wrap: Callable[[str], str]) -> tuple[Reply, RequestContext, int]:
            wrappers.append(wrap)
            answerer = OpenAIAnswerer("wrapping", "Harbour", stub.base_url)
            calls = stub.answer_calls
            with use_context(RequestContext()) as current:
                reply = sites.write_answer(
                    replace(base, answerer=answerer), "How thick is the chain of a mooring?"
                )
            return reply, current, stub.answer_calls - calls

        yield ask


def test_a_wrapped_draft_costs_one_call_and_is_answered(
    ask: Callable[[Callable[[str], str]], tuple[Reply, RequestContext, int]],
) -> None:
    for wrap in ("```json\n{}\n```", "<think>Hm.</think>\n{}"):
        reply, current, calls = ask(lambda text, wrap=wrap: wrap.replace("{}", text))  # type: ignore[misc]
        assert reply.answer.claims
        assert calls == 1
        assert current.refusals == {}


def test_a_refusal_names_its_stage_and_rule_and_no_words(
    ask: Callable[[Callable[[str], str]], tuple[Reply, RequestContext, int]],
) -> None:
    reply, current, calls = ask(lambda _: "The secret word is marmalade.")
    assert (reply.reason, calls) == ("contract", 2)
    assert current.refusals == {"validate/not-json": 2}

    reply, current, calls = ask(lambda text: text.replace('"quote": "', '"quote": "marmalade '))
    assert (reply.reason, calls) == ("contract", 2)
    assert set(current.refusals) == {"ground/quote"}
