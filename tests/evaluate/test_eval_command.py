"""``answerable eval`` over a real site: what it runs, keeps, compares and says."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from answerable.evaluate.report import EvalReport, Verdict, read_report
from answerable.serve.errors import GoldError
from support import sites
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
    tags: [boundary]
  - id: opera
    query: Who sang at the opera in Vienna?
    expectAnswerMode: not-found
    expectReason: no-evidence
    tags: [off-topic]
"""
BROKEN = GOLD.replace("mooring#chains", "storms#lanterns")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site and its bundle; the notebook and the gold set lie beside them."""
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.put(site / "eval" / "gold.yaml", GOLD)
    done = sites.build(site, "-q")
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def folder(built: Path) -> Path:
    """Copy the same, without a report and with a gold set that holds."""
    sites.put(built / "eval" / "gold.yaml", GOLD)
    for old in reports(built):
        old.unlink()
    return built


def reports(folder: Path) -> list[Path]:
    return sorted((folder / ".cache" / "plugin" / "answerable" / "eval").glob("*.json"))


def last(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(reports(folder)[-1].read_text("utf-8"))
    return report


def test_eval_passes_in_both_tiers(folder: Path) -> None:
    for tier, arguments in (("retrieval", ()), ("full", ("--full",))):
        done = sites.command(folder, "eval", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"3 of 3 passed ({tier} tier)" in done.stdout
        assert last(folder)["tier"] == tier
    modes = [row["answer"]["mode"] for row in last(folder)["verdicts"]]
    assert modes == ["partial", "related-material", "not-found"]


def test_known_failure_does_not_fail_the_run_until_it_passes(folder: Path) -> None:
    gold = BROKEN.replace("tags: [direct]", "knownFailure: storms come first")
    sites.put(folder / "eval" / "gold.yaml", gold)
    sites.put(folder / "docs" / "storms.md", "# Storms\n\n## Lanterns\n\nLight them.\n")
    for arguments in ((), ("--full",)):
        done = sites.command(folder, "eval", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert [row["status"] for row in last(folder)["verdicts"]] == [
            "known-failure",
            "pass",
            "pass",
        ]
        assert "known chain: top source is not 'storms#lanterns'; known failure: storms" in (
            done.stdout
        )
        assert "2 of 3 passed" in done.stdout
        assert "1 known to fail" in done.stdout
    sites.put(
        folder / "eval" / "gold.yaml", gold.replace("topSource: storms#lanterns", "tags: [t]")
    )
    done = sites.command(folder, "eval", "--full")
    assert done.returncode == 1
    assert last(folder)["verdicts"][0]["status"] == "unexpected-pass"
    assert "FAIL chain: it passes: drop knownFailure" in done.stdout
    assert "2 of 3 passed (full tier), 1 passed unexpectedly" in " ".join(done.stdout.split())
    # The retrieval alone cannot tell: the query has a mode to be judged by.
    done = sites.command(folder, "eval")
    assert done.returncode == 0
    assert last(folder)["verdicts"][0]["status"] == "pass"


def test_failing_query_is_printed_with_its_note_and_the_path_of_the_report(folder: Path) -> None:
    noted = BROKEN.replace("tags: [direct]", "note: Thick chains come first.")
    sites.put(folder / "eval" / "gold.yaml", noted.replace("[boundary]", "[b]\n    note: Unseen."))
    done = sites.command(folder, "eval")
    assert "not 'storms#lanterns'\n  note: Thick chains come first.\n" in done.stdout
    assert "Unseen." not in done.stdout
    assert f"Report: {reports(folder)[-1]}" in done.stdout
    assert json.loads(sites.command(folder, "eval", "--json").stdout)["holds"] is False


def test_a_report_has_eight_fields_and_a_verdict_eight(folder: Path) -> None:
    sites.command(folder, "eval", "--full", "--report", "out/report.json")
    report = last(folder)
    assert report == json.loads((folder / "out" / "report.json").read_text("utf-8"))
    assert report["bundle"] == sites.opened(folder).manifest.id
    assert (report["answers"], report["tier"], report["total"]) == ("extractive", "full", 3)
    own = {field.name for field in fields(EvalReport)}
    assert (len(own), set(report) - own) == (8, {"version", "holds"})
    assert set(report["verdicts"][0]) == {field.name for field in fields(Verdict)}
    assert len(fields(Verdict)) == 8
    assert read_report(folder / "out" / "report.json").holds


def test_outcome_is_written_as_markdown(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    assert sites.command(folder, "eval", "--markdown", "out/eval.md").returncode == 1
    markdown = (folder / "out" / "eval.md").read_text("utf-8")
    assert "2 of 3 passed (retrieval tier), 1 failed." in markdown
    assert "| FAIL | <code>chain</code> |" in markdown


def test_from_report_runs_only_failed_queries(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    assert sites.command(folder, "eval", "--report", "first.json").returncode == 1
    again = sites.command(folder, "eval", "--from-report", "latest")
    assert again.returncode == 1
    assert [row["id"] for row in last(folder)["verdicts"]] == ["chain"]
    repeated = sites.command(folder, "eval", "--from-report", "first.json", "--json")
    assert [row["id"] for row in json.loads(repeated.stdout)["verdicts"]] == ["chain"]
    sites.put(folder / "eval" / "gold.yaml", GOLD)
    assert sites.command(folder, "eval", "--from-report", "latest").returncode == 0
    nothing = sites.command(folder, "eval", "--from-report", "latest")
    assert nothing.returncode == 1
    assert "holds no failure: there is nothing to run again" in nothing.stderr


def test_from_report_refuses_aborted_report(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    done = sites.command(folder, "eval", "--fail-fast")
    assert done.returncode == 1
    assert "and the run was aborted" in done.stdout
    assert len(last(folder)["verdicts"]) == 1
    refused = sites.command(folder, "eval", "--from-report", "latest")
    assert refused.returncode == 1
    assert "was aborted" in refused.stderr
    assert "run the whole set again" in refused.stderr


def test_damaged_report_is_refused(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    sites.command(folder, "eval")
    good = last(folder)
    path = reports(folder)[-1]
    changes: tuple[dict[str, Any], ...] = (
        {"version": 1}, {"tier": "both"}, {"verdicts": 1}, {"bundle": 7}, {"floors": "high"},
    )  # fmt: skip
    for change in changes:
        sites.put(path, json.dumps({**good, **change}))
        with pytest.raises(GoldError, match="is not a report of `answerable eval`"):
            read_report(path)
    refused = sites.command(folder, "eval", "--from-report", "latest")
    assert refused.returncode == 1
    assert "is not a report of `answerable eval`" in refused.stderr
    assert "Traceback" not in refused.stderr
    # An old report that cannot be read is no reason not to run the gold set.
    assert sites.command(folder, "eval").returncode == 1
    missing = sites.command(folder, "eval", "--from-report", "nowhere.json")
    assert "nowhere.json does not exist: run `answerable eval` first" in missing.stderr


def test_ids_with_from_report_is_usage_error(folder: Path) -> None:
    done = sites.command(folder, "eval", "--ids", "chain", "--from-report", "latest")
    assert done.returncode == 2
    assert "name one of them" in done.stderr


def test_query_that_requires_model_is_skipped_without_one(folder: Path) -> None:
    close = GOLD.replace("expectReason: no-evidence", "requires: model")
    sites.put(folder / "eval" / "gold.yaml", close)
    done = sites.command(folder, "eval", "--full")
    assert done.returncode == 0, done.stdout
    assert "2 of 2 passed (full tier), 1 skipped" in done.stdout
    assert last(folder)["skipped"] == ["opera"]


def test_expected_reason_is_judged_in_both_tiers(folder: Path) -> None:
    wrong = GOLD.replace("no-evidence", "declined")
    sites.put(folder / "eval" / "gold.yaml", wrong)
    assert sites.command(folder, "eval").returncode == 0
    done = sites.command(folder, "eval", "--full")
    assert "reason 'no-evidence' (expected 'declined')" in done.stdout
    answered = GOLD.replace("Who sang at the opera in Vienna?", "What does a red lantern warn of?")
    sites.put(folder / "eval" / "gold.yaml", answered)
    done = sites.command(folder, "eval")
    assert "expected nothing above the floors" in done.stdout


def test_paid_calls_are_counted_before_they_are_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = folder / "function" / "settings.json"
    own = settings.read_text("utf-8")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    try:
        # The discard service: a host that is not this machine, and never answers.
        paid = {"answers": "openai", "model": "some-model", "base_url": "http://0.0.0.1:9/v1"}
        sites.put(settings, json.dumps({**json.loads(own), **paid, "timeout": 1.0}))
        done = sites.command(folder, "eval", "--full", OPENAI_API_KEY="test")
        assert "This run makes 3 to 6 calls of some-model, which cost money." in done.stderr
        assert "cost money" not in sites.command(folder, "eval").stderr
        with OpenAIStub() as server:
            own_host = {**paid, "model": "honest", "base_url": server.base_url}
            sites.put(settings, json.dumps({**json.loads(own), **own_host, "timeout": 20.0}))
            done = sites.command(folder, "eval", "--full", OPENAI_API_KEY="test")
            assert "cost money" not in done.stderr
            assert server.answer_calls > 0
            assert last(folder)["answers"] == "honest"
    finally:
        settings.write_text(own, "utf-8")


# Words of a note, as a pattern spells them that also matches the answer, and the path of a note.
PRIVATE = ("gearbox-of-the-ferry", "winch.md", "scrapped tractor")
LEAKY = GOLD.replace(
    "expectSources: [mooring]",
    "expectSources: [mooring, winch.md]\n"
    "    forbidAnswerPatterns: [nothing, gearbox-of-the-ferry|chain]\n"
    "    requireAnswerPatterns: [gearbox-of-the-ferry]",
)


def test_output_names_neither_patterns_nor_notes(folder: Path, tmp_path: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", LEAKY)
    report = str(tmp_path / "report.json")
    runs = [
        sites.command(
            folder, "eval", "--full", "--report", report, "--markdown", str(tmp_path / "eval.md")
        ),
        sites.command(
            folder, "diff", "--against", report, "--current", report,
            "--markdown", str(tmp_path / "diff.md"),
        ),
    ]  # fmt: skip
    assert [run.returncode for run in runs] == [1, 1]
    texts = [run.stdout + run.stderr for run in runs]
    for text in (*texts, Path(report).read_text("utf-8")):
        assert "forbidden pattern number 2" in text
        assert "expected source (a note) not retrieved" in text
    texts += [
        (tmp_path / name).read_text("utf-8") for name in ("report.json", "eval.md", "diff.md")
    ]
    for text in texts:
        assert [each for each in PRIVATE if each in text] == []


def test_error_names_no_note(folder: Path) -> None:
    unknown = GOLD.replace("[winch.md]", "[wnch, winc.md]").replace("[mooring]", "[moring]")
    sites.put(folder / "eval" / "gold.yaml", unknown)
    for command in (["eval"], ["diff", "--against", "HEAD"]):
        run = sites.command(folder, *command)
        assert "did you mean mooring" in run.stderr
        assert "expectSources: number 2: there is no record, passage or note" in run.stderr
        assert "win" not in run.stderr.replace("winch'", "")
