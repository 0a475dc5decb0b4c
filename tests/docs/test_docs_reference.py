"""The manual's reference against the code: commands, exit statuses and variables, all of them."""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from answerable.cli import main
from answerable.indexing.output.bundle_writer import parse_build_time
from answerable.postgres.options import read_database_options
from answerable.serve.database_registry import DATABASE_URL_VARIABLE
from answerable.serve.http.adapters.app_factory import read_base_path
from answerable.serve.limits.policy import REMOVED_VARIABLES, read_policy
from support import command_tables, manual, sites

# Whoever deploys a version sets it, not whoever writes the site.
OF_OTHERS = {"MIKE_DOCS_VERSION", "PIP_NO_INDEX"}


def test_the_manual_has_every_command_as_it_tells_itself() -> None:
    # Run `make tables` to write them anew.
    text = command_tables.PAGE.read_text("utf-8")
    assert command_tables.marked(text) == command_tables.parts()
    assert re.findall(r"^##+ answerable ([\w -]+)$", text, re.M) == [
        name for name in command_tables.marked(text) if name != "answerable"
    ]


def test_every_flag_has_words() -> None:
    for name, command in command_tables.commands().items():
        assert command.help, name
        assert "| — |" not in command_tables.parts()[name], name


def test_the_manual_has_every_verdict_that_is_an_exit_status() -> None:
    deciding = {
        name
        for name, command in command_tables.subcommands(main).items()
        if command.callback and "SystemExit" in inspect.getsource(command.callback)
    }
    cells = [row[1] for row in manual.rows("commands.md", "exit status") if row[0] == "1"]
    assert {flag[1] for cell in cells if (flag := re.match(r"`(\w+)`:", cell))} == deciding
    for name in deciding:
        assert "exit status 1" in (command_tables.subcommands(main)[name].help or ""), name


def exits() -> list[tuple[str, str]]:
    """The exit statuses of the table with their examples, but for those of a verdict."""
    rows = manual.rows("commands.md", "exit status")
    return [(row[0], row[2].strip("`")) for row in rows if not row[1].startswith("`")]


@pytest.mark.parametrize(("status", "command"), exits())
def test_an_exit_status_is_that_of_its_example(
    status: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = manual.parsed(command)
    assert str(CliRunner().invoke(main, list(line.words[1:])).exit_code) == status


class RecordingEnvironment(dict[str, str]):
    """An environment that knows what it was asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.names.add(name)
        return super().get(name, default)


def variables() -> dict[str, list[str]]:
    """Each variable of the tables of the manual with its type, default and example."""
    pages = [path.name for path in manual.PAGES if path.parent == sites.ROOT / "docs"]
    rows = [row for page in pages for row in manual.rows(page, "variable") if len(row) == 4]
    return {row[0].strip("`"): row[1:] for row in rows}


def environment_names() -> set[str]:
    """The variables that a function, its start, a build and our commands read."""
    environment = RecordingEnvironment({})
    read_policy(environment)
    names = set(environment.names)
    for path in (sites.ROOT / "plugin").rglob("*.py"):
        pattern = r'os\.environ\.get\("([A-Z_]+)"|"(ANSWERABLE_[A-Z_]*[A-Z])"'
        names |= {a or b for a, b in re.findall(pattern, path.read_text("utf-8"))}
    return names - OF_OTHERS - {f"ANSWERABLE_{name}" for name in REMOVED_VARIABLES}


def test_every_variable_is_in_a_table_with_type_default_and_example() -> None:
    # The package openai reads its key itself.
    assert set(variables()) == {*environment_names(), "OPENAI_API_KEY"}
    assert [name for name, cells in variables().items() if not all(cells)] == []


def test_the_examples_of_the_variables_are_taken() -> None:
    documented = {name: cells[2].strip("`") for name, cells in variables().items()}
    assert read_policy(documented) != read_policy({})
    assert read_base_path(documented) != read_base_path({})
    assert read_database_options(documented)
    assert parse_build_time(documented["SOURCE_DATE_EPOCH"])


@pytest.mark.parametrize("name", sorted(variables()))
def test_a_default_of_a_variable_is_what_counts_without_it(name: str) -> None:
    default = variables()[name][1]
    if literal := re.fullmatch(r"`(.+)`", default):
        secret = {"ANSWERABLE_SECRET": "x" * 16}
        url = {DATABASE_URL_VARIABLE: "postgresql://db.example.com/docs"}
        for reader, arguments in (
            (read_policy, secret),
            (read_database_options, url),
            (read_base_path, {}),
        ):
            assert reader({**arguments, name: literal[1]}) == reader(arguments)
    else:
        assert default


def test_a_link_or_an_anchor_that_leads_nowhere_fails_a_strict_build() -> None:
    text = (sites.ROOT / "mkdocs.yml").read_text("utf-8")
    levels = yaml.load(text, yaml.BaseLoader)["validation"]
    kinds = {"not_found", "anchors", "absolute_links", "unrecognized_links"}
    assert levels["links"] == dict.fromkeys(kinds, "warn")
    assert levels["nav"]["omitted_files"] == "warn"
