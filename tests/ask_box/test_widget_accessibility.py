"""The ask box for those who use no mouse or no eyes: axe-core, keys, names and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from support.deadlines import until
from support.widget_excerpts import OPTIONS, STEPS, TABS, code, excerpts, join
from support.widget_site import (
    CLAIM,
    HANG,
    HINT,
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
CODE = PARTIAL | {"claims": [CLAIM, CLAIM | {"markdown": code("make all " * 40)}]}
LONG = ["A sentence of a long section. " * 9] * 9
PASSAGES = excerpts(
    join(STEPS, OPTIONS, TABS, code("make\n" * 30), *LONG),
    STEPS,
    notes=[{"kind": "unknown", "word": "CEO"}],
)
TWO = excerpts(TABS, STEPS)
PLACES = {
    "faq#why": {"url": "/faq/#why", "title": "FAQ › Why", "line": "It is cheap to run."},
    "logs": {"url": "/logs/", "title": "Logs", "line": "Logs go to a file."},
}


REPLIES: list[Reply | Json] = [
    HANG,
    SUPPORTED,
    PASSAGES,
    PASSAGES | {"confidence": "low"},
    RELATED,
    NOT_FOUND,
    NOT_FOUND,
    problem(429, "rate-limited"),
]
STATES = {
    "working": "working",
    "supported": "supported",
    "passages": "partial",
    "nearest": "partial",
    "related-material": "related-material",
    "not-found": "not-found",
    "places": "not-found",
    "limited": "problem",
}
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
# What tells a state from another of the same name.
MARKS = {
    "passages": "h3 .title",
    "nearest": "h4 .title",
    "places": ".entry >> nth=1",
    "limited": ".retry",
}


# The one rule that a scheme of colors bears on.
CONTRAST = RULES | {"runOnly": ["color-contrast"]}


def violations(page: Page, rules: Json = RULES) -> list[str]:
    """List the faults that axe-core finds within the ask box, all of its rules on."""
    reports = AXE.run(page, {"include": ["answerable-ask"]}, rules).response["violations"]
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
        site.places = PLACES if MARKS.get(name, "").startswith(("h", ".entry")) else {}
        question.fill(f"Which question is {name}?")
        question.press("Enter")
        expect(box).to_have_attribute("state", state)
        if name != state:
            expect(box.locator(MARKS[name])).to_be_visible()
        yield name
        if name == "working":
            until(lambda: len(site.questions) == 1)
        if name == "supported":
            box.locator(".mark").first.focus()
            expect(box.locator(".quote").first).to_be_visible()
            yield "quote"
        if name == "passages":
            expect(box.locator("summary")).to_have_count(4)
            for summary in box.locator("summary").all():
                summary.click()
            expect(box.locator(".words")).to_have_count(4)
            yield "opened"


def test_axe_finds_no_fault_in_any_state_and_scheme(page: Page, site: Site) -> None:
    """The boxes of the gallery stand in a page, and are looked at there."""
    site.csp = "default-src 'self'"
    site.head = STYLED
    site.about = ABOUT
    site.pages["/_answerable/section"] = Reply({"markdown": STEPS})
    box = visit(page, site, *REPLIES)
    assert violations(page) == []
    box.get_by_role("button", name="Ask").click()
    drawn_parts = []
    for name in states(box, site):
        for scheme, rules in zip(SCHEMES, (CONTRAST, RULES), strict=True):
            page.emulate_media(color_scheme=scheme)
            assert violations(page, rules) == [], (name, scheme)
        drawn_parts.append(name)
    assert drawn_parts == [
        *("empty", "full", "working", "supported", "quote", "passages", "opened"),
        *list(STATES)[3:],
    ]


def test_axe_finds_a_planted_fault_inside_the_box(page: Page, site: Site) -> None:
    site.csp = "default-src 'self'"
    site.head = '<link rel="stylesheet" href="/pale.css">'
    pale = "answerable-ask { --answerable-fg: #bbb; --answerable-bg: #fff }"
    site.pages["/pale.css"] = Reply(pale, content_type="text/css")
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".sentence")).to_have_count(1)
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
        ).replace("\n", " ")
        if name in ("", "Your question", *names[:1]):
            break
        names.append(name)
    return names


def test_the_keyboard_reaches_everything_in_the_order_of_reading(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, HANG, SUPPORTED, TWO, NOT_FOUND, problem(503, "capped"), problem(500))
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
    expect(box.get_by_role("heading", name="Answer, checked against 2 passages")).to_be_focused()
    chips = ["Source 1: Deploy › AWS", "Source 2: Reference › Limits", f"Source 3: {HINT['label']}"]
    links = ["Deploy › AWS", "Reference › Limits", HINT["label"]]
    parts = [part for pair in zip(chips, links, strict=True) for part in pair]
    ways = ["Copy answer", "Copy link to this question"]
    assert stops(page)[:11] == [*parts, *links, *ways]
    site.places = PLACES
    question.focus()
    page.keyboard.press("Enter")
    title = box.get_by_role("heading", name="In Part 1 › Use")
    expect(title).to_be_focused()
    expect(box.get_by_role("group", name="More on this site")).to_be_visible()
    assert stops(page)[:9] == [
        *("Part 1 › Use", "pip", "uv", "Copy code", "pip install httpx"),
        *("Part 2 › Use To disable", "Go to Part 2 › Use"),
        *("FAQ › Why It is cheap to run.", "Go to FAQ › Why"),
    ]
    site.places = {}
    question.focus()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    ways = ["Search this site for it", "Tell the authors", "Send this question to the authors"]
    assert stops(page)[:3] == ways
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


def test_code_folds_and_rows_work_by_keyboard(page: Page, site: Site) -> None:
    box = visit(page, site, CODE, PASSAGES)
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
    box.get_by_label("Your question").press("Enter")
    expect(box.get_by_role("heading", name="In Part 1 › Use")).to_be_focused()
    box.locator(".fold > summary").press("Space")
    expect(box.locator(".fold pre")).to_be_visible()
    box.locator(".entry summary").press("Enter")
    expect(box.locator(".entry .words")).to_be_visible()
    page.keyboard.press("Enter")
    expect(box.locator(".entry .words")).to_be_hidden()


def test_the_accessibility_tree_has_a_name_for_every_control(page: Page, site: Site) -> None:
    site.about = ABOUT
    box = visit(page, site, SUPPORTED)
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
          - heading "Answer, checked against 2 passages" [level=3]
          - paragraph:
            - 'button "Source 1: Deploy › AWS"'
            - 'button "Source 2: Reference › Limits"'
          - paragraph:
            - 'button "Source 3: Operations call about deployments"'
          - heading "Sources" [level=4]
          - list:
            - listitem:
              - link "Deploy › AWS"
            - listitem:
              - link "Reference › Limits"
            - listitem:
              - text: "3 Related material"
              - link "Operations call about deployments"
          - paragraph: "1 sentence removed: source not verified."
          - button "Copy answer"
          - button "Copy link to this question"
          - status: Answer ready, 3 sources.
        """
    )


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
