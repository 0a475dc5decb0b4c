"""The ask box sends requests to its page's origin and to its endpoint, and nowhere else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from support import published_functions
from support.frozen_site import FrozenSite
from support.widget_site import (
    CLAIM,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    STRICT_CSP,
    SUPPORTED,
    Site,
    ask,
    visit,
    without,
)


def origins(page: Page) -> set[str]:
    """Collect the origins of requests, from here on."""
    requested: set[str] = set()
    page.context.on("request", lambda r: requested.add("/".join(r.url.split("/")[:3])))
    return requested


def test_no_request_leaves_the_origin_of_the_page(page: Page, site: Site) -> None:
    requested = origins(page)
    site.lang = "de"
    site.about = {"examples": ["How?"], "feedback": "/feedback", "search": "/?q={question}"}
    hint = SUPPORTED["citations"][2] | {"url": "https://videos.example.org/call"}
    answer = SUPPORTED | {"citations": [*SUPPORTED["citations"][:2], hint]}
    site.ask_box = '<answerable-ask lang="en"></answerable-ask>'
    # The page of a passage is read for the colors of its code, but none of another site.
    code = CLAIM | {"markdown": "```\nmake\n```"}
    record = without(RECORD, "href") | {"url": "https://docs.example.org/x"}
    foreign = PARTIAL | {"claims": [code], "citations": [record], "written": False}
    box = visit(page, site, answer, foreign, NOT_FOUND)
    ask(box)
    expect(box.locator(".sources li")).to_have_count(3)
    box.locator(".sources .title").last.hover()
    box.get_by_label("Your question").press("Enter")
    expect(box.locator("pre")).to_have_text("make")
    expect(box.locator("h3 a")).to_have_attribute("href", "https://docs.example.org/x")
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    box.locator(".send").click()
    expect(box.get_by_role("status")).to_have_text("Thank you.")
    assert requested == {site.origin}
    assert len(site.feedback) == 1


def test_a_closed_box_requests_only_its_script(page: Page, site: Site) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url.removeprefix(site.origin)))
    visit(page, site)
    expect(page.get_by_role("button", name="Ask")).to_be_visible()
    assert urls == ["/", "/assets/answerable/ask-box.js"]


def test_a_cross_origin_function_streams_and_rate_limits(
    page: Page, site: Site, frozen_site: FrozenSite, tmp_path: Path
) -> None:
    # Running it writes compiled files.
    function = shutil.copytree(frozen_site.function, tmp_path / "function")
    limits = {"ANSWERABLE_ALLOWED_ORIGINS": site.origin, "ANSWERABLE_RATE": "1/day"}
    with published_functions.serving(function, **limits) as running:
        other = f"http://127.0.0.1:{running.port}"
        site.ask_box = f'<answerable-ask endpoint="{other}"></answerable-ask>'
        site.csp = STRICT_CSP.replace("connect-src 'self'", f"connect-src 'self' {other}")
        requested = origins(page)
        box = visit(page, site)
        page.evaluate(
            "() => { window.stages = []; document.addEventListener('answerable:stage',"
            " (event) => window.stages.push(event.detail.stage)); }"
        )
        with page.expect_response(f"{other}/answer") as first:
            ask(box, "How do I install the server on Debian?")
        expect(box.locator(".words").first).to_contain_text("install")
        assert first.value.headers["content-type"].startswith("text/event-stream")
        assert page.evaluate("window.stages")[0] == "embedding"
        expect(box.locator("a.title").first).to_have_attribute(
            "href", re.compile(rf"^{site.origin}/install/#install-the-server")
        )
        with page.expect_response(f"{other}/answer") as second:
            box.get_by_label("Your question").press("Enter")
        expect(box).to_have_attribute("problem", "rate-limited")
        wait = second.value.headers["retry-after"]
        assert 1 <= int(wait) <= 86_401
        # The box asks nobody to wait for more than an hour.
        shown = min(int(wait), 3_600)
        expect(box.get_by_role("alert")).to_contain_text(f"again in {shown} seconds")
        assert requested == {site.origin, other}
        assert site.questions == []
