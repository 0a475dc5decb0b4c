"""Notes with `routes: off`: in no bundle and no answer, and looked for by the leak audit."""

from pathlib import Path

import pytest

from answerable.indexing.notes import routing_hints
from answerable.indexing.notes.notebook import NOTE_KEY_FILE, Note, read_notebook
from answerable.serve.errors import NotebookError
from support.sites import NOTES, PAGES, ask, build_here, command, failure, opened, put, write_site

NOTE = NOTES["winch.md"]
OFF = NOTE.replace("label:", "routes: off\nlabel:")
QUESTION = "Where was the gearbox of the electric winch taken from?"
GOLD = f"queries:\n  - id: gearbox\n    query: {QUESTION}\n    %s: [winch.md]\n"


@pytest.mark.parametrize("value", ["off", "'off'", "false", "no"])
def test_an_unrouted_note_is_unindexed_and_needs_no_label_and_no_key(
    tmp_path: Path, value: str
) -> None:
    put(tmp_path / "winch.md", f"---\nroutes: {value}\n---\nThe gearbox is an old one.\n")
    private = read_notebook(tmp_path, writes_key=True)
    assert (private.notes, private.drafts) == ((), ())
    assert private.unrouted_paths == ("winch.md",)
    assert private.unindexed == private.unrouted
    assert not (tmp_path / NOTE_KEY_FILE).exists()


@pytest.mark.parametrize("value", ["on", "'on'", "true", "", "null"])
def test_a_note_with_routes_on_is_routed(tmp_path: Path, value: str) -> None:
    put(tmp_path / "winch.md", NOTE.replace("label:", f"routes: {value}\nlabel:"))
    private = read_notebook(tmp_path, writes_key=True)
    assert ([note.path for note in private.notes], private.unindexed) == (["winch.md"], ())


@pytest.mark.parametrize("value", ["never", "1", "[off]", "{off: on}", "''"])
def test_any_other_value_of_routes_is_refused(tmp_path: Path, value: str) -> None:
    put(tmp_path / "winch.md", NOTE.replace("label:", f"routes: {value}\nlabel:"))
    with pytest.raises(NotebookError) as caught:
        read_notebook(tmp_path, writes_key=True)
    assert str(caught.value) == "winch.md: routes has to be `on` or `off`; correct it"


def test_public_fields_of_an_unrouted_note_are_linted(tmp_path: Path) -> None:
    put(tmp_path / "winch.md", OFF.replace("Plans for the winch", "ann@harbour.example"))
    with pytest.raises(NotebookError, match=r"winch\.md: label holds an e-mail address"):
        read_notebook(tmp_path, writes_key=True)


def test_an_unrouted_note_is_in_no_bundle_and_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossed: list[str] = []
    surface = routing_hints.cut_note

    def recording(note: Note, *arguments: object) -> object:
        crossed.append(note.path)
        return surface(note, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(routing_hints, "cut_note", recording)
    site = write_site(
        tmp_path, notes={"winch.md": NOTE, "crane.md": NOTE.replace("winch", "crane")}
    )
    build_here(site)
    assert ask(opened(site), QUESTION).answer.mode == "related-material"
    assert set(crossed) == {"crane.md", "winch.md"}

    crossed.clear()
    for name in ("winch.md", "crane.md"):
        put(site / "notebook" / name, OFF)
    build_here(site)
    bundle = opened(site)
    assert (len(bundle.hints), bundle.manifest.counts["windows"]) == (0, 0)
    assert ask(bundle, QUESTION).answer.mode == "not-found"
    assert crossed == []


def test_a_leak_of_an_unrouted_note_stops_the_build(tmp_path: Path) -> None:
    leak = NOTE.rpartition("---")[2]
    site = write_site(tmp_path, pages={**PAGES, "rumours.md": f"# Rumours\n{leak}"},
                      notes={"winch.md": OFF})  # fmt: skip
    assert "winch.md: words 1 to 8 of the note stand in site/rumours/index.html" in failure(site)


def test_a_gold_query_that_expects_an_unrouted_note_is_refused(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes={"winch.md": OFF}, options={"gate": True})
    put(site / "eval" / "gold.yaml", GOLD % "expectSources")
    error = failure(site)
    assert (
        "query 'gearbox': expectSources: number 1 is a note with `routes: off`, which no question "
        "can find; drop it from the query, or take `routes: off` out of the note"
    ) in error
    # A build's log may be public.
    assert "winch.md" not in error

    put(site / "mkdocs.yml", (site / "mkdocs.yml").read_text("utf-8").replace("gate: true", ""))
    build_here(site)
    done = command(site, "eval")
    assert done.returncode == 1
    assert "expectSources: number 1 is a note with `routes: off`" in done.stderr
    done = command(site, "why", QUESTION, "--expect", "winch.md")
    assert done.returncode == 1
    assert "--expect: the note 'winch.md' has `routes: off`, so no question can find it" in (
        done.stderr
    )

    put(site / "eval" / "gold.yaml", GOLD % "forbidSources")
    assert command(site, "eval").returncode == 0
