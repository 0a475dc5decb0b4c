"""A new user's two commands: set the site up, and say what keeps it from answering."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from answerable.cli import main
from support import sites
from support.published_functions import serving


def run(folder: Path, *args: str, columns: int = 400) -> Result:
    """Run a command for the site in a folder, in a terminal that breaks no line of it."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(
        main, ["-f", str(folder / "mkdocs.yml"), *args]
    )


def write_plain_site(folder: Path) -> Path:
    """A site as `mkdocs new` makes it, in a repository on GitHub."""
    sites.put(folder / "docs" / "index.md", "# Harbour\n\nHarbour keeps small boats in order.\n")
    sites.put(folder / "mkdocs.yml", "site_name: Harbour\ntheme:\n  name: material\n")
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "remote", "add", "origin", "git@github.com:Ann/harbour-docs.git"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder


WORKFLOW = ".github/workflows/docs.yml"
# It is in no index yet.
PACKAGE = "'mkdocs-answerable @ git+https://github.com/mkdocs-answerable/mkdocs-answerable'"
PUBLISHING = """\
name: Site
on:
  push:
    branches: [main]
jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - run: pip install mkdocs-material
      - run: mkdocs gh-deploy --force
"""
SIX_PLUGINS = """\
site_name: Harbour
theme: material
markdown_extensions:
  - toc
  - pymdownx.superfences
plugins:
  - search
  - tags
  - macros
  - mkdocstrings
  - git-revision-date-localized:
      enable_creation_date: true
  - llmstxt
"""


def read_workflow(folder: Path) -> tuple[dict[Any, Any], list[str]]:
    """Read the workflow that init has written, and the commands of its building job."""
    workflow = yaml.safe_load((folder / WORKFLOW).read_text("utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    return workflow, [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize("kind", ["fresh", "mike", "publishing workflow", "master, six plugins"])
def test_init_reads_the_repository_before_it_writes(tmp_path: Path, kind: str) -> None:
    folder = write_plain_site(tmp_path)
    if kind == "mike":
        extra = "extra:\n  version:\n    provider: mike\n"
        sites.put(folder / "mkdocs.yml", f"site_name: Harbour\n{extra}")
    elif kind == "publishing workflow":
        sites.put(folder / ".github/workflows/ci.yml", PUBLISHING)
    elif kind == "master, six plugins":
        subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/master"], cwd=folder, check=True)
        sites.put(folder / "mkdocs.yml", SIX_PLUGINS)
    for _ in range(2):
        result = run(folder, "init")
        assert result.exit_code == 0, result.output
        config = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))
        assert config["plugins"].count("answerable") == 1
        assert config["site_url"] == "https://ann.github.io/harbour-docs/"
        if kind == "mike":
            assert f"mike publishes the site: install {PACKAGE} beside" in result.output
        elif kind == "publishing workflow":
            told = f".github/workflows/ci.yml builds the site: add {PACKAGE} to the packages"
            assert told in result.output
    if kind in ("mike", "publishing workflow"):
        assert not (folder / WORKFLOW).exists()
        return
    workflow, commands = read_workflow(folder)
    branch = "master" if "master" in kind else "main"
    assert workflow[True]["push"]["branches"] == [branch]
    assert commands == [
        f"pip install {PACKAGE}", "pip install $(mkdocs get-deps)", "mkdocs build",
        "answerable eval --full",
    ]  # fmt: skip
    checkout = workflow["jobs"]["build"]["steps"][0]["with"]
    assert checkout.get("fetch-depth") == (0 if "six" in kind else None)


def test_workflow_has_few_rights_and_pinned_actions(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init").exit_code == 0
    workflow, _ = read_workflow(folder)
    assert workflow["permissions"] == {}
    rights = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    publish = {"pages": "write", "id-token": "write"}
    assert rights == {"build": {"contents": "read"}, "publish": publish}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in actions)
    assert any(action.startswith("actions/cache@") for action in actions)
    assert "secrets" not in str(workflow)


def test_workflow_of_private_notes_and_a_model_caches_nothing_and_guards_the_key(
    tmp_path: Path,
) -> None:
    embedding = {"provider": "openai", "model": "text-embedding-3-small", "dimensions": 64}
    options = {"notebook": "notebook", "embedding": embedding, "answers": {"provider": "openai"}}
    folder = write_plain_site(sites.write_site(tmp_path, notes=sites.NOTES, options=options))
    sites.write_site(folder, notes=sites.NOTES, options=options)
    assert run(folder, "init").exit_code == 0
    workflow, commands = read_workflow(folder)
    assert commands == [
        f"pip install {PACKAGE.replace(' ', '[openai] ', 1)}", "pip install $(mkdocs get-deps)",
        "mkdocs build", "answerable eval",
    ]  # fmt: skip
    steps = workflow["jobs"]["build"]["steps"]
    assert "actions/cache" not in str(steps)
    key = {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    assert [step["run"] for step in steps if step.get("env") == key] == commands[2:]
    assert "env" not in {*workflow, *workflow["jobs"]["build"]}


def test_init_in_a_folder_of_a_repository_writes_the_workflow_where_it_runs(
    tmp_path: Path,
) -> None:
    top = write_plain_site(tmp_path)
    sites.put(top / "site-docs" / "mkdocs.yml", "site_name: Harbour\n")
    sites.put(top / "site-docs" / "requirements.txt", "mkdocs-material\n")
    assert run(top / "site-docs", "init").exit_code == 0
    workflow, commands = read_workflow(top)
    assert workflow["defaults"] == {"run": {"working-directory": "site-docs"}}
    assert commands[0] == f"pip install -r requirements.txt {PACKAGE}"
    paths = [step["with"]["path"] for step in workflow["jobs"]["build"]["steps"]
             if "path" in step.get("with", {})]  # fmt: skip
    assert paths == ["site-docs/.cache/plugin/answerable", "site-docs/site"]


def test_init_for_another_forge_tells_what_its_host_uploads(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    remote = ["git", "remote", "set-url", "origin", "git@gitlab.com:ann/harbour-docs.git"]
    subprocess.run(remote, cwd=folder, check=True)
    output = run(folder, "init").output
    assert "Build the site by `mkdocs build`, and let your host upload site/" in output
    assert not (folder / WORKFLOW).exists()


def test_init_run_again_overwrites_nothing(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init").exit_code == 0
    names = ("mkdocs.yml", WORKFLOW, "eval/gold.yaml", ".gitignore")
    for name in names[1:]:
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    before = {name: (folder / name).read_bytes() for name in names}
    assert run(folder, "init").exit_code == 0
    assert {name: (folder / name).read_bytes() for name in names} == before


def test_init_without_a_site_says_what_to_do(tmp_path: Path) -> None:
    missing = sites.command(tmp_path, "init")
    assert missing.returncode == 1
    assert "mkdocs new ." in missing.stderr


def test_doctor_finds_what_is_missing_and_then_nothing(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert "add it" in run(folder, "doctor").output
    assert run(folder, "init").exit_code == 0
    advice = run(folder, "doctor")
    assert advice.exit_code == 0, advice.output
    assert "there is no index yet; run `mkdocs build`" in advice.output
    assert "answerable build" not in advice.output
    assert sites.build(folder, "-q").returncode == 0
    good = run(folder, "doctor")
    assert "the last index holds 1 page in 1 passage" in good.output
    assert "✓ the ask box answers in the reader's browser" in good.output
    assert ".github/workflows/docs.yml builds the site" in good.output
    # The gold set of init passes on every site.
    judged = sites.command(folder, "eval", "--full")
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_doctor_finds_vectors_of_notes_in_git(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, notes=sites.NOTES)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    assert sites.build(folder, "-q").returncode == 0
    assert "vectors of private notes" not in run(folder, "doctor").output
    for name in (".cache", "function"):
        subprocess.run(["git", "add", "-f", name], cwd=folder, check=True)
    output = run(folder, "doctor").output
    assert output.count("vectors of private notes") == 2
    for private in (folder / "function", folder / ".cache/plugin/answerable"):
        assert f"run `git rm -r --cached {private}`" in output


def test_doctor_asks_the_function_only_if_it_is_told_to(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    assert sites.build(folder, "-q").returncode == 0
    with serving(folder / "function") as function:
        endpoint = f"http://127.0.0.1:{function.port}/"
        sites.write_site(folder, options={"widget": {"endpoint": endpoint}})
        alive = run(folder, "doctor", "--online")
        assert f"✓ the function at {endpoint} answers" in alive.output
        sites.write_site(folder, options={"widget": {"endpoint": f"{endpoint}lost"}})
        lost = run(folder, "doctor", "--online")
    assert "✗ no function answers at" in lost.output
    assert "/lost/health (" in lost.output
    assert lost.exit_code == 1
    assert "no function answers" not in run(folder, "doctor").output


def test_init_leaves_a_file_that_inherits_its_plugins(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    text = "INHERIT: base.yml\nsite_name: Harbour\n"
    sites.put(folder / "mkdocs.yml", text)
    assert "add answerable to the plugins of base.yml" in sites.command(folder, "init").stderr
    assert (folder / "mkdocs.yml").read_text("utf-8") == text


@pytest.mark.parametrize(
    ("options", "changed", "problem"),
    [
        ({}, ("[main]", "[trunk]"), "never runs, since no push to main starts it; write main to"),
        ({"widget": {"endpoint": "/ask/"}}, ("", ""), "publishes the site on GitHub Pages, which"),
        ({"answers_in": "function"}, ("", ""), "publishes the site on GitHub Pages, which runs no"),
        ({"widget": {"endpoint": "/ask/"}}, ("- run", "# /ask/\n      - run"), ""),
        ({"widget": {"endpoint": "https://ask.example/"}}, ("", ""), ""),
    ],
)
def test_doctor_finds_what_keeps_a_publisher_from_publishing_answers(
    tmp_path: Path, options: dict[str, Any], changed: tuple[str, str], problem: str
) -> None:
    folder = write_plain_site(tmp_path)
    sites.write_site(folder, options=options)
    sites.put(folder / WORKFLOW, PUBLISHING.replace(*changed) if changed[0] else PUBLISHING)
    output = run(folder, "doctor").output
    assert f"✗ {WORKFLOW} {problem}" in output if problem else f"✓ {WORKFLOW} builds" in output


def test_doctor_finds_a_workflow_that_leaves_out_the_ask_box(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    sites.put(folder / "zensical.toml", '[project]\nsite_name = "Harbour"\n')
    config = str(folder / "zensical.toml")
    workflow = PUBLISHING.replace("mkdocs gh-deploy --force", "zensical build && gh-pages -d site")
    for text, mark in (
        (workflow, "✗"), (workflow.replace("zensical build", "answerable build"), "✓")
    ):  # fmt: skip
        sites.put(folder / WORKFLOW, text)
        output = CliRunner().invoke(main, ["-f", config, "doctor"]).output
        assert f"{mark} {WORKFLOW} " in output
        assert ("publishes pages without the ask box on GitHub" in output) is (mark == "✗")


def test_doctor_finds_two_publishers(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init").exit_code == 0
    sites.put(folder / ".github/workflows/site.yml", PUBLISHING)
    output = run(folder, "doctor").output
    assert f"✗ {WORKFLOW} and .github/workflows/site.yml publish the site on GitHub" in output


@pytest.mark.parametrize(
    ("options", "config", "message"),
    [
        (
            {"widget": {"endpoint": "https://ask.example/"}},
            {"site_url": ""},
            "✗ site_url is not set, so the function",
        ),
        (
            {"notebook": "notebook"},
            {},
            "✗ no function is connected yet: `notebook` needs a function",
        ),
        (
            {"notebook": "notebook", "answers_in": "browser"},
            {},
            "✗ answers_in: browser is impossible",
        ),
        (
            {
                "answers": {"provider": "openai", "base_url": "http://localhost:11434/v1"},
                "widget": {"endpoint": "https://ask.example/"},
            },
            {},
            "✗ answers.base_url: http://localhost:11434/v1 is this machine, where a function",
        ),
        (
            {"widget": {"endpoint": "http://ask.example/"}},
            {},
            "✗ widget.endpoint: browsers block http://ask.example/ on pages of",
        ),
    ],
)
def test_doctor_names_the_problem_and_the_remedy(
    tmp_path: Path, options: dict[str, Any], config: dict[str, Any], message: str
) -> None:
    folder = sites.write_site(tmp_path, notes=sites.NOTES, options=options, **config)
    result = run(folder, "doctor")
    assert message in result.output
    assert result.exit_code == ("✗" in result.output)


def test_doctor_breaks_its_lines_between_words_at_the_width_of_the_terminal(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, notes=sites.NOTES)
    narrow = run(folder, "doctor", columns=80).output
    assert max(map(len, narrow.splitlines())) <= 80
    assert "\n  " in narrow
