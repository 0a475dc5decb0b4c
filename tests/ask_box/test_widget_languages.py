"""The widget's languages: what their files must hold, and each of them in a real Chromium."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from answerable.serve.text.languages import TRANSLATIONS
from support import sites
from support.widget_folder import SCRIPT, WIDGET, served, visit

STRINGS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (WIDGET / "strings").glob("*.json")
}
ENGLISH = STRINGS["en"]
OTHERS = sorted(set(STRINGS) - {"en"})
# The languages of pages, where they are written in more than the name of a language.
REGIONS = {"ar": "ar-EG", "es": "es_MX", "fr": "fr-CA"}
CATEGORIES = "tag => new Intl.PluralRules(tag).resolvedOptions().pluralCategories"
CATEGORY = "([tag, n]) => new Intl.PluralRules(tag).select(n)"
# Gives the box these answers, and of its site nothing.
RECORDED = """(box, answers) => {
    box.fetch = async (address) =>
        Response.json(address.pathname.endsWith("/answer") ? answers.shift() : {});
}"""


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path) as origin:
        yield origin


def answer(sources: int) -> dict[str, Any]:
    """An answer of as many sources."""
    numbers = list(range(1, sources + 1))
    return {
        "mode": "partial",
        "claims": [{"text": "Tie it twice.", "citations": numbers}],
        "routes": [],
        "citations": [{"n": n, "kind": "record", "title": f"Page {n}"} for n in numbers],
        "confidence": "high",
        "written": True,
        "complete": True,
        "dropped": sources,
    }


def texts(strings: dict[str, Any]) -> dict[str, list[str]]:
    """Every text of a file by its key: all its forms where there are forms."""
    return {
        key: list(forms.values()) if isinstance(forms, dict) else [forms]
        for key, forms in strings.items()
    }


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def constant(page: Page, name: str) -> Any:
    """A constant of the script, as a browser reads it."""
    constant = re.search(rf"^const {name} = (.*?);$", SCRIPT, re.M | re.S)
    assert constant, name
    return page.evaluate(f"({constant[1]})")


@pytest.mark.parametrize("tag", OTHERS)
def test_every_string_exists_in_every_plural_form_of_its_language(page: Page, tag: str) -> None:
    strings = STRINGS[tag]
    assert list(strings) == list(ENGLISH)
    forms = {
        key: set(forms_of_key)
        for key, forms_of_key in strings.items()
        if isinstance(forms_of_key, dict)
    }
    expected = set(page.evaluate(CATEGORIES, tag))
    assert forms == {
        key: expected for key, forms_of_key in ENGLISH.items() if isinstance(forms_of_key, dict)
    }
    for key, forms_of_key in texts(strings).items():
        expected_placeholders = placeholders(texts(ENGLISH)[key][0])
        for text in forms_of_key:
            assert text == text.strip() != "", key
            assert placeholders(text) == expected_placeholders, (key, text)
    direction = page.evaluate("tag => new Intl.Locale(tag).getTextInfo().direction", tag)
    assert strings["dir"] == direction


def test_the_script_embeds_english_and_lists_the_other_languages(page: Page) -> None:
    assert constant(page, "ENGLISH") == ENGLISH
    assert constant(page, "LANGUAGES").split() == OTHERS


def test_server_texts_exist_in_the_languages_of_the_widget() -> None:
    """Every place that has to know a language; a forgotten one is named."""
    assert sorted(TRANSLATIONS) == sorted(STRINGS), "serve/text/languages.py WORDINGS"
    lines = (sites.ROOT / "docs" / "theme.md").read_text(encoding="utf-8").splitlines()
    language_lines = [
        line for line in lines if TRANSLATIONS["ar"].name in line and "Japanese" in line
    ]
    assert language_lines
    for line in language_lines:
        missing = [words.name for words in TRANSLATIONS.values() if words.name not in line]
        assert not missing, f"docs/theme.md: {line}"


@pytest.mark.parametrize("tag", OTHERS)
def test_the_box_uses_the_language_of_the_page(
    page: Page, tmp_path: Path, origin: str, tag: str
) -> None:
    strings = STRINGS[tag]
    box = visit(page, tmp_path, origin, REGIONS.get(tag, tag))
    counts = (1, 2, 3, 11)
    box.evaluate(RECORDED, [answer(n) for n in counts])
    trigger = box.locator(".trigger")
    expect(trigger).to_have_accessible_name(strings["ask"])
    trigger.click()
    dialog = box.get_by_role("dialog", name=strings["title"], exact=True)
    expect(dialog).to_be_visible()
    expect(box.locator(".panel")).to_have_css("direction", strings["dir"])
    expect(trigger).to_have_attribute("dir", strings["dir"])
    expect(trigger).to_have_attribute("lang", tag)
    question = box.get_by_role("textbox", name=strings["question"], exact=True)
    for n in counts:
        question.fill("How do I moor?")
        question.press("Enter")
        category = page.evaluate(CATEGORY, [tag, n])
        ready, dropped = (strings[key][category] for key in ("ready", "dropped"))
        expect(box.get_by_role("status")).to_have_text(ready.replace("{n}", str(n)))
        expect(box.locator(".view")).to_contain_text(dropped.replace("{n}", str(n)))
    expect(box.get_by_role("heading", name=strings["grade.whole"], level=3)).to_be_focused()


def test_the_lang_attribute_of_the_element_wins(page: Page, tmp_path: Path, origin: str) -> None:
    box = visit(page, tmp_path, origin, "en", 'lang="ja"')
    expect(box.locator(".trigger")).to_have_accessible_name(STRINGS["ja"]["ask"])


@pytest.mark.parametrize("language", ["fi", "en-GB", ""])
def test_english_strings_need_no_request(
    page: Page, tmp_path: Path, origin: str, language: str
) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url.removeprefix(origin)))
    box = visit(page, tmp_path, origin, language)
    expect_english(box)
    assert not [path for path in requested if "strings" in path]
    assert "/assets/answerable/ask-box.js" in requested


@pytest.mark.parametrize("broken", [None, "", '{"ask": ', "null", "<!doctype html>"])
def test_an_unreadable_strings_file_falls_back_to_english(
    page: Page, tmp_path: Path, origin: str, broken: str | None
) -> None:
    file = tmp_path / "assets" / "answerable" / "strings" / "de.json"
    file.unlink()
    if broken is not None:
        file.write_text(broken)
    with page.expect_response("**/strings/de.json") as response:
        box = visit(page, tmp_path, origin, "de")
    assert response.value.status == (404 if broken is None else 200)
    expect_english(box)


def expect_english(box: Locator) -> None:
    """The box is English and says so, and its plurals are those of English."""
    trigger = box.locator(".trigger")
    expect(trigger).to_have_accessible_name("Ask")
    expect(trigger).to_have_attribute("lang", "en")
    trigger.click()
    expect(box.get_by_role("dialog", name="Ask this site")).to_be_visible()
    box.evaluate(RECORDED, [answer(1)])
    question = box.get_by_role("textbox", name="Your question")
    question.fill("How do I moor?")
    question.press("Enter")
    expect(box.get_by_role("status")).to_have_text("Answer ready, 1 source.")
