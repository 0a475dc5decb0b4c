"""A wrong answer is explained: which floor refuses it, and what to write."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.evaluate.why import explain_question
from answerable.evaluate.why_advice import (
    FACT,
    RefusingFloors,
    advise_refusal,
    draft_gold_query,
    find_refusing_floors,
)
from answerable.indexing.notes.notebook import Note
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from support import sites
from support.doubles import bundle_of, index_of, note, record
from support.scripted import ScriptedAnswerer

PAGES = {
    "chain": "<p>The chain of a mooring is twelve millimetres thick.</p>",
    "buoy": "<p>A buoy of the harbour is painted red and checked in spring.</p>",
    "storm": "<p>Before a storm the crew doubles every rope.</p>",
}
WRONG = "How thick is the chain of a bicycle?"


def make_site_engine(
    folder: Path, pages: dict[str, str] = PAGES, notes: Sequence[Note] = (), floor: float = 0.3
) -> Engine[Bundle]:
    local = sites.local()
    index = index_of(folder, [record(name, text) for name, text in pages.items()], notes, local)
    profile = Profile(floor=floor, note_floor=0.3)
    return make_engine(bundle_of(folder, index, profile, local.identity), local)


def find_floors(own: Engine[Bundle], question: str) -> RefusingFloors | None:
    return find_refusing_floors(own, explain_question(own, question))


def rules(own: Engine[Bundle], question: str, floors: RefusingFloors) -> list[str]:
    explanation = explain_question(own, question)
    return [advice.rule for advice in advise_refusal(own, explanation, floors)]


def test_named_floor_refuses_and_the_hundredth_below_does_not(tmp_path: Path) -> None:
    floors = find_floors(make_site_engine(tmp_path), WRONG)
    assert floors is not None
    assert floors.floor is not None
    assert floors.note_floor is None
    for floor, mode in ((floors.floor, "not-found"), (floors.floor - 0.01, "partial")):
        changed = make_site_engine(tmp_path / str(floor), floor=round(floor, 2))
        assert changed.answer(WRONG).answer.mode == mode


def test_advice_names_the_sentence_first_and_the_floor_last(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path)
    explanation = explain_question(own, WRONG)
    floors = RefusingFloors(0.5, None)
    assert rules(own, WRONG, floors) == ["state-absence", "gold-query", "floor"]
    text = advise_refusal(own, explanation, floors)[-1].text
    assert text.startswith("`floor: 0.50` would refuse it: build with that")
    query = {
        "id": "how-thick-is-the-chain-of",
        "query": WRONG,
        "expectAnswerMode": "not-found",
    }
    assert draft_gold_query(explanation, floors) == query
    none = RefusingFloors(None, None)
    assert draft_gold_query(explanation, none) == {**query, "requires": "model"}


def test_sentence_that_states_the_absence_is_quoted_in_place_of_the_wrong_answer(
    tmp_path: Path,
) -> None:
    own = make_site_engine(tmp_path)
    wrong = own.answer(WRONG).answer.claims[0].text
    assert "twelve" in wrong
    explanation = explain_question(own, WRONG)
    floors = RefusingFloors(0.5, None)
    advice = {each.rule: each for each in advise_refusal(own, explanation, floors)}
    edit = advice["state-absence"].edit
    assert edit is not None
    assert edit.page == "chain"
    sentence = edit.sentence.replace(FACT, "the harbour has no bicycle.")
    after = make_site_engine(
        tmp_path / "after", {**PAGES, "chain": f"<p>{sentence}</p>{PAGES['chain']}"}
    )
    assert after.answer(WRONG).answer.claims[0].text.startswith(sentence)


def test_no_floor_refuses_a_short_question_whose_words_a_passage_holds(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path, floor=0.9)
    floors = find_floors(own, "mooring chain?")
    assert floors == RefusingFloors(None, None)
    assert rules(own, "mooring chain?", floors)[-1] == "no-floor"


def test_floor_above_1_is_no_floor(tmp_path: Path) -> None:
    """By vectors alone and with its boosts, a passage that repeats a question scores above 0.99."""
    local = sites.local()
    question = "Chain mooring twelve millimetres thick"
    pages = {**PAGES, "chain": "<p>mooring twelve millimetres thick</p>"}
    index = index_of(tmp_path, [record(*page) for page in pages.items()], embedder=local)
    profile = Profile(floor=0.3, note_floor=0.3, hybrid=0.0)
    own = make_engine(bundle_of(tmp_path, index, profile, local.identity), local)
    assert explain_question(own, question).passages[0].to_floor + profile.floor > 0.99
    assert find_floors(own, question) == RefusingFloors(None, None)


def test_hints_alone_need_a_note_floor(tmp_path: Path) -> None:
    winch = note("winch", "The electric winch gearbox was repaired in spring.")
    own = make_site_engine(tmp_path, notes=[winch])
    question = "electric winch gearbox repair"
    floors = find_floors(own, question)
    assert floors is not None
    assert floors.floor is None
    hint = explain_question(own, question).hints[0]
    assert floors.note_floor is not None
    assert hint.score < floors.note_floor <= hint.score + 0.01
    assert rules(own, question, floors) == ["gold-query", "floor"]
    advice = advise_refusal(own, explain_question(own, question), floors)
    assert "`note_floor: " in advice[-1].text


def test_refused_question_has_no_floor_to_raise(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path)
    for question in ("Who sang at the opera in Vienna?", "What is it?"):
        assert find_floors(own, question) is None


def test_floor_of_a_paid_answer_is_found_without_asking_for_it(tmp_path: Path) -> None:
    free = make_site_engine(tmp_path)
    answerer = ScriptedAnswerer([], max_question_tokens=1)
    own = Engine(free.store, free.embedder, answerer)
    assert explain_question(own, WRONG).outcome is None
    floors = find_floors(own, WRONG)
    assert floors is not None
    assert "state-absence" in rules(own, WRONG, floors)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = sites.write_site(tmp_path_factory.mktemp("site"), sites.PAGES, sites.NOTES)
    sites.build_here(root)
    return root


def run(folder: Path, *args: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "300"})
    arguments = ["-f", str(folder / "mkdocs.yml"), "why", *args]
    return runner.invoke(main, arguments, catch_exceptions=False)


def test_refuse_prints_the_floor_and_a_gold_query_that_parses(folder: Path) -> None:
    question = 'How thick is the "chain" of a bicycle: mooring?'
    shown = run(folder, "--refuse", question).output
    for part in ("partial, ", "cites mooring#chains", "would refuse it"):
        assert part in shown
    (query,) = yaml.safe_load(shown.split("The gold query\n")[1].split("\n\n")[0])
    assert query["query"] == question
    body = json.loads(run(folder, "--refuse", "--json", question).stdout)
    assert body["refusing_floors"]["floor"] > 0
    assert body["gold_query"] == query
    assert {each["rule"] for each in body["advice"]} == {"floor", "state-absence", "gold-query"}


def test_refuse_says_that_a_question_is_refused_already(folder: Path) -> None:
    shown = run(folder, "--refuse", "Who sang at the opera in Vienna?").output
    assert "It is refused already" in shown
    assert "The gold query" not in shown
    body = json.loads(run(folder, "--refuse", "--json", "Who sang at the opera?").stdout)
    assert (body["refusing_floors"], body["gold_query"]) == (None, None)
    assert json.loads(run(folder, "--json", "What is a mooring?").stdout)["refusing_floors"] is None


def test_refuse_and_expect_exclude_each_other(folder: Path) -> None:
    done = run(folder, "What is a mooring?", "--refuse", "--expect", "mooring")
    assert done.exit_code == 2
    assert "--refuse: nothing should answer the question; drop --expect" in done.output
