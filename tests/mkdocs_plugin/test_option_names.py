"""A misspelled or misplaced option is answered with the one that is meant."""

from pathlib import Path
from typing import Any

import pytest

from answerable.mkdocs.plugin import AnswerablePlugin
from support import sites

# The end of the warning, by the options that are unknown.
WARNINGS: dict[str, dict[str, Any]] = {
    "Did you mean widget.endpoint?": {"widget": {"endpiont": "/ask/"}},
    "Did you mean embedding.provider or answers.provider?": {"provider": "openai"},
    "Did you mean retrieval.floor?": {"floor": 0.4},
    "Did you mean retrieval.note_floor?": {"widget": {"note_floor": 0.4}},
    # Options that there were once.
    "The options there are retrieval.floor, retrieval.note_floor, retrieval.call_floor, "
    "retrieval.weights.": {"retrieval": {"hybrid": 0}},
    "Did you mean embedding.dimensions?": {"embedding": {"send_dimensions": True}},
    "Did you mean widget.search?": {"widget": {"search_row": False}},
    "Did you mean embedding?": {"embeddings": {"provider": "openai"}},
    "Did you mean retrieval?": {"retreival": {"floor": 0.4}},
    "Did you mean language?": {"lang": "fr"},
    "widget, log_refusals.": {"colour_of_the_sky": "blue"},
}


@pytest.mark.parametrize("ending", WARNINGS)
def test_an_unknown_option_is_a_warning_that_names_the_nearest_one(ending: str) -> None:
    errors, warnings = AnswerablePlugin().load_config(WARNINGS[ending])
    assert not errors
    ((_, text),) = warnings
    assert text.endswith(ending)


@pytest.mark.parametrize(
    "options",
    [
        *({name: "notes"} for name in "notbook notebooks Notebook note_book notes".split()),
        {"widget": {"notebook": "notes"}},
        {"retrieval": {"notbook": "notes"}},
    ],
    ids=str,
)
def test_a_notebook_that_is_misspelled_or_misplaced_is_an_error(options: dict[str, Any]) -> None:
    errors, warnings = AnswerablePlugin().load_config(options)
    assert not warnings
    ((_, error),) = errors
    assert str(error).endswith("Did you mean notebook?")


def test_a_build_stops_at_a_misspelled_notebook(tmp_path: Path) -> None:
    built = sites.build(sites.write_site(tmp_path, options={"notbook": "notes"}))
    assert built.returncode == 1
    assert "Unrecognised configuration name: notbook. Did you mean notebook?" in built.stderr
    assert not (tmp_path / "site").exists()


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
