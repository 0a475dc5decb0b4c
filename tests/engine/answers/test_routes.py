"""Sentences of routes: made from label, locator and url alone."""

from pathlib import Path
from typing import Any

import pytest

from answerable.engine.answers.wire import render_route, serialize_answer
from answerable.engine.providers import make_engine
from answerable.engine.text.languages import TRANSLATIONS, get_translation
from answerable.engine.types import RoutingHint
from support.sites import NOTES, build_here, failure, local, opened, write_site

HINT = RoutingHint("note:1", "Winch {locator}", "second shelf", "/mooring/")


@pytest.mark.parametrize("language", sorted(TRANSLATIONS))
def test_every_language_names_label_and_locator(language: str) -> None:
    translation = get_translation(language)
    for template in (translation.route, translation.ask):
        assert "Winch {locator} (second shelf)" in render_route(template, HINT)
    assert "{contact}" in translation.ask


@pytest.mark.parametrize(
    ("options", "author", "opening"),
    [
        ({"contact": "the harbour office"}, "Ann Lee", "Ask the harbour office about related"),
        ({}, "Ann Lee", "Ask Ann Lee about related"),
        ({}, None, "Related"),
    ],
)
def test_a_route_says_whom_to_ask_and_confirms_no_word_of_its_note(
    tmp_path: Path, options: dict[str, Any], author: str | None, opening: str
) -> None:
    notes = {name: f"{text}\nMarta sold it to us.\n" for name, text in NOTES.items()}
    site = write_site(tmp_path, notes=notes, options=options, site_author=author)
    build_here(site)
    engine = make_engine(opened(site), local())
    question = "Did Marta take the gearbox of the winch from a scrapped tractor?"
    pool = engine.retrieve_for_answer(question)
    assert "Marta" in [remark.word for remark in pool.reading.remarks]
    body = serialize_answer(engine.answer_from(pool), engine.store, pool.reading.remarks)
    assert body["routes"][0]["text"] == f"{opening} material: Plans for the winch (second shelf)."
    assert body["notes"] == []


@pytest.mark.parametrize("contact", ["jo@example.org", "taken from a scrapped tractor"])
def test_a_contact_is_public_and_linted_like_a_label(tmp_path: Path, contact: str) -> None:
    assert "contact" in failure(write_site(tmp_path, notes=NOTES, options={"contact": contact}))
    assert not (tmp_path / "function").exists()
