"""The whole way a reader goes, by keyboard alone: a real `mkdocs serve`, a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from support import live_site, sites
from support.event_streams import events

# The built-in themes load their highlighter from another host unless told not to.
THEMES: dict[str, dict[str, Any]] = {
    "material": {"font": False, "features": ["navigation.instant"]},
    "mkdocs": {"highlightjs": False},
    "readthedocs": {"highlightjs": False},
}


@pytest.fixture(scope="module", params=THEMES)
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    theme = {"name": request.param, **THEMES[request.param]}
    with live_site.serving(tmp_path_factory.mktemp(request.param), theme) as address:
        yield address


def ask(page: Page, question: str) -> None:
    page.keyboard.press("Control+i")
    page.keyboard.type(question)
    page.keyboard.press("Enter")


def test_ask_read_and_follow_the_citation(page: Page, address: str) -> None:
    posted: list[str] = []
    page.on("request", lambda r: posted.append(r.url) if r.method == "POST" else None)
    page.goto(address)
    with page.expect_request("**/_answerable/places"):
        ask(page, "How thick is the chain of a mooring?")
    box = page.locator("answerable-ask")
    expect(box.locator(".card")).to_have_count(1)
    expect(box).to_contain_text("The chain of a mooring is twelve millimetres thick.")
    assert posted == [f"{address}_answerable/{route}" for route in ("answer", "places")]
    box.locator(".card a").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}mooring/#chains")
    words = page.locator("[role=main], main").get_by_text("The chain of a mooring is twelve")
    expect(words).to_be_in_viewport()
    expect(page.locator("#chains")).not_to_be_in_viewport()
    if page.evaluate("'document$' in window"):
        # Material has loaded the page itself, and the answer stays beside it.
        assert not box.get_by_role("dialog").evaluate("(node) => node.matches(':modal')")
        page.keyboard.press("Escape")
    expect(page.locator("answerable-ask")).not_to_have_attribute("open", "")


def test_a_refusal_shows_no_card_though_neighbours_were_found(page: Page, address: str) -> None:
    sent: list[bytes] = []

    def pass_on(route: Route) -> None:
        response = route.fetch()
        sent.append(response.body())
        route.fulfill(response=response)

    page.route("**/_answerable/answer", pass_on)
    page.goto(f"{address}storms/")
    ask(page, "Who sang of lanterns at the opera in Vienna?")
    box = page.locator("answerable-ask")
    expect(box).to_contain_text("This site does not answer that.")
    (body,) = (dict(events(each.splitlines()))["answer"] for each in sent)
    assert (body["mode"], body["citations"]) == ("not-found", [])
    expect(box.locator(".card")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(box.locator("dialog")).not_to_be_visible()


def test_the_missing_page_has_the_box_too(page: Page, address: str) -> None:
    page.goto(f"{address}no/such/page/")
    ask(page, "How thick is the chain of a mooring?")
    expect(page.locator("answerable-ask .card")).to_have_count(1)


def test_no_request_leaves_the_server(page: Page, address: str) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add("/".join(request.url.split("/")[:3])))
    page.goto(f"{address}mooring/")
    ask(page, "How thick is the chain of a mooring?")
    expect(page.locator("answerable-ask .card")).to_have_count(1)
    assert hosts == {"/".join(address.split("/")[:3])}


def test_the_published_page_names_the_configured_endpoint(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, options={"widget": {"endpoint": "/ask/"}})
    sites.build_here(folder)
    html = (folder / "site" / "mooring" / "index.html").read_text("utf-8")
    assert '<link rel="answerable" href="/ask/">' in html
    assert html.count("<answerable-ask>") == 1
    assert 'src="../assets/answerable/ask-box.js"' in html
