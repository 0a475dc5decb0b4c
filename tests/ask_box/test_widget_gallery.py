"""The page that shows every state of the ask box: each is drawn, reads well and fits."""

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from support import screenshots

RECORDED = json.loads(
    (screenshots.ROOT / "docs" / "assets" / "widget-states.json").read_text("utf-8")
)
PROBLEMS = {
    "offline": "offline",
    "rate-limited": "rate-limited",
    "capped": "capped",
    "paused": "paused",
    "missing": "405",
    "problem": "unavailable",
    "unreadable": "bad-request",
}
STATES = {
    "empty": "empty",
    "working": "working",
    "stages": "working",
    "supported": "supported",
    "partial": "partial",
    "sections": "partial",
    "closest": "partial",
    "corrected": "partial",
    "code": "partial",
    "related-material": "related-material",
    "not-found": "not-found",
    "follow-up": "not-found",
    "unverified": "not-found",
    "differs": "partial",
    "model": "partial",
    "long": "supported",
    **dict.fromkeys(PROBLEMS, "problem"),
}
# What sticks out of a box, or out of the window, at its side.
OVERFLOWING = """() => [...document.querySelectorAll("answerable-ask[placement=inline]")]
  .flatMap((box) => [...box.shadowRoot.querySelectorAll("*")]
    .filter((node) => !node.closest("pre, table") && !node.matches(".hidden, .hidden *"))
    .filter((node) => node.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)
    .map((node) => `${box.dataset.recorded}: ${node.tagName}.${node.className}`))"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with screenshots.gallery() as address:
        yield address


@pytest.fixture(
    scope="module",
    params=[(device, scheme) for device in screenshots.DEVICES for scheme in screenshots.SCHEMES],
    ids="-".join,
)
def drawn(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    page = screenshots.opened(browser, address, *request.param)
    yield page
    page.context.close()


def test_the_gallery_draws_every_state(drawn: Page) -> None:
    boxes = drawn.locator("answerable-ask[placement=inline]").all()
    states = {
        box.get_attribute("data-recorded") or "empty": box.get_attribute("state") for box in boxes
    }
    assert states == STATES
    assert set(STATES) == {"empty", *RECORDED}
    problems = {name: drawn.locator(f"[data-recorded={name}]") for name in PROBLEMS}
    assert {name: box.get_attribute("problem") for name, box in problems.items()} == PROBLEMS


def test_gallery_cards_match_the_citations(drawn: Page) -> None:
    for name, recorded in RECORDED.items():
        cited = [each.get("title") or each["label"] for each in _citations(recorded)]
        cards = drawn.locator(f"[data-recorded={name}] .card .title")
        assert sorted(cards.all_inner_texts()) == sorted(set(cited)), name


def _citations(recorded: dict[str, dict[str, list[dict[str, str]]]]) -> list[dict[str, str]]:
    return recorded.get("body", {}).get("citations", [])


def test_nothing_in_the_gallery_overflows_its_frame(drawn: Page) -> None:
    assert drawn.evaluate(OVERFLOWING) == []
    width = "document.documentElement.scrollWidth <= window.innerWidth"
    assert drawn.evaluate(width)


@pytest.mark.parametrize("drawn", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_axe_finds_no_fault_in_the_gallery(drawn: Page) -> None:
    faults = Axe().run(drawn, context="answerable-ask").response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in faults] == []


def test_the_gallery_keeps_focus_and_scroll_position(drawn: Page) -> None:
    assert drawn.evaluate("[document.activeElement === document.body, scrollY]") == [True, 0]
