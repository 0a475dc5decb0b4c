"""The ask box under a strict Content-Security-Policy with Trusted Types: nothing is reported."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from support.browser import browsing
from support.deadlines import until
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
    with browsing(browser) as page:
        visit(page, site)
        page.evaluate(LISTENING)
        page.evaluate(
            "() => { const image = new Image(); image.src = 'http://other.invalid/x.png';"
            " document.body.append(image); }"
        )
        until(lambda: len(site.reports) == 1)
        assert violations(page) == ["img-src http://other.invalid/x.png "]


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
    # It is read for the colors of its code, and nothing in it runs.
    colored = (
        '<pre><code><b class="k">make</b></code></pre><script>x</script><p style="color: red">'
    )
    site.pages["/colored/"] = Reply(colored, content_type="text/html")
    code, long = "```\nmake\n```", "\n\n".join(["care"] * 120)
    here = RECORD | {"quote": "care", "href": "/#main:~:text=care", "language": "de"}
    codes = [{"markdown": code, "citations": [n]} for n in (2, 3)]
    passages = PARTIAL | {
        "claims": [CLAIM | {"markdown": long}, *codes],
        "citations": [here, *(SECOND_RECORD | {"n": n, "url": f"/colored/#{n}"} for n in (2, 3))],
        "written": False,
    }
    streamed = Stream([event("stage", {"stage": "writing"}), event("answer", SUPPORTED)])
    box = visit(
        page, site, streamed, RELATED, NOT_FOUND, problem(429), problem(503, "capped"),
        Reply("<html>"), passages, path="/guide/#ask=How%3F",
    )  # fmt: skip
    question = box.get_by_label("Your question")
    expect(question).to_be_focused()
    for state in ("supported", "related-material", "not-found", *["problem"] * 3, "partial"):
        question.press("Enter")
        expect(box).to_have_attribute("state", state)
        if state == "supported":
            box.locator(".mark").first.hover()
            expect(box.locator(".quote").first).to_be_visible()
        if state == "not-found":
            box.locator(".send").click()
            expect(box.get_by_role("status")).to_have_text("Thank you.")
    box.get_by_role("button", name="Show the whole section").click()
    expect(box.locator(".whole")).to_have_count(0)
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url))
    for entry in box.locator(".entry").all():
        entry.locator("summary").click()
        expect(entry.locator(".code .k")).to_have_text("make")
    assert read == [f"{site.origin}/colored/"]
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    page.evaluate("history.replaceState(null, '', '/')")
    box.locator("h3 .title").click()
    expect(box.locator(".bar")).to_be_visible()
    page.wait_for_function("() => [...CSS.highlights.get('answerable')].join() === 'care'")
    assert violations(page) == []
    assert site.reports == []
