"""Tuning: which settings are worth having, and the smallest that loses no verdict."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from answerable.cli import main
from answerable.cli.tune import format_setting_lines
from answerable.evaluate.grid_search import (
    TIMING_NOISE,
    Trial,
    TrialSetting,
    find_pareto_front,
    find_smallest_trial,
    list_dimensions,
    rank_by_passing,
)
from answerable.serve.vectors.encodings import ENCODING_NAMES, Encoding
from indexing.test_encoding_certificate import GOLD, HOLDS, configure, tree
from support import sites
from support.sites import build_here, command, opened, put, write_site

TOTAL = 5
NOW = (240, 0.36)


def trial(
    size: int = 100,
    count: int = TOTAL,
    rho: float = 1.0,
    scan: float = 1.0,
    *,
    words: int = 240,
    floor: float = 0.36,
) -> Trial:
    setting = TrialSetting(Encoding("int8", 64), words, floor)
    return Trial(setting, size, count, TOTAL, rho, scan)


TRIALS = st.builds(
    trial,
    st.integers(1, 4),
    st.integers(TOTAL - 2, TOTAL),
    st.sampled_from([0.5, 0.9, 1.0]),
    st.sampled_from([1.0, 1.4, 2.0, 4.0]),
    words=st.sampled_from([160, 240, 320]),
    floor=st.sampled_from([0.34, 0.36, 0.38]),
)


@pytest.mark.parametrize(
    "worse",
    [trial(101), trial(count=TOTAL - 1), trial(rho=0.9), trial(scan=1.6), trial(101, 1, 0.1, 9)],
)
def test_a_trial_dominates_one_that_is_worse_in_something(worse: Trial) -> None:
    assert trial().dominates(worse)
    assert not worse.dominates(trial())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (trial(), trial()),
        (trial(99), trial(scan=0.5)),
        (trial(99, TOTAL - 1), trial()),
        (trial(99, rho=0.9), trial()),
        (trial(scan=1.5), trial()),
        # Neither its words nor its floor makes a trial better.
        (trial(words=160), trial(floor=0.5)),
    ],
)
def test_neither_of_two_trials_dominates_where_each_is_as_good_in_something(
    one: Trial, other: Trial
) -> None:
    assert not one.dominates(other)
    assert not other.dominates(one)


def test_scan_time_counts_only_beyond_half_more() -> None:
    assert trial(99, scan=TIMING_NOISE).dominates(trial())
    assert not trial(99, scan=TIMING_NOISE + 0.01).dominates(trial())
    assert trial().dominates(trial(scan=TIMING_NOISE + 0.01))
    assert not trial().dominates(trial(scan=TIMING_NOISE))


def scores_of(trial: Trial) -> tuple[float, ...]:
    return (-trial.bytes, trial.held_count, trial.rho)


@given(st.lists(TRIALS, max_size=12))
def test_the_front_holds_what_no_trial_dominates_and_one_no_worse_than_each(
    trials: list[Trial],
) -> None:
    front = find_pareto_front(trials, *NOW)
    assert all(each in trials for each in front)
    assert not any(other.dominates(each) for each in front for other in trials)
    assert [each.bytes for each in front] == sorted(each.bytes for each in front)
    assert len({scores_of(each) for each in front}) == len(front)
    for each in trials:
        # Its time may be longer by a little more than half: noise does not add up.
        assert any(
            all(a >= b for a, b in zip(scores_of(best), scores_of(each), strict=True))
            for best in front
        )


@given(st.lists(TRIALS, max_size=12), st.randoms(use_true_random=False))
def test_the_front_does_not_depend_on_the_order_of_the_trials(
    trials: list[Trial], random: Any
) -> None:
    front = find_pareto_front(trials, *NOW)
    shuffled = list(trials)
    random.shuffle(shuffled)
    assert {scores_of(each) for each in find_pareto_front(shuffled, *NOW)} == {
        scores_of(t) for t in front
    }


@given(st.lists(TRIALS, max_size=12))
def test_the_smallest_holds_all_and_nothing_smaller_does(trials: list[Trial]) -> None:
    best = find_smallest_trial(trials, *NOW)
    holding = [each for each in trials if each.holds]
    assert (best is None) == (not holding)
    if best:
        assert best.held_count == TOTAL
        assert best.bytes == min(each.bytes for each in holding)


def test_equal_trial_that_changes_least_is_smallest() -> None:
    far, near = trial(words=320), trial(words=160)
    lower, own = trial(floor=0.34), trial()
    assert find_smallest_trial([far, near, lower, own], *NOW) is own
    assert find_smallest_trial([far, near, lower], *NOW) is lower
    assert find_smallest_trial([far, near], 300, 0.36) is far
    assert find_pareto_front([far, near, lower, own], *NOW) == [own]
    smaller = trial(99, TOTAL - 1)
    assert find_smallest_trial([smaller, own], *NOW) is own
    assert find_smallest_trial([smaller], *NOW) is find_smallest_trial([], *NOW) is None
    assert find_pareto_front([own, smaller], *NOW) == [smaller, own]


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        (3072, [3072, 1536, 1024, 768, 384]),
        (1536, [1536, 1024, 768, 384, 192]),
        (1024, [1024, 512, 256, 128]),
        (256, [256, 128, 64]),
        (100, [100]),
        (1, [1]),
    ],
)
def test_list_dimensions_returns_all_and_halves(whole: int, expected: list[int]) -> None:
    assert list_dimensions(whole) == expected


@given(st.integers(1, 16_384))
def test_any_number_of_dimensions_has_all_of_them_first_and_none_below_64(whole: int) -> None:
    dimensions = list_dimensions(whole)
    assert dimensions[0] == whole
    assert dimensions == sorted(set(dimensions), reverse=True)
    assert all(each >= min(64, whole) for each in dimensions)


@given(
    name=st.sampled_from(ENCODING_NAMES),
    dimensions=st.integers(1, 3072),
    words=st.integers(40, 2000),
    floor=st.integers(0, 100).map(lambda hundredths: hundredths / 100),
)
def test_pasted_lines_are_the_options_of_a_setting_and_no_others(
    name: str, dimensions: int, words: int, floor: float
) -> None:
    setting = TrialSetting(Encoding(name, dimensions), words, floor)
    (plugin,) = yaml.safe_load(format_setting_lines(setting, 0.36, 240))["plugins"]
    expected: dict[str, Any] = {"bundle": {"encoding": name, "dimensions": dimensions}}
    if words != 240:
        expected["passages"] = {"words": words}
    if floor != 0.36:
        expected["retrieval"] = {"floor": floor}
    assert plugin == {"answerable": expected}


def tune_here(folder: Path, *args: str) -> Result:
    """Run `answerable tune` in this process, which is quicker than in one of its own."""
    sites.forget_plugins()
    done = CliRunner().invoke(main, ["-f", str(folder / "mkdocs.yml"), "tune", *args])
    # The plugin is told not to publish, and would be kept for the next build.
    sites.forget_plugins()
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return configure(tmp_path / "site", {}, HOLDS, GOLD)


def test_the_smallest_of_a_real_site_holds_every_verdict_and_nothing_is_written(
    folder: Path,
) -> None:
    before = (folder / "mkdocs.yml").read_bytes()
    names = ("--encoding", "int8", "--encoding", "float32", "--dimensions", "256")
    done = command(folder, "tune", *names, "--words", "240", "--floor", "0.3", "--json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    best = body["smallest"]
    assert (best["encoding"], best["dimensions"], best["words"]) == ("int8", 256, 240)
    assert (best["held"], best["total"], best["floor"]) == (3, 3, 0.3)
    assert best["scan_ms"] > 0
    # Full precision keeps the order as it is, which is worth its bytes to somebody.
    small, full = body["trials"]
    assert (small, full["encoding"], full["rho_min"]) == (best, "float32", 1)
    assert full["bytes"] > small["bytes"]
    assert (folder / "mkdocs.yml").read_bytes() == before
    assert {path.name for path in folder.iterdir()} == {
        "docs", "notebook", "eval", "mkdocs.yml", ".cache"
    }  # fmt: skip
    assert list((folder / ".cache/plugin/answerable").glob("gate-*")) == []


def test_the_lines_that_are_printed_are_accepted_by_the_next_build(folder: Path) -> None:
    grid = ("--encoding", "binary", "--dimensions", "256", "--dimensions", "128")
    done = tune_here(folder, *grid, "--words", "40", "--floor", "0.2")
    assert done.exit_code == 0, done.output
    pasted = yaml.safe_load(done.stdout.split("for mkdocs.yml:")[1])
    (plugin,) = pasted["plugins"]
    options = plugin["answerable"]
    assert options["passages"] == {"words": 40}
    assert options["retrieval"] == {"floor": 0.2}
    options["retrieval"] = {**HOLDS, **options["retrieval"]}
    build_here(write_site(folder, notes=sites.NOTES, options=options))
    manifest = opened(folder).manifest
    assert manifest.encoding.as_json() == options["bundle"]
    assert manifest.profile.floor == 0.2


def test_tune_all_prints_every_setting_of_grid(folder: Path) -> None:
    grid = ("--encoding", "int8", "--encoding", "binary", "--words", "40", "--words", "240")
    limits = ("--dimensions", "64", "--floor", "0.3", "--floor", "0.95", "--json")
    done = tune_here(folder, *grid, *limits, "--all")
    rows = json.loads(done.stdout)["trials"]
    assert {(row["encoding"], row["words"], row["floor"]) for row in rows} == {
        (name, words, floor)
        for name in ("int8", "binary")
        for words in (40, 240)
        for floor in (0.3, 0.95)
    }
    assert [row["bytes"] for row in rows] == sorted(row["bytes"] for row in rows)
    # The floor that refuses everything is judged by what the site's own floor lets through.
    assert all((row["held"] == row["total"]) == (row["floor"] == 0.3) for row in rows), rows


def test_the_floors_near_the_sites_own_are_tried_by_default(folder: Path) -> None:
    grid = ("--encoding", "int8", "--dimensions", "256", "--words", "240")
    rows = json.loads(tune_here(folder, *grid, "--all", "--json").stdout)["trials"]
    assert sorted(row["floor"] for row in rows) == [0.28, 0.3, 0.32]


def test_trials_are_ranked_by_passing_then_refusals_then_bytes() -> None:
    def scored(size: int, failing: int, refused: int) -> Trial:
        return replace(trial(size), failing_count=failing, refused_count=refused)

    best = [scored(9, 0, 2), scored(1, 1, 2), scored(2, 1, 2), scored(1, 1, 1), scored(1, 2, 3)]
    assert rank_by_passing(best[::-1], *NOW) == best
    near, far = trial(floor=0.36), trial(floor=0.34)
    assert rank_by_passing([far, near], *NOW) == [near, far]


def test_setting_that_fails_a_query_is_not_the_smallest_that_holds() -> None:
    failing = replace(trial(1), failing_count=1)
    assert find_smallest_trial([failing, trial(2)], *NOW) == trial(2)
    assert find_smallest_trial([failing], *NOW) is None


def test_tune_for_passing_finds_the_floor_that_passes_more(folder: Path) -> None:
    high = {**HOLDS, "floor": 0.75}
    configure(folder, {}, high, GOLD)
    grid = ("--encoding", "int8", "--dimensions", "256", "--words", "240")
    floors = ("--floor", "0.75", "--floor", "0.3", "--floor", "0")
    done = tune_here(folder, *grid, *floors, "--for", "passing", "--json")
    assert done.exit_code == 0, done.output
    body = json.loads(done.stdout)
    assert (body["best"]["floor"], body["best"]["passed"], body["best"]["refused"]) == (0.3, 3, 1)
    assert body["passed_now"] == 2
    assert body["trials"][0] == body["best"]
    assert [row["passed"] for row in body["trials"]] == [3, 3, 2]
    shown = tune_here(folder, *grid, *floors, "--for", "passing")
    assert "It passes 3 of 3 queries, and the site's own settings 2." in shown.stdout
    assert yaml.safe_load(shown.stdout.split("mkdocs.yml:")[1])["plugins"][0]["answerable"][
        "retrieval"
    ] == {"floor": 0.3}
    # Without --for the failing gold set is named, and nothing at this floor can be certified.
    size = tune_here(folder, *grid, "--floor", "0.75")
    assert size.exit_code == 1
    assert "fails at full precision: 1 query; nothing can be certified (lantern)" in size.stderr


def test_tune_for_passing_exits_1_if_nothing_passes_more(folder: Path) -> None:
    grid = ("--encoding", "int8", "--dimensions", "256", "--words", "240", "--floor", "0.95")
    done = tune_here(folder, *grid, "--for", "passing")
    assert done.exit_code == 1
    assert "No setting passes more queries than the site's own, 3." in done.stdout


def test_tune_exits_1_if_no_setting_holds(folder: Path) -> None:
    grid = ("--encoding", "int8", "--dimensions", "256", "--words", "240", "--floor", "0.95")
    done = tune_here(folder, *grid, "--json")
    assert done.exit_code == 1
    body = json.loads(done.stdout)
    assert body["smallest"] is None
    assert [(row["held"], row["total"]) for row in body["trials"]] == [(1, 3)]
    shown = tune_here(folder, *grid)
    assert shown.exit_code == 1
    assert "No setting holds every verdict." in shown.stdout
    assert "mkdocs.yml" not in shown.stdout


def test_tune_skips_length_without_expected_passage(folder: Path) -> None:
    """A gold set may name a passage by its number, which another length does not have."""
    long = "\n\n".join(f"Rope {n} is wound on its own reel by the crew at noon." for n in range(9))
    put(folder / "docs" / "ropes.md", f"# Ropes\n\n{long}\n")
    query = (
        "  - {id: ropes, query: 'Who winds a rope on its reel?', expectSources: ['ropes#ropes~2']}"
    )
    put(folder / "eval" / "gold.yaml", f"{GOLD}{query}\n")
    mkdocs = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))
    mkdocs["plugins"][0]["answerable"]["passages"] = {"words": 60}
    put(folder / "mkdocs.yml", yaml.safe_dump(mkdocs))
    grid = ("--encoding", "int8", "--dimensions", "256", "--words", "60", "--words", "600")
    done = tune_here(folder, *grid, "--floor", "0.3", "--all", "--json")
    assert "600 words: " in done.stderr
    assert "'ropes#ropes~2'" in done.stderr
    assert [row["words"] for row in json.loads(done.stdout)["trials"]] == [60]


@pytest.mark.parametrize("dimensions", ["0", "257"])
def test_dimensions_out_of_range_are_refused(folder: Path, dimensions: str) -> None:
    done = tune_here(folder, "--dimensions", dimensions)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"Error: --dimensions: {dimensions} is not between 1 and 256\n"


def test_a_published_function_stays_as_it_is(folder: Path) -> None:
    build_here(folder)
    before = tree(folder / "function"), tree(folder / "site")
    tune_here(folder, "--encoding", "binary", "--dimensions", "64", "--words", "40")
    assert (tree(folder / "function"), tree(folder / "site")) == before
