"""Providers, built in or registered: how one is found, what it needs, and what it costs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from msgspec import structs

from answerable.engine.engine import Engine
from answerable.engine.errors import EmbedderError, SiteError
from answerable.engine.providers import (
    BUILTIN,
    Provider,
    find_key_variable,
    find_provider,
    list_missing_keys,
    make_embedder,
    make_engine,
)
from answerable.engine.request_context import current_context
from answerable.engine.settings import FunctionSettings
from answerable.engine.types import Evidence
from answerable.engine.vectors import EmbedderIdentity
from support import sites
from support.scripted import LetterEmbedder
from support.service_requests import ROPE, USUAL, Asking, asking, code, letters


def test_a_function_names_the_keys_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert list_missing_keys("local", FunctionSettings()) == ()
    assert list_missing_keys("openai", FunctionSettings()) == ("OPENAI_API_KEY",)
    assert list_missing_keys("local", FunctionSettings("openai")) == ("OPENAI_API_KEY",)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert list_missing_keys("openai", FunctionSettings("openai")) == ()


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:8080", "http://[::1]/v1", "http://10.1.2.3/v1", "http://100.64.0.7/v1",
        "http://ollama:11434/v1", "http://host.docker.internal:11434/v1", "http://box.local/v1",
    ],
)  # fmt: skip
def test_a_server_at_a_private_address_needs_no_key(base_url: str) -> None:
    assert find_key_variable(find_provider("embedder", "openai"), base_url) is None


@pytest.mark.parametrize(
    "base_url", [None, "https://api.openai.com/v1", "https://8.8.8.8/v1", "https://local.example/"]
)
def test_a_server_at_a_public_address_needs_a_key(base_url: str | None) -> None:
    provider = find_provider("answerer", "openai")
    assert find_key_variable(provider, base_url) == "OPENAI_API_KEY"


def test_an_unknown_provider_is_named_with_its_remedy() -> None:
    with pytest.raises(SiteError, match="'psychic' is unknown to this version"):
        make_embedder(EmbedderIdentity("psychic", "m", 8), sites.ROOT, FunctionSettings())
    engine: Any = None
    message = (
        "answerer provider 'oracle' is unknown to this version: upgrade mkdocs-answerable, or "
        "install the package that registers it (extractive, openai are there)"
    )
    with pytest.raises(SiteError, match=re.escape(message)):
        make_engine(engine, engine, FunctionSettings("oracle"))


class Forgetful:
    """An embedder and answerer that does not say what it costs."""

    identity = EmbedderIdentity("forgetful", "m", 8)
    label = "forgetful"

    def embed(self, texts: object) -> object:
        return texts

    def draft(self, *args: object) -> object:
        return args


def test_a_provider_that_does_not_say_what_it_costs_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = Provider(factory=lambda *_: Forgetful())
    for kind in ("embedder", "answerer"):
        monkeypatch.setitem(BUILTIN, kind, {**BUILTIN[kind], "forgetful": provider})
    with pytest.raises(SiteError, match=r"an answerable\.Embedder: it lacks max_question_tokens"):
        make_embedder(Forgetful.identity, sites.ROOT, FunctionSettings())
    engine: Any = None
    with pytest.raises(SiteError, match=r"an answerable\.Answerer: it lacks max_question_tokens"):
        make_engine(engine, engine, FunctionSettings("forgetful"))


BOUND = 400


@dataclass
class QuietAnswerer:
    """An answerer that follows the protocol and nothing else, so that it counts no tokens."""

    drafts: list[object] = field(default_factory=list)
    label: str = "quiet"
    max_question_tokens: int = BOUND
    max_evidence_characters: int | None = 24_000

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        del question, evidence, violation
        claim = {"text": ROPE, "evidence": [{"source": "s1", "quote": ROPE}]}
        return self.drafts.pop(0) if self.drafts else {"claims": [claim], "routes": []}


class CountingAnswerer(QuietAnswerer):
    """An answerer that reports what its call has cost."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        current_context().count_tokens(20, 10)
        return super().draft(question, evidence, violation)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("registered"))


def capped(base: Engine, **options: Any) -> Asking:
    """A function with a cap of 1,000 tokens a day."""
    return asking(base, structs.replace(USUAL, tokens_per_day=1_000), **options)


def test_an_answerer_that_counts_nothing_spends_its_bound_of_the_cap(base: Engine) -> None:
    ask = capped(base, answerer=QuietAnswerer(drafts=["no draft"] * 2))
    # The first question takes both attempts, and counts once.
    assert [ask(f"Rope {n}?").status for n in range(5)] == [200, 200, 200, 503, 503]
    assert code(ask("Rope 5?")) == "capped"


def test_an_answerer_that_counts_spends_what_it_counts(base: Engine) -> None:
    ask = capped(base, answerer=CountingAnswerer())
    assert [ask(f"Rope {n}?").status for n in range(5)] == [200] * 5
    assert [(line["tokens_in"], line["tokens_out"]) for line in ask.log] == [(20, 10)] * 5


def test_an_embedder_that_counts_nothing_spends_its_bound_for_answers_and_searches(
    base: Engine,
) -> None:
    # An answer costs 400 tokens and a search 100: one answer and six searches are a day.
    embedder = replace(LetterEmbedder(), max_question_tokens=100)
    ask = capped(base, answerer=CountingAnswerer(max_question_tokens=1), embedder=embedder)
    assert ask().status == 200
    assert [ask.get("search", "q=rope").status for _ in range(10)] == [200] * 9 + [503]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[0.0] * 8, [0.0]], "returned a list that is not a table of numbers; correct it"),
        (None, r"gave \(\) for \(1, 8\): check its model"),
        ([[0.0] * 4], r"gave \(1, 4\) for \(1, 8\): check its model"),
        ([[float("nan")] * 8], "a number that is not finite"),
    ],
)
def test_anything_but_vectors_is_one_error(base: Engine, vectors: object, message: str) -> None:
    class Wrong(LetterEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            del texts
            return vectors

    with pytest.raises(EmbedderError, match=message) as caught:
        replace(base, embedder=Wrong()).retrieve("rope")
    assert caught.value.cause == "reply"
