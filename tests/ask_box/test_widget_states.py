"""Every state of the ask box, reached by what a server really sends."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.deadlines import PATIENCE, until
from support.widget_excerpts import STEPS, excerpts
from support.widget_site import (
    CLAIM,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    SUPPORTED,
    Json,
    Reply,
    Site,
    Stream,
    ask,
    asking,
    event,
    problem,
    visit,
)

ABOUT: Json = {
    "bundle": "3f9c",
    "examples": ["How do I deploy?", "Where do logs go?", "Who pays?", "A fourth one?"],
    "search": "/search/?q={question}",
    "authors": "mailto:docs@example.org?subject={question}&body=index%20{bundle}",
    "feedback": None,
}
QUESTION = "Fish & chips?"
SEARCH_LINK = "/search/?q=Fish%20%26%20chips%3F"


def expect_state(box: Locator, state: str) -> None:
    expect(box).to_have_attribute("state", state)


def until_asked(site: Site, count: int) -> None:
    """Wait until so many questions have come."""
    until(lambda: len(site.questions) == count)


def test_the_empty_state_prefers_the_examples_of_its_own_page(page: Page, site: Site) -> None:
    own = {f"{site.prefix}/": ["When is high water?"], f"{site.prefix}/other/": ["Who else?"]}
    site.about = ABOUT | {"page_examples": own}
    box = visit(page, site)
    box.get_by_role("button", name="Ask").click()
    expect(box.locator(".example")).to_have_text(["When is high water?"])
    site.about = ABOUT | {"page_examples": {f"{site.prefix}/other/": ["Who else?"]}}
    box = visit(page, site)
    box.get_by_role("button", name="Ask").click()
    expect(box.locator(".example")).to_have_text(ABOUT["examples"][:3])
    # Where each language has its own, those of the page's.
    site.about = ABOUT | {"examples": {"fr": ["La marée ?"], "de": ["Wann ist Flut?"]}}
    box = visit(page, site)
    box.get_by_role("button", name="Ask").click()
    expect(box.locator(".scope")).to_be_visible()
    expect(box.locator(".example")).to_have_count(0)


def test_the_empty_state_shows_purpose_examples_and_counter(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, PARTIAL)
    expect(box).not_to_have_attribute("state", "empty")
    box.get_by_role("button", name="Ask").click()
    expect_state(box, "empty")
    expect(box.locator(".scope")).to_contain_text("Answers come only from this site")
    expect(box.get_by_role("heading", name="For example")).to_be_visible()
    expect(box.locator(".example")).to_have_text(ABOUT["examples"][:3])
    expect(box.locator(".count")).to_be_hidden()
    question = box.get_by_label("Your question")
    question.fill("x" * 399)
    expect(box.locator(".count")).to_be_hidden()
    question.fill("x" * 499)
    expect(box.locator(".count")).to_have_text("499/500")
    expect(box.locator(".count.full")).to_have_count(0)
    question.press_sequentially("yz")
    expect(box.locator(".count.full")).to_have_text("500/500")
    expect(question).to_have_value("x" * 499 + "y")
    expect(question).to_have_accessible_description(
        re.compile(r"Enter to ask, Shift\+Enter for a new line ?At most 500 characters")
    )
    box.get_by_role("button", name="Where do logs go?").click()
    expect_state(box, "partial")
    assert site.questions == [("/_answerable/answer", asking("Where do logs go?"))]


def test_the_working_state_follows_the_stages_of_a_stream(page: Page, site: Site) -> None:
    gates = [threading.Event() for _ in range(5)]
    stages = ["embedding", "searching", "writing", "checking"]
    announcements = [
        "Reading the question …",
        "Searching this site …",
        "Writing an answer …",
        "Checking every source …",
    ]
    parts: list[Any] = [gates[0]]
    for stage, gate in zip(stages, gates[1:], strict=True):
        stage_event = event("stage", {"stage": stage})
        parts += [stage_event[:9], stage_event[9:], ": still here\n\n", gate]
    box = visit(page, site, Stream([*parts, event("answer", PARTIAL)]))
    ask(box)
    expect_state(box, "working")
    expect(box.locator(".view")).to_have_attribute("aria-busy", "true")
    expect(box.locator(".stage")).to_have_text("Looking through this site …")
    expect(box.get_by_role("button", name="Stop")).to_be_visible()
    for gate, text in zip(gates, announcements, strict=False):
        gate.set()
        expect(box.locator(".stage")).to_have_text(text)
        expect(box.get_by_role("status")).to_be_empty()
    gates[4].set()
    expect_state(box, "partial")
    expect(box.locator(".view")).to_have_attribute("aria-busy", "false")
    expect(box.locator(".stage")).to_have_count(0)
    assert site.accepted == ["text/event-stream, application/json"]


def test_stop_ends_a_stream_and_keeps_the_question(page: Page, site: Site) -> None:
    box = visit(page, site, Stream([event("stage", {"stage": "writing"})], stays=True), PARTIAL)
    ask(box, QUESTION)
    expect(box.locator(".stage")).to_have_text("Writing an answer …")
    box.get_by_role("button", name="Stop").click()
    expect_state(box, "empty")
    expect(box.get_by_role("status")).to_have_text("Stopped.")
    expect(box.get_by_label("Your question")).to_have_value(QUESTION)
    expect(box.get_by_label("Your question")).to_be_focused()
    assert site.hung_up.wait(PATIENCE)
    page.keyboard.press("Enter")
    expect_state(box, "partial")


WITHOUT_MODEL = "Answered without the model."


VERDICTS: list[tuple[Json, str, list[str]]] = [
    (PARTIAL, "Answer, checked against 1 passage", []),
    (SUPPORTED, "Answer, checked against 2 passages", []),
    (
        PARTIAL | {"confidence": "medium", "complete": False},
        "Answer in part, checked against 1 passage",
        [],
    ),
    # One of its sentences fell.
    (PARTIAL | {"confidence": "medium"}, "Answer in part, checked against 1 passage", []),
    (
        PARTIAL | {"stored": True, "question": "Which folder?"},
        "Answer to “Which folder?”, checked against 1 passage",
        [],
    ),
    (RELATED, "Where to look", []),
    (excerpts(STEPS, fallback=True), "In Part 1 › Use", [WITHOUT_MODEL]),
    (
        excerpts(STEPS, confidence="low"),
        "Nearest section: it does not say it in your words",
        [],
    ),
    (
        excerpts(STEPS, STEPS, confidence="low"),
        "Nearest sections: none says it in your words",
        [],
    ),
    # Excerpts that a model chose to write are its answer.
    (excerpts(STEPS, written=True, complete=True), "Answer, checked against 1 passage", []),
]


def test_an_answer_begins_with_its_verdict(page: Page, site: Site) -> None:
    box = visit(page, site, *(answer for answer, _, _ in VERDICTS))
    ask(box)
    heading = box.get_by_role("heading", level=3)
    for count, (_, verdict, remarks) in enumerate(VERDICTS, start=1):
        until_asked(site, count)
        expect(heading).to_have_text(verdict)
        expect(heading).to_be_focused()
        expect(box.locator(".remarks")).to_have_text(remarks)
        if site.replies:
            box.get_by_label("Your question").press("Enter")


def test_not_found_leads_to_the_search_and_to_the_authors(page: Page, site: Site) -> None:
    site.about = ABOUT
    unverified = NOT_FOUND | {"reason": "contract", "dropped": 1}
    box = visit(page, site, NOT_FOUND, unverified)
    ask(box, QUESTION)
    search = box.get_by_role("link", name="Search this site for it")
    expect(search).to_have_attribute("href", site.origin + SEARCH_LINK)
    expect(box.get_by_role("link", name="Tell the authors")).to_have_attribute(
        "href", "mailto:docs@example.org?subject=Fish%20%26%20chips%3F&body=index%203f9c"
    )
    expect(box.locator(".card, .sources, .mark")).to_have_count(0)
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".tip")).to_contain_text("its sources could not be verified")
    expect(box.get_by_text("1 sentence removed: source not verified.")).to_be_visible()
    search.click()
    expect(page).to_have_url(site.origin + SEARCH_LINK)


@pytest.mark.deep
def test_next_steps_have_safe_urls_only(page: Page, site: Site) -> None:
    site.about = {
        "search": "https://find.example.org/?q={question}",
        "authors": "javascript:alert(1)//{question}",
    }
    box = visit(page, site, NOT_FOUND)
    ask(box, QUESTION)
    links = box.get_by_role("link")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://find.example.org/?q=Fish%20%26%20chips%3F")


RETRIED: list[tuple[Reply | Stream, str, str]] = [
    (problem(429, "rate-limited", Retry_After="3"), "ask again in 3 seconds", "rate-limited"),
    (problem(429, "rate-limited", Retry_After="1"), "ask again in 1 second.", "rate-limited"),
    (problem(429, "rate-limited"), "ask again in 30 seconds", "rate-limited"),
    (problem(504, "timeout"), "The answer took too long.", "timeout"),
    (problem(500), "could not be answered just now", "500"),
    (problem(403, "origin"), "could not be answered just now", "origin"),
    (Stream([event("problem", {"code": "timeout"})]), "took too long", "timeout"),
    (Stream([event("problem", {"status": 502})]), "just now", "502"),
]


def test_a_problem_that_may_pass_keeps_the_question_for_another_try(page: Page, site: Site) -> None:
    box = visit(page, site, *(reply for reply, _, _ in RETRIED), PARTIAL)
    page.context.set_offline(True)
    ask(box)
    expect(box.get_by_role("alert")).to_contain_text("You are offline")
    expect(box).to_have_attribute("problem", "offline")
    page.context.set_offline(False)
    for count, (_, text, code) in enumerate(RETRIED, start=1):
        box.get_by_role("button", name="Try again").click()
        until_asked(site, count)
        expect(box.get_by_role("alert")).to_contain_text(text)
        expect(box).to_have_attribute("problem", code)
        expect(box.get_by_label("Your question")).to_be_focused()
        expect(box.get_by_label("Your question")).to_have_value("How do I deploy?")
    box.get_by_role("button", name="Try again").click()
    expect_state(box, "partial")
    expect(box).not_to_have_attribute("problem", code)
    assert [body for _, body in site.questions] == [asking("How do I deploy?")] * 9


@pytest.mark.deep
@pytest.mark.parametrize(
    ("wait", "seconds"),
    [("0", 30), ("-5", 30), ("soon", 30), ("99999999", 3600), ("1e999", 3600)],
)
def test_invalid_retry_after_values_are_tolerated(
    page: Page, site: Site, wait: str, seconds: int
) -> None:
    box = visit(page, site, problem(429, Retry_After=wait))
    ask(box)
    expect(box.get_by_role("alert")).to_contain_text(f" {seconds} seconds.")


NOWHERE = "No questions can be answered here: nothing answers at this address."
SEARCHED: list[tuple[Reply | Stream, str, str]] = [
    (problem(503, "capped"), "No more questions can be answered today.", "capped"),
    (problem(503, "paused"), "Questions are not answered at the moment.", "paused"),
    (
        Stream([event("problem", {"code": "paused"})]),
        "Questions are not answered at the moment.",
        "paused",
    ),
    (
        problem(413, "too-large"),
        "This question could not be read. Please change it and try again.",
        "too-large",
    ),
    (Reply("<h1>Not Found</h1>", 404, "text/html"), NOWHERE, "404"),
    (Reply("", 405, "text/plain"), NOWHERE, "405"),
    (Reply("", 501, "text/plain"), NOWHERE, "501"),
    (problem(404, "not-found"), NOWHERE, "not-found"),
]


def test_a_problem_that_stays_offers_the_search(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, *(reply for reply, _, _ in SEARCHED))
    ask(box, QUESTION)
    for count, (_, text, code) in enumerate(SEARCHED, start=1):
        until_asked(site, count)
        expect(box.get_by_role("alert")).to_have_text(f"{text} Search still works.")
        expect(box).to_have_attribute("problem", code)
        expect(box.get_by_role("link")).to_have_attribute("href", site.origin + SEARCH_LINK)
        expect(box.locator(".retry")).to_have_count(0)
        expect(box.get_by_label("Your question")).to_have_value(QUESTION)
        if site.replies:
            box.get_by_label("Your question").press("Enter")


def test_a_preview_that_nothing_answers_says_how_to_start_it(page: Page, site: Site) -> None:
    site.about = ABOUT | {"preview": True}
    box = visit(page, site, problem(404))
    ask(box)
    expect(box.get_by_role("alert")).to_contain_text("Start it without --no-livereload.")


@pytest.mark.deep
def test_a_very_long_answer_scrolls_inside_the_dialog(page: Page, site: Site) -> None:
    claims = [CLAIM | {"markdown": f"Line {n}. " + "long " * 40} for n in range(60)]
    box = visit(page, site, PARTIAL | {"claims": claims})
    ask(box)
    expect(box.locator(".sentence")).to_have_count(60)
    dialog = box.get_by_role("dialog").bounding_box()
    assert dialog is not None
    assert dialog["y"] + dialog["height"] <= 760
    result = box.locator(".result")
    assert result.evaluate("(node) => node.scrollTop") == 0
    assert result.evaluate("(node) => node.scrollHeight > 2 * node.clientHeight")
    expect(box.get_by_label("Your question")).to_be_in_viewport()
    expect(box.get_by_role("button", name="Close")).to_be_in_viewport()
    box.locator(".sources").scroll_into_view_if_needed()
    expect(box.locator(".sources")).to_be_in_viewport()
    expect(box.get_by_label("Your question")).to_be_in_viewport()


@pytest.mark.parametrize("end", ["ones of it.", "ones of it", "`ones`"])
def test_no_line_begins_with_the_number_of_a_source(page: Page, site: Site, end: str) -> None:
    claims = [CLAIM | {"markdown": f"A sentence of some words, and the `last` {end}"}] * 3
    box = visit(page, site, PARTIAL | {"claims": claims})
    ask(box)
    expect(box.locator(".mark")).to_have_count(3)
    lonely = """(sentence) => Array.from({ length: 300 }, (_, n) => {
      sentence.parentElement.style.inlineSize = `${150 + n}px`;
      const chip = sentence.querySelector(".mark").getBoundingClientRect();
      const words = document.createRange();
      words.setStartBefore(sentence.firstChild);
      words.setEndBefore(sentence.querySelector(".chips"));
      return ![...words.getClientRects()].some(({ left, bottom }) => {
        return left < chip.left && bottom > chip.top;
      });
    }).filter(Boolean).length"""
    assert box.locator(".sentence").first.evaluate(lonely) == 0


MAKE = "$ make\n  <all>`x`"


def test_numbers_are_dense_and_code_is_drawn_as_code(page: Page, site: Site) -> None:
    seventh = RECORD | {"n": 7, "title": "Seventh", "quote": "def f():\n    return 1"}
    third = RECORD | {"n": 3, "title": "Third", "href": "/third/"}
    claims = [
        CLAIM | {"markdown": "Set `retries` to `<0>` first.", "citations": [7]},
        CLAIM | {"markdown": f"```\n{MAKE}\n```", "citations": [3, 7]},
    ]
    box = visit(page, site, PARTIAL | {"claims": claims, "citations": [third, seventh]})
    ask(box)
    expect(box.locator(".mark")).to_have_text(["1", "2", "1"])
    expect(box.locator(".sources .title")).to_have_text(["Seventh", "Third"])
    expect(box.locator(".sources .number")).to_have_text(["1", "2"])
    second = box.locator(".sources").get_by_role("link", name="Third")
    expect(second).to_have_attribute("href", f"{site.origin}/third/")
    expect(box.locator(".sentence code")).to_have_text(["retries", "<0>"])
    block = box.locator("pre")
    expect(block).to_have_count(1)
    assert block.text_content() == MAKE
    expect(block).to_have_css("white-space", "pre")
    quote = box.locator(".quote").first
    expect(quote).to_be_hidden()
    box.get_by_role("button", name="Source 1: Seventh").first.focus()
    expect(quote).to_be_visible()
    assert quote.locator(".quoted").inner_text() == "def f():\n    return 1"
    page.keyboard.press("Escape")
    expect(quote).to_be_hidden()
    expect(box.get_by_role("dialog")).to_be_visible()


@pytest.mark.deep
def test_a_notice_appears_when_site_and_index_differ(page: Page, site: Site) -> None:
    cases: list[tuple[object, bool]] = [
        ("3f9c", False),
        ("older", True),
        (None, False),
    ]
    for bundle, has_notice in cases:
        site.about = ABOUT | {"bundle": bundle}
        box = visit(page, site, PARTIAL)
        ask(box)
        expect(box.locator(".sources li")).to_have_count(1)
        expect(box.get_by_text("are not of the same build")).to_have_count(int(has_notice))
