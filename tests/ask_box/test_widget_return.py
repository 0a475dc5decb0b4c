"""An answer that is kept while its reader follows a citation and comes back; and shared links."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from support import browser as chromium
from support.widget_excerpts import CODE, excerpts
from support.widget_site import NOT_FOUND, PARTIAL, Site, ask, serving, visit


def test_going_back_and_a_reload_restore_the_answer(page: Page, site: Site) -> None:
    box = visit(page, site, excerpts(CODE), path="/guide/")
    ask(box)
    box.locator("h3 .title").click()
    expect(page).to_have_url(f"{site.origin}/part1/#use")
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    expect(box.get_by_role("dialog")).to_be_hidden()
    page.go_back()
    expect(box.get_by_role("dialog")).to_be_visible()
    expect(box.locator(".card pre")).to_be_visible()
    expect(box.get_by_label("Your question")).to_have_value("How do I deploy?")
    page.go_forward()
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    expect(box.get_by_role("dialog")).to_be_hidden()
    page.go_back()
    expect(box.get_by_role("dialog")).to_be_visible()
    page.add_init_script(
        "window.events = []; addEventListener('answerable:answer', () => events.push('answer'))"
    )
    page.reload()
    expect(box.get_by_role("dialog")).to_be_visible()
    expect(box).to_have_attribute("state", "partial")
    expect(box.locator(".card pre")).to_be_visible()
    # Nobody is told of it again.
    assert page.evaluate("events") == []
    assert len(site.questions) == 1
    assert page.context.cookies() == []
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.deep
def test_a_box_that_was_closed_is_restored_closed(page: Page, site: Site) -> None:
    box = visit(page, site, NOT_FOUND)
    ask(box)
    expect(box).to_have_attribute("state", "not-found")
    page.keyboard.press("Escape")
    expect(box).not_to_have_attribute("open", "")
    page.reload()
    expect(box).to_have_attribute("state", "not-found")
    expect(box.get_by_role("dialog")).to_be_hidden()
    box.get_by_role("button", name="Ask").first.click()
    expect(box.get_by_role("heading", name="Nothing here says this directly.")).to_be_visible()


def test_an_answer_is_kept_for_its_page_and_its_tab_only(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".sentence")).to_be_visible()
    page.goto(f"{site.origin}/other/")
    page.reload()
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    expect(box).not_to_have_attribute("state", "partial")
    other = page.context.new_page()
    other.goto(f"{site.origin}/")
    other.reload()
    expect(other.get_by_role("button", name="Ask")).to_be_visible()
    assert other.evaluate("sessionStorage.length") == 0
    other.close()


def test_a_page_without_storage_works(page: Page, site: Site) -> None:
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage',"
        " { get() { throw new DOMException('denied', 'SecurityError'); } })"
    )
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".sentence")).to_be_visible()
    page.reload()
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    assert errors == []


@pytest.fixture
def caching_page(browser: Browser) -> Iterator[Page]:
    """A page of a browser that keeps pages alive for the way back, as readers' browsers do."""
    caching = browser.browser_type.launch(
        executable_path=chromium.executable(),
        args=chromium.CHROMIUM_ARGS,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    with chromium.browsing(caching) as page:
        yield page
    caching.close()


@pytest.mark.deep
def test_a_page_from_the_back_forward_cache_shows_the_answer(caching_page: Page) -> None:
    page = caching_page
    with serving() as site:
        box = visit(page, site, excerpts(CODE), path="/guide/")
        ask(box)
        page.evaluate("window.isSame = true")
        box.locator("h3 .title").click()
        expect(page).to_have_url(f"{site.origin}/part1/#use")
        # Playwright does not see a page that comes back from the cache load.
        page.evaluate("history.back()")
        page.wait_for_url(f"{site.origin}/guide/", wait_until="commit")
        assert page.evaluate("window.isSame")
        expect(box.get_by_role("dialog")).to_be_visible()
        expect(box.locator(".card pre")).to_be_visible()
