"""Actions on an answer, by its reader, and on the ask box, by its page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.widget_site import (
    CLAIM,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    SECOND_RECORD,
    SUPPORTED,
    Reply,
    Site,
    Stream,
    ask,
    asking,
    event,
    problem,
    visit,
)

EVENTS = ["open", "close", "ask", "stage", "answer", "problem", "cite", "feedback"]
RECORDING = """(names) => {
  window.seen = [];
  window.refused = new Set();
  for (const name of names) {
    document.addEventListener(`answerable:${name}`, (event) => {
      window.seen.push({ name, detail: event.detail, composed: event.composed,
        cancelable: event.cancelable, from: event.target.localName });
      if (window.refused.has(name)) event.preventDefault();
    });
  }
}"""


def event_names(page: Page) -> list[str]:
    """Names of the events so far, which are then forgotten."""
    return [each["name"] for each in details(page)]


def details(page: Page) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = page.evaluate("window.seen.splice(0)")
    return events


def refuse(page: Page, *names: str) -> None:
    page.evaluate("(names) => { window.refused = new Set(names); }", list(names))


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def allow_copying(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])


def test_an_answer_is_copied_as_markdown_with_its_sources(page: Page, site: Site) -> None:
    allow_copying(page)
    quoting = RECORD | {"n": 7, "quote": "Upload the\nfunction  folder.", "title": "A [b] <c>"}
    claims = [
        CLAIM | {"markdown": "Run `curl x`, \\- as\u202e said.", "citations": [7]},
        CLAIM | {"markdown": "```\n$ make\n$ ls\n```", "citations": [7]},
    ]
    code = SUPPORTED | {"claims": claims, "citations": [quoting, SUPPORTED["citations"][2]]}
    box = visit(page, site, code)
    ask(box, "How do I *deploy* <it>?")
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    assert copied(page) == (
        "**How do I \\*deploy\\* \\<it\\>?**\n\n"
        "Run `curl x`, \\- as said. [1]\n\n"
        "```\n$ make\n$ ls\n```\n\n[1]\n\n"
        "Related material: Operations call about deployments (from 12:40). [2]\n\n"
        "Sources:\n\n"
        f"1. [A \\[b\\] \\<c\\>](<{site.origin}{RECORD['href']}>)\n"
        f"2. [Operations call about deployments](<{site.origin}/guide/deploy/>) – from 12:40\n"
    )
    expect(box.get_by_role("button", name="Copy answer")).to_be_focused()
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new DOMException('no')); }"
    )
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("The browser does not allow copying here.")
    expect(box.locator(".said")).to_have_text("The browser does not allow copying here.")


def test_a_shared_question_fills_the_field_but_is_not_sent(page: Page, site: Site) -> None:
    allow_copying(page)
    question = "Is 100% of «a & b» = c? 😀"
    box = visit(page, site, PARTIAL, path="/guide/?old=1#part")
    ask(box, question)
    box.get_by_role("button", name="Copy link to this question").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    link = copied(page)
    assert link.startswith(f"{site.origin}/guide/#ask=Is%20100%25")
    page.goto("about:blank")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(link)
    expect(box.get_by_role("dialog")).to_be_visible()
    expect(box.get_by_label("Your question")).to_have_value(question)
    expect(box.get_by_label("Your question")).to_be_focused()
    expect(box).to_have_attribute("state", "empty")
    assert page.url == f"{site.origin}/guide/"
    assert requested
    assert not [url for url in requested if "100" in url]
    assert len(site.questions) == 1
    site.replies.append(Reply(NOT_FOUND))
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    assert [body for _, body in site.questions] == [asking(question)] * 2


@pytest.mark.deep
def test_a_shared_question_is_cut_to_its_limit_and_tolerates_broken_encoding(
    page: Page, site: Site
) -> None:
    for shared, put in [("x" * 700, "x" * 500), ("%F0%9F", "\ufffd"), ("%3Cb%3E", "<b>"), ("", "")]:
        page.goto("about:blank")
        box = visit(page, site, path=f"/#ask={shared}")
        expect(box.get_by_label("Your question")).to_have_value(put)
    assert site.questions == []


def test_an_unanswered_question_is_sent_to_the_authors_on_a_click(page: Page, site: Site) -> None:
    nearest = PARTIAL | {"written": False, "confidence": "low"}
    authors = "mailto:docs@example.com?subject={question}"
    site.about = {"feedback": "/feedback", "authors": authors}
    box = visit(page, site, PARTIAL, nearest, NOT_FOUND, RELATED, path="/guide/?old=1#part")
    offer = box.get_by_role("button", name="Send this question to the authors")
    ask(box)
    expect(box.locator(".sentence")).to_have_count(1)
    expect(offer).to_have_count(0)
    for state in ("partial", "not-found"):
        box.get_by_label("Your question").press("Enter")
        expect(offer).to_be_visible()
        expect(box).to_have_attribute("state", state)
        offer.click()
        expect(box.get_by_role("status")).to_have_text("Thank you.")
        expect(box.get_by_role("button", name="Thank you.")).to_be_focused()
        box.get_by_role("button", name="Thank you.").click()
    sent = {"question": "How do I deploy?", "page": f"{site.origin}/guide/", "bundle": "3f9c"}
    assert site.feedback == [
        {**sent, "mode": mode, "confidence": "low"} for mode in ("partial", "not-found")
    ]
    # Whom to ask stands beside a route too.
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "related-material")
    expect(offer).to_have_count(0)
    expect(box.get_by_role("link", name="Tell the authors")).to_have_attribute(
        "href", "mailto:docs@example.com?subject=How%20do%20I%20deploy%3F"
    )
    # What could not be sent may be tried again.
    site.feedback_status = 500
    box = visit(page, site, NOT_FOUND)
    ask(box)
    for _ in range(2):
        with page.expect_response("**/feedback"):
            box.locator(".send").click()
        expect(box.locator(".send")).to_have_text("That could not be sent.")
    assert len(site.feedback) == 4


def test_events_fire_in_order_with_their_details(page: Page, site: Site) -> None:
    site.about = {"feedback": "/feedback"}
    streamed = Stream([event("stage", {"stage": "writing"}), event("answer", NOT_FOUND)])
    box = visit(page, site, streamed, problem(503, "paused"))
    page.evaluate(RECORDING, EVENTS)
    ask(box)
    box.locator(".send").click()
    expect(box.get_by_role("status")).to_have_text("Thank you.")
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "problem")
    page.keyboard.press("Escape")
    expect(box).not_to_have_attribute("open", "")
    events = details(page)
    assert [each["name"] for each in events] == [
        "open", "ask", "stage", "answer", "feedback", "ask", "problem", "close"
    ]  # fmt: skip
    assert all(each["composed"] and each["from"] == "answerable-ask" for each in events)
    cancelable = {each["name"] for each in events if each["cancelable"]}
    assert cancelable == {"open", "ask", "feedback"}
    by_name = {each["name"]: each["detail"] for each in events}
    assert by_name["stage"] == {"stage": "writing"}
    assert by_name["answer"] == NOT_FOUND
    assert by_name["problem"] == {"code": "paused"}
    assert by_name["ask"] == {"question": "How do I deploy?"}


def test_a_page_can_cancel_each_cancelable_event(page: Page, site: Site) -> None:
    site.about = {"feedback": "/feedback"}
    box = visit(page, site, PARTIAL, NOT_FOUND)
    page.evaluate(RECORDING, EVENTS)
    refuse(page, "open")
    box.get_by_role("button", name="Ask").click()
    page.keyboard.press("Control+i")
    expect(box.locator("dialog")).to_have_count(0)
    expect(box).not_to_have_attribute("open", "")
    assert event_names(page) == ["open", "open"]
    refuse(page, "cite", "feedback")
    ask(box)
    box.locator(".sources .title").click()
    box.locator(".mark").hover()
    box.locator(".quote .title").click()
    expect(box.get_by_role("dialog")).to_be_visible()
    assert page.url == f"{site.origin}/"
    box.get_by_label("Your question").press("Enter")
    box.locator(".send").click()
    expect(box.get_by_role("status")).to_have_text("Thank you.")
    events = details(page)
    assert [each["name"] for each in events] == [
        "open", "ask", "answer", "cite", "cite", "ask", "answer", "feedback"
    ]  # fmt: skip
    assert events[3]["detail"] == RECORD
    assert site.feedback == []


def test_methods_open_close_ask_and_fetch(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    page.evaluate("document.querySelector('answerable-ask').open('Half a ques')")
    expect(box).to_have_attribute("open", "")
    expect(box).to_have_attribute("state", "empty")
    expect(box.get_by_label("Your question")).to_have_value("Half a ques")
    expect(box.locator(".count")).to_have_text("")
    page.evaluate("document.querySelector('answerable-ask').close()")
    expect(box).not_to_have_attribute("open", "")
    page.evaluate("document.querySelector('answerable-ask').ask('A'.repeat(600))")
    expect(box).to_have_attribute("state", "partial")
    expect(box.locator(".count")).to_have_text("500/500")
    assert [body for _, body in site.questions] == [asking("A" * 500)]
    # A page can supply the function that fetches.
    page.evaluate(
        "(answer) => { document.querySelector('answerable-ask').fetch = async (url) =>"
        " new Response(JSON.stringify(answer)); }",
        RELATED,
    )
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "related-material")
    page.evaluate(
        "() => { const box = document.querySelector('answerable-ask');"
        " box.fetch = () => { throw new Error('no'); }; }"
    )
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("problem", "failed")
    assert len(site.questions) == 1


def test_inline_placement_draws_the_box_in_the_page(page: Page, site: Site) -> None:
    site.ask_box = '<answerable-ask placement="inline"></answerable-ask>'
    box = visit(page, site, PARTIAL)
    expect(box.get_by_role("group", name="Ask this site")).to_be_visible()
    expect(box.get_by_role("dialog")).to_have_count(0)
    expect(box.locator(".trigger")).to_have_count(0)
    expect(page.locator("body")).to_be_focused()
    page.evaluate(RECORDING, EVENTS)
    page.keyboard.press("Control+i")
    expect(box.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("Why?")
    page.keyboard.press("Enter")
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    expect(box).not_to_have_attribute("open", "")
    page.evaluate("document.querySelector('answerable-ask').close()")
    expect(box.locator(".sentence")).to_be_visible()
    box.locator(".sources .title").click(modifiers=["Alt"])
    assert event_names(page) == ["ask", "answer", "cite"]


def test_the_shortcut_can_be_changed_or_removed(page: Page, site: Site) -> None:
    site.ask_box = '<answerable-ask shortcut="Alt+Shift+K"></answerable-ask>'
    box = visit(page, site)
    trigger = box.get_by_role("button", name="Ask")
    expect(trigger).to_have_attribute("aria-keyshortcuts", "Alt+Shift+K")
    expect(trigger.locator("kbd")).to_have_text("Alt+Shift+K")
    page.keyboard.press("Control+i")
    page.keyboard.press("Alt+k")
    expect(box.locator("dialog")).to_have_count(0)
    page.keyboard.press("Alt+Shift+K")
    expect(box.get_by_role("dialog")).to_be_visible()
    site.ask_box = '<answerable-ask shortcut="none"></answerable-ask>'
    box = visit(page, site)
    expect(trigger).to_be_visible()
    expect(trigger.locator("kbd")).to_be_hidden()
    assert trigger.get_attribute("aria-keyshortcuts") is None
    page.keyboard.press("Control+i")
    expect(box.locator("dialog")).to_have_count(0)


@pytest.mark.deep
def test_italics_of_a_text_that_is_edited_are_left_alone(page: Page, site: Site) -> None:
    site.ask_box = '<p contenteditable="true">Words</p><answerable-ask></answerable-ask>'
    box = visit(page, site)
    page.get_by_text("Words").focus()
    page.keyboard.press("Control+i")
    expect(box.locator("dialog")).to_have_count(0)
    page.get_by_text("Words").evaluate("(node) => node.blur()")
    page.keyboard.press("Control+i")
    expect(box.get_by_role("dialog")).to_be_visible()


def test_several_boxes_on_a_page_do_not_disturb_each_other(page: Page, site: Site) -> None:
    site.ask_box = (
        '<answerable-ask id="first"></answerable-ask>'
        '<answerable-ask id="second" placement="inline" endpoint="/other/"></answerable-ask>'
    )
    visit(page, site, PARTIAL, NOT_FOUND, path="/#ask=Which%3F")
    first, second = page.locator("#first"), page.locator("#second")
    expect(first.get_by_role("dialog")).to_be_visible()
    expect(first.get_by_label("Your question")).to_have_value("Which?")
    expect(second.get_by_label("Your question")).to_have_value("")
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("state", "partial")
    page.keyboard.press("Escape")
    # The dialog gives the focus back a moment later.
    expect(first.get_by_role("button", name="Ask")).to_be_focused()
    second.get_by_label("Your question").fill("Other?")
    second.get_by_label("Your question").press("Enter")
    expect(second).to_have_attribute("state", "not-found")
    expect(first).to_have_attribute("state", "partial")
    assert [path for path, _ in site.questions] == ["/_answerable/answer", "/other/answer"]
    page.keyboard.press("Control+i")
    expect(first.get_by_role("dialog")).to_be_visible()
    expect(first.get_by_label("Your question")).to_be_focused()


def test_slots_replace_the_texts_of_the_box(page: Page, site: Site) -> None:
    site.ask_box = (
        '<answerable-ask><span slot="trigger">Help me</span><span slot="title">Ask Harbour</span>'
        '<span slot="scope">Only boats.</span><small slot="footer">By the harbour.</small>'
        "</answerable-ask>"
    )
    box = visit(page, site, PARTIAL)
    page.get_by_role("button", name="Help me").click()
    expect(page.get_by_role("dialog", name="Ask Harbour")).to_be_visible()
    expect(page.get_by_text("Only boats.")).to_be_visible()
    expect(page.get_by_text("Answers come only")).to_be_hidden()
    expect(page.get_by_text("By the harbour.")).to_be_visible()
    box.get_by_label("Your question").fill("Why?")
    page.keyboard.press("Enter")
    expect(box.locator(".sentence")).to_have_count(1)
    expect(page.get_by_text("Only boats.")).to_be_hidden()
    expect(page.get_by_text("By the harbour.")).to_be_visible()


@pytest.mark.deep
def test_parts_and_custom_properties_style_the_box(page: Page, site: Site) -> None:
    css = (
        "answerable-ask { --answerable-accent: rgb(1, 2, 3); --answerable-radius: 3px }"
        "answerable-ask::part(sentence) { color: rgb(9, 8, 7) }"
        "answerable-ask::part(sources) { color: rgb(6, 5, 4) }"
    )
    site.pages["/mine.css"] = Reply(css, content_type="text/css")
    site.head = '<link rel="stylesheet" href="/mine.css">'
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".sentence")).to_have_css("color", "rgb(9, 8, 7)")
    expect(box.locator(".sources")).to_have_css("color", "rgb(6, 5, 4)")
    expect(box.locator(".primary")).to_have_css("background-color", "rgb(1, 2, 3)")
    expect(box.locator("dialog")).to_have_css("border-radius", "3px")


def in_new_tab(page: Page, link: Locator) -> None:
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    opened.value.close()


@pytest.mark.deep
def test_a_source_in_a_new_tab_leaves_the_box_open(page: Page, site: Site) -> None:
    cited = [RECORD, SECOND_RECORD]
    claims = [CLAIM | {"citations": [1, 2]}]
    box = visit(page, site, PARTIAL | {"claims": claims, "citations": cited})
    ask(box)
    in_new_tab(page, box.locator(".title").last)
    expect(box.get_by_role("dialog")).to_be_visible()
    box.locator(".title").last.click()
    expect(page).to_have_url(f"{site.origin}/reference/limits/")
