"""Each command of the manual is one: its own program parses it, and cheap ones really run."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import pytest
from mkdocs.__main__ import cli as mkdocs_cli
from packaging.requirements import Requirement

from answerable.cli import main as answerable_cli
from answerable.postgres.options import read_database_options
from answerable.serve.limits.policy import read_policy
from support import command_tables, manual, sites
from support.manual import Command
from support.published_functions import serving

# Programs that nothing here can run, and why.
PROGRAMS = {
    "claude": "it needs an account",
    "aws": "it needs an account", "az": "it needs an account", "func": "it needs an account",
    "gcloud": "it needs an account", "vercel": "it needs an account", "npx": "it needs an account",
    "eval": "part of any shell", "git": "it needs a remote repository",
    "docker": "it needs a daemon", "psql": "it needs a server",
    "venv/bin/gunicorn": "a server of others", "openssl": "tests/serve/limits/test_policy.py "
    "makes a digest",
    "find": "part of any shell", "wc": "part of any shell", "du": "part of any shell",
    "printf": "tests/serve/limits/test_policy.py makes a digest", "sha256sum": "as printf",
    "cd": "part of any shell", "a-file": "where output is written to",
}  # fmt: skip
# Commands of ours that are parsed and not run here, and why.
PARSED = {
    "build": "it wants the generators: tests/cli/test_generator_commands.py",
    "chat": "it wants a terminal: tests/cli/test_cli.py",
    "diff": "it wants a repository: tests/evaluate/test_diff_command.py",
    "doctor": "the site has no function that answers: tests/cli/test_init_and_doctor.py",
    "gaps": "it wants questions that were refused: tests/evaluate/test_gaps.py",
    "mcp": "it waits for an agent: tests/serve/http/test_mcp_clients.py",
    "questions": "it wants a model: tests/cli/test_questions_command.py",
    "package": "it asks a package index: tests/indexing/packaging/test_function_package.py",
    "database": "it wants a database: tests/postgres/test_postgres_publication.py",
    "serve": "it serves until it is stopped: tests/indexing/html_site/test_built_site.py",
    "stub-openai": "it serves until it is stopped: tests/cli/test_cli.py",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that the examples speak of, built."""
    folder = manual.write_site(tmp_path_factory.mktemp("examples"))
    done = sites.build(folder)
    assert done.returncode == 0, done.stderr
    questions = ["How do I set a timeout?", {"question": "How do I set a timeout?", "id": 1}]
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    (folder / "asked.jsonl").write_text(lines, "utf-8")
    row = {"id": "index", "questions": []}
    (folder / "written.jsonl").write_text(json.dumps(row), "utf-8")
    return folder


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder with the configuration that the examples name."""
    (tmp_path / "docs-site").mkdir()
    (tmp_path / "docs-site" / "mkdocs.yml").touch()
    monkeypatch.chdir(tmp_path)


def command_name(command: Command) -> str:
    return shlex.join([f"{name}={text}" for name, text in command.variables] + [*command.words])


COMMANDS = [
    pytest.param(each, id=f"{each.where} {command_name(each)[:60]}") for each in manual.commands()
]


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one(command: Command) -> None:
    environment = {name: text.replace("…", "db.example.com") for name, text in command.variables}
    read_policy(environment)
    read_database_options(environment)
    if command.words:
        first, *arguments = command.words
        check = CHECKS.get(first)
        assert check or first in PROGRAMS, f"{command.where}: {first} is no command that is known"
        if check:
            check(arguments)


def parsed(group: click.Group, words: list[str]) -> set[tuple[str, str]]:
    """The options that words set, each with its command; click.UsageError if they do not fit."""
    commands = command_tables.subcommands(group)
    at = next((n for n, word in enumerate(words) if word in commands), None)
    if at is None:
        raise click.UsageError(f"{words} name no command")
    command = commands[words[at]]
    contexts = (
        group.make_context(group.name, words[: at + 1]),
        command.make_context(command.name, words[at + 1 :]),
    )
    return {
        (str(context.command.name), name)
        for context in contexts
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }


def _script(words: list[str]) -> None:
    """Of Python: a module, our function's script, or a file of this repository with its flags."""
    if words[0] in ("-m", "-I"):
        module_commands = (["-m", "venv", "venv"], ["-m", "http.server", "-d", "site"])
        assert words in (*module_commands, ["-I", "function/main.py"])
        return
    script = sites.ROOT / words[0]
    assert script.is_file()
    # The benchmarks share some of their flags.
    text = "".join(path.read_text("utf-8") for path in script.parent.glob("*.py"))
    assert all(f'"{flag}"' in text for flag in words if flag.startswith("--"))


def _make(words: list[str]) -> None:
    text = (sites.ROOT / "Makefile").read_text("utf-8")
    assert all(re.search(rf"^{re.escape(target)}:", text, re.M) for target in words)


def _pip(words: list[str]) -> None:
    project = (sites.ROOT / "pyproject.toml").read_text("utf-8")
    command = words.pop(0)
    if command == "wheel":
        assert words == ["--no-deps", "-w", "wheels", "./letter-pairs"]
        return
    assert command == "install"
    if words[0] == "-r":
        assert words == ["-r", "function/requirements.txt", "uvicorn"]
        return
    for requirement in map(Requirement, words):
        assert all(f"\n{extra} = [" in project for extra in requirement.extras)


def _pytest(words: list[str]) -> None:
    names = [word for word in words if word.startswith("tests/")]
    assert names
    assert all((sites.ROOT / name).is_file() for name in names)
    if "-k" in words:
        _, keywords = words[words.index("-k") :]
        text = "".join((sites.ROOT / name).read_text("utf-8") for name in names)
        tests = "\n".join(re.findall(r"^def (test_\w+)", text, re.M))
        assert all(word in tests for word in keywords.split(" or "))


def _curl(words: list[str]) -> None:
    (url,) = (word for word in words if word.startswith(("http://", "https://")))
    assert re.match(r"https?://(127\.0\.0\.1:\d+|[A-Z]+\.\w+\.\w+)/", url)


def _ours(words: list[str]) -> None:
    """A flag that prints and ends has nothing to parse; all else has."""
    if words != ["--version"]:
        parsed(answerable_cli, words)


CHECKS: Mapping[str, Callable[[list[str]], object]] = {
    "answerable": _ours,
    "mkdocs": lambda words: parsed(mkdocs_cli, words),
    "python": _script,
    "venv/bin/python": _script,
    "make": _make,
    "pip": _pip,
    "venv/bin/pip": _pip,
    "curl": _curl,
    "pytest": _pytest,
}


def test_no_exception_is_left_over() -> None:
    assert {command.words[0] for command in manual.commands() if command.words} >= set(PROGRAMS)
    assert {name for name, _ in ours("commands.md")} >= set(PARSED)


@pytest.mark.parametrize("words", ["ask", "ask a --jsno", "eval --gold", "eval --repeat many"])
def test_a_wrong_command_would_be_found(words: str) -> None:
    with pytest.raises(click.UsageError):
        parsed(answerable_cli, words.split())


def ours(page: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each command line of ours, in the manual or in a page, with the name of its command."""
    commands = (c for c in manual.commands() if c.starts("answerable") and c.where.startswith(page))
    for words in sorted({command.words for command in commands} - {("answerable", "--version")}):
        (name,) = (word for word in words[1:] if word in command_tables.subcommands(answerable_cli))
        yield name, words


@pytest.mark.usefixtures("beside")
def test_every_flag_of_every_command_is_in_an_example() -> None:
    shown = {pair for _, words in ours() for pair in parsed(answerable_cli, list(words[1:]))}
    expected = {
        (str(command.name), str(option.name))
        for command in (answerable_cli, *command_tables.subcommands(answerable_cli).values())
        for option in command.params
        if option.name != "version"
    }
    assert ("why", "expect") in expected
    assert expected - shown == set()


# Other pages have the same commands in other words.
RUN = [
    pytest.param(words, id=shlex.join(words))
    for name, words in ours("commands.md")
    # Sites on the web are asked in tests/cli/test_published_site.py.
    if name not in PARSED and not any(word.startswith("https:") for word in words)
]


@pytest.mark.parametrize("words", RUN)
def test_a_command_runs_in_the_site_that_it_speaks_of(
    words: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    where = tmp_path / "site"
    shutil.copytree(folder, where)
    for name, target in (("docs-site", where), ("function/fr", where / "function")):
        if any(name in word for word in words):
            (where / name).symlink_to(target)
    done = sites.command(where, *words[1:])
    # There is no report of a failing run in that site.
    assert done.returncode == ("--from-report" in words), done.stdout + done.stderr
    assert done.stdout or "run `answerable eval` first" in done.stderr


def test_what_is_asked_of_a_function_is_answered(folder: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("no curl on the path")
    token = hashlib.sha256(b"TOKEN").hexdigest()
    curl_commands = [c for c in manual.commands() if c.starts("curl") and ":8799/" in c.words[-1]]
    assert len(curl_commands) >= 8
    with serving(
        folder / "function",
        ANSWERABLE_METRICS_TOKEN=token,
        ANSWERABLE_ALLOWED_ORIGINS="https://docs.example.com",
    ) as running:
        for command in curl_commands:
            words = [
                word.replace(":8799/", f":{running.port}/").replace("$TOKEN", "TOKEN")
                for word in command.words
            ]
            done = subprocess.run(
                [*words, "-sS", "--fail-with-body"], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stdout)
            assert done.stdout, command


def test_a_bundle_has_the_id_that_the_manual_computes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    code = manual.block("architecture.md", "hashlib.sha256").text.replace(
        "json.load(open(", "_load(("
    )
    exec(code, {"_load": lambda name: json.loads(Path(name).read_text("utf-8"))})
