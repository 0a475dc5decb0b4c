"""``gate: retrieval``: the gold set at the end of `mkdocs build`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from answerable.evaluate import gate, runner
from answerable.evaluate.gold import GoldQuery
from answerable.evaluate.verdict import Verdict
from answerable.indexing.output.bundle_writer import BundleContents
from answerable.mkdocs.site_config import certify_encoding
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
        tmp_path, notes=sites.NOTES, options={"gate": "retrieval", "answers_in": "function"}
    )
    sites.put(site / "eval" / "gold.yaml", GOLD)
    return site


def published(folder: Path) -> bool:
    return (folder / "function" / "bundle" / "manifest.json").is_file()


def test_site_that_passes_gate_is_published(folder: Path) -> None:
    done = sites.build(folder, "--strict")
    assert done.returncode == 0, done.stderr
    assert "gate: 2 of 2 gold queries hold" in done.stderr
    assert published(folder)


def test_failing_query_is_a_warning_and_stops_strict_build(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    strict = sites.build(folder, "--strict")
    assert strict.returncode == 1
    assert "gate: 1 of 2 gold queries fail (chain)" in strict.stderr
    assert not published(folder)
    lenient = sites.build(folder)
    assert lenient.returncode == 0, lenient.stderr
    assert "WARNING" in lenient.stderr
    assert "gate: 1 of 2 gold queries fail (chain)" in lenient.stderr
    assert published(folder)


def test_strict_failure_keeps_last_bundle(folder: Path) -> None:
    lantern = (
        "  - id: lantern\n    query: What does a lantern warn of?\n    topSource: storms#lanterns"
    )
    sites.put(folder / "eval" / "gold.yaml", GOLD + lantern)
    assert sites.build(folder, "-q").returncode == 0
    before = sites.opened(folder).manifest.id
    sites.put(folder / "docs" / "storms.md", "# Storms\n\nNothing is said of them any more.\n")
    # The passage that the gold set names is gone with the page's heading.
    done = sites.build(folder, "--strict")
    assert done.returncode == 1
    assert "storms#lanterns" in done.stderr
    assert "topSource: there is no record, passage or note" in done.stderr
    assert sites.opened(folder).manifest.id == before


def test_note_text_and_path_are_absent_from_gate_log(folder: Path) -> None:
    hidden = GOLD.replace("Where was the gearbox of the electric winch taken from?", "Who sings?")
    sites.put(folder / "eval" / "gold.yaml", hidden)
    done = sites.build(folder)
    assert "gold queries fail (winch)" in done.stderr
    assert "winch.md" not in done.stderr + done.stdout
    assert "tractor" not in done.stderr + done.stdout


def test_gates_switch_the_negation_check_off_with_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"gate": "retrieval", "evaluate": {"check_negation": False}}
    site = sites.write_site(tmp_path, notes=sites.NOTES, options=options)
    sites.put(site / "eval" / "gold.yaml", GOLD)
    queries: list[GoldQuery] = []
    run = runner.run_gold_set

    def recorded(selected: Sequence[GoldQuery], *args: Any, **keywords: Any) -> Iterator[Verdict]:
        queries.extend(selected)
        return run(selected, *args, **keywords)

    monkeypatch.setattr(runner, "run_gold_set", recorded)
    sites.build_here(site)
    judge = gate.judge_contents

    def judged(case: gate.JudgedSite, contents: BundleContents) -> gate.GateReport:
        queries.extend(case.queries)
        return judge(case, contents)

    monkeypatch.setattr("answerable.mkdocs.site_config.judge_contents", judged)
    sites.forget_plugins()
    certify_encoding(site / "mkdocs.yml", None, None, None, ())
    assert [(query.id, query.check_negation) for query in queries] == 2 * [
        ("chain", False),
        ("winch", False),
    ]


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        (None, {}, "gate: retrieval needs a gold set to certify it, and"),
        ("queries: [", {}, "gold.yaml"),
        (GOLD, {"gate": "both"}, "gate"),
    ],
)
def test_gate_without_gold_set_or_with_languages_apart_is_refused(
    tmp_path: Path, gold: str | None, options: dict[str, str], message: str
) -> None:
    site = sites.write_site(tmp_path, notes=sites.NOTES, options={"gate": "retrieval", **options})
    if gold:
        sites.put(site / "eval" / "gold.yaml", gold)
    done = sites.build(site)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not published(site)
