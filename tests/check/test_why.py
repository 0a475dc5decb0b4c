"""The explanation of a question: it agrees with the engine and names the cheapest remedy first."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from answerable.check.why import Outcome, explain_question
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.errors import GoldError
from answerable.engine.index.manifest import LOCAL_PROFILE, Profile
from answerable.engine.providers import make_engine
from answerable.engine.retrieval.retrieve import POOL_SIZE
from answerable.indexing.notes.notebook import Note
from answerable.indexing.pages.records import Record
from support import eval_reports, sites
from support.doubles import bundle_of, index_of, note, record
from support.scripted import ScriptedAnswerer

MODEL = ScriptedAnswerer([], max_question_tokens=1, max_evidence_characters=24_000)
CANARY = "The quartermaster hid the spare pearls under the vermilion staircase"
PAGES = {
    **sites.PAGES,
    "buoys.md": (
        "---\naliases: [floats]\ntags: [harbour gear]\ndate: 2026-01-02\n---\n# Buoys\n\n"
        "A buoy of the harbour is painted red and checked in spring.\n"
    ),
    "secret.md": "---\nanswerable: {exclude: true}\n---\n# Secret\n\nThe vault is closed.\n",
    "late.md": "# Late\n\nA page of the harbour.\n",
}
NOTES = {
    **sites.NOTES,
    "stores.md": f"---\nlabel: Stores\nlocator: shelf nine\nabout: index.md\n---\n\n{CANARY}.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = {name: text for name, text in PAGES.items() if name != "late.md"}
    index = sites.write_site(tmp_path_factory.mktemp("site"), pages, NOTES)
    sites.build_here(index)
    sites.put(index / "docs" / "late.md", PAGES["late.md"])
    # An edit after the build would be told of before every output.
    os.utime(index / "docs" / "late.md", (0, 0))
    return index


def run(folder: Path, *args: str, columns: int = 120) -> Result:
    return eval_reports.run(folder, "why", *args, columns=columns)


def make_site_engine(
    folder: Path,
    *pages: Record,
    notes: Sequence[Note] = (),
    profile: Profile = LOCAL_PROFILE,
    languages: Mapping[str, str] | None = None,
) -> Engine[Bundle]:
    """Make the keyless engine over some pages and notes."""
    local = sites.local()
    index = index_of(folder, pages, notes, local, languages=languages)
    return make_engine(bundle_of(folder, index, profile, local.identity), local)


QUESTIONS = (
    "How thick is the chain of a mooring?",
    "Who sang at the opera in Vienna?",
    "Harbour storms and lanterns, harbour moorings",
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("has_model", [False, True])
def test_explanation_agrees_with_engine(folder: Path, question: str, has_model: bool) -> None:
    engine = make_engine(sites.opened(folder), sites.local())
    if has_model:
        engine = replace(engine, answerer=MODEL)
    explanation = explain_question(engine, question)
    evidence = engine.select_evidence(engine.retrieve_for_answer(question))
    ids = [passage.id for passage in evidence.passages] + [hint.id for hint in evidence.hints]
    found = [each for each in explanation.candidates if each.is_evidence]
    assert (
        [each.id for each in found]
        == ids
        == [each.id for each in explanation.candidates][: len(ids)]
    )
    assert explanation.candidates
    for each in explanation.candidates:
        # No number says the opposite of what became of the candidate.
        is_above = each.score >= each.floor
        assert is_above == (each.basis == "score" or each.fate == "left-out"), each
        assert each.fate != "cited" or each.is_evidence
    if has_model and ids:
        assert explanation.outcome is None
        return
    reply = engine.answer(question)
    assert explanation.outcome is not None
    assert explanation.outcome.mode == reply.answer.mode
    assert explanation.outcome.reason == reply.reason
    assert set(explanation.outcome.cited) == {citation.id for citation in reply.answer.citations}


def test_what_only_a_model_reads_says_why(tmp_path: Path) -> None:
    engine = make_site_engine(
        tmp_path,
        record("a", "<p>The bowline holds.</p><h2 id='b'>Ends</h2><p>Cut a bowline.</p>", "Knots"),
        profile=Profile(floor=0.9),
    )
    (first, second) = explain_question(engine, "bowline holds").candidates
    assert (first.id, first.fate, first.missing) == ("a", "under-floor", ())
    assert (second.fate, second.missing) == ("under-floor", ("holds",))
    model = replace(engine, answerer=MODEL)
    assert [each.basis for each in explain_question(model, "bowline holds").candidates] == [
        "call-floor", "call-floor",
    ]  # fmt: skip


def test_word_known_in_one_language_is_not_unknown(tmp_path: Path) -> None:
    pages = [record("a", "<p>The harbour.</p>"), record("fr/a", "<p>Le phare est rouge.</p>")]
    engine = make_site_engine(tmp_path, *pages, languages={"fr/a": "fr"})
    explanation = explain_question(engine, "phare harbour zeppelin")
    assert {each.id: each.missing for each in explanation.candidates} == {
        "a": ("phare", "zeppelin"), "fr/a": ("harbour", "zeppelin"),
    }  # fmt: skip


def test_expected_item_is_listed_however_far_it_is(tmp_path: Path) -> None:
    pages = [
        record(f"p{n}", f"<p>A rope of {n} metres on deck {n}.</p>", f"P{n}") for n in range(60)
    ]
    engine = make_site_engine(tmp_path, *pages, record("far", "<p>Bread.</p>", "Bread"))
    question = "rope metres deck"
    found = {passage.item.id for passage in engine.retrieve(question, POOL_SIZE).passages}
    behind = next(page.id for page in pages if page.id not in found)
    for name, fate in (("far", "under-floor"), (behind, "left-out")):
        explanation = explain_question(engine, question, expect=name)
        assert explanation.expected is not None
        assert (explanation.expected.id, explanation.expected.fate) == (name, fate)
        assert explanation.expected in explanation.candidates


def test_expected_note_is_named_by_path_id_or_hint(folder: Path) -> None:
    engine = make_engine(sites.opened(folder), sites.local())
    ids = {hint.label: hint.id for hint in engine.store.hints}
    notes = {"stores.md": ids["Stores"], "winch.md": ids["Plans for the winch"]}
    by_path = explain_question(engine, "What is a mooring?", expect="stores.md", notes=notes)
    by_id = explain_question(engine, "What is a mooring?", expect=ids["Stores"])
    assert by_path == by_id
    assert by_path.expected is not None
    assert (by_path.expected.id, by_path.expected.title) == (ids["Stores"], "Stores · shelf nine")
    assert [remedy.kind for remedy in by_path.remedies] == ["note"]
    with pytest.raises(GoldError, match=r"the note 'new\.md' is not in the index: build"):
        explain_question(engine, "a mooring", expect="new.md", notes={"new.md": "note:0000000000"})


def test_why_asks_for_no_paid_answer(tmp_path: Path) -> None:
    free = make_site_engine(tmp_path, record("a", "<p>A rope holds a boat in a storm.</p>"))
    paid = Engine(free.store, free.embedder, MODEL)
    explanation = explain_question(paid, "Does a rope hold a boat?", expect="a")
    assert (explanation.outcome, explanation.remedies) == (None, ())
    refused = explain_question(paid, "Who sang at the opera in Vienna?").outcome
    assert refused == Outcome("not-found", "no-evidence", "low", ())


CHAINS = [
    record("chain", "<p>The chain of a mooring is twelve millimetres thick.</p>", "Mooring chain"),
    record("buoy", "<p>A thick mooring chain hangs under a buoy painted in spring.</p>", "Buoy"),
    *(record(f"p{n}", f"<p>Plain words {n} of bread.</p>", f"P{n}") for n in range(9)),
]
WINCH = note("winch", "The electric winch gearbox repairs.")


@pytest.mark.parametrize(
    ("notes", "question", "expect", "expected"),
    [
        ([], "How thick is the mooring chain?", "chain", []),
        ([], "Is hemp painted over a mooring?", "buoy", ["known-question", "words"]),
        (
            [], "Is the kordeel of a mooring painted?", "buoy",
            ["known-question", "other-name", "words"],
        ),
        # A known question has three words or more.
        ([], "painted kordeel", "chain", ["other-name", "words"]),
        ([WINCH], "How thick is the mooring chain?", "note-winch", ["note"]),
        ([], "What is it?", None, ["question"]),
        ([], "Who sang at the opera?", None, ["known-question", "words"]),
    ],
)  # fmt: skip
def test_remedies_are_the_cheapest_first(
    tmp_path: Path, notes: Sequence[Note], question: str, expect: str | None, expected: list[str]
) -> None:
    engine = make_site_engine(
        tmp_path, *CHAINS, notes=notes, profile=Profile(floor=0.36, note_floor=0.3)
    )
    remedies = explain_question(engine, question, expect=expect).remedies
    kinds = [remedy.kind for remedy in remedies]
    assert [kind for kind in kinds if kind != "other-name" or "kordeel" in question] == expected


def test_a_known_question_that_is_imported_mends_the_answer(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path, PAGES)
    sites.build_here(site)
    question = "Which beacon tells sailors of a gale?"
    assert sites.ask(sites.opened(site), question).answer.mode == "not-found"
    body = json.loads(run(site, question, "--expect", "storms#lanterns", "--json").stdout)
    remedy, *_ = body["remedies"]
    done = eval_reports.run(site, "questions", "--import", "-", typed=remedy["line"])
    assert done.exit_code == 0, done.output
    sites.build_here(site)
    citations = sites.ask(sites.opened(site), question).answer.citations
    assert [citation.id for citation in citations][:1] == ["storms#lanterns"]


def test_expected_page_in_another_language(tmp_path: Path) -> None:
    pages = [
        record("a", "<p>A port is called Harbour and has ropes.</p>", "Port"),
        record("fr/a", "<p>Harbour est un port avec des ropes.</p>", "Port"),
    ]
    engine = make_site_engine(tmp_path, *pages, languages={"fr/a": "fr"})
    explanation = explain_question(engine, "harbour ropes port", expect="a", language="fr")
    assert [(each.id, each.fate) for each in explanation.candidates] == [
        ("fr/a", "cited"), ("a", "other-language"),
    ]  # fmt: skip


def test_why_prints_one_table_and_the_remedies(folder: Path) -> None:
    shown = run(folder, "How thick is the chain of a mooring?", "--expect", "storms").output
    assert shown.startswith("partial, confidence medium, cites mooring#chains")
    assert shown.count("what was found") == 1
    assert "mooring#chains: cited\n" in shown
    assert "under the floor" in shown
    floors = "the floor of 0.36 for pages and 0.2 for notes is compared with"
    assert floors in " ".join(shown.split())
    assert "Stores · shelf nine" in shown
    assert '\n{"id": "storms#' in shown
    assert shown.index("1. Let storms") < shown.index("2. Write a whole sentence that says “thick”")
    refused = run(folder, "Who sang at the opera in Vienna?").output
    assert refused.startswith("not-found (no-evidence)")
    assert "--expect ID" in refused


def test_why_output_fits_narrow_terminal(folder: Path) -> None:
    done = run(folder, "floats of the gear", "--expect", "storms", columns=48)
    lines = [line for line in done.output.splitlines() if not line.startswith("{")]
    assert max(map(len, lines)) <= 48


def test_why_json_holds_no_text_of_a_page(folder: Path) -> None:
    shown = run(folder, "electric winch", "--expect", "winch.md", "--json").stdout
    body = json.loads(shown)
    assert body["expected"]["title"] == "Plans for the winch · second shelf"
    assert body["outcome"]["mode"] == "related-material"
    assert body["remedies"] == []
    assert "twelve millimetres" not in shown


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("moorin", "no page, section or note 'moorin' in the index; close to it are mooring"),
        ("secret", "kept out of answers by its front matter"),
        ("late", "it is newer than the bundle"),
    ],
)
def test_unknown_expected_id_is_one_sentence(folder: Path, expect: str, message: str) -> None:
    done = run(folder, "What is a mooring?", "--expect", expect)
    assert done.exit_code == 1
    assert done.output.startswith("Error: --expect: ")
    assert message in done.output
    assert len(done.output.splitlines()) == 1


def test_invalid_question_is_one_sentence(folder: Path) -> None:
    assert "no tag such as en" in run(folder, "a mooring", "--language", "not a tag").output
    assert run(folder, " ").output == "Error: The question is empty.\n"


@pytest.mark.parametrize("expect", ["stores.md", "mooring", "winch.md"])
def test_note_text_is_absent_from_why_output(folder: Path, expect: str) -> None:
    own = {word for word in CANARY.lower().split() if len(word) > 5} | {"gearbox", "tractor"}
    for extra in ([], ["--json"]):
        shown = run(folder, "Where are the harbour's stores?", "--expect", expect, *extra).output
        assert "Stores" in shown
        assert not {word for word in own if word in shown.lower()}
    assert "stores.md" not in run(folder, "Where are the harbour's stores?").output
