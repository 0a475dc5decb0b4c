"""The whole way a reader goes, by keyboard alone: a real `mkdocs serve`, a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from support import live_site


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    # The theme loads its highlighter from another host unless told not to.
    theme = {"name": "readthedocs", "highlightjs": False}
    with live_site.serving(tmp_path_factory.mktemp("live"), theme) as address:
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
    box.get_by_role("link", name="Mooring › Chains", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}mooring/#chains")
    words = page.locator("[role=main], main").get_by_text("The chain of a mooring is twelve")
    expect(words).to_be_in_viewport()
    expect(page.locator("#chains")).not_to_be_in_viewport()
    expect(box).not_to_have_attribute("open", "")
    bar = box.get_by_role("region", name="Sources")
    bar.get_by_role("button", name="Back to the answer").press("Enter")
    expect(box.locator(".card")).to_be_visible()
    # One entry in the history.
    page.go_back()
    expect(page).to_have_url(address)


def test_the_missing_page_has_the_box_too(page: Page, address: str) -> None:
    page.goto(f"{address}no/such/page/")
    ask(page, "How thick is the chain of a mooring?")
    expect(page.locator("answerable-ask .card")).to_have_count(1)
