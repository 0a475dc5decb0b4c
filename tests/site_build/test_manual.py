"""Our own manual: it builds in strict mode, passes its gold set, and names each option and flag.

No other test reads the manual.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.mkdocs.options import AnswerableConfig, list_option_names
from support import sites
from support.cli_commands import subcommands
from support.frozen_site import build_strictly


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    for name in ("docs", "notebook", "overrides", "eval"):
        shutil.copytree(sites.ROOT / name, folder / name)
    shutil.copy(sites.ROOT / "mkdocs.yml", folder)
    build_strictly(folder)
    return folder


def test_the_manual_builds_and_passes_its_gold_set(
    manual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (manual / "site" / "index.html").is_file()
    monkeypatch.chdir(manual)
    result = CliRunner().invoke(main, ["eval"])
    assert result.exit_code == 0, result.output


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
