"""The row of the ask box above the results of Material's own search, and no row anywhere else."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from support import live_site, sites
from support.browser_site import Host, hosted
from support.widget_site import Site, visit

QUESTION = "How thick is the chain of a mooring?"
THEME = {
    "name": "material",
    "font": False,
    "features": ["navigation.instant"],
    "palette": [
        {"scheme": "default", "toggle": {"icon": "material/weather-night", "name": "To dark"}},
        {"scheme": "slate", "toggle": {"icon": "material/weather-sunny", "name": "To light"}},
    ],
}
ROW = ".answerable-search-row"
# What the row needs of Material's search.
SEARCH = """<div class="md-search"><form><input class="md-search__input" aria-label="Search"></form>
<div class="md-search-result"><ol class="md-search-result__list"></ol></div></div>
<answerable-ask></answerable-ask>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("material")
    with live_site.serving(folder, THEME) as address:
        yield address


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """The same theme on a static host, where the browser answers: a copy at another path."""
    folder = sites.write_site(
        tmp_path_factory.mktemp("static"),
        theme=THEME,
        plugins=["search", "answerable"],
        site_url="https://harbour.example/docs/",
    )
    sites.build_here(folder)
    with hosted(folder / "site") as host:
        yield host


def searched(page: Page, address: str, text: str) -> Locator:
    """Material's search with a text typed into it, once it tells what it has found."""
    page.goto(address)
    expect(page.locator("answerable-ask").get_by_role("button", name="Ask")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(text)
    expect(page.locator(".md-search-result__meta")).to_contain_text("matching document")
    return page.locator("[data-md-component=search-query]")


def test_arrow_keys_reach_the_row_and_enter_asks_what_is_typed(page: Page, address: str) -> None:
    query = searched(page, address, QUESTION)
    expect(page.locator(".md-search-result__link[href*='mooring/']").first).to_be_visible()
    link = page.get_by_role("link", name=f"Ask this site: {QUESTION}")
    expect(link).to_be_in_viewport(ratio=1)
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
    expect(page.locator(".md-search-result__link[href*='mooring/']").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}mooring/")
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


def test_no_row_without_material_s_search(page: Page, site: Site) -> None:
    site.ask_box = SEARCH.replace("md-search__input", "other")
    visit(page, site)
    expect(page.locator("answerable-ask .trigger")).to_be_visible()
    page.get_by_label("Search").fill("How?")
    expect(page.locator(ROW)).to_have_count(0)


def test_nothing_is_loaded_while_the_reader_types_and_axe_finds_nothing(
    page: Page, static: Host
) -> None:
    query = searched(page, static.origin, "mooring chain")
    link = page.locator(f"{ROW} a")
    expect(link).to_have_text("Ask this site: mooring chain")
    page.wait_for_load_state("networkidle")
    assert not [line for line in static.requests if re.search("/(engine|index)/", line)]
    violations = Axe().run(page, {"include": [ROW]}).response["violations"]
    assert [(each["id"], each["nodes"]) for each in violations] == []
    expect(query).to_be_focused()
    link.click()
    expect(page.locator("answerable-ask .card")).to_contain_text("twelve millimetres")
