"""The frozen site: it builds without a warning, and its gold set and its questions hold."""

import json

from click.testing import CliRunner, Result

from answerable.cli import main
from support.frozen_site import FrozenSite


def run(site: FrozenSite, *arguments: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "200"})
    return runner.invoke(main, ["-f", str(site.config_file), *arguments])


def test_frozen_site_has_two_languages_and_hints(frozen_site: FrozenSite) -> None:
    passages = tuple(frozen_site.bundle.passages())
    pages = {passage.record for passage in passages}
    assert len(pages) == 36
    assert pages.isdisjoint({"internal/style", "drafts/dashboard"})
    assert {passage.record for passage in passages if passage.language == "de"} == {
        "index.de", "install.de", "faq.de", "guides/retries.de",
    }  # fmt: skip
    assert "reference/python#millrace.Client.wait" in {passage.id for passage in passages}
    # One of each note, but two of the recording and three of the paged note.
    assert frozen_site.bundle.manifest.counts["hints"] == 13


def test_frozen_gold_set_passes_in_full(frozen_site: FrozenSite) -> None:
    done = run(frozen_site, "eval", "--full")
    assert "40 of 40 passed" in done.output, done.output


def test_frozen_questions_and_answers_have_no_fault(frozen_site: FrozenSite) -> None:
    done = run(frozen_site, "questions", "--check")
    assert done.exit_code == 0, done.output
    assert "8 answers stored; 0 faults" in done.output


def test_frozen_site_for_browsers_has_the_pages_and_no_hint(
    frozen_site: FrozenSite, frozen_browser_site: FrozenSite
) -> None:
    bundle = frozen_browser_site.bundle
    assert bundle.manifest.counts["hints"] == 0
    assert [p.id for p in bundle.passages()] == [p.id for p in frozen_site.bundle.passages()]
    published = frozen_browser_site.pages / "assets" / "answerable" / "site.json"
    assert json.loads(published.read_text("utf-8"))["bundle"] == bundle.manifest.id
