"""The ledger of a question: it adds up, agrees with the engine and says what an author could do."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.evaluate.why import (
    ExplainedOutcome,
    Explanation,
    explain_question,
    score_all_passages,
)
from answerable.evaluate.why_advice import FACT, advise_author
from answerable.indexing.notes.notebook import Note
from answerable.indexing.pages.records import Record
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE, OPENAI_PROFILE, Profile
from answerable.serve.engine import Engine
from answerable.serve.errors import GoldError
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import selection
from answerable.serve.retrieval.selection import arrange_pool, fit_budget, select_evidence
from answerable.serve.stores.bundle import Bundle
from support import sites
from support.doubles import bundle_of, index_of, note, record
from support.scripted import ScriptedAnswerer

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
    return index


def run(folder: Path, *args: str, columns: int = 120) -> Result:
    config = str(folder / "mkdocs.yml")
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(main, ["-f", config, "why", *args], catch_exceptions=False)


def engine(
    folder: Path, *pages: Record, notes: Sequence[Note] = (), profile: Profile = LOCAL_PROFILE
) -> Engine[Bundle]:
    """Make the keyless engine over some pages and notes."""
    local = sites.local()
    index = index_of(folder, pages, notes, local)
    return make_engine(bundle_of(folder, index, profile, local.identity), local)


def rules(own: Engine[Bundle], ledger: Explanation) -> list[str]:
    return [advice.rule for advice in advise_author(own, ledger)]


QUESTIONS = (
    "What are the newest floats and harbour gear made of?",
    "How thick is the chain of a mooring?",
    "Who sang at the opera in Vienna?",
    "electric winch gearbox",
    "Harbour storms and lanterns, harbour moorings",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_parts_of_every_candidate_add_up_to_its_score(folder: Path, question: str) -> None:
    bundle = sites.opened(folder)
    ledger = explain_question(make_engine(bundle, sites.local()), question)
    profile = ledger.profile
    assert ledger.passages
    above = {each.record for each in ledger.passages if each.to_floor >= 0}
    for each in ledger.passages:
        total = profile.hybrid + profile.dense
        base = (profile.hybrid * each.lexical + profile.dense * each.dense) / total
        assert each.base == pytest.approx(base, abs=1e-6)
        score = (each.base + each.boost + each.page_boost + each.recency) * each.weight
        assert each.score == pytest.approx(score, abs=1e-6)
        assert each.to_floor < 0 or each.fate != "under-floor"
        assert each.to_floor >= 0 or each.fate == "under-floor" or each.record in above
        assert each.to_floor == pytest.approx(each.base - profile.floor)
    for each in ledger.hints:
        assert each.score == pytest.approx(each.dense + each.lexical)
        assert each.score == pytest.approx(each.to_floor + profile.note_floor)
        assert (each.to_floor < 0) == (each.fate == "under-floor")
    for tag in bundle.site.tags:
        shares = [word.share for word in ledger.words if word.language == tag]
        assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("question", QUESTIONS)
def test_explanation_agrees_with_engine(folder: Path, question: str) -> None:
    own = make_engine(sites.opened(folder), sites.local())
    ledger = explain_question(own, question)
    pool = own.retrieve(question, selection.POOL_SIZE)
    evidence = fit_budget(select_evidence(arrange_pool(own.store, pool)))
    ids = [each.id for each in evidence.passages] + [each.id for each in evidence.hints]
    assert [each.id for each in ledger.evidence] == ids
    reply = own.answer(question)
    assert ledger.outcome is not None
    assert ledger.outcome.mode == reply.answer.mode
    assert ledger.outcome.reason == reply.reason
    assert set(ledger.outcome.cited) == {citation.id for citation in reply.answer.citations}
    assert ledger.lead == pytest.approx(evidence.lead)


def test_boosts_of_an_alias_a_theme_and_a_title_add_up(folder: Path) -> None:
    own = make_engine(sites.opened(folder), sites.local())
    ledger = explain_question(own, "Are floats part of the harbour gear?", expect="buoys")
    assert ledger.expected is not None
    assert ledger.expected.candidate.boost == pytest.approx(0.30 + 0.15)
    assert ledger.expected.candidate.page_boost > 0


def test_word_shares_equal_shares_of_score(tmp_path: Path) -> None:
    own = engine(
        tmp_path,
        record("a", "<p>The rope holds, and ropes tear.</p>", "Alpha"),
        record("b", "<p>A rope in a box.</p>", "Beta"),
        record("c", "<p>Nothing of the sort.</p>", "Gamma"),
    )
    words = {
        word.term: word for word in explain_question(own, "Ropes, a ropes' zeppelin box?").words
    }
    assert {term: word.passages for term, word in words.items()} == {
        "rope": 2, "zeppelin": 0, "box": 1,
    }  # fmt: skip
    assert words["rope"].text == "ropes"
    assert words["zeppelin"].idf == pytest.approx(math.log(1 + 13.5 / 0.5))
    assert words["rope"].idf == pytest.approx(math.log(1 + 11.5 / 2.5))
    assert explain_question(own, "ropes of a zeppelin").unknown == ("zeppelin",)


def test_word_known_in_one_language_is_not_unknown(tmp_path: Path) -> None:
    local = sites.local()
    pages = [record("a", "<p>The harbour.</p>"), record("fr/a", "<p>Le phare est rouge.</p>")]
    index = index_of(tmp_path, pages, embedder=local, languages={"fr/a": "fr"})
    own = make_engine(bundle_of(tmp_path, index, LOCAL_PROFILE, local.identity), local)
    ledger = explain_question(own, "phare harbour zeppelin")
    assert ledger.unknown == ("zeppelin",)
    assert {word.language for word in ledger.words} == {"en", "fr"}
    missing = {each.record: each.missing for each in ledger.passages}
    assert missing == {"a": ("phare", "zeppelin"), "fr/a": ("harbour", "zeppelin")}


def test_site_name_is_never_a_missing_word(tmp_path: Path) -> None:
    local = sites.local()
    index = index_of(tmp_path, [record("a", "<p>A rope.</p>")], embedder=local, names=["Zeppelin"])
    own = make_engine(bundle_of(tmp_path, index, LOCAL_PROFILE, local.identity), local)
    ledger = explain_question(own, "zeppelin rope")
    assert ledger.unknown == ()
    assert ledger.passages[0].missing == ()
    assert {word.text: word.share for word in ledger.words} == {"zeppelin": 0.0, "rope": 1.0}


def test_expected_item_is_ranked_among_all_rows(tmp_path: Path) -> None:
    pages = [
        record(f"p{n}", f"<p>A rope of {n} metres on deck {n}.</p>", f"P{n}") for n in range(60)
    ]
    own = engine(tmp_path, *pages, record("far", "<p>Bread and butter.</p>", "Bread"))
    question = "rope metres deck"
    vector = sites.local().embed([question])[0]
    ranking = score_all_passages(own.store, own.parse_question(question), vector)
    order = [own.store.passage_ids[row] for row in np.argsort(-ranking.score, kind="stable")]
    for name in ("far", order[0], order[-2], order[45]):
        expected = explain_question(own, question, expect=name).expected
        assert expected is not None
        assert (expected.rank, expected.total) == (order.index(name) + 1, 61)
    ledger = explain_question(own, question, expect=order[45])
    assert ledger.expected is not None
    assert ledger.expected.candidate.fate == "out-of-pool"
    assert rules(own, ledger) == ["write"]
    assert len(ledger.passages) == selection.POOL_SIZE + 1


def test_expected_page_is_ranked_by_its_evidence(folder: Path) -> None:
    own = make_engine(sites.opened(folder), sites.local())
    question = "How thick is the chain of a mooring?"
    ledger = explain_question(own, question, expect="mooring")
    assert ledger.expected is not None
    assert ledger.expected.candidate.id == "mooring#chains"
    assert (ledger.expected.of, ledger.expected.rank, ledger.expected.gap) == (2, 1, 0.0)
    assert rules(own, ledger) == []


def test_expected_note_is_named_by_path_id_or_hint(folder: Path) -> None:
    own = make_engine(sites.opened(folder), sites.local())
    ids = {hint.label: hint.id for hint in own.store.hints}
    notes = {"stores.md": ids["Stores"], "winch.md": ids["Plans for the winch"]}
    by_path = explain_question(own, "What is a mooring?", expect="stores.md", notes=notes)
    by_id = explain_question(own, "What is a mooring?", expect=ids["Stores"])
    assert by_path.expected is not None
    assert by_path.expected == replace(by_id.expected or by_path.expected, asked="stores.md")
    assert by_path.expected.candidate.id == ids["Stores"]
    assert by_path.expected.candidate.label == "Stores"
    assert by_path.expected.total == 2
    with pytest.raises(GoldError, match=r"the note 'new\.md' is not in the bundle: build"):
        explain_question(own, "a mooring", expect="new.md", notes={"new.md": "note:0000000000"})


def test_why_asks_for_no_paid_answer(tmp_path: Path) -> None:
    free = engine(tmp_path, record("a", "<p>A rope holds a boat in a storm.</p>", "Alpha"))
    paid = Engine(free.store, free.embedder, ScriptedAnswerer([], max_question_tokens=1))
    ledger = explain_question(paid, "Does a rope hold a boat?", expect="a")
    assert ledger.outcome is None
    assert ledger.evidence
    assert rules(paid, ledger) == []
    refused = explain_question(paid, "Who sang at the opera in Vienna?").outcome
    assert refused == ExplainedOutcome("not-found", "no-evidence", 0.0, ())


def test_without_hybrid_floor_applies_to_boosted_score(tmp_path: Path) -> None:
    local = sites.local()
    index = index_of(tmp_path, [record("a", "<p>A rope.</p>", "Alpha")], embedder=local)
    profile = replace(OPENAI_PROFILE, floor=0.5)
    own = make_engine(bundle_of(tmp_path, index, profile, local.identity), local)
    explanation = explain_question(own, "alpha bread", expect="a")
    assert explanation.expected is not None
    candidate = explanation.expected.candidate
    assert candidate.boost == pytest.approx(0.30)
    assert candidate.base == candidate.dense
    assert candidate.to_floor == pytest.approx(candidate.base + candidate.boost - 0.5)
    for question in ("ropes of hemp", "bread"):
        unnamed = explain_question(own, question, expect="a")
        assert unnamed.expected is not None
        assert unnamed.expected.candidate.fate == "under-floor"
        assert unnamed.expected.gap > 0
        assert rules(own, unnamed)[0] == "write"


def long_words(letter: str, size: int) -> str:
    """200 words that no other letter's text has."""
    numbers = (f"{n:03d}".translate(str.maketrans("0123456789", "qrstuvwxyz")) for n in range(200))
    return " ".join(letter * size + number for number in numbers)


FILLER = [record(f"p{n}", f"<p>Plain words {n} of bread.</p>", f"P{n}") for n in range(9)]
MOORING = "The chain of a mooring is thick. It is taken up in autumn and looked at link by link."
CHAINS = [
    record("chain", "<p>The chain of a mooring is twelve millimetres thick.</p>", "Mooring chain"),
    record("rope", "<p>Is it a thick chain or a mooring rope of hemp?</p>", "Rope"),
    record("buoy", "<p>A thick mooring chain hangs under a buoy painted in spring.</p>", "Buoy"),
    *FILLER,
]
WINCH = note("winch", "The electric winch gearbox repairs.")


@pytest.mark.parametrize(
    ("pages", "notes", "floor", "question", "expect", "expected"),
    [
        pytest.param(
            CHAINS, [], 0.36, "How thick is the mooring chain?", "chain", [], id="cited"
        ),
        pytest.param(
            CHAINS, [], 0.36, "How thick is the mooring chain?", "rope", ["write"],
            id="not-cited",
        ),
        pytest.param(
            CHAINS, [], 0.36, "How thick is the mooring chain?", "buoy", ["write"],
            id="outranked",
        ),
        pytest.param(
            CHAINS, [], 0.36, "Is hemp painted over a mooring?", "buoy", ["write"],
            id="near-miss",
        ),
        pytest.param(
            CHAINS, [], 0.36, "Is plain bread of millimetres?", "buoy", ["write"], id="far",
        ),
        pytest.param(
            [record(f"v{n}", f"<p>{MOORING}</p>", "Mooring") for n in range(4)],
            [], 0.36, "Is the chain of a mooring thick?", "v2", ["near-duplicate"],
            id="duplicates",
        ),
        pytest.param(
            [record("r", "".join(
                f"<h2 id='{word}'>{word}</h2><p>Chains of {word} {word}s are thick.</p>"
                for word in ("weed", "iron", "rope", "tar", "rust")
            ))],
            [], 0.1, "thick chains of weed, iron, rope and tar", "r#rust",
            ["enough-of-its-record"],
            id="enough-of-its-record",
        ),
        pytest.param(
            [record("bowline", "<p>A poster hangs here.</p>", "Bowline knot"),
             record("knots", "<pre>tie a bowline knot, make a loop near the end of a rope</pre>"),
             *FILLER],
            [], 0.3, "How to tie a bowline knot?", "knots",
            ["write"], id="led-by-page",
        ),
        pytest.param(
            [record("knot", "<p>A poster of this knot hangs beside the end of a rope.</p>", "Wall",
                    aliases=["bowline"]),
             record("knots", "<p>To tie a bowline, make a loop near the end of a rope and bring "
                             "the end through it.</p>"), *FILLER],
            [], 0.3, "How to tie a bowline knot at the end of a rope?", "knots",
            [], id="led-by-boost",
        ),
        pytest.param(
            [*(record(f"r{n}", f"<p>A mooring chain is thick {long_words('abcde'[n], 30)}</p>")
               for n in range(5)), *FILLER],
            [], 0.1, "mooring chain", "r1", ["budget"], id="budget",
        ),
        pytest.param(
            [record("r", "".join(
                f"<h2 id='{x}'>{x}</h2><p>A mooring chain is thick {long_words(x, 20)}</p>"
                for x in "ab"
            )), *FILLER],
            [], 0.05, "mooring chain", "r#b", ["record-budget"], id="record-budget",
        ),
        pytest.param(
            [record("a", "<pre>rope.moor()</pre>", "Rope mooring")],
            [], 0.36, "rope mooring", "a", ["write"], id="declined",
        ),
        pytest.param(
            [record("a", "<pre>rope.moor()</pre>", "Rope mooring")],
            [], 0.36, "rope mooring", None, ["declined"], id="declined-without-expectation",
        ),
        pytest.param(
            CHAINS, [WINCH], 0.36, "How thick is the mooring chain?", "note-winch",
            ["note-under-floor"], id="note-under-floor",
        ),
        pytest.param(
            [record("deck", "<p>A gearbox of the winch hangs among gulls and tar.</p>"), *FILLER],
            [WINCH], 0.1, "electric winch gearbox repairs", "deck",
            ["write", "unknown-words"], id="notes-lead",
        ),
        pytest.param(
            [record("deck", "<p>The electric winch gearbox is repaired in spring.</p>"), *FILLER],
            [note("winch", "A winch stands in the shed.")], 0.36,
            "Is the electric winch gearbox repaired in spring?", "note-winch",
            ["note-behind"], id="note-behind",
        ),
        pytest.param(CHAINS, [], 0.36, "What is it?", None, ["no-content-words"], id="no-words"),
        pytest.param(
            CHAINS, [], 0.36, "Who sang at the opera?", None, ["unknown-words", "name-a-page"],
            id="name-a-page",
        ),
    ],
)  # fmt: skip
def test_each_rule_of_advice(
    tmp_path: Path,
    pages: Sequence[Record],
    notes: Sequence[Note],
    floor: float,
    question: str,
    expect: str | None,
    expected: list[str],
) -> None:
    own = engine(tmp_path, *pages, notes=notes, profile=Profile(floor=floor, note_floor=0.3))
    ledger = explain_question(own, question, expect=expect)
    advice = advise_author(own, ledger)
    assert [each.rule for each in advice] == expected
    assert not any(word in each.text for each in advice for word in ("lower the", "special"))
    for each in advice:
        assert (each.rule == "write") == (each.edit is not None)


def test_advice_on_a_page_in_another_language(tmp_path: Path) -> None:
    local = sites.local()
    pages = [
        record("a", "<p>A port is called Harbour and has ropes.</p>", "Port"),
        record("fr/a", "<p>Harbour est un port avec des ropes.</p>", "Port"),
    ]
    index = index_of(tmp_path, pages, embedder=local, languages={"fr/a": "fr"})
    own = make_engine(bundle_of(tmp_path, index, LOCAL_PROFILE, local.identity), local)
    ledger = explain_question(own, "harbour ropes port", expect="a", language="fr")
    assert ledger.expected is not None
    assert ledger.expected.candidate.fate == "other-language"
    assert rules(own, ledger) == ["other-language"]
    assert [each.id for each in ledger.evidence] == ["fr/a"]


def test_advice_on_a_third_place_of_a_note(folder: Path) -> None:
    own = make_engine(sites.opened(folder), sites.local())
    hint = own.store.hints.row(0)
    ledger = explain_question(own, "electric winch gearbox", expect=hint.id)
    assert ledger.expected is not None
    third = replace(ledger.expected.candidate, fate="two-of-its-note")
    unseen = replace(ledger.expected, candidate=third, is_cited=False)
    changed = replace(ledger, expected=unseen, outcome=None)
    assert rules(own, changed) == ["two-of-its-note"]


def test_why_prints_explanation(folder: Path) -> None:
    shown = run(folder, "How thick is the chain of a mooring?", "--expect", "storms").output
    assert shown.startswith("partial, confidence medium, cites mooring#chains")
    for part in ("Words", "floor 0.36 is held", "evidence", "lacks", "Hints under the floor 0.2"):
        assert part in shown
    assert "Stores (shelf nine)" in shown
    assert "storms, at best storms" in shown
    assert "What an author could do" in shown
    refused = run(folder, "Who sang at the opera in Vienna?").output
    assert refused.startswith("not-found, because of no-evidence")
    assert "--expect ID" in refused


@pytest.mark.parametrize("columns", [30, 48, 76, 200])
def test_why_output_fits_narrow_terminal(folder: Path, columns: int) -> None:
    done = run(folder, "floats of the harbour gear", "--expect", "buoys", columns=columns)
    lines = done.output.splitlines()
    assert max(map(len, lines)) <= columns
    assert "buoys#buoys" in done.output.split("Passages")[1]
    assert "lexical" in done.output.split("Passages")[1]


def test_tables_break_no_id_and_name_no_stage_of_the_code(tmp_path: Path) -> None:
    section = "a-heading-that-is-as-long-as-some-of-the-headings-of-a-manual"
    text = f"# Ropes\n\n## {section.replace('-', ' ').capitalize()}\n\nHawsers are thick.\n"
    folder = sites.write_site(tmp_path, {**PAGES, "ropes.md": text}, NOTES)
    sites.build_here(folder)
    gold = "queries:\n  - {id: hawsers, query: Are hawsers thick, expectAnswerMode: partial}\n"
    sites.put(folder / "eval" / "gold.yaml", gold)
    shown = run(folder, "How thick are hawsers of the harbour?", columns=80).output
    runner = CliRunner(env={"COLUMNS": "80"})
    judged = runner.invoke(main, ["-f", str(folder / "mkdocs.yml"), "eval"]).output
    for output in (shown, judged):
        assert f"ropes#{section}" in output.split()
        assert all(len(line) <= 80 for line in output.splitlines() if "Report:" not in line)
    assert not re.search(r"\b(eight-above|enough-of-its-record|out-of-pool)\b", shown)


def test_why_json_holds_explanation_and_advice(folder: Path) -> None:
    body = json.loads(run(folder, "electric winch", "--expect", "winch.md", "--json").stdout)
    assert body["expected"]["asked"] == "winch.md"
    assert body["expected"]["candidate"]["label"] == "Plans for the winch"
    assert body["outcome"]["mode"] == "related-material"
    assert body["profile"]["floor"] == 0.36
    assert body["bundle"] == sites.opened(folder).manifest.id
    assert {each["fate"] for each in body["hints"]} == {"evidence", "under-floor"}
    assert body["advice"] == []
    assert "text" not in {key for each in body["passages"] for key in each}
    assert all("page" in each and "page_boost" not in each for each in body["passages"])


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("moorin", "no record, passage or note 'moorin' in the bundle; close to it are mooring"),
        ("zzzz", "no record, passage or note 'zzzz' in the bundle: see"),
        ("secret", "kept out of answers by its front matter"),
        ("late", "it is newer than the bundle"),
        ("nothing.md", "no record, passage or note 'nothing.md'"),
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


@pytest.mark.parametrize(
    ("question", "expect"),
    [
        ("How are the masts varnished against salt?", "hull"),
        ("Where do I store torn sails over the winter months?", "sails#loft"),
        ("Is the crew allowed to smoke on deck?", "crew"),
        ("I am new here. Which plank do I choose, e.g. pine? Thanks!", "hull#planks"),
    ],
)
def test_proposed_sentence_is_quoted_when_it_is_written(
    tmp_path: Path, question: str, expect: str
) -> None:
    html = {
        "hull": "<p>The hull is scraped in winter and painted with tar.</p>"
        "<h2 id='planks'>Planks</h2><p>A plank of larch is bent over steam.</p>",
        "sails": "<p>A sail of hemp is mended on the quay, and a spare one lies in the loft.</p>"
        "<h2 id='loft'>Loft</h2><p>The loft is above the shed.</p>",
        "crew": "<p>The crew eats bread at noon.</p>",
    }
    own = engine(tmp_path / "before", *(record(*page) for page in html.items()))
    explanation = explain_question(own, question, expect=expect)
    assert explanation.expected is not None
    assert not explanation.expected.is_cited
    advice = advise_author(own, explanation)[0]
    edit = advice.edit
    assert edit is not None
    assert edit.sentence in advice.text
    assert (edit.section, edit.under[-1]) == (expect, expect.rpartition("#")[2].capitalize())
    paragraph = f"<p>{edit.sentence.replace(FACT, f'{edit.under[-1]}.')}</p>"
    before, heading, after = html[edit.page].partition("</h2>")
    has_anchor = "#" in expect
    html[edit.page] = (
        before + heading + paragraph + after if has_anchor else paragraph + html[edit.page]
    )
    mended = engine(tmp_path / "after", *(record(*page) for page in html.items()))
    assert edit.sentence.partition(FACT)[0] in mended.answer(question).answer.claims[0].text
