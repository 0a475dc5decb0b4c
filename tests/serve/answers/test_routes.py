"""Sentences of routes: made from label, locator and url alone."""

from pathlib import Path

import pytest

from answerable.serve.answers.wire import render_route
from answerable.serve.text.languages import TRANSLATIONS, get_translation
from answerable.serve.types import HintCitation
from support import sites

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


def test_the_option_replaces_the_template(tmp_path: Path) -> None:
    folder = sites.write_site(
        tmp_path, notes=sites.NOTES, options={"answers": {"route": "See {label} at {url}"}}
    )
    sites.build_here(folder)
    assert sites.opened(folder).site.route == "See {label} at {url}"


@pytest.mark.parametrize("route", ["See it.", "{label} {text}"])
def test_a_template_of_other_fields_is_refused(tmp_path: Path, route: str) -> None:
    folder = sites.write_site(tmp_path, options={"answers": {"route": route}})
    done = sites.build(folder)
    assert done.returncode != 0
    assert "answers.route" in done.stderr
