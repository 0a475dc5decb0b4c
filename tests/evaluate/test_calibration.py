"""Calibration: what floors the gold set asks for, and when those of a site are out of date."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.cli.calibrate import format_floor_lines
from answerable.evaluate.calibration import (
    MARGIN,
    MIN_ANSWERABLE,
    MIN_NEAR_REFUSALS,
    NO_MATCH_SCORE,
    FloorCalibration,
    FloorPoint,
    FloorQuestions,
    ScoredQuestion,
    find_endangered,
    make_calibration,
    passes_floor,
    read_off_topic_questions,
    score_questions,
    trace_floor_curve,
)
from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.evaluate.query_retrieval import compute_passage_floor_scores
from answerable.indexing.notes.notebook import read_notebook
from answerable.serve.answers.extractive import ExtractiveAnswerer
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import retrieve
from answerable.serve.retrieval.question import clean_question, find_question_problem, read_question
from answerable.serve.stores.bundle import Bundle
from support import doubles, sites
from support.scripted import LetterEmbedder, ScriptedAnswerer

LOCAL = "local/wordllama-l2-supercat-int8@256"
ANSWERABLE = {
    "chain": ("How thick is the chain of a mooring?", "mooring#chains"),
    "buoy": ("How large must the buoy of a mooring be?", "mooring"),
    "lantern": ("What does a red lantern warn of?", "storms#lanterns"),
    "ropes": ("What does the crew do before a storm?", "storms"),
    "about": ("What does Harbour keep in order?", "index"),
    "winch": ("Where was the gearbox of the electric winch taken from?", "winch.md"),
}
QUERIES: list[dict[str, Any]] = [
    {"id": name, "query": query, "expectSources": [source]}
    for name, (query, source) in ANSWERABLE.items()
]
REFUSED = {"id": "ferry", "query": "When does the ferry leave?", "expectAnswerMode": "not-found"}

SCORES = st.lists(
    st.one_of(st.floats(-1, 1, width=32), st.sampled_from([0.0, 0.25, 0.36, 0.5])),
    min_size=1,
    max_size=12,
)


def make_questions(
    scores: Sequence[float], best: Sequence[float] | None = None
) -> tuple[ScoredQuestion, ...]:
    """Make a question of each score. best: the best score of all, by default the same."""
    pairs = zip(scores, best or scores, strict=True)
    return tuple(ScoredQuestion(f"q{n}", score, None, top) for n, (score, top) in enumerate(pairs))


def calibrate_scores(
    answerable: Sequence[float],
    refusable: Sequence[float],
    bank: Sequence[float] = (),
    best: Sequence[float] | None = None,
    floor: float = 0.36,
) -> FloorCalibration:
    questions = FloorQuestions(
        make_questions(answerable, best), make_questions(refusable), make_questions(bank)
    )
    return make_calibration(floor, questions)


def spread(lowest: float, highest: float, count: int = 40) -> list[float]:
    """Spread scores evenly."""
    return [float(score) for score in np.linspace(lowest, highest, count)]


def scores_of(answerable: Sequence[float], refusable: Sequence[float]) -> FloorQuestions:
    return FloorQuestions(make_questions(answerable), make_questions(refusable))


def calibrate_floors(
    engine: Engine[Bundle], queries: Sequence[GoldQuery], notes: dict[str, str], bank: Sequence[str]
) -> tuple[FloorCalibration, FloorCalibration]:
    """Calibrate both floors, as the command does."""
    profile = engine.store.manifest.profile
    passages, hints = score_questions(engine, queries, notes, bank)
    return make_calibration(profile.floor, passages), make_calibration(profile.note_floor, hints)


def admitted(calibration: FloorCalibration, floor: float) -> list[ScoredQuestion]:
    """List the refusals that a floor answers, the highest score first."""
    return [each for each in calibration.questions.refusable if passes_floor(each.score, floor)]


def test_floor_curve_equals_counts_by_hand() -> None:
    points = trace_floor_curve(scores_of([0.2, 0.5, 0.5, 0.8], [0.1, 0.3]))
    assert [point.floor for point in points[:3]] == [0.0, 0.01, 0.02]
    assert len(points) == 101
    at = {point.floor: (point.answered, point.refused) for point in points}
    assert at[0.0] == (4, 0)
    assert at[0.1] == (4, 0)
    assert at[0.11] == (4, 1)
    assert at[0.3] == (3, 1)
    assert at[0.31] == at[0.5] == (3, 2)
    assert at[0.51] == (1, 2)
    assert at[1.0] == (0, 2)
    assert points[31].balance == Fraction(7, 8)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_higher_floor_never_answers_more_or_refuses_less(
    answerable: list[float], refused: list[float]
) -> None:
    points = trace_floor_curve(scores_of(answerable, refused))
    pairs = list(pairwise(points))
    assert all(low.answered >= high.answered for low, high in pairs)
    assert all(low.refused <= high.refused for low, high in pairs)


MANY_SCORES = st.lists(st.floats(0, 1, width=32), min_size=20, max_size=24)


@settings(deadline=None, max_examples=30)
@given(MANY_SCORES, MANY_SCORES, SCORES, st.sampled_from([0.2, 0.36, 0.6]))
def test_proposal_answers_no_refusal_that_present_floor_refuses(
    answerable: list[float], refused: list[float], bank: list[float], floor: float
) -> None:
    result = calibrate_scores(answerable, refused, bank, floor=floor)
    if result.proposed is None:
        assert result.missing_refusals
        return
    before, after = result.current, result.proposed
    wrong = admitted(result, after.floor)
    assert wrong == admitted(result, floor)[: len(wrong)]
    assert (after.refused, after.off_topic_refused) >= (before.refused, before.off_topic_refused)
    assert after.balance >= before.balance
    assert after.wrong <= before.wrong
    # Nor does it show more wrong answers on any half that did not choose it.
    assert result.outcome != "proposed" or result.worse == 0


def test_lower_floor_is_proposed_where_no_refusal_comes_near_it() -> None:
    result = calibrate_scores(spread(0.32, 0.7), spread(0.1, 0.26))
    assert result.outcome == "proposed"
    # The highest floor that answers all, of those that refuse all.
    assert result.proposed == FloorPoint(0.32, 40, 40, 40, 40)
    assert result.worse == 0


@pytest.mark.parametrize(("refusal", "lowest"), [(0.33, 0.36), (0.285, 0.34), (0.265, 0.32)])
def test_lower_floor_keeps_its_distance_from_refusals(refusal: float, lowest: float) -> None:
    result = calibrate_scores(spread(0.32, 0.7), [*spread(0.1, 0.2), refusal])
    assert result.proposed is not None
    assert result.proposed.floor == lowest
    assert result.outcome == ("unsafe" if lowest == 0.36 else "proposed")
    endangered = find_endangered(refusal + MARGIN / 2, 0.36, result.questions)
    assert [each.score for each in endangered] == [refusal]


def test_bank_forbids_a_lower_floor_and_chooses_none() -> None:
    answerable, refused = spread(0.32, 0.7), spread(0.1, 0.26)
    guarded = calibrate_scores(answerable, refused, [0.331, *spread(0, 0.05, 10)])
    assert guarded.best is not None
    assert guarded.best.floor == 0.34
    # Hundreds of easy questions are no reason for a floor that answers more of the others.
    easy = calibrate_scores(answerable, refused, spread(0, 0.05, 400))
    assert easy.proposed == replace(
        FloorPoint(0.32, 40, 40, 40, 40), off_topic_refused=400, off_topic=400
    )
    near = calibrate_scores(spread(0.3, 0.7), spread(0.25, 0.5), spread(0, 0.05, 400))
    assert near.proposed is not None
    assert near.proposed.floor >= 0.36


def test_higher_floor_is_proposed_where_it_refuses_more() -> None:
    result = calibrate_scores(spread(0.6, 0.9), spread(0.3, 0.5))
    assert result.outcome == "proposed"
    assert result.proposed == FloorPoint(0.51, 40, 40, 40, 40)


def test_higher_floor_that_leaves_wrong_pages_alone_is_not_proposed() -> None:
    # The right page of a third of the questions is under the better floor, and another is not.
    answerable, best = [*spread(0.4, 0.46, 20), *spread(0.6, 0.9)], [0.95] * 20 + spread(0.6, 0.9)
    result = calibrate_scores(answerable, spread(0.37, 0.5, 36), best=best)
    assert result.outcome == "unsafe"
    assert result.proposed == result.current
    assert result.best is not None
    assert result.best.misled == 20
    assert len(find_endangered(result.best.floor, 0.36, result.questions)) == 20
    # It is where it refuses twice as many that were answered wrongly.
    twice = calibrate_scores(answerable, spread(0.37, 0.48), best=best)
    assert twice.outcome == "proposed"


def test_gain_that_halves_do_not_show_is_called_chance() -> None:
    # One refusal more of many is all that a higher floor gains.
    result = calibrate_scores([*spread(0.38, 0.7, 30)], [*spread(0.1, 0.3, 30), 0.365])
    assert result.outcome == "chance"
    assert result.proposed == result.current
    assert result.best is not None
    assert result.best.floor == 0.37


def test_nearest_of_equal_floors_is_proposed() -> None:
    assert calibrate_scores(spread(0.6, 0.7), spread(0.1, 0.2)).proposed == FloorPoint(
        0.36, 40, 40, 40, 40
    )
    higher = calibrate_scores(spread(0.6, 0.7), spread(0.1, 0.4)).proposed
    assert higher is not None
    assert higher.floor == 0.41


def test_finer_floor_of_site_stays_if_none_is_better() -> None:
    fine = calibrate_scores(spread(0.6, 0.7), spread(0.1, 0.2), floor=0.365)
    assert fine.proposed == fine.current == FloorPoint(0.365, 40, 40, 40, 40)


def test_easy_refusals_are_not_near_and_propose_nothing() -> None:
    bank = spread(0, 0.2, 100)
    easy = calibrate_scores(spread(0.5, 0.7), spread(0.05, 0.17, MIN_NEAR_REFUSALS), bank)
    assert (easy.near_refusals, easy.missing_refusals) == (0, MIN_NEAR_REFUSALS)
    assert easy.proposed is None
    hard = calibrate_scores(spread(0.5, 0.7), spread(0.21, 0.3, MIN_NEAR_REFUSALS), bank)
    assert (hard.near_refusals, hard.missing_refusals) == (MIN_NEAR_REFUSALS, 0)
    assert hard.outcome == "best"
    assert easy.near_limit == pytest.approx(0.18, abs=0.005)
    assert calibrate_scores(spread(0.5, 0.7), spread(0.1, 0.2)).near_limit is None


def test_score_equal_to_floor_passes_in_float32() -> None:
    for floor in (0.36, 0.7, 0.1):
        score = np.full(1, floor, dtype=np.float32)
        assert passes_floor(float(score[0]), floor) == bool((score >= floor)[0])


def test_bank_question_above_median_is_left_out_and_gold_query_is_not() -> None:
    result = calibrate_scores([0.3, 0.5, 0.9], [0.8], bank=[0.51, 0.5, 0.1])
    assert [each.score for each in result.left_out] == [0.51]
    assert [each.score for each in result.questions.refusable] == [0.8]
    assert [each.score for each in result.questions.off_topic] == [0.5, 0.1]
    assert [each.score for each in result.questions.answerable] == [0.3, 0.5, 0.9]


def test_no_floor_is_proposed_with_too_few_questions() -> None:
    answerable, refused = [0.5] * MIN_ANSWERABLE, [0.3] * MIN_NEAR_REFUSALS
    assert calibrate_scores(answerable, refused).proposed
    few = calibrate_scores(answerable[1:], refused)
    assert (few.outcome, few.missing_answerable, few.missing_refusals) == ("too-few", 1, 0)
    easy = calibrate_scores(answerable, refused[1:])
    assert (easy.outcome, easy.missing_answerable, easy.missing_refusals) == ("too-few", 0, 1)


def test_off_topic_bank_holds_valid_questions() -> None:
    bank = read_off_topic_questions()
    assert len(bank) >= 300
    cleaned = [clean_question(question) for question in bank]
    assert [text for text in cleaned if find_question_problem(text)] == []
    assert len({text.casefold() for text in cleaned}) == len(bank)
    own = r"\b(mkdocs|static site|documentation|docs|search box|plugin|install it)\b"
    assert [text for text in cleaned if re.search(own, text, re.I)] == []


def test_off_topic_bank_is_in_the_wheel() -> None:
    assert (files("answerable.evaluate") / "off_topic.txt").is_file()
    # The wheel takes the whole folder of the package, as it does for the widget's script.
    project = tomllib.loads((sites.ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["plugin/answerable"]
    assert wheel.keys() <= {"packages", "artifacts", "hooks"}
    ignored = (sites.ROOT / ".gitignore").read_text("utf-8").split()
    assert not [line for line in ignored if line.endswith(("txt", "/*"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(site)
    _gold(site, *QUERIES, REFUSED)
    return site


def _gold(folder: Path, *queries: dict[str, Any], name: str = "gold") -> Path:
    path = folder / "eval" / f"{name}.yaml"
    sites.put(path, yaml.safe_dump({"queries": list(queries)}))
    return path


def _enough(folder: Path) -> Path:
    """Write a gold set with refusals enough: of what the site speaks of and does not say."""
    subjects = ("chain", "buoy", "lantern", "storm", "winch")
    questions = (
        "What does the {} cost?", "Who sells a used {}?", "Which {} is blue?",
        "Is there a museum of the {}?", "Who has painted the {}?",
    )  # fmt: skip
    refused = [
        {"id": f"{subject}-{n}", "query": text.format(subject), "expectAnswerMode": "not-found"}
        for subject in subjects
        for n, text in enumerate(questions)
    ]
    return _gold(folder, *QUERIES, *refused, name="enough")


def test_calibrate_judges_a_floor_and_prints_the_lines_for_it(folder: Path) -> None:
    before = (folder / "mkdocs.yml").read_bytes()
    done = sites.command(folder, "calibrate", "--gold", str(_enough(folder)))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    kinds = "retrieval.floor: queries that expect a page: 5; to be refused: 25, "
    assert kinds in done.stdout
    assert "retrieval.note_floor: queries that expect a note: 1;" in done.stdout
    assert "A floor takes at least 5 queries to be answered: add 4." in " ".join(
        done.stdout.split()
    )
    lines = yaml.safe_load(done.stdout.split("For mkdocs.yml:")[1])
    pasted = lines["plugins"][0]["answerable"]["retrieval"]
    assert set(pasted) == {"floor", "calibrated_for"}
    assert 0 < pasted["floor"] < 1
    assert (folder / "mkdocs.yml").read_bytes() == before


def test_calibrate_without_near_refusals_says_what_to_add(folder: Path) -> None:
    done = sites.command(folder, "calibrate")
    assert done.returncode == 1
    assert "For mkdocs.yml:" not in done.stdout
    text = " ".join(done.stdout.split())
    assert "No proposal. A floor takes at least 20 refusals near your subject" in text
    assert "and the gold set has 0: add 20 with `expectAnswerMode: not-found`." in text
    assert "`answerable gaps` lists those of your readers. Nearest among yours: ferry (" in text
    [limit] = re.findall(r"Near your subject is a score above (0\.\d{3}), which 90% of the", text)[
        :1
    ]
    body = _json(folder, status=1)["passages"]
    assert float(limit) == pytest.approx(body["near_limit"], abs=0.001)
    scores = [each["score"] for each in body["off_topic"]]
    assert 0.89 < sum(score <= body["near_limit"] for score in scores) / len(scores) <= 0.91


def test_calibrate_json_holds_curve_and_every_question(folder: Path) -> None:
    body = _json(folder, status=1)
    assert body["warnings"] == []
    assert body["embedder"] == LOCAL
    assert body["lines"] is None
    assert body["notes"]["missing_answerable"] == 4
    result = body["passages"]
    assert result["current"]["floor"] == 0.36
    assert len(result["curve"]) == 101
    assert result["proposed"] is None
    assert (result["outcome"], result["missing_refusals"]) == ("too-few", 20)
    tops = {each["name"]: each["top"] for each in result["answerable"]}
    assert tops["chain"] == "mooring#chains"
    assert tops["lantern"] == "storms#lanterns"
    assert [each["name"] for each in result["refusable"]] == ["ferry"]
    scores = [each["score"] for each in result["off_topic"]]
    assert scores == sorted(scores, reverse=True)


def test_floor_on_real_site_answers_and_refuses_as_its_curve_point(folder: Path) -> None:
    bundle = sites.opened(folder)
    notes = {note.path: note.id for note in list(read_notebook(folder / "notebook").notes)}
    queries = load_gold_queries(folder / "eval" / "gold.yaml", None)
    bank = read_off_topic_questions()
    engine = make_engine(bundle, sites.local())
    calibration_of_pages = calibrate_floors(engine, queries, notes, bank)[0]
    assert not calibration_of_pages.left_out
    texts = {each.id: each.query for each in queries} | {text: text for text in bank}
    questions = calibration_of_pages.questions
    refusable = (*questions.refusable, *questions.off_topic)
    names = [each.name for each in refusable]
    assert len(names) == len(bank) + 1
    readings = [engine.parse_question(texts[name]) for name in names]
    vectors = sites.local().embed([reading.text for reading in readings])
    for floor in (0.05, 0.15, 0.36):
        profile = replace(bundle.manifest.profile, floor=floor)
        floored = replace(bundle, manifest=replace(bundle.manifest, profile=profile))
        refused = [
            name
            for name, reading, vector in zip(names, readings, vectors, strict=True)
            if not retrieve.retrieve(floored, reading, vector).passages
        ]
        admitted = {each.name for each in refusable if passes_floor(each.score, floor)}
        assert set(refused) == set(names) - admitted
        (point,) = (each for each in trace_floor_curve(questions) if each.floor == floor)
        assert point.refused + point.off_topic_refused == len(refused)


def _json(folder: Path, *args: str, status: int = 0) -> dict[str, Any]:
    done = sites.command(folder, "calibrate", "--json", *args)
    assert done.returncode == status, done.stderr
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def test_calibrate_refuses_gold_set_with_too_few_queries(folder: Path) -> None:
    few = _gold(folder, QUERIES[0], REFUSED, name="few")
    done = sites.command(folder, "calibrate", "--gold", str(few))
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        "few.yaml: queries that expect a page: 1, a note: 0; a floor needs at least 5"
        in done.stderr
    )


def test_bank_question_in_gold_set_counts_as_gold(folder: Path) -> None:
    cook = {**REFUSED, "query": "can I FREEZE cooked  rice?"}
    path = _gold(folder, *QUERIES, cook, name="cook")
    result = _json(folder, "--gold", str(path), status=1)["passages"]
    assert [each for each in result["off_topic"] if "cooked rice" in each["name"]] == []
    (own,) = result["refusable"]
    assert own["name"] == "ferry"


def test_calibrate_lists_left_out_questions_of_site_on_bank_subject(tmp_path: Path) -> None:
    pages = {
        "index.md": "# Kitchen\n\nThis is a cookery book.\n",
        "rice.md": "# Rice\n\nYou can freeze cooked rice for a month.\n",
        "eggs.md": "# Eggs\n\nBoil an egg for six minutes so that the yolk stays soft.\n",
        "jam.md": "# Jam\n\nHomemade jam keeps in the cellar for two years.\n",
    }
    queries = [
        {"id": f"q{n}", "query": query, "expectSources": [source]}
        for n, (query, source) in enumerate(
            [
                ("May I put rice into the freezer once it is cooked?", "rice"),
                ("How many minutes does an egg boil?", "eggs"),
                ("How many years can I keep jam?", "jam"),
                ("Is this a book of recipes for cookery?", "index"),
                ("When is the yolk of an egg soft?", "eggs"),
            ]
        )
    ]
    site = sites.write_site(tmp_path, pages)
    sites.build_here(site)
    _gold(site, *queries, REFUSED)
    done = sites.command(site, "calibrate")
    assert done.returncode == 1, done.stderr
    text = done.stdout.split("Left out are ")[1]
    assert "Can I freeze cooked rice? (0." in " ".join(text.split())
    assert "Who built the pyramids of Giza?" not in text


def test_calibrate_warns_site_in_another_language_of_english_bank(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path, options={"language": "de"})
    sites.build_here(site)
    _gold(site, *QUERIES[:5], REFUSED)
    (warning,) = _json(site, status=1)["warnings"]
    assert "most of the bank is in English" in warning


def test_note_floor_is_calibrated_apart(tmp_path: Path) -> None:
    index = doubles.index_of(
        tmp_path,
        [doubles.record("page", "<h1>Page</h1><p>aaaa bbbb cccc.</p>")],
        [doubles.note("x", "zzzz yyyy xxxx"), doubles.note("w", "wwww vvvv")],
    )
    bundle = doubles.bundle_of(tmp_path, index, Profile(hybrid=0.0, floor=0.1, note_floor=0.2))
    engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([]))
    queries = [
        GoldQuery("to-x", "zzzz yyyy xxxx", expect_sources=("x.md",)),
        GoldQuery("to-page", "aaaa bbbb cccc", top_source="page"),
        GoldQuery("neither", "dddd", "not-found", expect_sources=("page",)),
        GoldQuery("model", "eeee", "not-found", requires="model"),
        GoldQuery("answerer", "ffff", "not-found", expect_reason="declined"),
        GoldQuery("floor", "hhhh", "not-found", expect_reason="no-evidence"),
    ]
    pages, notes = calibrate_floors(
        engine, queries, {"x.md": "note-x", "w.md": "note-w"}, ["DDDD", "gggg", "?!"]
    )
    assert (pages.current.floor, notes.current.floor) == (0.1, 0.2)
    assert [each.name for each in pages.questions.answerable] == ["to-page"]
    (to_x,) = notes.questions.answerable
    assert (to_x.name, to_x.top) == ("to-x", "note-x")
    assert to_x.score > 0.9
    assert {each.name for each in notes.questions.refusable} == {"neither", "floor"}
    by_name = {each.name: each for each in notes.questions.off_topic}
    assert set(by_name) == {"gggg", "?!"}
    assert by_name["?!"] == ScoredQuestion("?!", NO_MATCH_SCORE, None, NO_MATCH_SCORE)


def test_boost_counts_where_floor_applies_after_boosts(tmp_path: Path) -> None:
    page = doubles.record("mooring", "<h1>Mooring</h1><p>aaaa bbbb cccc.</p>")
    index = doubles.index_of(tmp_path, [page])

    def score(bundle: Bundle) -> float:
        (vector,) = LetterEmbedder().embed(["mooring"])
        return float(
            compute_passage_floor_scores(bundle, read_question(bundle, "mooring"), vector)[0]
        )

    plain = Profile(hybrid=0.0, name_boost=0.0, theme_fade=False)
    lifted = Profile(hybrid=0.0, name_boost=0.3, theme_fade=False)
    without, boosted = (score(doubles.bundle_of(tmp_path, index, each)) for each in (plain, lifted))
    assert boosted == pytest.approx(without + 0.3, abs=1e-5)
    hybrid = [
        score(doubles.bundle_of(tmp_path, index, Profile(name_boost=boost))) for boost in (0.0, 0.3)
    ]
    assert hybrid[0] == hybrid[1]


def test_site_without_pages_or_notes_has_no_calibration(tmp_path: Path) -> None:
    index = doubles.index_of(tmp_path, [], [doubles.note("x", "zzzz")])
    bundle = doubles.bundle_of(tmp_path, index)
    embedder = LetterEmbedder()
    engine = Engine(bundle, embedder, ExtractiveAnswerer(bundle, embedder))
    pages, notes = calibrate_floors(engine, [], {}, ["gggg"])
    assert not pages.proposed
    assert pages.questions.off_topic[0].score == NO_MATCH_SCORE
    assert notes.questions.off_topic[0].top == "note-x"


def test_calibrated_lines_quote_odd_model_name() -> None:
    enough = calibrate_scores([0.6] * 5, [0.1] * 20)
    odd = 'openai/a "b": #c@3'
    lines = yaml.safe_load(format_floor_lines(enough, enough, odd))
    assert lines["plugins"][0]["answerable"]["retrieval"] == {
        "floor": 0.36,
        "note_floor": 0.36,
        "calibrated_for": odd,
    }


@pytest.mark.parametrize(
    ("options", "warns"),
    [
        ({"floor": 0.3, "calibrated_for": "openai/text-embedding-3-large@3072"}, True),
        ({"note_floor": 0.3, "calibrated_for": "local/wordllama-l2-supercat-int8@128"}, True),
        ({"floor": 0.3, "calibrated_for": LOCAL}, False),
        ({"floor": 0.3}, False),
        ({"calibrated_for": "openai/text-embedding-3-large@3072"}, False),
    ],
)
def test_floors_of_another_embedder_stop_a_strict_build(
    tmp_path: Path, options: dict[str, Any], warns: bool
) -> None:
    site = sites.write_site(tmp_path, options={"retrieval": options})
    done = sites.build(site, "--strict")
    assert (done.returncode != 0) == warns, done.stderr
    text = f"the floors were set for {options.get('calibrated_for')}, and the embedder is {LOCAL}"
    assert done.stderr.count(text) == (1 if warns else 0)
    assert ("run `answerable calibrate`" in done.stderr) == warns


def test_calibrate_warns_of_floors_of_another_embedder_too(tmp_path: Path) -> None:
    other = "openai/text-embedding-3-large@3072"
    options = {"retrieval": {"floor": 0.3, "calibrated_for": other}}
    site = sites.write_site(tmp_path, notes=sites.NOTES, options=options)
    sites.build_here(site)
    gold = ("--gold", str(_enough(site)))
    done = sites.command(site, "calibrate", *gold)
    assert done.returncode == 0, done.stderr
    assert f"Warning: retrieval.calibrated_for: the floors were set for {other}" in done.stderr
    assert f'calibrated_for: "{LOCAL}"' in done.stdout
    # The bundle of a site whose embedder has changed since the build.
    sites.write_site(tmp_path, notes=sites.NOTES, options={"embedding": {"provider": "openai"}})
    assert f"the bundle was built with {LOCAL}, and the embedder is {other}" in "".join(
        _json(site, *gold)["warnings"]
    )
