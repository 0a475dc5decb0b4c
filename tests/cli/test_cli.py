"""The command `answerable`, run as a user runs it."""

import json
import re
import shutil
from pathlib import Path

import pytest

from answerable.cli import _SUMMARIES, main
from answerable.cli.render import to_plain_text
from support import sites
from support.cli_commands import subcommands
from support.sites import command as run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(site)
    return site


def test_ask_prints_the_answer_and_its_numbered_source(folder: Path) -> None:
    done = run(folder, "ask", "How thick is the chain of a mooring?")
    assert done.returncode == 0
    assert "The chain of a mooring is twelve millimetres thick [1]." in done.stdout
    assert "[1] Mooring › Chains  /mooring/#chains" in done.stdout
    assert done.stdout.startswith("From this site\n")
    places = done.stdout.partition("More on this site\n")[2]
    assert "/mooring/#chains" not in places


def test_ask_prints_a_refusal_without_sources(folder: Path) -> None:
    done = run(folder, "ask", "Who sang at the opera in Vienna?")
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing here says this directly.")


def test_ask_json_is_the_reply_of_the_http_api(folder: Path) -> None:
    body = json.loads(run(folder, "ask", "--json", "How thick is the chain?").stdout)
    assert body["mode"] == "partial"
    assert body["citations"][0]["id"] == "mooring#chains"


def test_a_missing_bundle_is_one_sentence(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    done = run(folder, "ask", "anything")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "build the site first" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_site_says_what_to_name(tmp_path: Path) -> None:
    done = run(tmp_path, "ask", "anything")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: there is no mkdocs.yml")
    assert "-f FILE" in done.stderr
    assert "--bundle FOLDER" in done.stderr


def test_a_function_folder_without_its_site_is_asked(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "function", tmp_path / "function")
    question = "How thick is the chain of a mooring?"
    assert "twelve" in run(tmp_path, "ask", question).stdout
    assert "twelve" in run(tmp_path, "--bundle", "function/bundle", "ask", question).stdout


def test_ask_says_whose_index_answers_where_a_page_has_changed_since(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path)
    sites.build_here(site)
    question = "How thick is the chain of a mooring?"
    assert run(site, "ask", question).stderr == ""
    sites.put(site / "docs" / "storms.md", "# Storms\n\nThe crew goes home.\n")
    told = run(site, "ask", question).stderr
    assert re.match(r"This is the index of [\d :-]+, and docs/storms\.md has changed since", told)
    assert "run `mkdocs build` to ask the site as it is" in told
    # An edit that changes nothing in the index.
    sites.build_here(site)
    (site / "docs" / "storms.md").touch()
    sites.build_here(site)
    assert run(site, "ask", question).stderr == ""


def test_bundles_of_versions_are_named(folder: Path, tmp_path: Path) -> None:
    for name in ("2.0", "1.0"):
        shutil.copytree(folder / "function", tmp_path / "function" / name)
    bundles = (f"--bundle function/{name}/bundle" for name in ("1.0", "2.0"))
    complaint = (
        f"function/bundle/manifest.json does not exist: name one with {' or '.join(bundles)}"
    )
    question = "How thick is the chain of a mooring?"
    assert run(tmp_path, "ask", question).stderr == f"Error: {complaint}\n"
    shutil.copy(folder / "mkdocs.yml", tmp_path)
    shutil.copytree(folder / "docs", tmp_path / "docs")
    (tmp_path / "notebook").mkdir()
    assert run(tmp_path, "ask", question).stderr == f"Error: {complaint}\n"
    assert "twelve" in run(tmp_path, "--bundle", "function/2.0/bundle", "ask", question).stdout


def test_question_is_cleaned_as_the_function_cleans_it(folder: Path) -> None:
    odd = "How\tthick\u200bis\x1bthe ｃｈａｉｎ of a\u3000mooring?"
    plain = "How thick is the chain of a mooring?"
    bodies = [json.loads(run(folder, "ask", "--json", text).stdout) for text in (odd, plain)]
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize(
    ("question", "detail"), [("\t \x07", "empty"), ("a " * 300, "at most 500")]
)
def test_a_question_that_the_function_refuses_is_an_error(
    folder: Path, question: str, detail: str
) -> None:
    done = run(folder, "ask", question)
    assert (done.returncode, done.stdout) == (1, "")
    assert detail in done.stderr


def test_a_text_is_printed_with_plain_spaces_and_without_control_characters() -> None:
    shown = to_plain_text("10\u00a0MB\u3000per\u2028worker\t[/x]\r\n\x1b[31m\u202e\x00é한")
    assert shown == "10 MB per worker [/x] \n[31mé한"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", "--bundle", "mkdocs.yml", "How thick is the chain?"),
         "Error: --bundle stands before the command: answerable --bundle … ask …"),
        (("ask", "How", "thick", "is", "the", "chain?"),
         'Error: put the question in quotes: -c ask "How thick is the chain?"'),
        (("ask",), "name a QUESTION, or a file of questions with --file"),
        (("ask", "How thick?", "--file", "questions.jsonl"),
         "QUESTION and --file both say what to ask: leave one out"),
        (("evla",),
         "no command is called 'evla'; see `answerable --help`. Did you mean eval?"),
        (("xyzzy",), "no command is called 'xyzzy'; see `answerable --help`\n"),
    ],
)  # fmt: skip
def test_a_wrong_line_names_the_remedy(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_help_of_the_group_opens_each_command_with_its_own_words() -> None:
    for name, subcommand in subcommands(main).items():
        assert subcommand.name == name
        assert str(subcommand.help).split("\n\n")[0] == _SUMMARIES[name]
