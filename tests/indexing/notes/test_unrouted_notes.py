"""Notes with `routes: off`: in no bundle and no answer, and looked for by the leak audit."""

from pathlib import Path

import pytest

from answerable.indexing.notes.note_key import NOTE_KEY_FILE
from answerable.indexing.notes.notebook import read_notebook
from support.sites import NOTES, PAGES, ask, build_here, failure, opened, put, write_site

NOTE = NOTES["winch.md"]
OFF = NOTE.replace("label:", "routes: off\nlabel:")
QUESTION = "Where was the gearbox of the electric winch taken from?"
GOLD = f"queries:\n  - id: gearbox\n    query: {QUESTION}\n    expectSources: [winch.md]\n"


@pytest.mark.parametrize("value", ["off", "false"])
def test_an_unrouted_note_is_unindexed_and_needs_no_label_and_no_key(
    tmp_path: Path, value: str
) -> None:
    put(tmp_path / "winch.md", f"---\nroutes: {value}\n---\nThe gearbox is an old one.\n")
    private = read_notebook(tmp_path, writes_key=True)
    assert (private.notes, private.drafts) == ((), ())
    assert private.unrouted_paths == ("winch.md",)
    assert private.unindexed == private.unrouted
    assert not (tmp_path / NOTE_KEY_FILE).exists()


@pytest.mark.parametrize("value", ["on", "true"])
def test_a_note_with_routes_on_is_routed(tmp_path: Path, value: str) -> None:
    put(tmp_path / "winch.md", NOTE.replace("label:", f"routes: {value}\nlabel:"))
    private = read_notebook(tmp_path, writes_key=True)
    assert ([note.path for note in private.notes], private.unindexed) == (["winch.md"], ())


def test_an_unrouted_note_is_in_no_bundle_and_no_answer(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes=NOTES)
    build_here(site)
    assert ask(opened(site), QUESTION).answer.mode == "related-material"
    put(site / "notebook" / "winch.md", OFF)
    build_here(site)
    bundle = opened(site)
    assert (len(bundle.hints), bundle.manifest.counts["windows"]) == (0, 0)
    assert ask(bundle, QUESTION).answer.mode == "not-found"


def test_a_gold_query_that_expects_an_unrouted_note_is_refused(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes={"winch.md": OFF}, options={"gate": True})
    put(site / "eval" / "gold.yaml", GOLD)
    error = failure(site)
    assert (
        "query 'gearbox': expectSources: number 1 is a note with `routes: off`, which no question "
        "can find; drop it from the query, or take `routes: off` out of the note"
    ) in error
    # A build's log may be public.
    assert "winch.md" not in error


def test_a_leak_of_an_unrouted_note_stops_the_build(tmp_path: Path) -> None:
    leak = NOTE.rpartition("---")[2]
    site = write_site(tmp_path, pages={**PAGES, "rumours.md": f"# Rumours\n{leak}"},
                      notes={"winch.md": OFF})  # fmt: skip
    assert "winch.md: words 1 to 8 of the note stand in site/rumours/index.html" in failure(site)
