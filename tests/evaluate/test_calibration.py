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
from answerable.evaluate import calibration
from answerable.evaluate.bundle_scores import compute_passage_floor_scores
from answerable.evaluate.calibration import (
    NO_MATCH_SCORE,
    FloorCalibration,
    ScoredQuestion,
    calibrate_floors,
    make_calibration,
    read_off_topic_questions,
    requires_floor_refusal,
)
from answerable.evaluate.floor_curve import (
    FloorPoint,
    compute_auroc,
    passes_floor,
    trace_floor_curve,
)
from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.indexing.notes.notebook import read_notebook
from answerable.serve.answers.extractive import ExtractiveAnswerer
from answerable.serve.bundle_format.profile import Profile
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import retrieve
from answerable.serve.retrieval.question import read_question
from answerable.serve.retrieval.question_text import clean_question, find_question_problem
from answerable.serve.stores.bundle import Bundle
from answerable.testing import LetterEmbedder, ScriptedAnswerer
from support import doubles, sites

LOCAL = "local/wordllama-l2-supercat@256"
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


def asked(scores: Sequence[float], *, is_gold: bool = True) -> list[ScoredQuestion]:
    return [ScoredQuestion(f"q{n}", score, None, is_gold=is_gold) for n, score in enumerate(scores)]


def of(
    answerable: Sequence[float], refusable: Sequence[float], bank: Sequence[float] = ()
) -> FloorCalibration:
    return make_calibration(
        0.36, asked(answerable), [*asked(refusable), *asked(bank, is_gold=False)]
    )


def test_a_curve_worked_out_by_hand() -> None:
    points = trace_floor_curve([0.2, 0.5, 0.5, 0.8], [0.1, 0.3])
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
    assert points[31].answered_share == 0.75
    assert points[31].refused_share == 1.0
    assert points[31].balance == Fraction(7, 8)


def test_the_areas_under_curves_worked_out_by_hand() -> None:
    assert compute_auroc([0.5, 0.6], [0.1, 0.2, 0.3]) == 1.0
    assert compute_auroc([0.1], [0.5, 0.6]) == 0.0
    assert compute_auroc([0.5], [0.5]) == 0.5
    # Of six pairs four are in order and one is a tie.
    assert compute_auroc([0.2, 0.5], [0.1, 0.2, 0.4]) == 4.5 / 6


@settings(deadline=None)
@given(SCORES, SCORES)
def test_a_higher_floor_answers_no_more_and_refuses_no_less(
    answerable: list[float], refused: list[float]
) -> None:
    points = trace_floor_curve(answerable, refused)
    pairs = list(pairwise(points))
    assert all(low.answered >= high.answered for low, high in pairs)
    assert all(low.refused <= high.refused for low, high in pairs)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_the_area_counts_the_pairs_in_order(answerable: list[float], refused: list[float]) -> None:
    pairs = [(a, r) for a in answerable for r in refused]
    expected = sum(1.0 if a > r else 0.5 if a == r else 0.0 for a, r in pairs) / len(pairs)
    assert compute_auroc(answerable, refused) == pytest.approx(expected)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_no_floor_does_better_than_the_proposed_one(
    answerable: list[float], refused: list[float]
) -> None:
    found = of(answerable, refused)
    best = found.proposed.balance
    assert best == max(point.balance for point in (found.current, *found.points))


def test_of_equal_floors_the_nearest_to_the_sites_is_proposed() -> None:
    assert of([0.6, 0.7], [0.1, 0.2]).proposed.floor == 0.36
    assert of([0.6, 0.7], [0.1, 0.4]).proposed.floor == 0.41
    assert of([0.2, 0.7], [0.1]).proposed.floor == 0.2


def test_a_site_with_a_finer_floor_keeps_it_if_none_is_better() -> None:
    fine = make_calibration(0.365, asked([0.6]), asked([0.1]))
    assert fine.proposed == fine.current == FloorPoint(0.365, 1, 1, 1, 1)


def test_a_score_at_the_floor_passes_as_it_does_in_retrieval() -> None:
    for floor in (0.36, 0.7, 0.1):
        score = np.full(1, floor, dtype=np.float32)
        assert passes_floor(float(score[0]), floor) == bool((score >= floor)[0])


def test_what_the_bank_asks_above_the_median_is_left_out_and_a_gold_query_never_is() -> None:
    found = of([0.3, 0.5, 0.9], [0.8], bank=[0.51, 0.5, 0.1])
    assert [each.score for each in found.left_out] == [0.51]
    assert [each.score for each in found.refusable] == [0.8, 0.5, 0.1]
    assert [each.score for each in found.answerable] == [0.3, 0.5, 0.9]


def test_too_few_of_either_kind_propose_nothing() -> None:
    five = [0.5] * calibration.MIN_QUESTIONS
    assert of(five, five).is_enough
    assert not of(five[1:], five).is_enough
    assert not of(five, five[1:]).is_enough


def test_what_a_floor_gets_wrong_is_told_by_name() -> None:
    found = of([0.3, 0.5], [0.4, 0.2])
    assert [each.score for each in found.lost(0.36)] == [0.3]
    assert [each.score for each in found.admitted(0.36)] == [0.4]


def test_a_query_for_the_answer_model_is_not_the_floors_to_refuse() -> None:
    assert requires_floor_refusal(GoldQuery("a", "b", "not-found"))
    assert requires_floor_refusal(GoldQuery("a", "b", "not-found", expect_reason="no-evidence"))
    assert not requires_floor_refusal(GoldQuery("a", "b", "not-found", expect_reason="declined"))
    assert not requires_floor_refusal(GoldQuery("a", "b", "not-found", requires_model=True))
    assert not requires_floor_refusal(GoldQuery("a", "b", "partial"))


def test_the_bank_holds_questions_that_can_be_asked() -> None:
    bank = read_off_topic_questions()
    assert len(bank) >= 300
    cleaned = [clean_question(question) for question in bank]
    assert [text for text in cleaned if find_question_problem(text)] == []
    assert len({text.casefold() for text in cleaned}) == len(bank)
    own = r"\b(mkdocs|static site|documentation|docs|search box|plugin|install it)\b"
    assert [text for text in cleaned if re.search(own, text, re.I)] == []


def test_the_bank_is_in_the_wheel() -> None:
    assert (files("answerable.evaluate") / "off_topic.txt").is_file()
    # The wheel takes the whole folder of the package, as it does for the widget's script.
    project = tomllib.loads((sites.ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {
        "packages": ["plugin/answerable"]
    }
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


def test_calibrate_proposes_a_floor_and_prints_the_lines_for_it(folder: Path) -> None:
    before = (folder / "mkdocs.yml").read_bytes()
    done = sites.command(folder, "calibrate")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    kinds = "retrieval.floor: queries that expect a page: 5; to be refused: 1 of the gold set, "
    assert kinds in done.stdout
    assert "retrieval.note_floor: no proposal" in done.stdout
    assert "queries that expect a note: 1, to be refused:" in done.stdout
    lines = yaml.safe_load(done.stdout.split("For mkdocs.yml:")[1])
    pasted = lines["plugins"][0]["answerable"]["retrieval"]
    assert set(pasted) == {"floor", "calibrated_for"}
    assert 0 < pasted["floor"] < 1
    assert (folder / "mkdocs.yml").read_bytes() == before


def test_the_report_as_json_holds_the_curve_and_every_question(folder: Path) -> None:
    body = _json(folder)
    assert body["notes"] is None
    assert body["warnings"] == []
    assert body["embedder"] == LOCAL
    found = body["passages"]
    assert found["current"]["floor"] == 0.36
    assert len(found["curve"]) == 101
    assert found["proposed"]["answered"] == found["proposed"]["answerable"] == 5
    assert found["auroc"] > 0.9
    tops = {each["name"]: each["top"] for each in found["answerable"]}
    assert tops["chain"] == "mooring#chains"
    assert tops["lantern"] == "storms#lanterns"
    scores = [each["score"] for each in found["refusable"]]
    assert scores == sorted(scores, reverse=True)


def test_a_floor_does_on_the_site_what_the_curve_says(folder: Path) -> None:
    bundle = sites.opened(folder)
    notes = {note.path: note.id for note in list(read_notebook(folder / "notebook").notes)}
    queries = load_gold_queries(folder / "eval" / "gold.yaml", None)
    bank = read_off_topic_questions()
    engine = make_engine(bundle, sites.local())
    found = calibrate_floors(engine, queries, notes, bank)[0]
    assert not found.left_out
    asked = {each.id: each.query for each in queries} | {text: text for text in bank}
    names = [each.name for each in found.refusable]
    assert len(names) == len(bank) + 1
    readings = [engine.parse_question(asked[name]) for name in names]
    vectors = sites.local().embed([reading.text for reading in readings])
    for floor in (0.05, 0.15, 0.36):
        profile = replace(bundle.manifest.profile, floor=floor)
        floored = replace(bundle, manifest=replace(bundle.manifest, profile=profile))
        refused = [
            name
            for name, reading, vector in zip(names, readings, vectors, strict=True)
            if not retrieve.retrieve(floored, reading, vector).passages
        ]
        admitted = {each.name for each in found.admitted(floor)}
        assert set(refused) == set(names) - admitted
        (point,) = (each for each in found.points if each.floor == floor)
        assert point.refused == len(refused)


def _json(folder: Path, *args: str) -> dict[str, Any]:
    done = sites.command(folder, "calibrate", "--json", *args)
    assert done.returncode == 0, done.stderr
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def test_a_gold_set_that_asks_too_little_is_refused(folder: Path) -> None:
    few = _gold(folder, QUERIES[0], REFUSED, name="few")
    done = sites.command(folder, "calibrate", "--gold", str(few))
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        "few.yaml: queries that expect a page: 1, a note: 0; a floor needs at least 5"
        in done.stderr
    )


def test_a_gold_set_without_refusals_is_warned_of(folder: Path) -> None:
    answers = _gold(folder, *QUERIES, name="answers")
    (warning,) = _json(folder, "--gold", str(answers))["warnings"]
    assert "no query that a floor has to refuse" in warning


def test_a_question_of_the_bank_that_the_gold_set_asks_is_the_gold_sets(folder: Path) -> None:
    cook = {**REFUSED, "query": "can I FREEZE cooked  rice?"}
    path = _gold(folder, *QUERIES, cook, name="cook")
    refusable = _json(folder, "--gold", str(path))["passages"]["refusable"]
    assert [each for each in refusable if each["name"] == "Can I freeze cooked rice?"] == []
    (own,) = (each for each in refusable if each["is_gold"])
    assert own["name"] == "ferry"


def test_a_site_about_a_subject_of_the_bank_is_told_what_is_left_out(tmp_path: Path) -> None:
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
    assert done.returncode == 0, done.stderr
    told = done.stdout.split("Left out are ")[1]
    assert "Can I freeze cooked rice?  (rice" in told
    assert "Who built the pyramids of Giza?" not in told


def test_a_site_in_another_language_is_warned_of_the_bank(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path, options={"language": "de"})
    sites.build_here(site)
    _gold(site, *QUERIES[:5], REFUSED)
    (warning,) = _json(site)["warnings"]
    assert "most of the bank is in English" in warning


def test_notes_have_a_floor_of_their_own(tmp_path: Path) -> None:
    made = doubles.index_of(
        tmp_path,
        [doubles.record("page", "<h1>Page</h1><p>aaaa bbbb cccc.</p>")],
        [doubles.note("x", "zzzz yyyy xxxx"), doubles.note("w", "wwww vvvv")],
    )
    bundle = doubles.bundle_of(tmp_path, made, Profile(hybrid=0.0, floor=0.1, note_floor=0.2))
    engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([]))
    queries = [
        GoldQuery("to-x", "zzzz yyyy xxxx", expect_sources=("x.md",)),
        GoldQuery("to-page", "aaaa bbbb cccc", top_source="page"),
        GoldQuery("neither", "dddd", "not-found", expect_sources=("page",)),
        GoldQuery("model", "eeee", "not-found", requires_model=True),
    ]
    pages, notes = calibrate_floors(
        engine, queries, {"x.md": "note-x", "w.md": "note-w"}, ["DDDD", "gggg", "?!"]
    )
    assert (pages.floor, notes.floor) == (0.1, 0.2)
    assert [each.name for each in pages.answerable] == ["to-page"]
    (to_x,) = notes.answerable
    assert (to_x.name, to_x.top) == ("to-x", "note-x")
    assert to_x.score > 0.9
    by_name = {each.name: each for each in notes.refusable}
    assert set(by_name) == {"neither", "gggg", "?!"}
    assert by_name["?!"] == ScoredQuestion("?!", NO_MATCH_SCORE, None, is_gold=False)


def test_a_boost_counts_where_the_floor_is_held_after_it(tmp_path: Path) -> None:
    page = doubles.record("mooring", "<h1>Mooring</h1><p>aaaa bbbb cccc.</p>")
    made = doubles.index_of(tmp_path, [page])

    def score(bundle: Bundle) -> float:
        (vector,) = LetterEmbedder().embed(["mooring"])
        return float(
            compute_passage_floor_scores(bundle, read_question(bundle, "mooring"), vector)[0]
        )

    plain = Profile(hybrid=0.0, name_boost=0.0, theme_fade=False)
    lifted = Profile(hybrid=0.0, name_boost=0.3, theme_fade=False)
    without, boosted = (score(doubles.bundle_of(tmp_path, made, each)) for each in (plain, lifted))
    assert boosted == pytest.approx(without + 0.3, abs=1e-5)
    hybrid = [
        score(doubles.bundle_of(tmp_path, made, Profile(name_boost=boost))) for boost in (0.0, 0.3)
    ]
    assert hybrid[0] == hybrid[1]


def test_a_site_without_pages_or_notes_has_nothing_to_calibrate(tmp_path: Path) -> None:
    made = doubles.index_of(tmp_path, [], [doubles.note("x", "zzzz")])
    bundle = doubles.bundle_of(tmp_path, made)
    embedder = LetterEmbedder()
    engine = Engine(bundle, embedder, ExtractiveAnswerer(bundle, embedder))
    pages, notes = calibrate_floors(engine, [], {}, ["gggg"])
    assert not pages.is_enough
    assert pages.refusable[0].score == NO_MATCH_SCORE
    assert notes.refusable[0].top == "note-x"


def test_a_model_with_an_odd_name_can_be_pasted() -> None:
    enough = of([0.6] * 5, [0.1] * 5)
    odd = 'openai/a "b": #c@3'
    lines = yaml.safe_load(format_floor_lines(enough, enough, odd))
    assert lines["plugins"][0]["answerable"]["retrieval"] == {
        "floor": 0.36,
        "note_floor": 0.36,
        "calibrated_for": odd,
    }


@pytest.mark.parametrize(
    ("chosen", "warns"),
    [
        ({"floor": 0.3, "calibrated_for": "openai/text-embedding-3-large@3072"}, True),
        ({"note_floor": 0.3, "calibrated_for": "local/wordllama-l2-supercat@128"}, True),
        ({"floor": 0.3, "calibrated_for": LOCAL}, False),
        ({"floor": 0.3}, False),
        ({"calibrated_for": "openai/text-embedding-3-large@3072"}, False),
    ],
)
def test_floors_of_another_embedder_stop_a_strict_build(
    tmp_path: Path, chosen: dict[str, Any], warns: bool
) -> None:
    site = sites.write_site(tmp_path, options={"retrieval": chosen})
    done = sites.build(site, "--strict")
    assert (done.returncode != 0) == warns, done.stderr
    told = f"the floors were set for {chosen.get('calibrated_for')}, and the embedder is {LOCAL}"
    assert done.stderr.count(told) == (1 if warns else 0)
    assert ("run `answerable calibrate`" in done.stderr) == warns


def test_calibrate_warns_of_floors_of_another_embedder_too(tmp_path: Path) -> None:
    other = "openai/text-embedding-3-large@3072"
    options = {"retrieval": {"floor": 0.3, "calibrated_for": other}}
    site = sites.write_site(tmp_path, notes=sites.NOTES, options=options)
    sites.build_here(site)
    _gold(site, *QUERIES, REFUSED)
    done = sites.command(site, "calibrate")
    assert done.returncode == 0, done.stderr
    assert f"Warning: retrieval.calibrated_for: the floors were set for {other}" in done.stderr
    assert f'calibrated_for: "{LOCAL}"' in done.stdout
    # The bundle of a site whose embedder has changed since the build.
    sites.write_site(tmp_path, notes=sites.NOTES, options={"embedding": {"provider": "openai"}})
    assert f"the bundle was built with {LOCAL}, and the embedder is {other}" in "".join(
        _json(site)["warnings"]
    )
