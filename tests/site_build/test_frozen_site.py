"""The frozen site: it builds without a warning, passes its gold set and keeps its notes private."""

import json
import re

from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.indexing.notes.notebook import read_notebook
from support.frozen_site import SOURCE, FrozenSite

# Words in a row that the leak audit takes for a leak.
RUN = 8


def run(site: FrozenSite, *arguments: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "200"})
    return runner.invoke(main, ["-f", str(site.config_file), *arguments])


def test_it_has_pages_in_two_languages_and_notes(frozen_site: FrozenSite) -> None:
    passages = frozen_site.bundle.passages()
    pages = {passage.record_id for passage in passages}
    assert len(pages) == 36
    assert {passage.language for passage in passages} == {"en", "de"}
    assert "reference/python#millrace.Client.wait" in {passage.id for passage in passages}
    assert pages.isdisjoint({"internal/style", "drafts/dashboard"})
    assert frozen_site.bundle.manifest.counts["hints"] == 13


def test_its_gold_set_passes_in_full(frozen_site: FrozenSite) -> None:
    done = run(frozen_site, "eval", "--full")
    assert done.exit_code == 0, done.output
    assert "40 of 40 passed" in done.output


def test_its_questions_and_answers_have_no_fault(frozen_site: FrozenSite) -> None:
    done = run(frozen_site, "questions", "--check", "--strict")
    assert done.exit_code == 0, done.output
    assert "8 answers stored; 0 faults" in done.output


def test_no_run_of_a_note_is_published(frozen_site: FrozenSite) -> None:
    runs = {
        " ".join(words[start : start + RUN])
        for note in read_notebook(SOURCE / "notebook").notes
        if not note.published_in
        for words in [re.findall(r"\w+", note.body.lower())]
        for start in range(len(words) - RUN + 1)
    }
    published = " ".join(
        word
        for folder in (frozen_site.pages, frozen_site.function)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in re.findall(r"\w+", path.read_bytes().decode("utf-8", "replace").lower())
    )
    assert len(runs) > 400
    assert [text for text in runs if text in published] == []


def test_the_browser_has_the_pages_and_nothing_of_the_notes(
    frozen_browser_site: FrozenSite,
) -> None:
    manifest = frozen_browser_site.bundle.manifest
    assert (manifest.counts["records"], manifest.counts["hints"]) == (36, 0)
    (index,) = frozen_browser_site.pages.rglob("index.json")
    assert json.loads(index.read_text("utf-8"))
