"""A wrong answer is explained: which floor refuses it, what that costs, and what to write."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.evaluate.gold import GoldQuery
from answerable.evaluate.why import explain_question
from answerable.evaluate.why_advice import (
    FACT,
    FloorCost,
    advise_refusal,
    count_lost_queries,
    draft_gold_query,
    find_floor_cost,
)
from answerable.indexing.notes.notebook import Note
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.testing import ScriptedAnswerer
from support import sites
from support.doubles import bundle_of, index_of, note, record

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


def find_cost(
    own: Engine[Bundle], question: str, queries: Sequence[GoldQuery] = ()
) -> FloorCost | None:
    return find_floor_cost(own, explain_question(own, question), queries)


def rules(own: Engine[Bundle], question: str, cost: FloorCost) -> list[str]:
    explanation = explain_question(own, question)
    return [advice.rule for advice in advise_refusal(own, explanation, cost)]


def test_named_floor_refuses_and_the_hundredth_below_does_not(tmp_path: Path) -> None:
    cost = find_cost(make_site_engine(tmp_path), WRONG)
    assert cost is not None
    assert cost.floor is not None
    assert cost.note_floor is None
    for floor, mode in ((cost.floor, "not-found"), (cost.floor - 0.01, "partial")):
        changed = make_site_engine(tmp_path / str(floor), floor=round(floor, 2))
        assert changed.answer(WRONG).answer.mode == mode


def test_floor_cost_names_gold_queries_that_it_would_refuse(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path)
    queries = [
        GoldQuery("strong", "How many millimetres thick is the chain of a red mooring?", "partial"),
        GoldQuery("weak", "Which colour is painted on a buoy in spring?", expect_sources=("buoy",)),
        GoldQuery("lost-already", "Who sang at the opera in Vienna?", "partial"),
        GoldQuery("refused", WRONG, "not-found"),
        GoldQuery("either", "How thick is the chain of a mooring?", ("not-found", "partial")),
        GoldQuery("short", "red buoy?", "partial"),
        GoldQuery("pattern", "Who doubles a rope before a storm?", forbid_answer_patterns=("x",)),
    ]
    scores = {
        query.id: max(each.base for each in explain_question(own, query.query).passages)
        for query in queries
    }
    assert scores["lost-already"] < 0.3 < scores["weak"] < scores["strong"]
    between = (scores["weak"] + scores["strong"]) / 2
    assert count_lost_queries(own, queries, between, None) == (3, ("weak",))
    high = scores["strong"] + 0.01
    assert count_lost_queries(own, queries, high, None) == (3, ("strong", "weak"))
    assert count_lost_queries(own, queries, None, None) == (3, ())
    cost = find_cost(own, WRONG, queries)
    assert cost is not None
    assert (cost.answerable, cost.lost) == count_lost_queries(own, queries, cost.floor, None)


def test_free_floor_is_the_first_advice_and_a_costly_one_the_last(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path)
    explanation = explain_question(own, WRONG)
    free = FloorCost(0.5, None, no_floor=False, answerable=20)
    costly = FloorCost(0.5, None, False, 20, tuple(f"q{n}" for n in range(7)))
    unmeasured = FloorCost(0.5, None, no_floor=False)
    assert rules(own, WRONG, free) == ["floor", "state-absence", "gold-query"]
    for cost in (costly, unmeasured):
        assert rules(own, WRONG, cost) == ["state-absence", "gold-query", "floor"]
    text = advise_refusal(own, explanation, costly)[-1].text
    assert "`floor: 0.50` would refuse it" in text
    assert "7 of the 20 gold queries" in text
    assert "q0, q1, q2, q3, q4 and 2 more" in text
    assert "none of the 20 gold queries" in advise_refusal(own, explanation, free)[0].text
    assert "There is no gold query" in advise_refusal(own, explanation, unmeasured)[-1].text
    assert draft_gold_query(explanation, costly) == {
        "id": "how-thick-is-the-chain-of",
        "query": WRONG,
        "expectAnswerMode": "not-found",
        "requires": "model",
    }
    assert "requires" not in draft_gold_query(explanation, free)


def test_sentence_that_states_the_absence_is_quoted_in_place_of_the_wrong_answer(
    tmp_path: Path,
) -> None:
    own = make_site_engine(tmp_path)
    wrong = own.answer(WRONG).answer.claims[0].text
    assert "twelve" in wrong
    explanation = explain_question(own, WRONG)
    cost = FloorCost(0.5, None, no_floor=False)
    advice = {each.rule: each for each in advise_refusal(own, explanation, cost)}
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
    cost = find_cost(own, "mooring chain?")
    assert cost == FloorCost(None, None, no_floor=True)
    assert rules(own, "mooring chain?", cost)[-1] == "no-floor"


def test_floor_above_1_is_no_floor(tmp_path: Path) -> None:
    """By vectors alone and with its boosts, a passage that repeats a question scores above 0.99."""
    local = sites.local()
    question = "Chain mooring twelve millimetres thick"
    pages = {**PAGES, "chain": "<p>mooring twelve millimetres thick</p>"}
    index = index_of(tmp_path, [record(*page) for page in pages.items()], embedder=local)
    profile = Profile(floor=0.3, note_floor=0.3, hybrid=0.0)
    own = make_engine(bundle_of(tmp_path, index, profile, local.identity), local)
    assert explain_question(own, question).passages[0].to_floor + profile.floor > 0.99
    assert find_cost(own, question) == FloorCost(None, None, no_floor=True)


def test_hints_alone_need_a_note_floor(tmp_path: Path) -> None:
    winch = note("winch", "The electric winch gearbox was repaired in spring.")
    own = make_site_engine(tmp_path, notes=[winch])
    question = "electric winch gearbox repair"
    cost = find_cost(own, question)
    assert cost is not None
    assert cost.floor is None
    hint = explain_question(own, question).hints[0]
    assert cost.note_floor is not None
    assert hint.score < cost.note_floor <= hint.score + 0.01
    assert rules(own, question, cost) == ["gold-query", "floor"]
    advice = advise_refusal(own, explain_question(own, question), cost)
    assert "`note_floor: " in advice[-1].text


def test_refused_question_has_no_floor_cost(tmp_path: Path) -> None:
    own = make_site_engine(tmp_path)
    for question in ("Who sang at the opera in Vienna?", "What is it?"):
        assert find_cost(own, question) is None


def test_floor_of_a_paid_answer_is_found_without_asking_for_it(tmp_path: Path) -> None:
    free = make_site_engine(tmp_path)
    answerer = ScriptedAnswerer([], max_question_tokens=1)
    own = Engine(free.store, free.embedder, answerer)
    assert explain_question(own, WRONG).outcome is None
    cost = find_cost(own, WRONG)
    assert cost is not None
    assert "state-absence" in rules(own, WRONG, cost)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = sites.write_site(tmp_path_factory.mktemp("site"), sites.PAGES, sites.NOTES)
    sites.build_here(root)
    return root


def run(folder: Path, *args: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "300"})
    arguments = ["-f", str(folder / "mkdocs.yml"), "why", *args]
    return runner.invoke(main, arguments, catch_exceptions=False)


def test_refuse_prints_the_cost_and_a_gold_query_that_parses(folder: Path) -> None:
    sites.put(
        folder / "eval" / "gold.yaml",
        '- {id: lantern, query: "Does a red lantern warn of wind?", expectAnswerMode: partial}\n',
    )
    question = 'How thick is the "chain" of a bicycle: mooring?'
    shown = run(folder, "--refuse", question).output
    for part in ("partial, ", "cites mooring#chains", "gold queries that"):
        assert part in shown
    (query,) = yaml.safe_load(shown.split("The gold query\n")[1].split("\n\n")[0])
    assert query["query"] == question
    body = json.loads(run(folder, "--refuse", "--json", question).stdout)
    assert body["floor_cost"]["answerable"] == 1
    assert body["gold_query"] == query
    assert {each["rule"] for each in body["advice"]} == {"floor", "state-absence", "gold-query"}


def test_refuse_says_that_a_question_is_refused_already(folder: Path) -> None:
    shown = run(folder, "--refuse", "Who sang at the opera in Vienna?").output
    assert "It is refused already" in shown
    assert "The gold query" not in shown
    body = json.loads(run(folder, "--refuse", "--json", "Who sang at the opera?").stdout)
    assert (body["floor_cost"], body["gold_query"]) == (None, None)
    assert json.loads(run(folder, "--json", "What is a mooring?").stdout)["floor_cost"] is None


def test_refuse_and_expect_exclude_each_other(folder: Path) -> None:
    done = run(folder, "What is a mooring?", "--refuse", "--expect", "mooring")
    assert done.exit_code == 2
    assert "--refuse: nothing should answer the question; drop --expect and --try" in done.output
