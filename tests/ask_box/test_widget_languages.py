"""The words of the ask box: whole files, the page's language, and English where nothing else is."""

import json
import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from answerable.engine.text.languages import TRANSLATIONS
from support.widget_site import (
    HANG,
    PARTIAL,
    SECOND_RECORD,
    SUPPORTED,
    WIDGET,
    Reply,
    Site,
    visit,
)

STRINGS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (WIDGET / "strings").glob("*.json")
}
ENGLISH = STRINGS["en"]
OTHERS = sorted(set(STRINGS) - {"en"})
STRINGS_SCRIPT = WIDGET / "ask-box" / "strings.js"
CATEGORIES = "tag => new Intl.PluralRules(tag).resolvedOptions().pluralCategories"
CATEGORY = "([tag, n]) => new Intl.PluralRules(tag).select(n)"


def list_forms(strings: dict[str, Any]) -> dict[str, dict[str, str]]:
    """List every text of a file by its key and its plural category, which may be none."""
    return {
        key: forms if isinstance(forms, dict) else {"": forms} for key, forms in strings.items()
    }


def test_every_string_exists_in_every_plural_form_of_its_language(page: Page) -> None:
    constant = re.search(r'^const LANGUAGES = "(.*?)";$', STRINGS_SCRIPT.read_text(), re.M)
    assert constant
    assert constant[1].split() == OTHERS
    assert sorted(TRANSLATIONS) == sorted(STRINGS), "engine/text/languages.py WORDINGS"
    for tag in OTHERS:
        categories = set(page.evaluate(CATEGORIES, tag))
        forms_by_key = list_forms(STRINGS[tag])
        assert list(forms_by_key) == list(ENGLISH)
        for key, english in list_forms(ENGLISH).items():
            assert set(forms_by_key[key]) == (set(english) if "" in english else categories), key
            placeholders = set(re.findall(r"\{(\w+)\}", next(iter(english.values()))))
            for text in forms_by_key[key].values():
                assert text == text.strip() != "", key
                assert set(re.findall(r"\{(\w+)\}", text)) == placeholders, (key, text)
        direction = page.evaluate("tag => new Intl.Locale(tag).getTextInfo().direction", tag)
        assert STRINGS[tag]["dir"] == direction


def cite(count: int) -> dict[str, Any]:
    """Make an answer of as many sources."""
    citations = [
        SECOND_RECORD | {"n": n, "url": f"/{n}/", "title": f"Page {n}"} for n in range(1, count + 1)
    ]
    claim = {"markdown": "Tie it twice.", "citations": list(range(1, count + 1))}
    return PARTIAL | {"claims": [claim], "citations": citations, "dropped": count}


def test_the_box_uses_the_language_of_the_page(page: Page, site: Site) -> None:
    tag = "ar"
    strings = STRINGS[tag]
    site.lang = f"{tag}-EG"
    counts = (1, 2, 3, 11)
    box = visit(page, site, *map(cite, counts))
    trigger = box.locator(".trigger")
    expect(trigger).to_have_accessible_name(strings["ask"])
    expect(trigger).to_have_attribute("dir", strings["dir"])
    expect(trigger).to_have_attribute("lang", tag)
    trigger.click()
    expect(box.get_by_role("dialog", name=strings["title"], exact=True)).to_be_visible()
    expect(box.locator(".panel")).to_have_css("direction", strings["dir"])
    question = box.get_by_role("textbox", name=strings["question"], exact=True)
    for n in counts:
        question.fill("How do I moor?")
        question.press("Enter")
        category = page.evaluate(CATEGORY, [tag, n])
        ready, dropped = (strings[key][category] for key in ("ready", "dropped"))
        expect(box.get_by_role("status")).to_have_text(ready.replace("{n}", str(n)))
        expect(box.locator(".view")).to_contain_text(dropped.replace("{n}", str(n)))
    assert [body["language"] for _, body in site.questions] == [f"{tag}-EG"] * len(counts)


def test_what_a_translation_lacks_is_english(page: Page, site: Site) -> None:
    site.lang = "de-AT"
    site.strings["de"] = {"dir": "ltr", "ask": "Fragen", "question": "Ihre Frage"}
    box = visit(page, site, PARTIAL)
    box.get_by_role("button", name="Fragen").click()
    box.get_by_label("Ihre Frage").fill("Wie?")
    page.keyboard.press("Enter")
    expect(box.locator(".panel")).to_have_attribute("lang", "de")
    expect(box.get_by_role("button", name="Copy answer")).to_be_visible()


def test_english_stands_in_for_an_unknown_language_and_a_broken_file(
    page: Page, site: Site
) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    for language in ("EN_us", "../../secret"):
        site.lang = language
        expect_english(visit(page, site))
    assert not [url for url in urls if "/strings/" in url]
    # So is a page whose file cannot be read.
    site.lang = "de"
    site.pages["/assets/answerable/strings/de.json"] = Reply('{"ask": ')
    expect_english(visit(page, site))


def test_the_button_does_not_wait_for_slow_strings(page: Page, site: Site) -> None:
    site.lang = "de"
    site.pages["/assets/answerable/strings/de.json"] = HANG
    page.clock.install()
    with page.expect_request("**/strings/de.json"):
        box = visit(page, site)
    page.clock.run_for(60_000)
    expect_english(box)


def expect_english(box: Locator) -> None:
    """The box is English and says so."""
    expect(box.locator(".trigger")).to_have_accessible_name("Ask")
    expect(box.locator(".trigger")).to_have_attribute("lang", "en")


def test_a_right_to_left_page_mirrors_the_box(page: Page, site: Site) -> None:
    site.lang = "ar"
    strings = STRINGS["ar"]
    box = visit(page, site, SUPPORTED)
    box.locator(".trigger").click()
    close = box.get_by_role("button", name=strings["close"]).bounding_box()
    title = box.locator("h2").bounding_box()
    assert close is not None
    assert title is not None
    assert close["x"] < title["x"]
    box.get_by_label(strings["question"]).fill("كيف؟")
    page.keyboard.press("Enter")
    expect(box.locator(".sources li")).to_have_count(3)
    expect(box.locator(".mark").first).to_have_css("direction", "ltr")
    number = box.locator(".number").first.bounding_box()
    name = box.locator(".sources .title").first.bounding_box()
    assert number is not None
    assert name is not None
    assert number["x"] > name["x"]
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
