"""The GitHub Action of this repository: its steps run in bash over a real site and repository."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from support import git_sites, github_api, sites
from support.action_steps import ActionRun, run_action
from support.github_api import BOT, REPOSITORY, STRANGER, TOKEN, CommentThread

ACTION = sites.ROOT / ".github" / "actions" / "gold-set"
HOSTILE_QUERY = "<b>What</b> does a *red lantern* warn of, [above](wind) @knots | #1?"
HOSTILE_TEXT = "`</pre><img src=x onerror=alert(1)> @octocat ::error::x`"


@pytest.fixture
def api() -> Iterator[CommentThread]:
    with github_api.serving() as thread:
        yield thread


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commit a site whose gold set holds, and a change of one answer on top of it."""
    folder = tmp_path_factory.mktemp("action") / "site"
    sites.write_site(folder)
    gold = git_sites.GOLD.replace("What does a red lantern warn of?", f'"{HOSTILE_QUERY}"')
    sites.put(folder / "eval" / "gold.yaml", gold)
    git_sites.init_repository(folder)
    page = folder / "docs" / "storms.md"
    text = page.read_text("utf-8").replace("thirty knots", f"forty knots, {HOSTILE_TEXT}")
    page.write_text(text, "utf-8")
    git_sites.commit(folder)
    return folder


@pytest.fixture
def folder(committed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(committed, tmp_path / "site"))


def run(folder: Path, api: CommentThread, event: str = "pull_request", **inputs: str) -> ActionRun:
    scratch = folder.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    (scratch / "summary.md").unlink(missing_ok=True)
    return run_action(
        ACTION, folder, scratch, inputs,
        {"event_name": event, "token": TOKEN, "event.pull_request.number": "7"},
        {"GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": REPOSITORY},
    )  # fmt: skip


def comment(body: str, api: CommentThread, config: str = "mkdocs.yml") -> str:
    """Run the script that writes a comment, and return what it prints."""
    path = ACTION / "comment.py"
    process = subprocess.run(
        [sys.executable, str(path), "/dev/stdin"],
        env={
            "GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": REPOSITORY, "TOKEN": TOKEN,
            "PULL_REQUEST": "7", "CONFIG": config,
        },
        input=body,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )  # fmt: skip
    return process.stdout


def test_action_comments_the_changed_answer_and_updates_its_comment(
    folder: Path, api: CommentThread
) -> None:
    first = run(folder, api)
    assert first.status == 0, [step.output for step in first.steps]
    assert first.outputs == {"status": "0", "changed": "1"}
    (written,) = api.comments
    assert written["body"].startswith("<!-- answerable gold set: mkdocs.yml -->\n")
    assert "1 of 3 answers differs from" in written["body"]
    assert "The gold set holds" in written["body"]
    assert re.search(r"<del>thirty\b", written["body"])
    assert "1 of 3 answers differs from" in first.summary
    assert "3 of 3 passed (full tier)." in first.summary
    report = folder / "answerable-report"
    assert json.loads((report / "diff.json").read_text("utf-8"))["changed"][0]["id"] == "lantern"
    assert {path.name for path in report.iterdir()} == {
        "diff.json", "diff.md", "junit.xml", "report.html", "report.json",
    }  # fmt: skip
    upload = first.step("Upload the reports")
    assert (upload.uses, upload.values["path"]) == (
        "actions/upload-artifact@v4",
        "answerable-report",
    )
    page = folder / "docs" / "mooring.md"
    page.write_text(page.read_text("utf-8").replace("twelve", "fifteen"), "utf-8")
    git_sites.run_git(folder, "commit", "--quiet", "--all", "--amend", "--no-edit")
    assert run(folder, api).outputs["changed"] == "2"
    assert len(api.comments) == 1
    assert "2 of 3 answers differ from" in api.comments[0]["body"]


def test_text_of_pages_and_questions_is_no_markup_in_comment_and_summary(
    folder: Path, api: CommentThread
) -> None:
    outcome = run(folder, api)
    for markdown in (api.comments[0]["body"], outcome.summary):
        tree = LexborHTMLParser(MarkdownIt("commonmark").enable("table").render(markdown))
        assert {node.tag for node in tree.css("body *")} <= {
            "h3", "p", "details", "summary", "table", "tbody", "thead", "tr", "td", "th", "b",
            "code", "del", "ins", "br", "ul", "li", "strong",
        }  # fmt: skip
        assert HOSTILE_QUERY in [node.text() for node in tree.css("summary code")]
        for node in tree.css("code"):
            node.decompose()
        # GitHub links a name everywhere but in code.
        assert "@" not in tree.text()
    step = outcome.step("Run the gold set")
    assert not re.search(r"^\s*::", step.output, re.M)


def test_action_fails_with_the_verdict_and_still_comments(folder: Path, api: CommentThread) -> None:
    gold = folder / "eval" / "gold.yaml"
    gold.write_text(gold.read_text("utf-8").replace("[mooring]", "[storms]"), "utf-8")
    outcome = run(folder, api)
    assert (outcome.status, outcome.outputs["status"]) == (1, "1")
    assert "The gold set does not hold" in api.comments[0]["body"]
    assert "<code>chain</code>" in api.comments[0]["body"]
    output = outcome.step("Run the gold set").output
    assert "::error file=eval/gold.yaml,line=2,title=fail%3A chain::" in output
    assert outcome.step("Upload the reports").status == 0
    cases = ElementTree.parse(folder / "answerable-report" / "junit.xml").getroot()[0]
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["chain"]


def test_action_stops_where_the_site_cannot_be_built_or_compared(
    folder: Path, api: CommentThread
) -> None:
    outcome = run(folder, api, against="nowhere", build="true")
    assert outcome.status == 2
    assert "neither a file nor a commit" in outcome.step("Compare the answers").output
    (folder / "mkdocs.yml").write_text("site_name: [", "utf-8")
    outcome = run(folder, api)
    assert outcome.status == 1
    assert [step.status for step in outcome.steps][1:4] == [None] * 3
    assert api.comments == []


def test_earlier_site_without_the_plugin_is_a_warning(folder: Path, api: CommentThread) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text("site_name: Harbour\n", "utf-8")
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    git_sites.commit(folder)
    sites.put(folder / "answerable-report" / "diff.md", "of an earlier run")
    outcome = run(folder, api)
    assert (outcome.status, outcome.outputs) == (0, {"status": "0", "changed": ""})
    output = outcome.step("Compare the answers").output
    assert "has no answers to compare with" in output
    assert "::warning title=Answers not compared::" in output
    assert not (folder / "answerable-report" / "diff.md").exists()
    assert api.comments == []


def test_action_without_comparison_asks_for_no_comment(folder: Path, api: CommentThread) -> None:
    outcome = run(folder, api, event="push", full="false", artifact="")
    assert (outcome.status, outcome.outputs) == (0, {"status": "0", "changed": ""})
    assert outcome.step("Compare the answers").status is None
    assert outcome.step("Upload the reports").status is None
    assert "passed (retrieval tier)." in outcome.summary
    assert api.requests == []


def test_token_that_may_only_read_is_a_warning(api: CommentThread) -> None:
    api.may_write = False
    assert comment("Hello", api).startswith("::warning title=No comment::")
    assert api.comments == []


def test_comment_of_a_stranger_with_the_marker_is_left_alone(api: CommentThread) -> None:
    marker = "<!-- answerable gold set: mkdocs.yml -->"
    api.add(f"{marker}\nAll is well", STRANGER)
    for number in range(100):
        api.add(f"Remark {number}", STRANGER)
    api.add(f"{marker}\nOld", BOT)
    assert comment("New", api) == ""
    assert api.comments[0]["body"] == f"{marker}\nAll is well"
    assert api.comments[-1]["body"] == f"{marker}\nNew"
    # Another site of the repository has a comment of its own.
    assert comment("Other", api, "other/mkdocs.yml") == ""
    assert [each["body"][-5:] for each in api.comments[-2:]] == [">\nNew", "Other"]
