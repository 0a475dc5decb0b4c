"""More on this site: links to what the search finds, under a reply and apart from its sources."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from ask_box.test_widget_accessibility import SCHEMES, STYLED, violations
from support.deadlines import until
from support.widget_site import (
    NOT_FOUND,
    PARTIAL,
    RECORD,
    Json,
    Site,
    ask,
    asking,
    visit,
)

PLACES: Json = {
    "guide/deploy#aws": {"url": RECORD["url"], "title": RECORD["title"]},
    **{
        f"part{number}": {"url": f"/part{number}/#use", "title": f"Part {number} › Use"}
        for number in range(1, 8)
    },
}
LINKS = [f"Part {number} › Use" for number in range(1, 6)]


def places_of(box: Locator) -> Locator:
    return box.get_by_role("group", name="More on this site")


def test_five_places_beside_the_cards_stand_under_an_answer(page: Page, site: Site) -> None:
    site.places = PLACES
    box = visit(page, site, PARTIAL)
    ask(box, "Fish?")
    links = places_of(box).get_by_role("link")
    expect(links).to_have_text(LINKS)
    expect(links.first).to_have_attribute("href", f"{site.origin}/part1/#use")
    expect(places_of(box).locator(".page").first).to_have_text("/part1/")
    expect(places_of(box).locator("blockquote, .card, .number")).to_have_count(0)
    expect(box.locator(".card")).to_have_count(1)
    assert site.searches == [asking("Fish?")]
    assert [question for _, question in site.questions] == [asking("Fish?")]


def test_places_are_the_first_way_on_from_a_refusal(page: Page, site: Site) -> None:
    site.places = PLACES
    site.about = {"bundle": "3f9c", "search": "/search/?q={question}"}
    box = visit(page, site, NOT_FOUND)
    ask(box)
    expect(box.get_by_role("heading", level=3)).to_have_text("This site does not answer that.")
    expect(places_of(box).get_by_role("link")).to_have_count(5)
    names = box.locator(".view a").all_inner_texts()
    assert names[0] == "Deploy › AWS"
    assert names[-1] == "Search this site for it"
    expect(box).to_have_attribute("state", "not-found")
    expect(box.get_by_role("status")).to_have_text("Not found on this site.")


def test_places_that_are_none_are_not_drawn(page: Page, site: Site) -> None:
    site.places = {"a": {"url": "javascript:alert(1)", "title": "A"}}
    box = visit(page, site, NOT_FOUND)
    ask(box)
    expect(box).to_have_attribute("state", "not-found")
    until(lambda: len(site.searches) == 1)
    page.wait_for_load_state("networkidle")
    expect(places_of(box)).to_have_count(0)
    expect(box.get_by_role("alert")).to_be_empty()


def test_a_function_is_asked_nothing_while_the_reader_types(page: Page, site: Site) -> None:
    site.places = PLACES
    site.about = {"bundle": "3f9c"}
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    box = visit(page, site, PARTIAL)
    box.get_by_role("button", name="Ask", exact=True).click()
    field = box.get_by_label("Your question")
    field.press_sequentially("How do fish ")
    page.wait_for_load_state("networkidle")
    assert site.searches == []
    assert not [url for url in urls if url.endswith("suggest.js")]
    field.press("Enter")
    expect(places_of(box)).to_be_visible()
    assert site.searches == [asking("How do fish")]
    expect(box.locator(".typed")).to_be_hidden()


def test_axe_finds_no_fault_in_places(page: Page, site: Site) -> None:
    site.csp = "default-src 'self'"
    site.head = STYLED
    site.places = PLACES
    box = visit(page, site, PARTIAL, NOT_FOUND)
    ask(box)
    for state in ("partial", "not-found"):
        expect(box).to_have_attribute("state", state)
        expect(places_of(box)).to_be_visible()
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert violations(page) == []
        if site.replies:
            box.get_by_label("Your question").press("Enter")
