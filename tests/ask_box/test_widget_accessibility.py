"""The ask box for those who use no mouse or no eyes: axe-core, keys, names and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from support.deadlines import until
from support.widget_site import (
    CLAIM,
    HANG,
    NOT_FOUND,
    PARTIAL,
    RELATED,
    SUPPORTED,
    Json,
    Reply,
    Site,
    ask,
    problem,
    visit,
)

AXE = Axe()
# The rule of WCAG 2.2 AA, which axe-core leaves out unless it is told not to.
RULES = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
ABOUT: Json = {
    "bundle": "other",
    "examples": ["How do I deploy?", "Where do logs go?"],
    "search": "/search/?q={question}",
    "authors": "mailto:docs@example.org?subject={question}",
    "feedback": "/feedback",
}
STYLED = '<link rel="stylesheet" href="/style.css">'
LINE = {"kind": "code", "language": "", "text": "make all " * 40}
CODE = PARTIAL | {"claims": [CLAIM, CLAIM | {"text": LINE["text"], "blocks": [LINE]}]}


REPLIES: list[Reply | Json] = [
    HANG,
    SUPPORTED,
    CODE,
    RELATED,
    NOT_FOUND,
    problem(429, "rate-limited"),
    problem(503, "capped"),
    problem(500),
]
STATES = {
    "working": "working",
    "supported": "supported",
    "code": "partial",
    "related-material": "related-material",
    "not-found": "not-found",
    "limited": "problem",
    "capped": "problem",
    "problem": "problem",
}
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
# What tells a state from another of the same name.
MARKS = {
    "code": "pre",
    "limited": "[aria-disabled=true]",
    "capped": ".search",
}


def violations(page: Page) -> list[str]:
    """List the faults that axe-core finds within the ask box, all of its rules on."""
    reports = AXE.run(page, {"include": ["answerable-ask"]}, RULES).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in reports
        for node in each["nodes"]
    ]


def states(box: Locator, site: Site) -> Iterator[str]:
    """Go through the states of an open box, and name each when it is drawn."""
    question = box.get_by_label("Your question")
    yield "empty"
    question.fill("x" * 500)
    yield "full"
    for name, state in STATES.items():
        question.fill(f"Which question is {name}?")
        question.press("Enter")
        expect(box).to_have_attribute("state", state)
        if name != state:
            expect(box.locator(MARKS[name])).to_be_visible()
        yield name
        if name == "working":
            until(lambda: len(site.questions) == 1)
        if name == "supported":
            box.get_by_role("button", name="No", exact=True).click()
            expect(box.get_by_text("What was wrong?")).to_be_visible()
            yield "why"


def test_axe_finds_no_fault_in_any_state_and_scheme(page: Page, site: Site) -> None:
    """The boxes of the gallery stand in a page, and are looked at there."""
    site.csp = "default-src 'self'"
    site.head = STYLED
    site.about = ABOUT
    box = visit(page, site, *REPLIES)
    assert violations(page) == []
    box.get_by_role("button", name="Ask").click()
    drawn_parts = []
    for name in states(box, site):
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert violations(page) == [], (name, scheme)
        drawn_parts.append(name)
    assert drawn_parts == ["empty", "full", "working", "supported", "why", *list(STATES)[2:]]


def test_axe_finds_a_planted_fault_inside_the_box(page: Page, site: Site) -> None:
    site.csp = "default-src 'self'"
    site.head = '<link rel="stylesheet" href="/pale.css">'
    pale = "answerable-ask { --answerable-fg: #bbb; --answerable-bg: #fff }"
    site.pages["/pale.css"] = Reply(pale, content_type="text/css")
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".card")).to_have_count(1)
    faults = violations(page)
    assert any("color-contrast" in each and "sentence" in each for each in faults)


def stops(page: Page, key: str = "Tab", most: int = 30) -> list[str]:
    """List the names that Tab reaches, until it leaves the page or comes to the question."""
    names: list[str] = []
    for _ in range(most):
        page.keyboard.press(key)
        name: str = page.evaluate(
            "() => { let node = document.activeElement;"
            " while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;"
            " if (node === document.body) return '';"
            " return node.ariaLabel ?? (node.innerText || node.localName).trim(); }"
        )
        if name in names or name == "":
            break
        names.append(name)
    return names


def test_the_keyboard_reaches_everything_in_the_order_of_reading(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, HANG, SUPPORTED, NOT_FOUND, problem(503, "capped"), problem(500))
    page.keyboard.press("Tab")
    expect(box.get_by_role("button", name="Ask")).to_be_focused()
    page.keyboard.press("Enter")
    question = box.get_by_label("Your question")
    expect(question).to_be_focused()
    expect(box.locator(".example")).to_have_count(2)
    assert stops(page)[:3] == ["Ask", "How do I deploy?", "Where do logs go?"]
    question.focus()
    assert stops(page, "Shift+Tab")[0] == "Close"
    question.fill("How do I deploy?")
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("state", "working")
    question.focus()
    assert stops(page)[:2] == ["Ask", "Stop"]
    until(lambda: len(site.questions) == 1)
    question.focus()
    page.keyboard.type("How do I deploy it all?")
    page.keyboard.press("Enter")
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    assert stops(page)[:12] == [
        "Source 1: Deploy › AWS",
        "Source 2: Reference › Limits",
        "Source 3: Operations call about deployments",
        "Deploy › AWS",
        "Quote from Deploy › AWS",
        "Reference › Limits",
        "Quote from Reference › Limits",
        "Operations call about deployments",
        "Copy answer",
        "Copy link to this question",
        "Yes",
        "No",
    ]
    question.focus()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    assert stops(page)[:4] == ["Search this site for it", "Tell the authors", "Yes", "No"]
    question.focus()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("problem", "capped")
    expect(question).to_be_focused()
    assert stops(page)[:2] == ["Ask", "Search this site for it"]
    question.focus()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("problem", "500")
    assert stops(page)[:2] == ["Ask", "Try again"]
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box.get_by_role("button", name="Ask")).to_be_focused()


def test_the_focus_stays_in_the_dialog_and_goes_back_to_where_it_was(
    page: Page, site: Site
) -> None:
    site.ask_box = '<a href="#x">A link</a> <answerable-ask></answerable-ask> <input id="after">'
    box = visit(page, site)
    page.locator("#after").focus()
    page.keyboard.press("Control+i")
    expect(box.get_by_label("Your question")).to_be_focused()
    for key in ("Tab", "Shift+Tab"):
        for _ in range(6):
            page.keyboard.press(key)
            expect(page.locator("a, #after").and_(page.locator(":focus"))).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#after")).to_be_focused()


def test_code_blocks_and_folds_work_by_keyboard(page: Page, site: Site) -> None:
    quoting = PARTIAL["citations"][0] | {"quote": "line\n" * 3}
    box = visit(page, site, CODE | {"citations": [quoting]})
    ask(box)
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    block = box.locator("pre")
    block.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('answerable-ask').shadowRoot"
        ".querySelector('pre').scrollLeft > 0"
    )
    box.get_by_label("Quote from Deploy › AWS").focus()
    page.keyboard.press("Space")
    expect(box.locator("details")).to_have_attribute("open", "")
    page.keyboard.press("Enter")
    expect(box.locator("blockquote")).to_be_hidden()


def test_the_accessibility_tree_has_a_name_for_every_control(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, SUPPORTED, problem(500))
    ask(box)
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    expect(box.get_by_role("dialog")).to_match_aria_snapshot(
        """
        - dialog "Ask this site":
          - heading "Ask this site" [level=2]
          - button "Close"
          - textbox "Your question"
          - button "Ask"
          - alert
          - heading "Answer" [level=3]
          - paragraph:
            - 'link "Source 1: Deploy › AWS"'
          - paragraph:
            - 'link "Source 2: Reference › Limits"'
          - paragraph:
            - 'link "Source 3: Operations call about deployments"'
          - paragraph: "/1 sentence removed/"
          - heading "Sources" [level=4]
          - list:
            - listitem:
              - link "Deploy › AWS"
              - group:
                - blockquote: Upload the function folder and set the two environment variables.
            - listitem:
              - link "Reference › Limits"
            - listitem:
              - text: "[3] Related material"
              - link "Operations call about deployments"
          - button "Copy answer"
          - button "Copy link to this question"
          - group "Was this helpful?":
            - button "Yes"
            - button "No"
          - status: Answer ready, 3 sources.
        """
    )
    box.get_by_label("Your question").press("Enter")
    expect(box.get_by_role("alert")).to_have_text(
        "Your question could not be answered just now. It is still here: please try again."
    )
    expect(box.get_by_role("button", name="Try again")).to_be_visible()


WATCHING = """() => {
  window.said = [];
  const root = document.querySelector("answerable-ask").shadowRoot;
  for (const node of root.querySelectorAll("[role=status], [role=alert], [aria-live]")) {
    new MutationObserver(() => {
      if (node.textContent) window.said.push(`${node.role}: ${node.textContent}`);
    }).observe(node, { childList: true, characterData: true, subtree: true });
  }
}"""


def test_each_question_makes_one_live_announcement(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, SUPPORTED, RELATED, NOT_FOUND, problem(429), problem(500))
    box.get_by_role("button", name="Ask").click()
    page.evaluate(WATCHING)
    box.get_by_label("Your question").fill("How do I deploy?")
    for state in ("supported", "related-material", "not-found", "problem", "problem"):
        request_count = len(site.questions)
        box.get_by_label("Your question").press("Enter")
        expect(box).to_have_attribute("state", state)
        page.wait_for_function("(most) => window.said.length > most", arg=request_count)
    expect(box.locator("[aria-live]")).to_have_count(0)
    expect(box.get_by_role("status")).to_have_count(1)
    expect(box.get_by_role("alert")).to_have_count(1)
    announcements: list[str] = page.evaluate("window.said")
    assert announcements == [
        "status: Answer ready, 3 sources.",
        "status: No direct answer, 1 place to look.",
        "status: Not found on this site.",
        "alert: There are too many questions just now. You can ask again in 30 seconds.",
        "alert: Your question could not be answered just now. It is still here: please try again.",
    ]
