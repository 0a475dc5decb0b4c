"""Sentences of routes: made from label, locator and url alone."""

import pytest

from answerable.serve.answers.wire import render_route
from answerable.serve.text.languages import TRANSLATIONS, get_translation
from answerable.serve.types import HintCitation

HINT = HintCitation("note:1", "/mooring/", "Winch {locator}", "second shelf")


@pytest.mark.parametrize("language", sorted(TRANSLATIONS))
def test_every_language_names_label_and_locator(language: str) -> None:
    sentence = render_route(get_translation(language).route, HINT)
    assert "Winch {locator} (second shelf)" in sentence


def test_a_hint_without_a_locator_has_no_parentheses() -> None:
    bare = HintCitation("note:1", "/mooring/", "Winch", "")
    assert render_route(get_translation("en").route, bare) == "Related material: Winch."


def test_a_regional_code_is_read_and_an_unknown_one_is_english() -> None:
    assert get_translation("de-AT").route == TRANSLATIONS["de"].route
    assert get_translation("pt_BR").route == TRANSLATIONS["en"].route
