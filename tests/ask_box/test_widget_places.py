"""More on this site: rows of what the search finds, under a reply and apart from its sources."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from support.widget_site import (
    NOT_FOUND,
    PARTIAL,
    RECORD,
    Json,
    Reply,
    Site,
    ask,
    asking,
    visit,
)

PLACES: Json = {
    "guide/deploy#aws": {"url": RECORD["url"], "title": RECORD["title"]},
    **{
        f"part{number}": {
            "url": f"/part{number}/#use",
            "title": f"Part {number} › Use",
            "line": f"Use part {number}.",
        }
        for number in range(1, 8)
    },
}
LINKS = [f"Part {number} › Use" for number in range(1, 6)]


def places_of(box: Locator) -> Locator:
    return box.get_by_role("group", name="More on this site")


def test_five_places_stand_under_an_answer_and_open_in_place(page: Page, site: Site) -> None:
    site.places = PLACES
    box = visit(page, site, PARTIAL)
    ask(box, "Fish?")
    expect(places_of(box).locator(".title")).to_have_text(LINKS)
    expect(places_of(box).locator(".line").first).to_have_text("Use part 1.")
    links = places_of(box).get_by_role("link")
    expect(links).to_have_count(5)
    expect(links.first).to_have_attribute("href", f"{site.origin}/part1/#use")
    expect(places_of(box).locator(".card, .mark, .number")).to_have_count(0)
    assert site.searches == [asking("Fish?")]
    assert [question for _, question in site.questions] == [asking("Fish?")]
    site.pages["/_answerable/section"] = Reply({"markdown": "Use part 1."})
    rows = places_of(box).locator("details")
    rows.first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(rows.first.locator(".words")).to_have_text("Use part 1.")
    expect(rows.first.locator(".line")).to_be_hidden()
    # A section that cannot be read is read on its page.
    site.pages["/_answerable/section"] = Reply({}, 500)
    rows.nth(1).locator("summary").click()
    expect(page).to_have_url(f"{site.origin}/part2/#use")


def test_places_are_the_first_way_on_from_a_refusal_and_no_sources(page: Page, site: Site) -> None:
    site.places = {"a": {"url": "javascript:alert(1)", "title": "A"}}
    site.about = {"bundle": "3f9c", "search": "/search/?q={question}"}
    box = visit(page, site, NOT_FOUND, NOT_FOUND)
    ask(box)
    heading = box.get_by_role("heading", level=3)
    expect(heading).to_have_text("Nothing here says this directly.")
    expect(box.locator(".entry")).to_have_count(0)
    expect(box.get_by_role("alert")).to_be_empty()
    site.places = PLACES
    box.get_by_label("Your question").press("Enter")
    expect(heading).to_have_text("Nothing here says this directly. Nearest sections:")
    expect(heading).to_be_focused()
    rows = box.locator(".view .entry")
    expect(rows).to_have_count(5)
    expect(rows.first.locator(".title")).to_have_text("Deploy › AWS")
    expect(box.locator(".card, .mark, .sources, .sentence")).to_have_count(0)
    links = box.locator(".view a")
    expect(links.first).to_have_accessible_name("Go to Deploy › AWS")
    expect(links.last).to_have_text("Search this site for it")
    expect(box).to_have_attribute("state", "not-found")
    expect(box.get_by_role("status")).to_have_text("No direct answer, 5 places to look.")


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
