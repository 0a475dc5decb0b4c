"""The GitHub Action of this repository: its steps run in bash over a real site and repository."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from support import git_sites, sites
from support.action_steps import ActionRun, run_action

pytestmark = pytest.mark.deep

REPOSITORY = "owner/docs"
TOKEN = "token-of-the-run"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
STRANGER = {"login": "stranger", "type": "User"}
_THREAD = f"/repos/{REPOSITORY}/issues/7/comments"


@dataclass
class CommentThread:
    """The comments of pull request 7."""

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)

    def add(self, body: str, user: dict[str, str]) -> dict[str, Any]:
        """Add a comment."""
        comment = {"id": 1000 + len(self.comments), "body": body, "user": user}
        self.comments.append(comment)
        return comment


@contextmanager
def serving() -> Iterator[CommentThread]:
    """Serve an empty thread."""
    thread = CommentThread()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_PATCH(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fields = json.loads(body) if body else {}
            url = urlsplit(self.path)
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send(401, {"message": "Bad credentials"})
            elif url.path == "/user":
                self.send(403, {"message": "Resource not accessible by integration"})
            elif self.command == "GET" and url.path == _THREAD:
                query = parse_qs(url.query)
                size, page = int(query["per_page"][0]), int(query["page"][0])
                self.send(200, thread.comments[size * (page - 1) : size * page])
            elif self.command == "POST" and url.path == _THREAD:
                self.send(201, thread.add(fields["body"], BOT))
            elif match := re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", url.path):
                comment = next(each for each in thread.comments if each["id"] == int(match[1]))
                comment["body"] = fields["body"]
                self.send(200, comment)
            else:
                self.send(404, {"message": "Not Found"})

        def send(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        worker = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        worker.start()
        thread.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield thread
        finally:
            server.shutdown()
            worker.join()


ACTION = sites.ROOT / ".github" / "actions" / "gold-set"
HOSTILE_QUERY = "<b>What</b> does a *red lantern* warn of, [above](wind) @knots | #1?"
HOSTILE_TEXT = "`</pre><img src=x onerror=alert(1)> @octocat ::error::x`"


@pytest.fixture
def api() -> Iterator[CommentThread]:
    with serving() as thread:
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


def run(folder: Path, api: CommentThread) -> ActionRun:
    scratch = folder.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    (scratch / "summary.md").unlink(missing_ok=True)
    return run_action(
        ACTION, folder, scratch,
        {"token": TOKEN, "event.pull_request.number": "7"},
        {"GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": REPOSITORY},
    )  # fmt: skip


def comment(body: str, api: CommentThread) -> str:
    """Run the script that writes a comment, and return what it prints."""
    path = ACTION / "comment.py"
    process = subprocess.run(
        [sys.executable, str(path), "/dev/stdin"],
        env={
            "GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": REPOSITORY, "TOKEN": TOKEN,
            "PULL_REQUEST": "7", "CONFIG": "mkdocs.yml",
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
    assert "[-thirty" in written["body"]
    assert "1 of 3 answers differs from" in first.summary
    assert "3 of 3 passed (full tier)." in first.summary
    report = folder / "answerable-report"
    assert json.loads((report / "diff.json").read_text("utf-8"))["changed"][0]["id"] == "lantern"
    assert {path.name for path in report.iterdir()} == {
        "comment.md", "diff.json", "diff.md", "eval.md", "report.json",
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
        assert {node.tag for node in tree.css("body *")} <= {"h3", "p", "code", "pre"}
        assert any(HOSTILE_QUERY in node.text() for node in tree.css("pre code"))
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
    assert "FAIL chain: " in api.comments[0]["body"]
    assert outcome.step("Upload the reports").status == 0


def test_comment_of_a_stranger_with_the_marker_is_left_alone(api: CommentThread) -> None:
    marker = "<!-- answerable gold set: mkdocs.yml -->"
    api.add(f"{marker}\nAll is well", STRANGER)
    for number in range(100):
        api.add(f"Remark {number}", STRANGER)
    api.add(f"{marker}\nOld", BOT)
    assert comment("New", api) == ""
    assert api.comments[0]["body"] == f"{marker}\nAll is well"
    assert api.comments[-1]["body"] == f"{marker}\nNew"
