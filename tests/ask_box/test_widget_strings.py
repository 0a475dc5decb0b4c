"""The words of the ask box: by the page's language, from right to left, and what falls back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from support.widget_site import HANG, PARTIAL, SUPPORTED, Json, Site, visit

GERMAN: Json = {
    "dir": "ltr",
    "ask": "Fragen",
    "question": "Ihre Frage",
    "grade.whole": "Antwort",
    "ready": {"one": "Antwort mit {n} Quelle.", "other": "Antwort mit {n} Quellen."},
}


def requested(page: Page) -> list[str]:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url.rpartition("/")[2]))
    return urls


def test_a_page_in_another_language_loads_its_strings(page: Page, site: Site) -> None:
    site.lang = "de-AT"
    site.strings["de"] = GERMAN
    box = visit(page, site, PARTIAL)
    box.get_by_role("button", name="Fragen").click()
    box.get_by_label("Ihre Frage").fill("Wie?")
    page.keyboard.press("Enter")
    expect(box.get_by_role("heading", name="Antwort")).to_be_focused()
    expect(box.get_by_role("status")).to_have_text("Antwort mit 1 Quelle.")
    expect(box.locator(".panel")).to_have_attribute("lang", "de")
    # What a translation has not is English.
    expect(box.get_by_role("button", name="Copy answer")).to_be_visible()
    assert [body["language"] for _, body in site.questions] == ["de-AT"]


def test_english_needs_no_file_and_an_unknown_language_asks_for_none(
    page: Page, site: Site
) -> None:
    urls = requested(page)
    for language in ("en", "EN_us", "", "tlh", "../../secret", "constructor"):
        site.lang = language
        box = visit(page, site)
        expect(box.get_by_role("button", name="Ask")).to_be_visible()
    assert not [url for url in urls if url.endswith(".json")]


def test_the_button_appears_without_slow_strings(page: Page, site: Site) -> None:
    site.lang = "de"
    site.pages["/assets/answerable/strings/de.json"] = HANG
    box = visit(page, site)
    expect(box.locator(".trigger")).to_be_visible()


def test_a_right_to_left_page_mirrors_the_box(page: Page, site: Site) -> None:
    site.lang = "ar"
    site.strings["ar"] = {"dir": "rtl", "ask": "اسأل", "question": "سؤالك", "close": "إغلاق"}
    box = visit(page, site, SUPPORTED)
    trigger = box.get_by_role("button", name="اسأل")
    place = trigger.bounding_box()
    assert place is not None
    trigger.click()
    expect(box.locator(".panel")).to_have_css("direction", "rtl")
    close = box.get_by_role("button", name="إغلاق").bounding_box()
    title = box.locator("h2").bounding_box()
    assert close is not None
    assert title is not None
    assert close["x"] < title["x"]
    box.get_by_label("سؤالك").fill("كيف؟")
    page.keyboard.press("Enter")
    expect(box.locator(".card")).to_have_count(3)
    expect(box.locator(".mark").first).to_have_css("direction", "ltr")
    number = box.locator(".number").first.bounding_box()
    name = box.locator(".card .title").first.bounding_box()
    assert number is not None
    assert name is not None
    assert number["x"] > name["x"]
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
