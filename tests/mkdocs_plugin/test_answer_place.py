"""Choose where questions are answered: by a site's options; a build refuses and explains."""

import os
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.answer_place import choose_answer_place
from answerable.mkdocs.options import AnswerableConfig
from answerable.mkdocs.publish import list_function_needs
from answerable.mkdocs.site_config import load_site
from support.sites import NOTES, PAGES, build, command, failure, forget_plugins, put, write_site

PAGE = {"index.md": "# Harbour\n\nHarbour keeps small boats in order.\n"}
CHAIN = "How thick is the chain of a mooring?"
NOTEBOOK = "`notebook` needs a function (private notes stay on a server)"


def load(folder: Path, options: dict[str, Any]) -> AnswerableConfig:
    """Load the options of a site as a build does."""
    notes = NOTES if "notebook" in options else None
    write_site(folder, PAGE, notes=notes, options=options)
    forget_plugins()
    return load_site(folder / "mkdocs.yml")[1]


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({}, []),
        ({"bundle": {"dimensions": 256}, "retrieval": {"floor": 0.3}}, []),
        ({"notebook": "notebook"}, ["notebook"]),
        ({"embedding": {"provider": "openai"}}, ["embedding.provider"]),
        ({"answers": {"provider": "openai"}}, ["answers.provider"]),
        ({"bundle": {"dimensions": 128}}, ["bundle.dimensions"]),
        ({"store": {"url": None}}, ["store.url"]),
        ({"store": {"url": "postgresql://harbour.example/docs"}}, ["store.url"]),
        ({"widget": {"endpoint": "/ask/"}}, ["widget.endpoint"]),
        ({"log_refusals": "hashed"}, ["log_refusals"]),
    ],
    ids=str,
)
def test_what_needs_a_function_decides_the_place(
    tmp_path: Path, options: dict[str, Any], needed: list[str]
) -> None:
    needs = list_function_needs(load(tmp_path, options))
    assert list(needs) == needed
    assert choose_answer_place(None, needs) == ("function" if needed else "browser")
    assert choose_answer_place("function", needs) == "function"


def test_a_build_refuses_the_browser_with_what_needs_a_function(tmp_path: Path) -> None:
    options = {"answers_in": "browser", "log_refusals": "text"}
    message = failure(write_site(tmp_path, PAGE, notes=NOTES, options=options))
    assert f"answerable: answers_in: browser is impossible, since {NOTEBOOK}, and so" in message
    assert "; set answers_in to function, or remove `notebook` and remove `log_refusals`" in message
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "function").exists()


def test_a_build_says_what_needs_a_function_unless_the_owner_knows(tmp_path: Path) -> None:
    expected = f"{NOTEBOOK}; deploy the function, and set widget.endpoint to its address, or "
    expected += "answers_in to function where the site's own host serves it at _answerable/, or "
    expected += "remove `notebook`\n"
    for options, is_said in (({}, True), ({"widget": {"endpoint": "/ask/"}}, False)):
        write_site(tmp_path, PAGES, notes=NOTES, options=options)
        # A published ask box that nobody answers is a warning, which stops a strict build.
        done = build(tmp_path, "--strict")
        assert (done.returncode == 1) is is_said
        assert (f"no function is connected yet: {expected}" in done.stderr) is is_said
        assert (tmp_path / "function" / "bundle" / "manifest.json").is_file()


def test_a_site_of_two_lines_needs_nothing_and_gets_no_function(tmp_path: Path) -> None:
    for name, text in PAGES.items():
        put(tmp_path / "docs" / name, text)
    put(tmp_path / "mkdocs.yml", "site_name: Harbour\nplugins: [search, answerable]\n")
    done = build(tmp_path, "--strict")
    assert done.returncode == 0, done.stderr
    assert "readers' browsers will answer; to try the built site, serve its folder" in done.stderr
    assert "ANSWERABLE_ALLOWED_ORIGINS" not in done.stderr
    assert not (tmp_path / "function").exists()
    # Commands ask it all the same.
    unpublished = tmp_path / ".cache" / "plugin" / "answerable" / "function"
    assert sorted(path.name for path in unpublished.iterdir() if path.name[0] != ".") == [
        "bundle", "settings.json",
    ]  # fmt: skip
    if os.name == "posix":
        modes = {path.stat().st_mode & 0o77 for path in (unpublished, *unpublished.rglob("*"))}
        assert modes == {0}
    assert "twelve" in command(tmp_path, "ask", CHAIN).stdout


def test_a_function_is_asked_for_by_its_folder_and_left_alone_later(tmp_path: Path) -> None:
    function, cache = tmp_path / "deploy" / "fn", tmp_path / ".cache" / "plugin" / "answerable"
    for options in ({"function": None}, {"function": "deploy/fn"}):
        done = build(write_site(tmp_path, PAGES, options=options), "--strict")
        assert done.returncode == 0, done.stderr
        assert (function / "main.py").is_file() is (options["function"] is not None)
        assert (cache / "function").exists() is (options["function"] is None)
        assert "twelve" in command(tmp_path, "ask", CHAIN).stdout
    function.parent.joinpath("fn").rename(tmp_path / "function")
    write_site(tmp_path, {**PAGES, "mooring.md": "# Mooring\n\n## Chains\n\nThe chain of a mooring "
               "is thirteen millimetres thick.\n"}, options={"function": None})  # fmt: skip
    done = build(tmp_path, "--strict")
    assert done.returncode == 0, done.stderr
    assert "function is an earlier build's, and nothing asks it; delete it" in done.stderr
    # What is asked is what was built last, and not what lies there.
    assert "thirteen" in command(tmp_path, "ask", CHAIN).stdout


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"log_refusals": "text"}, "`log_refusals` needs a function (a question"),
        ({"answers_in": "function"}, "`answers_in` needs a function (it asks for one)"),
    ],
    ids=str,
)
def test_site_for_a_disk_may_need_no_function(
    tmp_path: Path, options: dict[str, Any], cause: str
) -> None:
    message = failure(write_site(tmp_path, PAGE, options={"offline": True, **options}))
    assert f"offline: {cause}" in message
    assert "; remove `offline`, or remove `" in message
    assert not (tmp_path / "function").exists()
