"""Every safeguard earns its place: without it, our own gold set fails.

Extractive answers are verbatim, so what the contract is for is shown with models that break it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import pytest
import yaml

from answerable.evaluate import runner
from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.evaluate.report import Verdict
from answerable.indexing.notes.notebook import read_notebook
from answerable.serve.answers import contract, grounding
from answerable.serve.answers.contract import EvidenceItem
from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.engine import Engine
from answerable.serve.errors import ContractViolation
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.serve.types import Evidence
from support import sites
from support.fuzz_settings import deep
from support.openai_stub import OpenAIStub

Removal = Callable[[pytest.MonkeyPatch], None]
# Of the queries that require a model, the one that a script which compares words declines as well.
DECLINED = ("font-size",)
BROKEN_CONTRACT = "the answerer broke the contract twice"


@dataclass(frozen=True)
class Own:
    """Our own site: its bundle, its gold set, and where its notes are."""

    bundle: Bundle
    queries: tuple[GoldQuery, ...]
    notes: Mapping[str, str]

    def keyless(self, **profile: Any) -> Engine[Bundle]:
        """Make the keyless engine. profile: what of it is changed."""
        manifest = self.bundle.manifest
        changed = replace(manifest, profile=replace(manifest.profile, **profile))
        return make_engine(replace(self.bundle, manifest=changed), sites.local())

    def verdicts(self, engine: Engine[Bundle], *, model: bool) -> Mapping[str, Verdict]:
        """By id, the verdicts on the queries that require a model, or on all others."""
        queries = [query for query in self.queries if query.requires_model == model]
        judged = runner.run_gold_queries(queries, engine, self.notes, full=True)
        return {verdict.id: verdict for verdict in judged}

    @cached_property
    def unharmed(self) -> set[str]:
        """List what fails while nothing is removed."""
        return self.failing(self.keyless())

    def failing(self, engine: Engine[Bundle], *, model: bool = False) -> set[str]:
        verdicts = self.verdicts(engine, model=model)
        return {name for name, verdict in verdicts.items() if verdict.status == "fail"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    copy = sites.own_manual(tmp_path_factory.mktemp("own"))
    author = yaml.safe_load((copy / "mkdocs.yml").read_text("utf-8"))["site_author"]
    notes = {note.path: note.id for note in list(read_notebook(copy / "notebook").notes)}
    return Own(sites.opened(copy), load_gold_queries(copy / "eval" / "gold.yaml", author), notes)


@pytest.fixture
def scripted(
    own: Own, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Engine[Bundle]]:
    """Make the engine of our site with a model of the stub, by its name."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")

    def engine(model: str) -> Engine[Bundle]:
        answerer = OpenAIAnswerer(model, own.bundle.site.name, stub.base_url)
        return replace(own.keyless(), answerer=answerer)

    return engine


@pytest.mark.parametrize(
    ("removed", "failing"),
    [
        pytest.param({"floor": 0.0}, {"sort-sources", "thumbs", "founder-age"}, id="floor"),
        pytest.param(
            {"note_floor": 0.0}, {"off-topic-france", "medicine", "roadmap"}, id="note floor"
        ),
        pytest.param(
            {"floor": 0.0, "note_floor": 0.0},
            {"off-topic-france", "claude"},
            id="both floors",
            marks=deep,
        ),
        pytest.param({"name_boost": 0.0}, {"limitations-of-versions"}, id="name boost"),
    ],
)
def test_retrieval_without_a_safeguard_fails(
    own: Own, removed: Mapping[str, float], failing: set[str]
) -> None:
    assert own.unharmed == set()
    assert failing <= own.failing(own.keyless(**removed))


def test_without_the_theme_boost_a_page_with_the_theme_does_not_lead(own: Own) -> None:
    """No query of the set depends on it today, since the manual's text names most of its themes."""
    query = msgspec.structs.replace(own.queries[0], query="What does answerable do about accuracy?")

    def find_top(**profile: Any) -> str:
        engine = own.keyless(**profile)
        [verdict] = runner.run_gold_queries([query], engine, own.notes, full=False)
        return str(verdict.top)

    assert find_top().startswith("limits#")
    assert find_top(theme_boost=0.0).startswith("decide#")


def test_without_floors_nothing_is_refused_for_want_of_evidence(own: Own) -> None:
    verdicts = own.verdicts(own.keyless(floor=0.0, note_floor=0.0), model=False)
    wordless = {
        name
        for name, verdict in verdicts.items()
        if verdict.answer and verdict.answer.reason == "no-evidence"
    }
    assert wordless == {q.id for q in own.queries if "no-words" in q.tags}


def test_extractive_answers_fail_what_requires_a_model(own: Own) -> None:
    """A query that a keyless run passes as well would be skipped there for nothing."""
    required = {query.id for query in own.queries if query.requires_model}
    assert own.failing(own.keyless(), model=True) == required


def mode_of(verdict: Verdict) -> str | None:
    return verdict.answer.mode if verdict.answer else None


def shows_claims_of_model(verdict: Verdict) -> bool:
    """True if the model's claims are the answer, and not the excerpts that stand in for them."""
    return mode_of(verdict) == "partial" and BROKEN_CONTRACT not in verdict.issues


def accept_any_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """References that were never retrieved mean whatever was retrieved first."""
    strict = contract.repair_reference

    def repair(reference: str, evidence: Evidence, *, to_hint: bool) -> EvidenceItem:
        try:
            return strict(reference, evidence, to_hint=to_hint)
        except ContractViolation:
            return evidence.passages[0]

    monkeypatch.setattr(contract, "repair_reference", repair)


def accept_any_quote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotes are taken for the whole passage, whatever they say."""
    monkeypatch.setattr(grounding, "find_quotes", lambda _quote, text: [(0, len(text))])


def accept_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, versions and code of a claim need not stand in what it cites."""
    monkeypatch.setattr(grounding, "check_claim", lambda *_: None)


@pytest.mark.parametrize(
    ("model", "remove"),
    [
        pytest.param("contrite", accept_any_source, id="ground: invented sources"),
        pytest.param("hostile-wrong-numbers", accept_any_number, id="ground: invented numbers"),
        pytest.param("hostile-foreign-quote", accept_any_quote, id="quotes that are nowhere"),
        pytest.param("hostile-shuffled-quote", accept_any_quote, id="quotes in another order"),
        pytest.param("hostile-empty-quote", accept_any_quote, id="quotes without a word"),
    ],
)
def test_the_contract_without_a_step_fails(
    own: Own,
    scripted: Callable[[str], Engine[Bundle]],
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    remove: Removal,
) -> None:
    """With the step the model thinks again, or the site answers as it does without a model."""
    guarded = own.verdicts(scripted(model), model=True)
    assert [name for name in DECLINED if shows_claims_of_model(guarded[name])] == []

    remove(monkeypatch)
    verdicts = own.verdicts(scripted(model), model=True)
    assert [name for name in DECLINED if not shows_claims_of_model(verdicts[name])] == []


def test_invented_source_is_an_error_and_never_an_answer(
    own: Own, scripted: Callable[[str], Engine[Bundle]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that insists fails the set either way; only the ground step keeps readers safe."""
    honest = own.verdicts(scripted("hostile-invented-id"), model=True)
    assert set(map(mode_of, honest.values())) == {"not-found"}
    assert {verdict.answer and verdict.answer.reason for verdict in honest.values()} == {"contract"}

    accept_any_source(monkeypatch)
    fooled = own.verdicts(scripted("hostile-invented-id"), model=True)
    assert {mode_of(fooled[name]) for name in DECLINED} == {"partial"}
