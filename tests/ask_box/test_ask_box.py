"""The ask box in a real Chromium, against a real HTTP server, under a strict CSP."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from support.deadlines import PATIENCE, until
from support.widget_site import (
    CLAIM,
    HANG,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    SECOND_CLAIM,
    SECOND_RECORD,
    SUPPORTED,
    Json,
    Reply,
    Site,
    answer,
    ask,
    asking,
    expect_failure,
    problem,
    visit,
    without,
)


def test_the_dialog_opens_and_closes_by_mouse_and_keys(page: Page, site: Site) -> None:
    box = visit(page, site)
    trigger = box.get_by_role("button", name="Ask")
    dialog = box.get_by_role("dialog", name="Ask this site")
    expect(trigger).to_have_attribute("aria-keyshortcuts", "Control+I Meta+I")
    trigger.click()
    expect(dialog).to_be_visible()
    expect(box.get_by_label("Your question")).to_be_focused()
    expect(box).to_contain_text("Answers come only from this site")
    # A selection that is dragged out of the dialog does not close it.
    box.get_by_role("heading", name="Ask this site").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.mouse.click(5, 5)
    expect(dialog).to_be_hidden()
    trigger.click()
    box.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(trigger).to_be_focused()
    for chord in ("Control+i", "Meta+i"):
        page.keyboard.press(chord)
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(trigger).to_be_focused()
    # Bare letters reach the page only while the dialog is closed.
    page.evaluate(
        "() => { window.seen = [];"
        " window.addEventListener('keydown', (event) => window.seen.push(event.key)); }"
    )
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    expect(box.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("sFp")
    box.get_by_role("button", name="Close").focus()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert page.evaluate("window.seen") == ["f", "Enter", "g"]


def test_a_written_answer_draws_its_sources_and_quotes(page: Page, site: Site) -> None:
    box = visit(page, site, SUPPORTED, path="/deep/page/")
    ask(box)
    verdict = box.get_by_role("heading", name="Answer, checked against 2 passages")
    expect(verdict).to_be_focused()
    expect(box.get_by_role("status")).to_have_text("Answer ready, 3 sources.")
    expect(box.locator(".sentence")).to_have_count(3)
    expect(box.locator(".entry")).to_have_count(0)
    titles = box.locator(".sources li .title")
    expect(titles).to_have_text(
        ["Deploy › AWS", "Reference › Limits", "Operations call about deployments"]
    )
    assert [link.get_attribute("href") for link in titles.all()] == [
        f"{site.origin}{RECORD['href']}",
        f"{site.origin}/reference/limits/",
        f"{site.origin}/guide/deploy/",
    ]
    expect(box.locator(".sources li").last).to_have_text(
        "3 Related material Operations call about deployments from 12:40"
    )
    expect(box).not_to_contain_text("onfidence")
    expect(box.get_by_text("1 sentence removed: source not verified.")).to_be_visible()
    assert site.questions == [("/_answerable/answer", asking("How do I deploy?"))]
    chip = box.get_by_role("button", name="Source 1: Deploy › AWS")
    expect(chip).to_have_text("1")
    quote = box.locator(".quote").first
    expect(quote).to_be_hidden()
    chip.focus()
    expect(quote).to_contain_text(str(RECORD["quote"]))
    expect(quote).to_be_visible()
    page.keyboard.press("Tab")
    expect(quote.get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(quote).to_be_hidden()
    expect(chip).to_be_focused()


MALFORMED: dict[str, Reply] = {
    "garbage": Reply("<html>not JSON"),
    "a list": Reply([SUPPORTED]),
    "null": Reply("null"),
    "unknown mode": Reply(PARTIAL | {"mode": "certain"}),
    "inherited name as mode": Reply(PARTIAL | {"mode": "constructor"}),
    "not-found with citations": Reply(NOT_FOUND | {"citations": [RECORD]}),
    "not-found with a claim": Reply(NOT_FOUND | {"claims": [CLAIM]}),
    "mode against its citations": Reply(SUPPORTED | {"mode": "partial"}),
    "claim without citations": Reply(PARTIAL | {"claims": [CLAIM | {"citations": []}]}),
    "claim that cites nothing known": Reply(PARTIAL | {"claims": [CLAIM | {"citations": [7]}]}),
    "claim that cites a note": Reply(RELATED | {"claims": [CLAIM | {"citations": [3]}]}),
    "one good and one bad claim": Reply(PARTIAL | {"claims": [CLAIM, {"markdown": "x"}]}),
    "citation nobody uses": Reply(PARTIAL | {"citations": [RECORD, SECOND_RECORD]}),
    "two citations of one number": Reply(PARTIAL | {"citations": [RECORD, RECORD]}),
    "unknown kind": Reply(PARTIAL | {"citations": [RECORD | {"kind": "advert"}]}),
    "record without a title": Reply(PARTIAL | {"citations": [without(RECORD, "title")]}),
    "text that is an object": Reply(PARTIAL | {"claims": [CLAIM | {"markdown": {}}]}),
    "claims missing": Reply(without(PARTIAL, "claims")),
    "url that is a number": Reply(PARTIAL | {"citations": [RECORD | {"url": 5}]}),
    "excerpts without citations": Reply(
        PARTIAL | {"excerpts": PARTIAL | {"claims": [CLAIM | {"citations": []}]}}
    ),
    "problem": problem(503),
}


def test_what_is_no_answer_draws_the_error_and_the_question_can_be_sent_again(
    page: Page, site: Site
) -> None:
    box = visit(page, site, *MALFORMED.values(), PARTIAL)
    box.get_by_role("button", name="Ask").click()
    question = box.get_by_label("Your question")
    for case in MALFORMED:
        question.fill(case)
        question.press("Enter")
        expect_failure(box, case)
    expect(question).to_be_focused()
    box.get_by_role("button", name="Try again").click()
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    expect(box.get_by_role("alert")).to_be_empty()
    assert [body["question"] for _, body in site.questions] == [*MALFORMED, "problem"]


def test_a_question_is_sent_once_and_aborted_by_the_next_or_by_closing(
    page: Page, site: Site
) -> None:
    box = visit(page, site, HANG, PARTIAL, HANG)
    ask(box, "   ")
    question = box.get_by_label("Your question")
    question.fill("One")
    question.press("Shift+Enter")
    question.press_sequentially("two")
    expect(question).to_have_value("One\ntwo")
    box.get_by_role("dialog").get_by_role("button", name="Ask").click()
    for _ in range(3):
        question.press("Enter")
    expect(box).to_contain_text("Looking through this site")
    until(lambda: len(site.questions) == 1)
    question.fill("Second?")
    question.press("Enter")
    expect(box).to_have_attribute("state", "partial")
    expect(box.locator(".sentence")).to_have_count(1)
    assert site.hung_up.wait(PATIENCE)
    site.hung_up.clear()
    question.fill("Third?")
    question.press("Enter")
    until(lambda: len(site.questions) == 3)
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box.get_by_role("button", name="Ask")).to_be_focused()
    assert site.hung_up.wait(PATIENCE)
    assert [body for _, body in site.questions] == [
        asking("One\ntwo"), asking("Second?"), asking("Third?")
    ]  # fmt: skip


HOSTILE: dict[str, str | None] = {
    "javascript:alert(1)": None,
    "JavaScript:alert(1)": None,
    "data:text/html,x": None,
    "guide/": None,
    "https:": None,
    "": None,
    "/javascript:alert(1)": "/javascript:alert(1)",
    "//evil.example/x": "//evil.example/x",
    "/\\evil.example/x": "//evil.example/x",
    "/../../x": "/x",
}


def test_only_pages_of_this_site_and_http_addresses_become_links(page: Page, site: Site) -> None:
    citations = [
        without(RECORD, "href") | {"n": n, "url": url} for n, url in enumerate(HOSTILE, start=1)
    ]
    claims = [CLAIM | {"citations": [citation["n"]]} for citation in citations]
    written = PARTIAL | {"claims": claims, "citations": citations}
    foreign = RECORD | {"url": "//evil.example/x", "href": "//evil.example/x"}
    elsewhere = {"citations": [foreign], "site_url": "https://example.org/docs/"}
    box = visit(page, site, written, written | {"written": False}, PARTIAL | elsewhere)
    ask(box)
    expect(box.locator(".sources li")).to_have_count(len(HOSTILE))
    paths = [path and site.origin + path for path in HOSTILE.values()]
    for place in (".sources .title", ".quote .title"):
        assert [each.get_attribute("href") for each in box.locator(place).all()] == paths
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".entry")).to_have_count(len(HOSTILE) - 1)
    links = box.locator(".view a").all()
    assert [each.get_attribute("href") for each in links] == [path for path in paths if path]
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".sources li")).to_have_count(1)
    expect(box.locator("a")).to_have_count(0)


def test_a_site_below_a_path_uses_that_path_for_requests_and_links(page: Page, site: Site) -> None:
    site.prefix = "/sub"
    places = {name: f"/en/latest{RECORD[name]}" for name in ("url", "href")}
    site_url = "https://example.org/en/latest/"
    reply = PARTIAL | {"citations": [RECORD | places], "site_url": site_url}
    box = visit(page, site, reply, path="/deep/page/")
    ask(box)
    expect(box.locator(".sources a")).to_have_attribute(
        "href", f"{site.origin}/sub{RECORD['href']}"
    )
    assert [path for path, _ in site.questions] == ["/sub/_answerable/answer"]


def test_the_endpoint_survives_a_change_of_address(page: Page, site: Site) -> None:
    site.head = '<link rel="answerable" href="../api/">'
    box = visit(page, site, PARTIAL, path="/guide/")
    page.evaluate("history.pushState(null, '', '/far/away/from/here/')")
    page.evaluate("document.body.append(document.querySelector('answerable-ask'))")
    ask(box)
    expect(box).to_have_attribute("state", "partial")
    assert [url for url, _ in site.questions] == ["/api/answer"]


def cited_in(*languages: str | None) -> Json:
    """An answer whose sources are in these languages."""
    records = [RECORD, SECOND_RECORD][: len(languages)]
    return answer(
        "partial",
        claims=[CLAIM, SECOND_CLAIM][: len(languages)],
        citations=[
            {**record, "language": language}
            for record, language in zip(records, languages, strict=True)
        ],
    )


def test_sources_in_another_language_name_it_and_a_valid_language_is_sent(
    page: Page, site: Site
) -> None:
    site.lang = "fr-CA"
    site.ask_box = '<answerable-ask lang="en"></answerable-ask>'
    sources = {
        ("en", "de"): "The sources are in English and German.",
        ("not a tag",): "The sources are in not a tag.",
    }
    box = visit(page, site, *(cited_in(*languages) for languages in sources), NOT_FOUND)
    ask(box)
    for languages, notice in sources.items():
        expect(box.get_by_text("The sources are in")).to_have_text(notice)
        quotes = box.locator(".quoted").all()
        assert [quote.get_attribute("lang") for quote in quotes] == list(languages)
        if len(languages) == 1:
            # What is no language is not sent.
            page.evaluate("() => { document.documentElement.lang = '<en>'; }")
        box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    assert [body.get("language") for _, body in site.questions] == ["fr-CA", "fr-CA", None]
