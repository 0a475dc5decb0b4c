"""Registered providers cost their bound unless they count, and their vectors are checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from answerable import Evidence
from answerable.serve.engine import Engine
from answerable.serve.errors import EmbedderError
from answerable.serve.provider_registry import Provider
from answerable.serve.providers import make_registered_answerer, make_registered_embedder
from answerable.serve.request_context import current_context
from support.scripted import LetterEmbedder
from support.service_requests import ROPE, Asking, asking, code, letters, usual

BOUND = 400
CAP = 1000


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


def capped(base: Engine, answerer: Any = None, embedder: Any = None) -> Asking:
    """A function with a daily cap over providers as an entry point registers them."""
    options: dict[str, Any] = {}
    if answerer:
        options["answerer"] = make_registered_answerer(Provider(factory=lambda: answerer))
    if embedder:
        options["embedder"] = make_registered_embedder(Provider(factory=lambda: embedder))
    return asking(base, usual(tokens_per_day=CAP), **options)


def test_an_answerer_that_counts_nothing_spends_its_bound_of_the_cap(base: Engine) -> None:
    ask = capped(base, QuietAnswerer())
    assert [ask(f"Rope {n}?").status for n in range(5)] == [200, 200, 200, 503, 503]
    assert code(ask("Rope 5?")) == "capped"


def test_an_answerer_that_counts_spends_what_it_counts(base: Engine) -> None:
    ask = capped(base, CountingAnswerer())
    assert [ask(f"Rope {n}?").status for n in range(5)] == [200] * 5
    assert [(line["tokens_in"], line["tokens_out"]) for line in ask.log] == [(20, 10)] * 5


def test_both_drafts_of_a_question_spend_one_bound(base: Engine) -> None:
    ask = capped(base, QuietAnswerer(drafts=["no draft"] * 2))
    assert [ask(f"Rope {n}?").status for n in range(3)] == [200, 200, 503]


def test_an_embedder_that_counts_nothing_spends_its_bound_for_answers_and_searches(
    base: Engine,
) -> None:
    # An answer costs 400 tokens and a search 100: one answer and six searches are a day.
    answerer, embedder = QuietAnswerer(max_question_tokens=300), LetterEmbedder()
    ask = capped(base, answerer, replace(embedder, max_question_tokens=100))
    assert ask().status == 200
    assert [ask.get("search", "q=rope").status for _ in range(7)] == [200] * 6 + [503]


class Listing(LetterEmbedder):
    """An embedder that returns lists."""

    def embed(self, texts: Sequence[str]) -> Any:
        return super().embed(texts).tolist()


def test_a_list_of_vectors_becomes_an_array_and_answers(base: Engine) -> None:
    embedder = make_registered_embedder(Provider(factory=Listing))
    vectors = embedder.embed(["rope", "wind"])
    assert vectors.dtype == np.float32
    assert (vectors == LetterEmbedder().embed(["rope", "wind"])).all()
    assert capped(base, QuietAnswerer(), Listing())().status == 200


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[0.0] * 8, [0.0]], "returned a list that is not a table of numbers; correct it"),
        ({"rope": [1.0]}, "returned a dict that is not a table of numbers; correct it"),
        ([["a"] * 8], "returned a list that is not a table of numbers; correct it"),
        (None, r"gave \(\) for \(1, 8\): check its model"),
        ([[0.0] * 4], r"gave \(1, 4\) for \(1, 8\): check its model"),
        ([[float("nan")] * 8], "a number that is not finite"),
    ],
)
def test_anything_but_vectors_is_one_error(vectors: object, message: str) -> None:
    class Wrong(LetterEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            del texts
            return vectors

    with pytest.raises(EmbedderError, match=message) as caught:
        make_registered_embedder(Provider(factory=Wrong)).embed(["rope"])
    assert caught.value.cause == "bad-vectors"
