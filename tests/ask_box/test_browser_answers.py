"""A browser answers on a static host: cites, refuses, works offline and under a strict policy."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from ask_box.test_widget_accessibility import SCHEMES, violations
from support.browser import browsing
from support.browser_site import HEAVY, PAGES, Host, ask, hosted, visit, write_plain_site
from support.sites import build_here
from support.widget_site import STRICT_CSP

CHAIN = "How thick is the chain of a mooring?"
LAMP = "How often does the lamp of the breakwater blink?"
UNKNOWN = "Who won the football championship?"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that is only to be read."""
    folder = write_plain_site(tmp_path_factory.mktemp("browser"))
    build_here(folder)
    return folder / "site"


@pytest.fixture
def host(built: Path) -> Iterator[Host]:
    with hosted(built) as host:
        yield host


def test_box_cites_refuses_highlights_and_sends_no_word_of_a_question(
    page: Page, host: Host
) -> None:
    sent: list[tuple[str, str, str | None]] = []
    page.on("request", lambda r: sent.append((r.method, r.url, r.post_data)))
    box = visit(page, f"{host.origin}/storms/")
    assert not [url for _, url, _ in sent if re.search("/engine/|/index/|site.json", url)]
    ask(box, CHAIN)
    expect(box).to_have_attribute("state", "partial")
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
    title = box.locator("h3 .title")
    expect(title).to_have_text("Mooring › Chains")
    # What is found beside it is a row, which opens in place.
    rows = box.locator(".entry .title")
    expect(rows.first).to_be_visible()
    assert "Mooring › Chains" not in rows.all_inner_texts()
    assert workers(page) == ["site_index.js"]
    ask(box, UNKNOWN)
    expect(box).to_have_attribute("state", "not-found")
    expect(box.locator(".remarks")).to_contain_text("championship")
    ask(box, LAMP)
    words = set(re.findall(r"[a-z]{4,}", f"{CHAIN} {UNKNOWN} {LAMP}".lower()))
    assert {"chain", "football", "lamp"} <= words
    assert {(method, body) for method, _, body in sent} == {("GET", None)}
    addresses = [url.removeprefix(host.origin).lower() for _, url, _ in sent]
    # The pages that are cited are called as their titles.
    assert not [each for each in addresses if any(word in each for word in words - {"mooring"})]
    assert not [line for line in host.requests if "?" in line or "_answerable" in line]
    title.click()
    expect(page.get_by_text("blinks green every seven")).to_be_in_viewport()
    assert page.url.startswith(f"{host.origin}/lights/#harbour-entrance")


def typed_places(box: Locator) -> Locator:
    """The links to places for what is typed."""
    return box.locator(".typed").get_by_role("link")


def test_places_appear_while_typing_without_vectors_and_enter_asks(page: Page, host: Host) -> None:
    box = visit(page, f"{host.origin}/storms/")
    box.get_by_role("button", name="Ask", exact=True).click()
    field = box.get_by_label("Your question")
    field.press_sequentially("How thick is the chain")
    place = typed_places(box).first
    expect(place.locator(".title")).to_have_text("Mooring › Chains")
    expect(place).to_have_attribute("href", re.compile(f"^{host.origin}/mooring/#chains"))
    # For the shorter text there were two.
    expect(typed_places(box)).to_have_count(1)
    group = box.get_by_role("group", name="1 place to look on this site")
    expect(group.locator(".card, .mark, .number")).to_have_count(0)
    # It is told once the reader rests.
    expect(box.get_by_role("status")).to_contain_text("1 place")
    expect(field).to_be_focused()
    assert not [line for line in host.requests if re.search(HEAVY, line)]
    assert not [line for line in host.requests if "thick" in line or "_answerable" in line]
    field.press_sequentially(" of a mooring?")
    field.press("Enter")
    expect(box).to_have_attribute("state", "partial")
    expect(box.locator(".typed")).to_be_hidden()
    expect(box.get_by_role("status")).to_contain_text("source")
    assert [line for line in host.requests if re.search(HEAVY, line)]
    # The next question's places stand above the answer, until it is emptied.
    field.fill("lamp")
    expect(typed_places(box).first).to_contain_text("Lights")
    expect(box.locator(".card").first).to_be_visible()
    field.fill("")
    expect(box.locator(".typed")).to_be_hidden()
    field.fill("lamp")
    expect(typed_places(box).first).to_be_visible()
    # A word that ends, so that its empty list replaces the one before.
    field.fill("xylophone ")
    expect(box.locator(".typed")).to_be_hidden()


def test_newest_text_wins_and_a_list_stays_until_the_next_one_is_there(
    page: Page, host: Host
) -> None:
    box = visit(page, host.origin)
    box.get_by_role("button", name="Ask", exact=True).click()
    page.evaluate(
        """() => {
          window.lists = [];
          const typed = document.querySelector("answerable-ask").shadowRoot.querySelector(".typed");
          const note = () => lists.push(typed.innerText);
          new MutationObserver(note).observe(typed, { childList: true });
        }"""
    )
    field = box.get_by_label("Your question")
    routes: list[Route] = []
    page.route("**/terms-*", lambda route: routes.append(route))
    with page.expect_request("**/terms-*"):
        field.fill("storm ")
    field.fill("lamp ")
    expect(box.locator(".typed")).to_be_hidden()
    for route in routes:
        route.continue_()
    expect(typed_places(box).first).to_contain_text("Lights")
    field.fill("chain ")
    expect(typed_places(box).first).to_contain_text("Mooring › Chains")
    first, second = page.evaluate("lists")
    assert ("Lights" in first, "Chains" in second) == (True, True)


def test_arrow_keys_reach_places_and_axe_finds_nothing(page: Page, host: Host) -> None:
    box = visit(page, f"{host.origin}/storms/")
    box.get_by_role("button", name="Ask", exact=True).click()
    field = box.get_by_label("Your question")
    field.fill("mooring chain")
    links = typed_places(box)
    expect(links.nth(1)).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    field.press("Home")
    field.press("ArrowDown")
    expect(field).to_be_focused()
    field.press("End")
    field.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{host.origin}/mooring/#chains")
    box.get_by_role("button", name="Ask again").click()
    expect(field).to_have_value("mooring chain")
    field.fill("mooring")
    expect(links.first).to_be_visible()
    field.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()


def test_first_question_suffices_to_answer_it_offline(page: Page, host: Host) -> None:
    box = visit(page, host.origin)
    ask(box, CHAIN)
    page.context.set_offline(True)
    ask(box, UNKNOWN)
    expect(box.get_by_role("alert")).to_contain_text("You are offline")
    expect(box.locator("textarea")).to_have_value(UNKNOWN)
    ask(box, CHAIN)
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
    page.context.set_offline(False)
    ask(box, UNKNOWN)
    expect(box).to_have_attribute("state", "not-found")


def test_strict_csp_is_not_violated(page: Page, host: Host) -> None:
    host.headers["Content-Security-Policy"] = STRICT_CSP
    page.add_init_script(
        "window.violations = []; document.addEventListener('securitypolicyviolation',"
        " (event) => violations.push(event.effectiveDirective + event.blockedURI))"
    )
    box = visit(page, f"{host.origin}/404.html")
    ask(box, CHAIN)
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
    assert workers(page) == ["site_index.js"]
    assert page.evaluate("violations") == []


def workers(page: Page) -> list[str]:
    """List the files that the workers of a page run, without the hashes of their folders."""
    return [re.sub(r".*/assets/answerable/engine/[0-9a-f]{16}/", "", w.url) for w in page.workers]


def test_page_answers_itself_where_no_worker_is_to_be_had(browser: Browser, host: Host) -> None:
    host.headers["Content-Security-Policy"] = f"{STRICT_CSP}; worker-src 'none'"
    with browsing(browser) as page:
        box = visit(page, f"{host.origin}/404.html")
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
        assert workers(page) == []


def test_new_deploy_is_noticed_by_an_open_page(page: Page, built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    # As another version that the host has published in the meantime.
    newer = write_plain_site(
        tmp_path / "newer",
        {**PAGES, "tides.md": "# Tides\n\nThe tide lifts boats by two metres.\n"},
    )
    build_here(newer)
    shutil.copytree(built, site)
    with hosted(site) as host:
        box = visit(page, host.origin)
        ask(box, CHAIN)
        shutil.rmtree(site)
        shutil.copytree(newer / "site", site)
        ask(box, "By how many metres does the tide lift boats?")
        expect(box.locator(".card")).to_contain_text("two metres")
        expect(box.get_by_text("are not of the same build")).to_have_count(0)


def test_stop_ends_a_question_whose_index_is_still_loaded(page: Page, host: Host) -> None:
    box = visit(page, host.origin)
    waiting: list[Route] = []
    page.route("**/manifest-*.bin", lambda route: waiting.append(route))
    box.get_by_role("button", name="Ask", exact=True).first.click()
    box.locator("textarea").fill(CHAIN)
    box.locator("textarea").press("Enter")
    box.get_by_role("button", name="Stop").click()
    expect(box).to_have_attribute("state", "empty")
    for route in waiting:
        route.continue_()
    page.unroute("**/manifest-*.bin")
    ask(box, CHAIN)
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")


def fulfill_by(body: object) -> Callable[[Route], None]:
    return lambda route: route.fulfill(json=body)


def test_engine_that_is_no_path_of_the_site_is_not_run(page: Page, host: Host) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    other = host.origin.replace("127.0.0.1", "127.0.0.2")
    for path in (f"{other}/x.js", "data:text/javascript,self.ran=1"):
        page.route("**/site.json", fulfill_by({"index": "x", "engine": path}))
        box = visit(page, host.origin)
        ask(box, CHAIN)
        expect(box.get_by_role("alert")).to_be_visible()
        assert page.evaluate("self.ran") is None
        page.unroute("**/site.json")
    assert not [url for url in urls if url.startswith("data:") or url.endswith("/x.js")]


# Of files that the site has, by what is wrong with them: the pattern, and what is sent instead.
BROKEN_FILES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "bad shard": ("**/terms-*.bin", {"body": "junk"}, "stale", "Reload the page"),
    "broken server": ("**/index/**", {"status": 502, "body": ""}, "failed", "Try again"),
    "missing site.json": ("**/site.json*", {"status": 404, "body": ""}, "501", ""),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_every_failure_has_a_way_on(page: Page, host: Host, name: str) -> None:
    pattern, reply, code, remedy = BROKEN_FILES[name]
    box = visit(page, host.origin)
    page.route(pattern, lambda route: route.fulfill(**reply))
    ask(box, CHAIN)
    expect(box).to_have_attribute("problem", code)
    expect(box.locator("button.retry, button.reload")).to_have_text([remedy] if remedy else [])
    expect(box.get_by_role("alert")).not_to_contain_text("function")
    page.unroute(pattern)
    if remedy == "Reload the page":
        box.get_by_role("button", name=remedy).click()
        expect(box.locator(".tip").first).to_contain_text("Press Enter")
        expect(box.locator("textarea")).to_have_value(CHAIN)
        assert not page.url.endswith(CHAIN)
    box.locator("textarea").press("Enter")
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that answers from a disk too, below a folder whose name has to be quoted."""
    folder = tmp_path_factory.mktemp("offline") / "my docs"
    write_plain_site(folder, plugins=[{"answerable": {"offline": True}}])
    build_here(folder)
    return folder / "site"


def test_page_of_a_disk_answers_from_scripts(page: Page, offline: Path) -> None:
    box = visit(page, (offline / "storms.html").as_uri())
    box.get_by_role("button", name="Ask", exact=True).click()
    box.locator("textarea").fill("chain")
    expect(typed_places(box).first).to_contain_text("Mooring › Chains")
    ask(box, CHAIN)
    expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
    box.get_by_role("button", name="Copy answer").click()
    ask(box, UNKNOWN)
    expect(box).to_have_attribute("state", "not-found")
    ask(box, LAMP)
    box.locator("h3 .title").click()
    expect(page.get_by_text("blinks green every seven")).to_be_visible()
    assert page.url.startswith((offline / "lights.html").as_uri())
