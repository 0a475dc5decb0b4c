"""``answerable diff`` over a real site in a git repository: which answers a change changes."""

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from support import git_sites, sites
from support.eval_reports import run
from support.git_sites import run_git

KNOTS = ("storms.md", "above thirty knots", "above forty knots")


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site in a repository whose only commit is that site."""
    return git_sites.write_site(tmp_path_factory.mktemp("repository") / "site")


@pytest.fixture
def folder(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy that site and its repository, to be changed, and make it the current folder."""
    copy = Path(shutil.copytree(committed, tmp_path / "site"))
    monkeypatch.chdir(copy)
    return copy


def diff(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run(folder, "diff", "--json", *arguments)
    assert done.exit_code == 0, done.output
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


def edit(folder: Path, page: str, before: str, after: str) -> None:
    path = folder / "docs" / page
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def commit_other_config(folder: Path, more: str) -> None:
    """Commit a configuration with more lines, and take them back in the files."""
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text(good + more, "utf-8")
    git_sites.commit(folder)
    config.write_text(good, "utf-8")


def test_diff_names_exactly_the_answers_that_an_edit_changes(folder: Path) -> None:
    run_git(folder, "checkout", "--quiet", "-b", "topic")
    edit(folder, *KNOTS)
    git_sites.commit(folder)
    # Not committed, but built: the last build is compared.
    edit(folder, "mooring.md", "twelve millimetres", "fifteen millimetres")
    sites.build_here(folder)
    published = {path: path.read_bytes() for path in (folder / "function").rglob("*.json")}
    fields = diff(folder)
    assert [change["id"] for change in fields["changed"]] == ["chain", "lantern"]
    assert {tuple(change["parts"]) for change in fields["changed"]} == {("text",)}
    assert "thirty knots" in fields["changed"][1]["before"]["text"]
    assert "forty knots" in fields["changed"][1]["after"]["text"]
    assert fields["against"] == run_git(folder, "rev-parse", "main")[:12]
    assert (fields["unchanged"], fields["pages"], fields["holds"]) == (1, [], True)
    done = run(folder, "diff", "--against", "HEAD", "--markdown", "out/diff.md")
    assert done.exit_code == 0
    assert "[-twelve-] {+fifteen+} millimetres" in done.stdout
    assert "1 of 3 answers differs from HEAD (" in done.stdout
    assert "lantern" not in done.stdout
    assert "[-twelve-] {+fifteen+}" in (folder / "out" / "diff.md").read_text("utf-8")
    # Neither the checked out commit nor a branch is left behind, nor is anything published.
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1
    assert run_git(folder, "branch", "--list").split() == ["main", "*", "topic"]
    assert {path: path.read_bytes() for path in (folder / "function").rglob("*.json")} == published


def test_diff_compares_with_a_report(folder: Path) -> None:
    assert run(folder, "eval", "--full", "--report", "base.json").exit_code == 0
    edit(folder, "mooring.md", "twelve millimetres", "fifteen millimetres")
    sites.build_here(folder)
    # The answers of this site may come from a report too, unless it is of another build.
    stale = run(folder, "diff", "--against", "base.json", "--current", "base.json")
    assert (stale.exit_code, "is of another bundle or answerer" in stale.stderr) == (1, True)
    assert run(folder, "eval", "--full", "--report", "now.json").exit_code == 0
    fields = diff(folder, "--against", "base.json", "--current", "now.json")
    assert [change["id"] for change in fields["changed"]] == ["chain"]
    chosen = diff(folder, "--against", "base.json", "--current", "now.json", "--ids", "lantern")
    assert (chosen["changed"], chosen["unchanged"], chosen["gone"]) == ([], 1, [])
    run(folder, "eval", "--report", "retrieval.json")
    asked = run(folder, "diff", "--against", "retrieval.json", "--current", "now.json")
    assert "retrieval.json is of a run that asked for no answers" in asked.stderr


def test_diff_tells_of_pages_that_are_gone_new_or_moved_and_fails_with_a_verdict(
    folder: Path,
) -> None:
    run_git(folder, "mv", "docs/storms.md", "docs/weather.md")
    sites.put(folder / "docs" / "pilots.md", "# Pilots\n\nA pilot boards beyond the outer buoy.\n")
    (folder / "docs" / "mooring.md").rename(folder / "docs" / "Mooring.md")
    gold = git_sites.GOLD.replace("[storms]", "[weather]")
    sites.put(folder / "eval" / "gold.yaml", gold.replace("[mooring]", "[pilots]"))
    sites.build_here(folder)
    done = run(folder, "diff", "--markdown", "diff.md")
    assert done.exit_code == 1
    assert "page gone: storms\n" in done.stdout
    assert "page new: pilots\n" in done.stdout
    assert "FAIL chain: expected source 'pilots' not retrieved" in done.stdout
    assert "page new: weather\n" in (folder / "diff.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("nowhere", "--against nowhere: neither a file nor a commit"),
        ("-x", "--against -x: neither a file nor a commit"),
        ("eval/gold.yaml", "eval/gold.yaml is not a report"),
    ],
)
def test_a_ref_that_there_is_not_is_an_error(folder: Path, ref: str, message: str) -> None:
    now = ["--current", "now.json"]
    assert run(folder, "eval", "--full", "--report", "now.json").exit_code == 0
    done = run(folder, "diff", "--against", ref, *now)
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    shutil.rmtree(folder / ".git")
    assert "is not in a git repository: name a report" in run(folder, "diff", *now).stderr


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("hooks: [stop.py]\n", "cannot be built (no more paper)"),
        ("theme: no-such-theme\n", "no-such-theme"),
        ("plugins: []\n", "`answerable` is not among them"),
    ],
)
def test_a_state_that_cannot_be_built_is_an_error_and_leaves_nothing(
    folder: Path, config: str, message: str
) -> None:
    assert run(folder, "eval", "--full", "--report", "now.json").exit_code == 0
    stop = "def on_pre_build(config):\n    raise SystemExit('no more paper')\n"
    sites.put(folder / "stop.py", stop)
    commit_other_config(folder, config)
    done = run(folder, "diff", "--against", "HEAD", "--current", "now.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert "Error: the site of HEAD (" in done.stderr
    assert str(folder.parent) not in done.stderr
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1


def test_build_of_a_ref_replaces_no_function_and_publishes_to_no_database(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = folder.parent / "published"
    # A hook sets this for its own repository, and this one spoils what git would remove.
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    sites.put(
        folder / "spoil.py",
        "import os, pathlib\n\n\ndef on_pre_build(config):\n"
        "    assert 'GIT_DIR' not in os.environ\n    pathlib.Path('.git').unlink()\n",
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        url = f"postgresql://writer@127.0.0.1:{listener.getsockname()[1]}/production"
        # With a gold set that fails, a build would not publish either.
        options = {"store": {"url": url}, "gate": True, "function": str(outside)}
        sites.write_site(folder, options=options, strict=True, hooks=["spoil.py"])
        git_sites.commit(folder)
        sites.write_site(folder)
        edit(folder, *KNOTS)
        sites.build_here(folder)
        fields = diff(folder, "--against", "HEAD")
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert [change["id"] for change in fields["changed"]] == ["lantern"]
    assert not outside.exists()
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1


def test_run_in_which_nothing_could_be_judged_is_exit_status_2(folder: Path) -> None:
    assert run(folder, "eval", "--full", "--report", "base.json").exit_code == 0
    settings = {"answers": "openai", "model": "honest", "base_url": "http://127.0.0.1:9/v1"}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    arguments = ("--bundle", "function/bundle", "diff", "--against", "base.json", "--ids", "chain")
    done = run(folder, *arguments, OPENAI_API_KEY="test")
    assert (done.exit_code, "ERROR chain: " in done.stdout) == (2, True)


def test_notebook_outside_git_counts_on_both_sides(folder: Path) -> None:
    sites.write_site(folder, notes=sites.NOTES)
    sites.put(folder / ".gitignore", "/site/\n/function/\n.cache/\n/notebook/\n")
    gold = "- {id: winch, query: Where was the gearbox taken from, expectSources: [winch.md]}\n"
    sites.put(folder / "eval" / "gold.yaml", gold)
    git_sites.commit(folder)
    sites.build_here(folder)
    fields = diff(folder)
    assert (fields["changed"], fields["unchanged"]) == ([], 1)
    # The temporary folder led to both, and is gone without them.
    assert (folder / "notebook" / "winch.md").is_file()
    assert any((folder / ".cache").rglob("*.sqlite*")) or any((folder / ".cache").rglob("*.db"))
