"""``answerable eval`` over a real site: what it runs, keeps, compares and says."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from answerable.evaluate.report import read_report
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
        assert "expected sources retrieved: 3 of 3" in done.stdout
        assert last(folder)["tier"] == tier
    assert [row["mode"] for row in last(folder)["verdicts"]] == [
        "partial",
        "related-material",
        "not-found",
    ]
    assert [row["refused"] for row in last(folder)["verdicts"]] == [False, False, True]
    chain, winch, opera = last(folder)["verdicts"]
    assert 1 <= chain["relevant"] <= chain["retrieved"]
    assert winch["relevant"] == 1
    assert (opera["relevant"], opera["retrieved"]) == (0, 0)
    retrieved = chain["retrieved"] + winch["retrieved"]
    assert last(folder)["metrics"]["precision"]["whole"] == retrieved


def test_renamed_pages_are_suggested_by_what_their_questions_find(folder: Path) -> None:
    sites.put(
        folder / "eval" / "gold.yaml",
        GOLD.replace("mooring#chains", "berths#iron").replace("[mooring]", "[berths]"),
    )
    done = sites.command(folder, "eval")
    assert done.returncode == 1
    first, second, *others = (line for line in done.stderr.splitlines() if "gold.yaml" in line)
    assert "expectSources: there is no record, passage or note 'berths'; its question" in first
    assert "finds mooring; build the site again or correct it" in first
    assert "topSource: there is no record, passage or note 'berths#iron'; its question" in second
    assert "finds mooring#chains; build the site again" in second
    assert others == []


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
        assert "KNOWN chain: top source is not 'storms#lanterns' (known failure: storms" in (
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
    assert "FAIL chain: unexpected pass: drop knownFailure" in done.stdout
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
    assert json.loads(sites.command(folder, "eval", "--json").stdout)["failed"] == 1


def test_report_records_bundle_models_and_floors(folder: Path) -> None:
    sites.command(folder, "eval", "--full", "--report", "out/report.json")
    report = last(folder)
    assert report == json.loads((folder / "out" / "report.json").read_text("utf-8"))
    assert report["bundle"] == sites.opened(folder).manifest.id
    assert report["embedder"] == "local/wordllama-l2-supercat-int8@256"
    assert report["answers"] == "extractive"
    assert (report["floor"], report["note_floor"]) == (0.36, 0.2)
    assert (report["total"], report["passed"], report["failed"], report["aborted"]) == (
        3,
        3,
        0,
        False,
    )
    assert report["metrics"]["recall"]["part"] == 3
    assert report["metrics"]["mrr"] == 1
    assert report["metrics"]["refused"]["whole"] == 1
    assert set(report["tags"]) == {"boundary", "direct", "off-topic"}
    assert report["diff"] is None


def test_eval_prints_verdicts_changed_since_last_run_of_tier(folder: Path) -> None:
    sites.command(folder, "eval")
    sites.put(folder / "eval" / "gold.yaml", BROKEN)
    done = sites.command(folder, "eval")
    assert done.returncode == 1
    assert re.search(r"Newly failing since \S+Z: chain", done.stdout)
    assert "top source is not 'storms#lanterns'" in done.stdout
    assert last(folder)["diff"]["newly_failing"] == ["chain"]
    sites.put(folder / "eval" / "gold.yaml", GOLD)
    other = sites.command(folder, "eval", "--full")
    assert "Newly" not in other.stdout
    done = sites.command(folder, "eval")
    assert re.search(r"Newly passing since \S+Z: chain", done.stdout)


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
    assert last(folder)["aborted"] is True
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
        {"total": 2}, {"version": 1},
        {"tier": "both"}, {"verdicts": good["verdicts"] * 2}, {"verdicts": 1},
        {"skipped": ["chain"]}, {"bundle": 7}, {"floor": "high"},
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


def test_a_run_without_answers_says_how_many_it_has_not_judged(folder: Path) -> None:
    sites.put(
        folder / "eval" / "gold.yaml",
        "queries:\n"
        "  - {id: found, query: How thick is the chain, topSource: mooring#chains}\n"
        "  - {id: worded, query: How thick is the chain, requireAnswerPatterns: [ninety]}\n"
        "  - {id: moody, query: How thick is the chain, expectAnswerMode: not-found}\n",
    )
    done = sites.command(folder, "eval")
    assert done.returncode == 0
    summary = "3 of 3 passed (retrieval tier), the answers to 2 not judged (--full judges them)"
    assert summary in done.stdout.splitlines()
    assert last(folder)["half_judged"] == ["worded", "moody"]
    done = sites.command(folder, "eval", "--full")
    assert done.returncode == 1
    assert "not judged" not in done.stdout
    assert last(folder)["half_judged"] == []


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


def test_note_text_is_absent_from_reports(folder: Path) -> None:
    done = sites.command(folder, "eval", "--full", "--html", "page.html", "--report", "r.json")
    assert done.returncode == 0
    reports_text = "".join(
        [done.stdout, done.stderr, (folder / "page.html").read_text("utf-8")]
        + [path.read_text("utf-8") for path in [*reports(folder), folder / "r.json"]]
    )
    assert "scrapped tractor" not in reports_text


# Words of a note, as a pattern spells them that also matches the answer, and the path of a note.
PRIVATE = ("gearbox-of-the-ferry", "winch.md")
LEAKY = GOLD.replace(
    "expectSources: [mooring]",
    "expectSources: [mooring, winch.md]\n"
    "    forbidAnswerPatterns: [nothing, gearbox-of-the-ferry|chain]\n"
    "    requireAnswerPatterns: [gearbox-of-the-ferry]",
)


def test_ci_output_names_neither_patterns_nor_notes(folder: Path, tmp_path: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", LEAKY)
    paths = {name: tmp_path / name for name in ("report.json", "junit.xml", "eval.md", "diff.md")}
    runs = [
        sites.command(
            folder, "eval", "--full", "--report", str(paths["report.json"]), "--annotations",
            "--junit", str(tmp_path / "junit.xml"), GITHUB_STEP_SUMMARY=str(paths["eval.md"]),
            **{service: "true"},
        )
        for service in ("CI", "GITHUB_ACTIONS")
    ]  # fmt: skip
    assert [run.returncode for run in runs] == [1, 1]
    report = str(paths["report.json"])
    for current in ([], ["--current", report]):
        run = sites.command(
            folder, "diff", "--against", report, *current, "--markdown", str(paths["diff.md"]),
            "--junit", str(tmp_path / "diff.xml"), CI="true", GITHUB_ACTIONS="true",
            GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
        )  # fmt: skip
        assert run.returncode == 1, run.stdout + run.stderr
        runs.append(run)
    files = ("junit.xml", "eval.md", "diff.md", "diff.xml", "summary.md")
    # Markdown holds characters as references.
    texts = {name: html.unescape((tmp_path / name).read_text("utf-8")) for name in files}
    texts |= {f"run {number}": run.stdout + run.stderr for number, run in enumerate(runs)}
    for name, text in texts.items():
        assert "forbidden pattern number 2" in text, name
        assert "expected source (a note) not retrieved" in text, name
        assert [each for each in PRIVATE if each in text] == [], name
    # The report, which is not for everybody, says it all, and so does a terminal.
    assert all(each in paths["report.json"].read_text("utf-8") for each in PRIVATE)
    private = sites.command(folder, "eval", "--full", CI="", GITHUB_ACTIONS="")
    assert all(each in private.stdout for each in PRIVATE)


def test_error_in_ci_names_no_note(folder: Path) -> None:
    unknown = GOLD.replace("[winch.md]", "[wnch, winc.md]").replace("[mooring]", "[moring]")
    sites.put(folder / "eval" / "gold.yaml", unknown)
    for command in (["eval"], ["diff", "--against", "HEAD"]):
        run = sites.command(folder, *command, CI="true")
        assert "expectSources: there is no record, passage or note 'moring'" in run.stderr
        assert "did you mean mooring" in run.stderr
        assert "there is no record, passage or note for number 2" in run.stderr
        assert not re.search("winch?[.]md|wnch", run.stderr)
        # The output of a test is no terminal.
        run = sites.command(folder, *command, CI="", GITHUB_ACTIONS="")
        assert "note 'winc.md'" in run.stderr
        assert "winch.md" not in run.stderr
