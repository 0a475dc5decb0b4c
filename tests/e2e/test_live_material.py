"""The ask box beside Material's own things: instant navigation, search, drawer and palette."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from support import live_site

PALETTE = [
    {
        "scheme": "default",
        "primary": "indigo",
        "toggle": {"icon": "material/weather-night", "name": "Switch to dark"},
    },
    {
        "scheme": "slate",
        "primary": "indigo",
        "toggle": {"icon": "material/weather-sunny", "name": "Switch to light"},
    },
]
THEME = {
    "name": "material",
    "font": False,
    "palette": PALETTE,
    "features": [
        "navigation.instant",
        "navigation.instant.prefetch",
        "search.suggest",
        "search.highlight",
    ],
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("material")
    with live_site.serving(folder, THEME, widget={"placement": "header"}) as address:
        yield address


def opened(page: Page, address: str, question: str = "") -> Locator:
    """The ask box, its dialog open, with the answer to a question if there is one."""
    page.goto(address)
    box = page.locator("answerable-ask")
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    page.keyboard.press("Control+i")
    expect(box.get_by_role("dialog")).to_be_visible()
    if question:
        page.keyboard.type(question)
        page.keyboard.press("Enter")
        expect(box.get_by_role("heading", level=3)).to_be_focused()
    return box


def test_the_search_opens_by_its_keys_only_while_the_box_is_closed(
    page: Page, address: str
) -> None:
    box = opened(page, address)
    search = page.locator("[data-md-component=search-query]")
    page.keyboard.type("/sf/pn")
    expect(box.get_by_label("Your question")).to_have_value("/sf/pn")
    box.get_by_role("button", name="Close").focus()
    for key in "/sfpn":
        page.keyboard.press(key)
    expect(page.locator("#__search")).not_to_be_checked()
    expect(box.get_by_role("button", name="Close")).to_be_focused()
    assert page.url == address
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#__search")).not_to_be_checked()
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(search).to_be_focused()
    expect(page.locator("#__search")).to_be_checked()
    page.keyboard.type("lantern")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.keyboard.press("Control+i")
    expect(box.get_by_label("Your question")).to_be_focused()
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(search).to_be_focused()
    expect(search).to_have_value("lantern")


def test_the_palette_changes_the_colours_of_the_box_and_axe_finds_nothing(
    page: Page, address: str
) -> None:
    question = "How thick is the chain of a mooring?"
    backgrounds = []
    for switch in ("Switch to dark", "Switch to light"):
        box = opened(page, address, question)
        color = box.locator("dialog").evaluate("(node) => getComputedStyle(node).backgroundColor")
        backgrounds.append(color)
        violations = Axe().run(page, {"include": ["answerable-ask"]}).response["violations"]
        assert [(each["id"], each["nodes"]) for each in violations] == []
        page.keyboard.press("Escape")
        page.locator(f"label[title='{switch}']").click()
        expect(page.locator(f"label[title='{switch}']")).to_be_hidden()
        page.keyboard.press("Control+i")
        expect(box.locator("dialog")).not_to_have_css("background-color", color)
    assert backgrounds[0] == "rgb(255, 255, 255)"
    assert len(set(backgrounds)) == 2


def test_links_to_questions_open_the_box_of_the_page_they_lead_to(page: Page, address: str) -> None:
    page.goto(address)
    box = page.locator("answerable-ask")
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    page.evaluate("window.isSame = true")
    for question, path in [("Here?", ""), ("There?", "mooring/"), ("Again?", "mooring/")]:
        page.evaluate(
            """(href) => {
              const link = document.createElement("a");
              link.href = href;
              document.querySelector("article").append(link);
              link.click();
            }""",
            f"{address}{path}#ask={question}",
        )
        expect(box.get_by_role("dialog")).to_be_visible()
        expect(box.get_by_label("Your question")).to_have_value(question)
        expect(page).to_have_url(f"{address}{path}")
        expect(box.get_by_text("Press Enter to ask this question.")).to_have_count(1)
        page.keyboard.press("Escape")
    assert page.evaluate("window.isSame")


def test_instant_navigation_keeps_the_box_and_a_source_lands_at_its_words(
    page: Page, address: str
) -> None:
    page.set_viewport_size({"width": 1300, "height": 760})
    # Material loads pages itself once it knows the site's addresses.
    with page.expect_response("**/sitemap.xml") as sitemap:
        page.goto(address)
    sitemap.value.finished()
    page.evaluate(
        "() => { window.same = true; return new Promise((done) => setTimeout(done, 100)); }"
    )
    page.locator(".md-sidebar--primary").get_by_role("link", name="Storms").click()
    expect(page.locator("h1")).to_have_text("Storms")
    assert page.evaluate("window.same")
    box = page.locator("answerable-ask")
    expect(box).to_have_count(1)
    page.keyboard.press("Control+i")
    page.keyboard.type("How thick is the chain of a mooring?")
    page.keyboard.press("Enter")
    link = box.locator("h3 .title")
    expect(link).to_be_visible()
    assert str(link.get_attribute("href")).startswith(f"{address}mooring/#chains:~:text=")
    link.click()
    words = page.get_by_role("article").get_by_text("The chain of a mooring is twelve")
    expect(words).to_be_in_viewport()
    expect(page).to_have_url(f"{address}mooring/#chains")
    expect(page.locator("h1")).to_have_text("Mooring")
    expect(box.get_by_role("dialog")).to_be_hidden()
    bar = box.get_by_role("region", name="Sources")
    expect(bar).to_be_in_viewport(ratio=1)
    bar.get_by_role("button", name="Back to the answer").click()
    expect(box.locator(".card")).to_contain_text("twelve millimetres")
    page.keyboard.press("Escape")
    bar.get_by_role("button", name="Close").click()
    expect(bar).to_have_count(0)
    # One entry in the history.
    page.go_back()
    expect(page.locator("h1")).to_have_text("Storms")


def test_box_at_the_end_of_a_page_is_there_after_instant_navigation(
    page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1300, "height": 760})
    with live_site.serving(tmp_path, THEME, widget={"placement": "inline"}) as address:
        with page.expect_response("**/sitemap.xml") as sitemap:
            page.goto(address)
        sitemap.value.finished()
        page.evaluate("() => { window.same = true; }")
        for name in ("Storms", "Mooring"):
            page.locator(".md-sidebar--primary").get_by_role("link", name=name).click()
            expect(page.locator("h1")).to_have_text(name)
            expect(page.locator("article > answerable-ask:last-child")).to_have_count(1)
        assert page.evaluate("window.same")


@pytest.mark.deep
def test_drawer_and_box_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(address)
    box = page.locator("answerable-ask")
    drawer = page.locator("label.md-header__button[for=__drawer]")
    drawer.click()
    expect(page.locator(".md-nav--primary").get_by_role("link", name="Storms")).to_be_in_viewport()
    page.keyboard.press("Control+i")
    expect(box.get_by_role("dialog")).to_be_visible()
    assert box.get_by_role("dialog").bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 780}
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    page.locator(".md-nav--primary").get_by_role("link", name="Storms").click()
    expect(page.locator("h1")).to_have_text("Storms")
    trigger = box.get_by_role("button", name="Ask")
    expect(trigger).to_be_in_viewport(ratio=1)
    trigger.click()
    expect(box.get_by_label("Your question")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
