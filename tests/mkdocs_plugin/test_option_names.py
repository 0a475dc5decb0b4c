"""A misspelled or misplaced option is answered with the one that is meant."""

from pathlib import Path
from typing import Any

import pytest

from answerable.mkdocs.options import AnswerableConfig, list_option_names
from answerable.mkdocs.plugin import AnswerablePlugin
from support import sites

MISTAKES: dict[str, dict[str, Any]] = {
    "notebook": {"notebok": "x"},
    "widget.endpoint": {"widget": {"endpiont": "/ask/"}},
    "embedding.provider or answers.provider": {"provider": "openai"},
    "retrieval.floor": {"floor": 0.4},
}


@pytest.mark.parametrize("meant", MISTAKES)
def test_unknown_option_is_warned_of_with_the_one_that_is_meant(meant: str) -> None:
    errors, warnings = AnswerablePlugin().load_config(MISTAKES[meant])
    assert not errors
    ((_, text),) = warnings
    assert text.endswith(f"Did you mean {meant}?")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("exclude", "is `answerable: {exclude: true}`: write it in its front matter."),
        ("api_key", "set the variable OPENAI_API_KEY."),
    ],
)
def test_what_is_done_elsewhere_is_answered_with_where(name: str, remedy: str) -> None:
    _, ((_, text),) = AnswerablePlugin().load_config({name: "x"})
    assert text.endswith(remedy)


def test_build_prints_the_suggestion(tmp_path: Path) -> None:
    built = sites.build(sites.write_site(tmp_path, options={"widget": {"endpiont": "/ask/"}}))
    assert built.returncode == 0, built.stderr
    assert (
        "Unrecognised configuration name: endpiont. Did you mean widget.endpoint?" in built.stderr
    )


def test_name_that_resembles_no_option_gets_no_suggestion() -> None:
    _, ((_, text),) = AnswerablePlugin().load_config({"colour_of_the_sky": "blue"})
    assert text == "Unrecognised configuration name: colour_of_the_sky"


def test_option_names_are_those_of_the_manual() -> None:
    table = (sites.ROOT / "docs" / "configure.md").read_text(encoding="utf-8")
    documented = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert set(list_option_names(AnswerableConfig)) <= documented


def test_front_matter_that_cannot_be_read_is_warned_of_by_its_page(tmp_path: Path) -> None:
    """MkDocs prints it on the page, where every key of it is lost, and says nothing."""
    page = "---\ndescription: Tides: when they turn\naliases: [flood]\n---\n# Tides\n\nThey turn.\n"
    sites.write_site(tmp_path, {"tides.md": page, "index.md": "# Home\n\n---\n\nWelcome.\n"})
    done = sites.build(tmp_path, "--strict")
    assert done.returncode != 0
    (line,) = (line for line in done.stderr.splitlines() if "front matter" in line)
    assert "tides.md: its front matter cannot be read (" in line
    assert "correct it, since nothing of it counts" in line
    sites.put(tmp_path / "docs" / "tides.md", page.replace("Tides: when", "Tides, when"))
    assert sites.build(tmp_path, "--strict").returncode == 0
