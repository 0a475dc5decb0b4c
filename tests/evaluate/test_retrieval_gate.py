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
BROKEN = GOLD.replace("mooring#chains", "storms#lanterns")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = sites.write_site(
        tmp_path, notes=sites.NOTES, options={"gate": True, "answers_in": "function"}
    )
    sites.put(site / "eval" / "gold.yaml", GOLD)
    return site


def published(folder: Path) -> bool:
    return (folder / "function" / "bundle" / "manifest.json").is_file()


def test_site_that_passes_gate_is_published(folder: Path) -> None:
    done = sites.build(folder)
    assert done.returncode == 0, done.stderr
    assert "gate: 2 of 2 gold queries hold" in done.stderr
    assert published(folder)


def test_a_site_whose_gold_set_fails_is_not_published(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    done = sites.build(folder)
    assert done.returncode == 1
    assert "gate: 1 of 2 gold queries fail (chain), so nothing is published" in done.stderr
    assert not published(folder)


def test_a_failure_keeps_the_last_bundle(folder: Path) -> None:
    lantern = (
        "  - id: lantern\n    query: What does a lantern warn of?\n    topSource: storms#lanterns"
    )
    sites.put(folder / "eval" / "gold.yaml", GOLD + lantern)
    assert sites.build(folder, "-q").returncode == 0
    before = sites.opened(folder).manifest.id
    sites.put(folder / "docs" / "storms.md", "# Storms\n\nNothing is said of them any more.\n")
    # The passage that the gold set names is gone with the page's heading.
    done = sites.build(folder)
    assert done.returncode == 1
    assert "query 'lantern': topSource: number 1: there is no record" in done.stderr
    assert sites.opened(folder).manifest.id == before


def test_note_text_and_path_are_absent_from_gate_log(folder: Path) -> None:
    hidden = GOLD.replace("Where was the gearbox of the electric winch taken from?", "Who sings?")
    sites.put(folder / "eval" / "gold.yaml", hidden)
    done = sites.build(folder)
    assert "gold queries fail (winch)" in done.stderr
    assert "winch.md" not in done.stderr + done.stdout
    assert "tractor" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        (None, {}, "gold.yaml does not exist: write a gold set, or take `gate` out"),
        ("queries: [", {}, "gold.yaml"),
        (GOLD, {"gate": "both"}, "gate': Expected type"),
    ],
)
def test_gate_without_gold_set_or_with_languages_apart_is_refused(
    tmp_path: Path, gold: str | None, options: dict[str, str], message: str
) -> None:
    site = sites.write_site(tmp_path, notes=sites.NOTES, options={"gate": True, **options})
    if gold:
        sites.put(site / "eval" / "gold.yaml", gold)
    done = sites.build(site)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not published(site)
