"""The command `answerable`, run as a user runs it."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from answerable.cli import _SUMMARIES, main
from answerable.cli.render import to_plain_text
from support import sites
from support.cli_commands import subcommands
from support.deadlines import PATIENCE
from support.server_processes import started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(site)
    return site


def run(folder: Path, *args: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return sites.command(folder, *args, typed=typed)


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


def test_ask_lists_places_with_a_line_of_their_text(folder: Path) -> None:
    lines = run(folder, "ask", "--places", "How thick is the chain?").stdout.splitlines()
    assert lines[0] == "Mooring › Chains  /mooring/#chains"
    assert lines[1] == "  The chain of a mooring is twelve millimetres thick."
    rows = json.loads(run(folder, "ask", "--places", "--json", "How thick is the chain?").stdout)
    assert rows[0]["id"] == "mooring#chains"
    assert set(rows[0]) == {"id", "title", "url", "markdown", "line"}
    nothing = run(folder, "ask", "--places", "Kubernetes webhook zeppelin").stdout
    assert nothing == "Nothing on this site is near enough to this question.\n"
    assert "leave one out" in run(folder, "ask", "--places", "--file", "a").stderr


def test_a_missing_bundle_is_one_sentence(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    done = run(folder, "ask", "anything")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "run `answerable build` first" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_site_says_what_to_name(tmp_path: Path) -> None:
    done = run(tmp_path, "ask", "anything")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: there is no mkdocs.yml")
    assert "-f FILE" in done.stderr
    assert "--bundle FOLDER" in done.stderr


def test_global_option_after_the_command_says_where_it_stands(folder: Path) -> None:
    name = "--bundle"
    done = run(folder, "ask", name, "mkdocs.yml", "How thick is the chain?")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Error: {name} stands before the command: answerable {name} … ask …" in done.stderr


def test_question_without_quotes_asks_for_quotes(folder: Path) -> None:
    done = run(folder, "ask", "How", "thick", "is", "the", "chain?")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error: put the question in quotes: " in done.stderr
    assert 'ask "How thick is the chain?"' in done.stderr


def test_a_function_folder_without_its_site_is_asked(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "function", tmp_path / "function")
    question = "How thick is the chain of a mooring?"
    assert "twelve" in run(tmp_path, "ask", question).stdout
    assert "twelve" in run(tmp_path, "--bundle", "function/bundle", "ask", question).stdout


def test_ask_says_whose_index_answers_where_a_page_has_changed_since(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path)
    sites.build_here(site)
    question = "How thick is the chain of a mooring?"
    assert sites.command(site, "ask", question).stderr == ""
    sites.put(site / "docs" / "storms.md", "# Storms\n\nThe crew goes home.\n")
    told = sites.command(site, "ask", question).stderr
    assert re.match(r"This is the index of [\d :-]+, and docs/storms\.md has changed since", told)
    assert "run `mkdocs build` to ask the site as it is" in told


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
    assert shown.plain == "10 MB per worker [/x] \n[31mé한"


def test_talk_goes_on_after_a_question_that_is_refused(tmp_path: Path) -> None:
    site = sites.write_site(tmp_path, site_name="One [/x] [red]y")
    sites.build_here(site)
    long = "a " * 300
    done = run(site, "ask", typed=f" \x07\n{long}\nHow thick is the ｃｈａｉｎ of a mooring?\n")
    assert done.returncode == 0, done.stderr
    assert "One [/x] [red]y? " in done.stderr
    assert "at most 500" in done.stderr
    assert "twelve millimetres thick [1]." in done.stdout


@pytest.mark.deep
@pytest.mark.parametrize("leave", ["\x04", "\x03"])
def test_ask_talks_on_and_leaves_cleanly(folder: Path, leave: str) -> None:
    """On a real terminal, so that Ctrl-C and Ctrl-D are what they are for a user."""
    main, child = pty.openpty()
    with started(
        [sys.executable, "-c", "from answerable.cli import main; main()", "ask"],
        cwd=folder,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
        stdin=child,
        stdout=child,
        stderr=child,
        preexec_fn=_own_terminal,
    ) as process:
        os.close(child)
        terminal = _Terminal(main)
        terminal.expect("? ")
        os.write(main, b"How thick is the chain of a mooring?\n")
        terminal.expect("twelve millimetres thick [1].")
        terminal.expect("/mooring/#chains")
        terminal.expect("? ")
        for _ in range(3):
            os.write(main, leave.encode())
            # Python loses an interruption that comes while it cleans up: a user presses once more.
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=PATIENCE / 4)
                break
        assert process.returncode == 0
    os.close(main)
    assert "Traceback" not in terminal.text


def _own_terminal() -> None:
    """Make the pseudo-terminal the controlling one, so that it sends signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class _Terminal:
    """Read what a program prints, as far as it is waited for."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.text = ""
        self.at = 0

    def expect(self, words: str) -> None:
        """Wait until words are printed after those of the last call."""
        while (place := self.text.find(words, self.at)) < 0:
            ready, _, _ = select.select([self.descriptor], [], [], PATIENCE)
            assert ready, f"{words!r} was not printed: {self.text[self.at :]!r}"
            self.text += os.read(self.descriptor, 4096).decode(errors="replace")
        self.at = place + len(words)


def test_help_of_the_group_opens_each_command_with_its_own_words() -> None:
    for name, subcommand in subcommands(main).items():
        assert subcommand.name == name
        assert str(subcommand.help).split("\n\n")[0] == _SUMMARIES[name]


def test_a_misspelled_command_is_answered_with_the_one_that_is_meant(tmp_path: Path) -> None:
    done = sites.command(tmp_path, "evla")
    assert done.returncode == 2
    assert "no command is called 'evla'; see `answerable --help`. Did you mean eval?" in done.stderr
    assert "Did you mean" not in sites.command(tmp_path, "xyzzy").stderr
