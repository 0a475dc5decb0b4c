"""``gate: true``: a build publishes nothing whose gold set fails."""

from pathlib import Path

import pytest

from support import sites

GOLD = """
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    topSource: mooring#chains
  - id: winch
    query: Where was the gearbox of the electric winch taken from?
    expectSources: [winch.md]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = sites.write_site(
        tmp_path, notes=sites.NOTES, options={"gate": True, "answers_in": "function"}
    )
    sites.put(site / "eval" / "gold.yaml", GOLD)
    return site


def test_a_failing_gold_set_keeps_the_last_bundle(folder: Path) -> None:
    sites.build_here(folder)
    before = sites.opened(folder).manifest.id
    (folder / "docs" / "storms.md").write_text("# Storms\n\nWind.\n", "utf-8")
    hidden = GOLD.replace("Where was the gearbox of the electric winch taken from?", "Who sings?")
    sites.put(folder / "eval" / "gold.yaml", hidden)
    log = sites.failure(folder)
    assert "gate: 1 of 2 gold queries fail (winch), so nothing is published" in log
    assert "winch.md" not in log
    assert sites.opened(folder).manifest.id == before


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (None, "gold.yaml does not exist: write a gold set, or take `gate` out"),
        ("queries: [", "gold.yaml: line 1"),
        (GOLD.replace("mooring#chains", "gales"), "query 'chain': topSource: number 1"),
        (GOLD.replace("mooring#chains", "storms#lanterns"), "gold queries fail (chain)"),
    ],
)  # fmt: skip
def test_gate_without_a_gold_set_that_holds_publishes_nothing(
    folder: Path, gold: str | None, message: str
) -> None:
    path = folder / "eval" / "gold.yaml"
    path.write_text(gold, "utf-8") if gold else path.unlink()
    assert message in sites.failure(folder)
    assert not (folder / "function" / "bundle").exists()
