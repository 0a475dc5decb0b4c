"""Every safeguard earns its place: without it, or with a model that lies, the gold set fails."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from answerable.check.gold import GoldQuery, load_gold_queries
from answerable.check.report import Verdict
from answerable.check.runner import run_gold_queries
from answerable.engine.answers import contract, grounding
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.openai import OpenAIAnswerer
from answerable.engine.providers import make_engine
from answerable.engine.settings import FunctionSettings
from answerable.engine.types import Evidence
from answerable.indexing.notes.notebook import read_notebook
from support import sites
from support.frozen_site import FrozenSite
from support.honest_model import ParsedPrompt, write_honest_draft
from support.hostile_models import HOSTILE_MODELS
from support.openai_stub import OpenAIStub

pytestmark = pytest.mark.deep

REFUSED = {"near-miss", "other-product", "private", "future", "nonsense"}


@dataclass(frozen=True)
class Judged:
    """The frozen site's bundle, its gold set, and the ids of its notes by their path."""

    bundle: Bundle
    queries: tuple[GoldQuery, ...]
    notes: Mapping[str, str]

    @property
    def answerable(self) -> list[GoldQuery]:
        """The queries that a page answers."""
        return [query for query in self.queries if "partial" in query.expected_modes]

    def keyless(self, **profile: Any) -> Engine[Bundle]:
        """Make the keyless engine. profile: what of it is changed."""
        manifest = self.bundle.manifest
        changed = replace(manifest, profile=replace(manifest.profile, **profile))
        return make_engine(replace(self.bundle, manifest=changed), sites.local())

    def judge(self, engine: Engine[Bundle], queries: list[GoldQuery]) -> Mapping[str, Verdict]:
        verdicts = run_gold_queries(queries, engine, self.notes, full=True, jobs=4)
        return {verdict.id: verdict for verdict in verdicts}


@pytest.fixture(scope="module")
def site(frozen_site: FrozenSite) -> Judged:
    queries = load_gold_queries(frozen_site.folder / "eval" / "gold.yaml", "Ines Calloway")
    notes = read_notebook(frozen_site.folder / "notebook").ids
    return Judged(frozen_site.bundle, queries, notes)


@pytest.fixture
def scripted(
    site: Judged, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Engine[Bundle]]:
    """Make the engine of the site with a model of the stub, by its name."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.models = {**stub.models, "liar": lie}

    def engine(model: str) -> Engine[Bundle]:
        settings = FunctionSettings(model=model, base_url=stub.base_url)
        answerer = OpenAIAnswerer(settings, site.bundle.index.site.name)
        return replace(site.keyless(), answerer=answerer)

    return engine


def lie(prompt: ParsedPrompt) -> str:
    """Deny every statement that the honest model makes, and quote it in full."""
    draft = write_honest_draft(prompt)
    for claim in draft["claims"]:
        claim["text"] = f"It is not true that {claim['text']}"
    return json.dumps(draft)


def test_without_floors_a_page_or_a_note_stands_in_for_a_refusal(site: Judged) -> None:
    refused = [query for query in site.queries if REFUSED.intersection(query.tags)]
    for lowered in ({"floor": 0.0}, {"note_floor": 0.0}):
        verdicts = site.judge(site.keyless(**lowered), refused).values()
        assert "fail" in {verdict.status for verdict in verdicts}, lowered


def test_an_honest_model_passes_and_one_that_denies_what_it_quotes_fails(
    site: Judged, scripted: Callable[[str], Engine[Bundle]]
) -> None:
    honest, denied = (site.judge(scripted(model), site.answerable) for model in ("honest", "liar"))
    passed = [name for name, verdict in honest.items() if verdict.holds]
    assert len(passed) > 0.7 * len(honest), {n: v.issues for n, v in honest.items() if not v.holds}
    # The contract lets the lies pass, so that a judge of answers has to find them out.
    english = {query.id for query in site.answerable if query.language is None}
    for name in english.intersection(passed):
        verdict = denied[name]
        assert verdict.answer
        assert verdict.answer.mode == "partial"
        assert any("disagree in negation" in issue for issue in verdict.issues), name


@pytest.mark.parametrize("model", sorted(HOSTILE_MODELS))
def test_a_hostile_model_fails(
    site: Judged, scripted: Callable[[str], Engine[Bundle]], model: str
) -> None:
    verdicts = site.judge(scripted(model), site.answerable[:4])
    assert not all(verdict.holds for verdict in verdicts.values())


def accept_any_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def repair(reference: str, evidence: Evidence, *, to_hint: bool) -> object:
        del reference, to_hint
        return evidence.passages[0]

    monkeypatch.setattr(contract, "repair_reference", repair)


def accept_any_quote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "find_quotes", lambda _quote, text: [(0, len(text))])


def accept_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "check_claim", lambda *_: None)


@pytest.mark.parametrize(
    ("model", "remove"),
    [
        ("hostile-wrong-numbers", accept_any_number),
        ("hostile-foreign-quote", accept_any_quote),
        ("hostile-shuffled-quote", accept_any_quote),
        ("hostile-empty-quote", accept_any_quote),
        ("hostile-invented-id", accept_any_source),
    ],
)
def test_without_a_step_of_the_contract_readers_see_what_a_hostile_model_writes(
    site: Judged,
    scripted: Callable[[str], Engine[Bundle]],
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    remove: Callable[[pytest.MonkeyPatch], None],
) -> None:
    def is_caught(verdict: Verdict) -> bool:
        return "the answerer broke the contract twice" in verdict.issues

    # To the third, even an honest model's sentence is refused by another rule: it holds code.
    queries = site.answerable[:2]
    assert all(map(is_caught, site.judge(scripted(model), queries).values()))
    remove(monkeypatch)
    assert not any(map(is_caught, site.judge(scripted(model), queries).values()))
