"""The ask box beside Material's own things: instant navigation, search, drawer and palette."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

from support import live_site
from support.widget_site import Site, visit

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
QUESTION = "How thick is the chain of a mooring?"
ROW = ".answerable-search-row"
# What the row needs of Material's search.
SEARCH = """<div class="md-search"><form><input class="md-search__input" aria-label="Search"></form>
<div class="md-search-result"><ol class="md-search-result__list"></ol></div></div>
<answerable-ask></answerable-ask>"""


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
    backgrounds = []
    for switch in ("Switch to dark", "Switch to light"):
        box = opened(page, address, QUESTION)
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


def visit_instantly(page: Page, address: str) -> None:
    """Open a page, and wait until Material knows the site's addresses, whose pages it loads itself.

    `window.same` tells whether the browser still shows the page that it loaded.
    """
    page.goto(address)
    page.wait_for_function(
        "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/sitemap.xml'))"
    )
    page.evaluate(
        "() => { window.same = true; return new Promise((done) => setTimeout(done, 100)); }"
    )


def test_links_to_questions_open_the_box_of_the_page_they_lead_to(page: Page, address: str) -> None:
    visit_instantly(page, address)
    box = page.locator("answerable-ask")
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
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
    assert page.evaluate("window.same")


def test_instant_navigation_keeps_the_box_and_a_source_lands_at_its_words(
    page: Page, address: str
) -> None:
    page.set_viewport_size({"width": 1300, "height": 760})
    visit_instantly(page, address)
    page.locator(".md-sidebar--primary").get_by_role("link", name="Storms").click()
    expect(page.locator("h1")).to_have_text("Storms")
    assert page.evaluate("window.same")
    box = page.locator("answerable-ask")
    expect(box).to_have_count(1)
    page.keyboard.press("Control+i")
    page.keyboard.type(QUESTION)
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


def place_inline(route: Route) -> None:
    """Send a page as with another option of the site."""
    response = route.fetch()
    text = response.text().replace('data-placement="header"', 'data-placement="inline"')
    route.fulfill(response=response, body=text)


def test_box_at_the_end_of_a_page_is_there_after_instant_navigation(
    page: Page, address: str
) -> None:
    page.set_viewport_size({"width": 1300, "height": 760})
    page.route(re.compile(r"/docs/(\w+/)?$"), place_inline)
    visit_instantly(page, address)
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


def searched(page: Page, address: str, text: str) -> Locator:
    """Material's search with a text typed into it, once it tells what it has found."""
    page.goto(address)
    expect(page.locator("answerable-ask").get_by_role("button", name="Ask")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(text)
    expect(page.locator(".md-search-result__meta")).to_contain_text("matching document")
    return page.locator("[data-md-component=search-query]")


def test_arrow_keys_reach_the_row_and_enter_asks_what_is_typed(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    query = searched(page, address, QUESTION)
    expect(page.locator(".md-search-result__link[href*='mooring/']").first).to_be_visible()
    link = page.get_by_role("link", name=f"Ask this site: {QUESTION}")
    expect(link).to_be_in_viewport(ratio=1)
    assert not [url for url in asked if "_answerable" in url]
    violations = Axe().run(page, {"include": [ROW]}).response["violations"]
    assert [(each["id"], each["nodes"]) for each in violations] == []
    page.keyboard.press("ArrowDown")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    box = page.locator("answerable-ask")
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    expect(box.get_by_label("Your question")).to_have_value(QUESTION)
    expect(box.locator(".card").first).to_contain_text("twelve millimetres")
    assert page.url == address
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(link).to_be_focused()
    expect(query).to_have_value(QUESTION)
    page.locator(".md-search__form [type=reset]").click()
    expect(link).to_have_count(0)


def test_enter_in_the_field_asks_only_if_nothing_is_found(page: Page, address: str) -> None:
    searched(page, address, "mooring")
    # Of the whole word, not of its first letters.
    link = page.locator(".md-search-result__link[href$='mooring/?h=mooring']")
    expect(link.first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}mooring/?h=mooring")
    box = page.locator("answerable-ask")
    expect(box).not_to_have_attribute("open", "")
    searched(page, address, "xylophone")
    expect(page.locator(".md-search-result__link")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(box.get_by_label("Your question")).to_have_value("xylophone")
    expect(box).to_have_attribute("state", "not-found")


@pytest.mark.deep
def test_a_source_leaves_search_and_the_row_goes_with_the_box(page: Page, address: str) -> None:
    searched(page, address, QUESTION)
    page.locator(ROW).get_by_role("link").click()
    page.locator("answerable-ask h3 .title").click()
    expect(page.get_by_role("article").locator("#mooring")).to_be_visible()
    expect(page.locator("#__search")).not_to_be_checked()
    # The box is there after the theme's script, which reads the key.
    expect(page.locator("answerable-ask .bar")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("buoy")
    expect(page.locator(ROW)).to_have_text("Ask this site: buoy")
    page.evaluate("document.querySelector('answerable-ask').remove()")
    expect(page.locator(ROW)).to_have_count(0)
    page.keyboard.type("s")
    expect(page.locator(ROW)).to_have_count(0)


def test_a_strict_policy_and_another_language_keep_the_row(page: Page, site: Site) -> None:
    site.lang = "ar"
    site.strings["ar"] = {"dir": "rtl", "row": "اسأل هذا الموقع: {question}"}
    site.ask_box = SEARCH
    visit(page, site)
    page.get_by_label("Search").fill("<b>كيف؟</b>")
    link = page.get_by_role("link", name="اسأل هذا الموقع: <b>كيف؟</b>")
    expect(link).to_be_visible()
    expect(link).to_have_attribute("href", "#ask=%3Cb%3E%D9%83%D9%8A%D9%81%D8%9F%3C%2Fb%3E")
    expect(page.locator(ROW)).to_have_attribute("dir", "rtl")
    assert not site.reports
