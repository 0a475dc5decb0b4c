"""The table of nine floors, and what fewer dimensions change of a gold set's verdicts."""

from pathlib import Path

import numpy as np
import pytest

from answerable.check.gate import compare_dimensions, cut_dimensions, spearman_correlation
from answerable.check.gold import GoldQuery
from answerable.check.report import Verdict, count_floors
from support import sites
from support.eval_reports import run

GOLD = """
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    expectSources: [mooring]
  - id: lantern
    query: What does a red lantern warn of?
    topSource: storms#lanterns
  - id: opera
    query: Who sang at the opera in Vienna?
    expectAnswerMode: not-found
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"))
    sites.put(site / "eval" / "gold.yaml", GOLD)
    sites.build_here(site)
    return site


def test_each_floor_counts_answers_above_and_refusals_below() -> None:
    queries = [
        GoldQuery("high", "q", expect_sources=("a",)),
        GoldQuery("low", "q", "partial"),
        GoldQuery("refused", "q", "not-found"),
        # What a model refuses, what a note answers, and what could not be asked are no floor's.
        GoldQuery("declined", "q", "not-found", expect_reason="declined"),
        GoldQuery("model", "q", "not-found", requires="model"),
        GoldQuery("route", "q", "related-material"),
        GoldQuery("down", "q", "partial"),
    ]
    scores = {"high": 0.44, "low": 0.3, "refused": 0.32, "declined": 0.9, "model": 0.9}
    verdicts = [Verdict(query.id, "q", score=scores.get(query.id)) for query in queries]
    rows = count_floors(queries, verdicts, 0.36)
    assert [row.floor for row in rows] == [0.2, 0.24, 0.28, 0.32, 0.36, 0.4, 0.44, 0.48, 0.52]
    assert [row.answered for row in rows] == [2, 2, 2, 1, 1, 1, 1, 0, 0]
    assert [row.refused for row in rows] == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert {(row.answerable, row.refusable) for row in rows} == {(2, 1)}
    # None is below zero, and the site's own is always among them.
    floors = [row.floor for row in count_floors([], [], 0.1)]
    assert floors == [0.02, 0.06, 0.1, 0.14, 0.18, 0.22, 0.26, 0.3, 0.34]


def test_eval_prints_the_floors_and_what_fewer_dimensions_change(folder: Path) -> None:
    lines = run(folder, "eval").stdout.splitlines()
    rows = [line.split()[0] for line in lines if line.startswith("0.")]
    assert rows == [f"{0.2 + 0.04 * step:.3f}" for step in range(9)]
    assert "0.360  2 of 2                      1 of 1             the site's own" in lines
    whole = run(folder, "eval", "--dimensions", "256")
    assert whole.exit_code == 0
    assert whole.stdout == (
        "256 of 256 dimensions: 0 of 3 verdicts flip, rank correlation 1.0000 (least 1.0000).\n"
    )
    few = run(folder, "eval", "--dimensions", "1")
    assert (few.exit_code, "flip" in few.stdout) == (int("→ fail" in few.stdout), True)
    assert run(folder, "eval", "--dimensions", "9", "--json").exit_code == 2
    assert "300 is not between 1 and 256" in run(folder, "eval", "--dimensions", "300").stderr


def test_fewer_dimensions_are_those_that_lead(folder: Path) -> None:
    bundle = sites.opened(folder)
    cut = cut_dimensions(bundle, 2)
    assert cut.index.codes.codes.shape == (len(bundle.index.passage_ids), 2)
    norms = np.linalg.norm(cut.index.codes.codes.astype(np.float32), axis=1)
    assert np.allclose(cut.index.codes.inverse_norms[norms > 0], 1 / norms[norms > 0])
    query = GoldQuery("lantern", "What does a red lantern warn of?", top_source="storms#lanterns")
    wrong = GoldQuery("buoy", "red lantern", forbid_sources=("storms",))
    pairs = list(compare_dimensions(bundle, sites.local(), [query, wrong], {}, 1))
    assert [pair.before.status for pair in pairs] == ["pass", "fail"]
    assert all(-1 <= pair.rho < 1 for pair in pairs)


def test_rank_correlation_shares_ties() -> None:
    values = np.array([0.1, 0.2, 0.2, 0.9], dtype=np.float32)
    assert spearman_correlation(values, values * 2) == pytest.approx(1)
    assert spearman_correlation(values, -values) == pytest.approx(-1)
    assert spearman_correlation(np.zeros(3, np.float32), values[:3]) == 1
    assert spearman_correlation(values[:3], np.zeros(3, np.float32)) == 0
