"""Known questions are suggested while a reader types; a chosen one is answered by its section."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ask_box.test_widget_accessibility import violations
from support.browser_site import Host, hosted, visit, write_plain_site
from support.deadlines import until
from support.known_questions import store_answer, write_known_questions
from support.sites import build_here

LINES = {
    "mooring#chains": (
        "how heavy must my ground tackle be",
        "is twelve enough for the ground tackle",
    ),
    "storms#storms": ("what do sailors do when gusts are near",),
}

CLAIM = "It is twelve millimetres thick, and so is the chain."
CHAIN = "The chain of a mooring is twelve millimetres thick."
SUGGESTED = LINES["mooring#chains"][0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_plain_site(tmp_path_factory.mktemp("suggestions"))
    build_here(folder)
    sections = write_known_questions(folder, LINES)
    store_answer(folder, sections["mooring#chains"], SUGGESTED, CLAIM, CHAIN)
    build_here(folder)
    return folder / "site"


@pytest.fixture
def host(site: Path) -> Iterator[Host]:
    with hosted(site) as host:
        yield host


def test_a_suggestion_is_asked_and_answered_by_its_section(page: Page, host: Host) -> None:
    box = visit(page, f"{host.origin}/storms/")
    box.get_by_role("button", name="Ask", exact=True).click()
    field = box.get_by_label("Your question")
    expect(field).to_be_focused()
    # Nothing of it is loaded before somebody types, when all else has been.
    until(lambda: any("vocabulary" in line for line in host.requests))
    assert not [line for line in host.requests if "suggestions-" in line]
    suggestions = box.locator(".typed").get_by_role("button")
    # A word that is begun, in any order, and one that is misspelled.
    for typed in ("tackle hea", "grund tackl"):
        field.fill("")
        expect(suggestions).to_have_count(0)
        field.fill(typed)
        expect(suggestions).to_have_text(["how heavy must my ground tackle be"])
    expect(box.get_by_role("status")).to_contain_text("Questions this site answers")
    field.fill("gust")
    expect(suggestions).to_have_text(["what do sailors do when gusts are near"])
    field.fill("heavy ground tackle")
    expect(suggestions).to_have_text(["how heavy must my ground tackle be"])
    assert violations(page) == []
    field.press("ArrowDown")
    expect(suggestions.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("state", "partial")
    expect(box.locator(".typed")).to_be_hidden()
    expect(box.locator(".sources .title")).to_have_text("Mooring › Chains")
    # One without a stored answer opens its section. It is no source: no passage holds it.
    field.fill("gust")
    suggestions.click()
    expect(box.locator("h3 .title")).to_have_text("Storms")
    expect(box.locator(".card")).to_contain_text("doubles every rope")
    expect(box.locator(".card")).not_to_contain_text("gusts")


def count_loads(host: Host) -> int:
    """Count the loads of files of stored answers."""
    return sum("/answers-" in line for line in host.requests)


def test_a_stored_answer_is_shown_for_the_very_words_of_its_question(
    page: Page, host: Host
) -> None:
    box = visit(page, f"{host.origin}/storms/")
    box.get_by_role("button", name="Ask", exact=True).click()
    field = box.get_by_label("Your question")
    heading = box.locator(".view h3").first
    # A like one is answered by its passage.
    field.fill("how heavy is my ground tackle")
    expect(box.locator(".typed").get_by_role("button")).to_have_text([SUGGESTED])
    field.press("Enter")
    expect(heading).to_have_text("In Mooring › Chains")
    field.fill("how heavy must my ground tackle")
    box.locator(".typed").get_by_role("button").click()
    verdict = f"Answer to “{SUGGESTED}”, checked against 1 passage"
    expect(heading).to_have_text(verdict)
    expect(box).to_have_attribute("state", "partial")
    claim = box.locator(".sentence").first
    expect(claim).to_contain_text(CLAIM[:-1])
    # Its own source, whose quote a chip shows, then what is found without it as a row.
    expect(box.locator(".sources li")).to_have_count(1)
    box.get_by_role("button", name="Source 1: Mooring › Chains").focus()
    expect(box.locator(".quoted")).to_have_text(CHAIN)
    rows = box.locator(".view > .entries .title")
    expect(rows).to_have_text(["Mooring › Chains"])
    expect(box.locator(".card")).to_have_count(0)
    assert violations(page) == []
    # Typed, its case and its end are no other words; and it is drawn again after a reload.
    field.fill(f"{SUGGESTED.upper()}?")
    field.press("Enter")
    expect(heading).to_have_text(verdict)
    assert count_loads(host) == 1
    page.reload()
    expect(heading).to_have_text(verdict)
    expect(rows).to_have_count(1)


def test_an_empty_box_proposes_known_questions_of_its_page_or_of_others(
    page: Page, host: Host
) -> None:
    box = visit(page, host.origin)
    box.get_by_role("button", name="Ask", exact=True).click()
    examples = box.locator(".view .examples").get_by_role("button")
    expect(examples).to_have_text([texts[0] for texts in LINES.values()])
    box = visit(page, f"{host.origin}/storms/")
    box.get_by_role("button", name="Ask", exact=True).click()
    expect(examples).to_have_text([LINES["storms#storms"][0]])
