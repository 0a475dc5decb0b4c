"""The ask box under a strict Content-Security-Policy with Trusted Types: nothing is reported."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from support.deadlines import until
from support.widget_site import (
    CLAIM,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    SUPPORTED,
    Reply,
    Site,
    Stream,
    event,
    problem,
    visit,
)

LISTENING = """() => {
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
}"""


def violations(page: Page) -> list[str]:
    violations: list[str] = page.evaluate("window.violations")
    return violations


def test_a_planted_csp_violation_is_reported(browser: Browser, site: Site) -> None:
    page = browser.new_page()
    visit(page, site)
    page.evaluate(LISTENING)
    page.evaluate(
        "() => { const image = new Image(); image.src = 'http://other.invalid/x.png';"
        " document.body.append(image); }"
    )
    until(lambda: len(site.reports) == 1)
    assert violations(page) == ["img-src http://other.invalid/x.png "]
    page.close()


def test_no_state_violates_the_csp(page: Page, site: Site) -> None:
    page.add_init_script(f"({LISTENING})()")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    site.about = {
        "bundle": "other",
        "examples": ["How do I deploy?"],
        "search": "/search/?q={question}",
        "authors": "/authors/?q={question}",
        "feedback": "/feedback",
    }
    code_block = {"kind": "code", "language": "", "text": "<b>make</b>"}
    folded = RECORD | {"quote": "one\ntwo", "href": "/#:~:text=care", "language": "de"}
    code = PARTIAL | {
        "claims": [CLAIM, CLAIM | {"text": "<b>make</b>", "blocks": [code_block]}],
        "citations": [folded],
    }
    streamed = Stream([event("stage", {"stage": "writing"}), event("answer", SUPPORTED)])
    box = visit(
        page, site, streamed, RELATED, NOT_FOUND, problem(429), problem(503, "capped"),
        Reply("<html>"), code, path="/guide/#ask=How%3F",
    )  # fmt: skip
    question = box.get_by_label("Your question")
    expect(question).to_be_focused()
    for state in ("supported", "related-material", "not-found", *["problem"] * 3, "partial"):
        question.press("Enter")
        expect(box).to_have_attribute("state", state)
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    box.get_by_role("button", name="No", exact=True).click()
    box.get_by_role("button", name="It is wrong").click()
    expect(box.get_by_role("status")).to_have_text("Thank you.")
    box.get_by_label("Quote from").click()
    expect(box.locator("blockquote")).to_be_visible()
    page.evaluate(
        "document.addEventListener('click', (event) => event.preventDefault(), { once: true })"
    )
    page.evaluate("history.replaceState(null, '', '/')")
    box.locator(".title").click()
    page.wait_for_function("() => getSelection().toString() === 'care'")
    assert violations(page) == []
    assert site.reports == []
