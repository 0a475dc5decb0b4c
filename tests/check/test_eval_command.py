"""``answerable eval`` over a real site: what it asks, keeps, prints and refuses."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from answerable.check.report import EvalReport, Verdict, read_report
from answerable.engine.errors import GoldError
from support import sites
from support.eval_reports import run
from support.openai_stub import OpenAIStub

GOLD = """
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    expectAnswerMode: partial
    topSource: mooring#chains
    expectSources: [mooring]
    tags: [direct]
  - id: winch
    query: Where was the gearbox of the electric winch taken from?
    expectAnswerMode: related-material
    expectSources: [winch.md]
    forbidRecordCitations: true
  - id: opera
    query: Who sang at the opera in Vienna?
    expectAnswerMode: not-found
    expectReason: no-evidence
"""
BROKEN = GOLD.replace("mooring#chains", "storms#lanterns")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site and its bundle, with a notebook."""
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(site)
    return site


@pytest.fixture
def folder(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make that site the current folder, without a report and with a gold set that holds."""
    sites.put(built / "eval" / "gold.yaml", GOLD)
    for old in reports(built):
        old.unlink()
    monkeypatch.chdir(built)
    return built


def reports(folder: Path) -> list[Path]:
    return sorted((folder / ".cache" / "plugin" / "answerable" / "eval").glob("*.json"))


def last(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(reports(folder)[-1].read_text("utf-8"))
    return report


def test_a_run_prints_and_keeps_what_it_judged_in_both_tiers(folder: Path) -> None:
    for tier, arguments in (("retrieval", ()), ("full", ("--full", "--report", "out/r.json"))):
        done = run(folder, "eval", *arguments)
        assert done.exit_code == 0, done.output
        assert f"3 of 3 passed ({tier} tier)" in done.stdout
        assert f"Report: {reports(folder)[-1]}" in done.stdout
        assert last(folder)["tier"] == tier
    report = last(folder)
    assert report == json.loads((folder / "out" / "r.json").read_text("utf-8"))
    assert read_report(folder / "out" / "r.json").holds
    modes = [verdict["answer"]["mode"] for verdict in report["verdicts"]]
    assert modes == ["partial", "related-material", "not-found"]
    assert report["bundle"] == sites.opened(folder).manifest.id
    assert (report["answers"], report["total"]) == ("extractive", 3)
    names = {field.name for field in fields(EvalReport)}
    assert (len(names), set(report) - names) == (8, {"version", "holds"})
    assert len(fields(Verdict)) == 8


def test_known_failure_does_not_fail_the_run_until_it_passes(folder: Path) -> None:
    gold = BROKEN.replace("tags: [direct]", "knownFailure: storms come first")
    sites.put(folder / "eval" / "gold.yaml", gold)
    done = run(folder, "eval", "--full")
    assert done.exit_code == 0
    assert "known chain: top source is not 'storms#lanterns'; known failure: storms" in done.stdout
    assert "2 of 3 passed (full tier), 1 known to fail" in done.stdout
    mended = gold.replace("topSource: storms#lanterns", "tags: [t]")
    sites.put(folder / "eval" / "gold.yaml", mended)
    done = run(folder, "eval", "--full")
    assert done.exit_code == 1
    assert "FAIL chain: it passes: drop knownFailure" in done.stdout
    assert "2 of 3 passed (full tier), 1 passed unexpectedly" in done.stdout
    # The retrieval alone cannot tell: the query has a mode to be judged by.
    assert run(folder, "eval").exit_code == 0


def test_failing_query_is_told_with_its_question_its_note_and_what_was_found(folder: Path) -> None:
    noted = BROKEN.replace("tags: [direct]", "note: Thick chains come first.")
    sites.put(folder / "eval" / "gold.yaml", noted)
    done = run(folder, "eval", "--markdown", "out/eval.md")
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "FAIL chain: top source is not 'storms#lanterns'\n"
        "  asked: How thick is the chain of a mooring?\n"
        "  found first: mooring#chains\n"
        "  note: Thick chains come first.\n"
    )
    markdown = (folder / "out" / "eval.md").read_text("utf-8")
    assert "### The gold set does not hold" in markdown
    assert "2 of 3 passed (retrieval tier), 1 failed." in markdown
    assert "```\nFAIL chain: top source is not 'storms#lanterns'\n" in markdown


def test_from_report_asks_only_failed_queries(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    assert run(folder, "eval", "--report", "first.json").exit_code == 1
    for name in ("latest", "first.json"):
        again = json.loads(run(folder, "eval", "--from-report", name, "--json").stdout)
        assert ([verdict["id"] for verdict in again["verdicts"]], again["holds"]) == (
            ["chain"], False,
        )  # fmt: skip
    sites.put(folder / "eval" / "gold.yaml", GOLD)
    assert run(folder, "eval", "--from-report", "latest").exit_code == 0
    nothing = run(folder, "eval", "--from-report", "latest")
    assert (nothing.exit_code, "nothing failed there" in nothing.stderr) == (1, True)
    both = run(folder, "eval", "--ids", "chain", "--from-report", "latest")
    assert (both.exit_code, "name one of them" in both.stderr) == (2, True)


def test_fail_fast_makes_a_report_that_does_not_know_every_failure(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    done = run(folder, "eval", "--fail-fast")
    assert (done.exit_code, "and the run was aborted" in done.stdout) == (1, True)
    assert len(last(folder)["verdicts"]) == 1
    refused = run(folder, "eval", "--from-report", "latest")
    assert (refused.exit_code, "run the whole set again" in refused.stderr) == (1, True)


def test_damaged_report_is_refused(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    run(folder, "eval")
    good, path = last(folder), reports(folder)[-1]
    for change in ({"version": 1}, {"tier": "both"}, {"verdicts": 1}):
        sites.put(path, json.dumps({**good, **change}))
        with pytest.raises(GoldError, match="is not a report of `answerable eval`"):
            read_report(path)
    # An old report that cannot be read is no reason not to run the gold set.
    assert run(folder, "eval").exit_code == 1
    missing = run(folder, "eval", "--from-report", "nowhere.json")
    assert "nowhere.json does not exist: run `answerable eval` first" in missing.stderr


def test_query_that_requires_model_is_skipped_without_one(folder: Path) -> None:
    close = GOLD.replace("expectReason: no-evidence", "requires: model")
    sites.put(folder / "eval" / "gold.yaml", close)
    done = run(folder, "eval", "--full")
    assert done.exit_code == 0
    assert "2 of 2 passed (full tier), 1 skipped" in done.stdout
    assert last(folder)["skipped"] == ["opera"]


def test_no_evidence_is_expected_in_the_retrieval_tier_too(folder: Path) -> None:
    answered = GOLD.replace("Who sang at the opera in Vienna?", "What does a red lantern warn of?")
    sites.put(folder / "eval" / "gold.yaml", answered)
    assert "expected nothing above the floors" in run(folder, "eval").stdout


def test_paid_calls_are_counted_before_they_are_made(folder: Path) -> None:
    settings = folder / "function" / "settings.json"
    before = settings.read_text("utf-8")
    values = {**json.loads(before), "answers": "openai", "model": "honest"}
    try:
        # The discard service: a host that is not this machine, and never answers.
        paid = {**values, "base_url": "http://0.0.0.1:9/v1", "timeout": 1.0}
        sites.put(settings, json.dumps(paid))
        done = run(folder, "eval", "--full", OPENAI_API_KEY="test")
        assert "This run makes 3 to 6 calls of honest, which cost money." in done.stderr
        assert "cost money" not in run(folder, "eval").stderr
        with OpenAIStub() as server:
            sites.put(settings, json.dumps({**values, "base_url": server.base_url}))
            done = run(folder, "eval", "--full", OPENAI_API_KEY="test")
            assert "cost money" not in done.stderr
            assert server.answer_calls > 0
            assert last(folder)["answers"] == "honest"
    finally:
        settings.write_text(before, "utf-8")


# Words of a note, as a pattern spells them that also matches the answer, and the path of a note.
PRIVATE = ("gearbox-of-the-ferry", "winch.md", "scrapped tractor")
LEAKY = GOLD.replace(
    "expectSources: [mooring]",
    "expectSources: [mooring, winch.md]\n"
    "    forbidAnswerPatterns: [nothing, gearbox-of-the-ferry|chain]\n"
    "    requireAnswerPatterns: [gearbox-of-the-ferry]",
)


def test_output_names_neither_patterns_nor_notes(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", LEAKY)
    done = [
        run(folder, "eval", "--full", "--report", "r.json", "--markdown", "eval.md"),
        run(
            folder, "diff", "--against", "r.json", "--current", "r.json", "--markdown", "diff.md"
        ),
    ]  # fmt: skip
    assert [each.exit_code for each in done] == [1, 1]
    texts = [each.output for each in done] + [(folder / "r.json").read_text("utf-8")]
    for text in texts:
        assert "forbidden pattern number 2" in text
        assert "expected source (a note) not retrieved" in text
    texts += [(folder / name).read_text("utf-8") for name in ("eval.md", "diff.md")]
    for text in texts:
        assert [words for words in PRIVATE if words in text] == []
