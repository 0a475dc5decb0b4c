"""``answerable diff`` over a real site in a git repository: which answers a change changes."""

import json
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import git_sites, sites
from support.git_sites import run_git
from support.honest_model import honest_model
from support.openai_stub import OpenAIStub


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site in a repository whose only commit is that site."""
    return git_sites.write_site(tmp_path_factory.mktemp("repository") / "site")


@pytest.fixture
def folder(committed: Path, tmp_path: Path) -> Path:
    """Copy that site and its repository, to be changed."""
    return Path(shutil.copytree(committed, tmp_path / "site"))


def diff(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    quiet = {"CI": "", "GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": "", "GITHUB_WORKSPACE": ""}
    return sites.command(folder, "diff", *arguments, **quiet | environment)


def diff_json(folder: Path, *arguments: str) -> dict[str, Any]:
    process = diff(folder, "--json", *arguments)
    assert process.returncode == 0, process.stdout + process.stderr
    fields: dict[str, Any] = json.loads(process.stdout)
    return fields


def edit(folder: Path, page: str, before: str, after: str) -> None:
    path = folder / "docs" / page
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def test_diff_names_exactly_the_answers_that_an_edit_changes(folder: Path) -> None:
    assert diff_json(folder)["changed"] == []
    edit(folder, "storms.md", "above thirty knots", "above forty knots")
    git_sites.build(folder)
    fields = diff_json(folder)
    (change,) = fields["changed"]
    assert (change["id"], change["parts"]) == ("lantern", ["text", "citations"])
    assert "thirty knots" in change["before"]["text"]
    assert "forty knots" in change["after"]["text"]
    assert (fields["unchanged"], fields["pages"], fields["holds"]) == (2, [], True)
    assert fields["verdicts"] == {"chain": "pass", "lantern": "pass", "opera": "pass"}
    process = diff(folder)
    assert process.returncode == 0
    assert "[-thirty-] {+forty+} knots" in process.stdout
    assert "1 of 3 answers differs from" in process.stdout
    assert "chain" not in process.stdout
    # Neither the checked out commit nor a branch is left behind.
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1
    assert run_git(folder, "branch", "--list").split() == ["*", "main"]


def test_diff_asks_the_pages_as_they_are_now(folder: Path) -> None:
    built = {path: path.read_bytes() for path in (folder / "function").rglob("*.json")}
    edit(folder, "storms.md", "above thirty knots", "above forty knots")
    (change,) = diff_json(folder)["changed"]
    assert "forty knots" in change["after"]["text"]
    # What is published stays that of the last build.
    assert {path: path.read_bytes() for path in (folder / "function").rglob("*.json")} == built
    sites.put(folder / "stop.py", "def on_pre_build(config):\n    raise SystemExit('no paper')\n")
    with (folder / "mkdocs.yml").open("a") as file:
        file.write("hooks: [stop.py]\n")
    process = diff(folder)
    assert process.returncode == 2
    assert "the site cannot be built (no paper): see `answerable build`" in process.stderr


def test_diff_compares_with_the_commit_that_a_branch_left(folder: Path) -> None:
    run_git(folder, "checkout", "--quiet", "-b", "topic")
    edit(folder, "storms.md", "above thirty knots", "above forty knots")
    git_sites.commit(folder)
    git_sites.build(folder)
    base = run_git(folder, "rev-parse", "main")
    fields = diff_json(folder)
    assert fields["against"] == base[:12]
    assert [change["id"] for change in fields["changed"]] == ["lantern"]
    assert diff_json(folder, "--against", "HEAD")["changed"] == []
    assert diff_json(folder, "--against", "main~0")["against"] == f"main~0 ({base[:12]})"


def test_diff_compares_with_a_report(folder: Path) -> None:
    assert sites.command(folder, "eval", "--full", "--report", "base.json").returncode == 0
    edit(folder, "mooring.md", "twelve millimetres", "fifteen millimetres")
    git_sites.build(folder)
    fields = diff_json(folder, "--against", "base.json")
    assert [change["id"] for change in fields["changed"]] == ["chain"]
    # The answers of this site may come from a report too, unless it is of another build.
    stale = diff(folder, "--against", "base.json", "--current", "base.json")
    assert (stale.returncode, "is of another bundle or answerer" in stale.stderr) == (2, True)
    assert sites.command(folder, "eval", "--full", "--report", "now.json").returncode == 0
    again = diff_json(folder, "--against", "base.json", "--current", "now.json")
    assert again["changed"] == fields["changed"]


def test_diff_tells_of_deleted_and_new_pages(folder: Path) -> None:
    run_git(folder, "mv", "docs/storms.md", "docs/weather.md")
    (folder / "docs" / "mooring.md").unlink()
    sites.put(folder / "docs" / "pilots.md", "# Pilots\n\nA pilot boards beyond the outer buoy.\n")
    gold = git_sites.GOLD.replace("[storms]", "[weather]").replace(
        "    expectSources: [mooring]\n", ""
    )
    sites.put(folder / "eval" / "gold.yaml", gold)
    git_sites.build(folder)
    process = diff(folder, "--json", "--markdown", "out/diff.md")
    assert process.returncode == 1
    fields = json.loads(process.stdout)
    assert fields["pages"] == ["gone: mooring", "gone: storms", "new: pilots", "new: weather"]
    parts = {change["id"]: change["parts"] for change in fields["changed"]}
    assert parts == {"chain": ["text", "mode", "citations"], "lantern": ["citations"]}
    assert fields["verdicts"]["chain"] == "fail"
    markdown = (folder / "out" / "diff.md").read_text("utf-8")
    assert "<code>new&#58; weather</code>" in markdown


def test_failing_verdict_is_exit_status_1(folder: Path) -> None:
    gold = git_sites.GOLD.replace("query: How thick", "topSource: storms\n    query: How thick")
    sites.put(folder / "eval" / "gold.yaml", gold)
    process = diff(folder)
    assert process.returncode == 1
    assert "FAIL chain: top source is not 'storms'" in process.stdout


def test_errors_are_exit_status_2_and_one_sentence(folder: Path) -> None:
    def fails_with(text: str, *arguments: str) -> None:
        process = diff(folder, *arguments)
        assert (process.returncode, process.stdout) == (2, "")
        assert text in process.stderr
        assert "Traceback" not in process.stderr
        assert process.stderr.count("\n") == 1

    fails_with("--against nowhere: neither a file nor a commit", "--against", "nowhere")
    fails_with("--against -x: neither a file nor a commit", "--against", "-x")
    sites.command(folder, "eval", "--report", "retrieval.json")
    fails_with(
        "retrieval.json is of a run that asked for no answers", "--against", "retrieval.json"
    )
    fails_with("eval/gold.yaml is not a report", "--against", "eval/gold.yaml")
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text(good + "theme: no-such-theme\n", "utf-8")
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    git_sites.commit(folder)
    fails_with("no-such-theme", "--against", "HEAD~1")
    run_git(folder, "mv", "mkdocs.yml", "site.yml")
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    fails_with("has no mkdocs.yml: name another ref", "--against", "HEAD")
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1
    shutil.rmtree(folder / ".git")
    fails_with("is not in a git repository: name a report")


def test_site_that_cannot_be_built_is_an_error_and_leaves_nothing(folder: Path) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text(good + "hooks: [stop.py]\n", "utf-8")
    sites.put(
        folder / "stop.py", "def on_pre_build(config):\n    raise SystemExit('no more paper')\n"
    )
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    process = diff(folder, "--against", "HEAD")
    assert (process.returncode, process.stdout) == (2, "")
    assert "cannot be built (no more paper)" in process.stderr
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1


def test_build_of_a_ref_never_replaces_the_function(folder: Path) -> None:
    outside = folder.parent / "published"
    sites.write_site(folder, options={"function": str(outside)})
    git_sites.commit(folder)
    git_sites.build(folder)
    manifest = (outside / "bundle" / "manifest.json").read_bytes()
    edit(folder, "storms.md", "above thirty knots", "above forty knots")
    git_sites.commit(folder)
    process = diff(folder, "--against", "HEAD")
    assert process.returncode == 2
    assert "its build would replace" in process.stderr
    assert (outside / "bundle" / "manifest.json").read_bytes() == manifest


def test_build_of_a_ref_publishes_to_no_database(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        url = f"postgresql://writer@127.0.0.1:{listener.getsockname()[1]}/production"
        # With a gold set that fails, a build would not publish either.
        options = {"store": {"url": url}, "gate": True}
        sites.write_site(folder, options=options, strict=True)
        git_sites.commit(folder)
        sites.write_site(folder)
        edit(folder, "storms.md", "above thirty knots", "above forty knots")
        git_sites.build(folder)
        fields = diff_json(folder, "--against", "HEAD")
        assert [change["id"] for change in fields["changed"]] == ["lantern"]
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_site_without_the_plugin_is_named_by_its_ref(folder: Path) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text("site_name: Harbour\nplugins: []\n", "utf-8")
    bare = git_sites.commit(folder)
    config.write_text("site_name: Harbour\nplugins: [no-such-plugin]\n", "utf-8")
    broken = git_sites.commit(folder)
    config.write_text(good, "utf-8")
    process = diff(folder, "--against", bare)
    assert (process.returncode, process.stderr) == (
        2,
        f"Error: {bare} ({bare[:12]}) has no answers to compare with, since `answerable` is not "
        "among the plugins of its mkdocs.yml: name another ref\n",
    )
    process = diff(folder, "--against", broken)
    assert process.returncode == 2
    assert f"the configuration of {broken} ({broken[:12]}) cannot be read" in process.stderr
    assert "no-such-plugin" in process.stderr
    assert "tree" not in process.stderr


def test_variables_of_a_git_hook_do_not_reach_the_build_of_a_ref(folder: Path) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text(good + "hooks: [check.py]\n", "utf-8")
    sites.put(
        folder / "check.py",
        "import os\n\n\ndef on_pre_build(config):\n    assert 'GIT_DIR' not in os.environ\n",
    )
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    process = diff(folder, "--against", "HEAD", GIT_DIR=str(folder / ".git"))
    assert process.returncode == 0, process.stderr


def test_folder_that_git_will_not_remove_is_removed_all_the_same(folder: Path) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    config.write_text(good + "hooks: [spoil.py]\n", "utf-8")
    sites.put(
        folder / "spoil.py",
        "import pathlib\n\n\ndef on_pre_build(config):\n    pathlib.Path('.git').unlink()\n",
    )
    git_sites.commit(folder)
    config.write_text(good, "utf-8")
    process = diff(folder, "--against", "HEAD")
    assert (process.returncode, process.stderr) == (0, "")
    assert len(run_git(folder, "worktree", "list").splitlines()) == 1


def test_current_report_refuses_options_that_it_would_ignore(folder: Path) -> None:
    assert sites.command(folder, "eval", "--full", "--report", "now.json").returncode == 0
    for option, value in (("--ids", "chain"), ("--gold", "eval/gold.yaml")):
        process = diff(folder, "--current", "now.json", option, value)
        assert (process.returncode, "--current asks nothing" in process.stderr) == (2, True)
    # A report of some queries is compared by these alone.
    partly = ("--ids", "chain", "--report", "one.json")
    assert sites.command(folder, "eval", "--full", *partly).returncode == 0
    fields = diff_json(folder, "--current", "one.json")
    assert (fields["unchanged"], fields["new"], fields["gone"]) == (1, [], [])
    written = json.loads((folder / "now.json").read_text("utf-8"))
    sites.put(folder / "other.json", json.dumps(written | {"answers": "gpt-4o-mini"}))
    process = diff(folder, "--current", "other.json")
    assert process.returncode == 2
    assert "is of another bundle or answerer" in process.stderr


def test_ids_restrict_what_is_compared_with_a_report(folder: Path) -> None:
    assert sites.command(folder, "eval", "--full", "--report", "base.json").returncode == 0
    fields = diff_json(folder, "--against", "base.json", "--ids", "chain")
    assert (fields["unchanged"], fields["gone"]) == (1, [])


def test_errors_of_mkdocs_and_of_files_are_exit_status_2(folder: Path) -> None:
    config = folder / "mkdocs.yml"
    good = config.read_text("utf-8")
    sites.put(folder / "taken", "a file")
    process = diff(folder, "--markdown", "taken/out")
    assert (process.returncode, "Traceback" in process.stderr) == (2, False)
    config.write_text(good + "theme: nope\n", "utf-8")
    process = diff(folder)
    assert (process.returncode, process.stdout) == (2, "")
    assert "'nope'" in process.stderr


def test_run_in_which_nothing_could_be_judged_is_exit_status_2(folder: Path) -> None:
    assert sites.command(folder, "eval", "--full", "--report", "base.json").returncode == 0
    with OpenAIStub(models={"honest": honest_model}) as server:
        url = server.base_url
    settings = {"answers": "openai", "model": "honest", "base_url": url}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    arguments = ("--against", "base.json", "--ids", "chain", "--yes")
    process = sites.command(
        folder, "--bundle", "function/bundle", "diff", *arguments, OPENAI_API_KEY="test", CI=""
    )
    assert process.returncode == 2, process.stdout + process.stderr
    assert "ERROR chain: " in process.stdout


def test_notebook_outside_git_counts_on_both_sides(folder: Path) -> None:
    sites.write_site(folder, notes=sites.NOTES)
    sites.put(folder / ".gitignore", "/site/\n/function/\n.cache/\n/notebook/\n")
    gold = "- {id: winch, query: Where was the gearbox taken from, expectSources: [winch.md]}\n"
    sites.put(folder / "eval" / "gold.yaml", gold)
    git_sites.commit(folder)
    git_sites.build(folder)
    fields = diff_json(folder)
    assert (fields["changed"], fields["unchanged"]) == ([], 1)
    # The temporary folder led to both, and is gone without them.
    assert (folder / "notebook" / "winch.md").is_file()
    assert any((folder / ".cache").rglob("*.sqlite*")) or any((folder / ".cache").rglob("*.db"))


def test_pages_that_have_moved_are_told(folder: Path) -> None:
    sites.write_site(folder, use_directory_urls=False)
    fields = diff_json(folder, "--against", "HEAD")
    assert "moved: storms, from /storms/ to /storms.html" in fields["pages"]
