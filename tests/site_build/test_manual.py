"""Our own manual: it builds in strict mode, passes its gold set, and names each option and flag.

Its workflow publishes it without the notebook and a function.

No other test reads the manual.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.mkdocs.options import AnswerableConfig, list_option_names
from support import sites
from support.cli_commands import subcommands
from support.frozen_site import build_strictly

WORKFLOW = ".github/workflows/docs.yml"


def copy_manual(folder: Path) -> Path:
    for name in ("docs", "notebook", "overrides", "eval"):
        shutil.copytree(sites.ROOT / name, folder / name)
    shutil.copy(sites.ROOT / "mkdocs.yml", folder)
    return folder


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_manual(tmp_path_factory.mktemp("manual"))
    build_strictly(folder)
    return folder


def read_workflow() -> dict[Any, Any]:
    workflow: dict[Any, Any] = yaml.safe_load((sites.ROOT / WORKFLOW).read_text("utf-8"))
    return workflow


def read_build_step() -> dict[str, Any]:
    """Read the step of the workflow that builds the manual."""
    steps = read_workflow()["jobs"]["build"]["steps"]
    (step,) = (step for step in steps if "mkdocs build" in step.get("run", ""))
    return dict(step)


def test_the_manual_builds_and_passes_its_gold_set(
    manual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (manual / "site" / "index.html").is_file()
    monkeypatch.chdir(manual)
    result = CliRunner().invoke(main, ["eval"])
    assert result.exit_code == 0, result.output


def test_a_checkout_writes_a_function_with_hints(manual: Path) -> None:
    assert sites.opened(manual).manifest.counts["hints"] > 0
    assert not (manual / "site" / "assets" / "answerable" / "index").exists()


def test_the_workflow_publishes_the_folder_of_a_strict_build_with_few_rights() -> None:
    workflow, step = read_workflow(), read_build_step()
    assert workflow["permissions"] == {}
    assert workflow[True].keys() == {"push", "workflow_dispatch"}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    actions = [step["uses"] for job in (build, publish) for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in actions)
    assert "secrets" not in str(workflow)
    assert step["run"] == "mkdocs build --strict"
    assert build["steps"][-1]["with"] == {"path": "site"}


def test_the_workflow_builds_a_manual_that_answers_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in read_build_step()["env"].items():
        monkeypatch.setenv(name, value)
    folder = copy_manual(tmp_path)
    build_strictly(folder)
    assert not (folder / "function").exists()
    assert list((folder / "site" / "assets" / "answerable" / "index").glob("*/manifest-*.bin"))
    bundle = sites.opened(folder)
    assert bundle.manifest.counts["hints"] == 0
    assert sites.ask(bundle, "How do I install the plugin?").answer.mode == "partial"


@pytest.fixture
def checkout(manual: Path) -> Iterator[Path]:
    """The built manual as a repository, with the workflow that publishes it."""
    (manual / WORKFLOW).parent.mkdir(parents=True)
    shutil.copy(sites.ROOT / WORKFLOW, manual / WORKFLOW)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=manual, check=True)
    yield manual
    shutil.rmtree(manual / ".git")
    shutil.rmtree(manual / ".github")


def test_doctor_tells_a_checkout_from_what_is_published(checkout: Path) -> None:
    def diagnose() -> Result:
        config = str(checkout / "mkdocs.yml")
        return CliRunner(env={"COLUMNS": "400"}).invoke(main, ["-f", config, "doctor"])

    good = diagnose()
    assert good.exit_code == 0, good.output
    assert "✓ the ask box asks the function at _answerable/ below the site" in good.output
    assert f"✓ as {WORKFLOW} builds it, the ask box answers in the reader's browser" in good.output
    text = (checkout / WORKFLOW).read_text("utf-8")
    (checkout / WORKFLOW).write_text(text.replace('NOTEBOOK: ""', "OTHER: no"), "utf-8")
    assert f"✗ as {WORKFLOW} builds it, answers_in: browser is" in diagnose().output
    (checkout / WORKFLOW).write_text(text.replace("ANSWERS_IN: browser", "OTHER: no"), "utf-8")
    assert f"✗ {WORKFLOW} publishes the site on GitHub Pages, which runs no" in diagnose().output


def list_properties(group: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """List the options of a schema, those of groups by their whole names."""
    for name, schema in group["properties"].items():
        if "properties" in schema:
            yield from list_properties(schema, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_the_schema_that_editors_read_knows_each_option() -> None:
    text = (sites.ROOT / "docs" / "assets" / "mkdocs.schema.json").read_text("utf-8")
    options = json.loads(text)["definitions"]["answerable"]
    assert {*list_properties(options)} == {"enabled", *list_option_names(AnswerableConfig)}


def test_the_page_on_options_names_each_of_them() -> None:
    text = (sites.ROOT / "docs" / "configure.md").read_text("utf-8")
    assert [name for name in list_option_names(AnswerableConfig) if f"`{name}`" not in text] == []


def test_the_page_on_commands_names_each_flag_below_its_command() -> None:
    text = (sites.ROOT / "docs" / "commands.md").read_text("utf-8")
    opening, *parts = text.split("\n## answerable ")
    sections = {name: part for name, _, part in (part.partition("\n") for part in parts)}
    commands = subcommands(main)
    assert sections.keys() == commands.keys()
    missing = [
        (name, flag)
        for name, section in (("answerable", opening), *sections.items())
        for option in commands.get(name, main).params
        if isinstance(option, click.Option)
        for flag in option.opts
        if f"`{flag}" not in section
    ]
    assert missing == []
