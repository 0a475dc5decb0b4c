"""The ask box in a real Chromium, against a real HTTP server, under a strict CSP."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Page, expect

from support.deadlines import PATIENCE, until
from support.widget_site import (
    CLAIM,
    HANG,
    HINT,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    ROOT,
    ROUTE,
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

OVERRIDES = ROOT / "overrides"


def test_button_opens_a_labelled_dialog_with_the_focus_in_the_question(
    page: Page, site: Site
) -> None:
    box = visit(page, site)
    trigger = box.get_by_role("button", name="Ask")
    expect(trigger).to_have_attribute("aria-keyshortcuts", "Control+I Meta+I")
    trigger.click()
    expect(box.get_by_role("dialog", name="Ask this site")).to_be_visible()
    expect(box.get_by_label("Your question")).to_be_focused()
    expect(box).to_contain_text("Answers come only from this site")


@pytest.mark.parametrize("chord", ["Control+i", "Meta+i"])
def test_shortcut_opens_and_escape_gives_the_focus_back(page: Page, site: Site, chord: str) -> None:
    box = visit(page, site)
    page.keyboard.press(chord)
    expect(box.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box.get_by_role("button", name="Ask")).to_be_focused()


def test_close_button_and_backdrop_close(page: Page, site: Site) -> None:
    box = visit(page, site)
    box.get_by_role("button", name="Ask").click()
    box.get_by_role("button", name="Close").click()
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box.get_by_role("button", name="Ask")).to_be_focused()
    box.get_by_role("button", name="Ask").click()
    page.mouse.click(5, 5)
    expect(box.get_by_role("dialog")).to_be_hidden()


def test_a_selection_dragged_out_of_the_dialog_does_not_close_it(page: Page, site: Site) -> None:
    box = visit(page, site)
    box.get_by_role("button", name="Ask").click()
    box.get_by_role("heading", name="Ask this site").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(box.get_by_role("dialog")).to_be_visible()


def test_supported_answer_draws_exactly_the_cited_cards(page: Page, site: Site) -> None:
    box = visit(page, site, SUPPORTED, path="/deep/page/")
    ask(box)
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    expect(box.get_by_role("status")).to_have_text("Answer ready, 3 sources.")
    expect(box.locator(".card")).to_have_count(3)
    expect(box.locator(".card a")).to_have_text(
        ["Deploy › AWS", "Reference › Limits", "Operations call about deployments"]
    )
    hrefs = [link.get_attribute("href") for link in box.locator(".card a").all()]
    assert hrefs == [
        f"{site.origin}{RECORD['href']}",
        f"{site.origin}/reference/limits/",
        f"{site.origin}/guide/deploy/",
    ]
    marker = box.get_by_role("link", name="Source 1: Deploy › AWS")
    expect(marker).to_have_text("[1]")
    expect(marker).to_have_attribute("href", f"{site.origin}{RECORD['href']}")
    expect(box.locator(".sentence")).to_have_count(3)
    expect(box.locator(".card").first).to_contain_text(str(RECORD["quote"]))
    expect(box.locator(".card.hint")).to_contain_text("Related material")
    expect(box.locator(".card.hint")).to_contain_text("from 12:40")
    expect(box).not_to_contain_text("onfidence")
    expect(box).to_contain_text("1 sentence removed: source not verified.")
    assert site.questions == [("/_answerable/answer", asking("How do I deploy?"))]


def test_partial_answer_draws_its_record_cards_and_no_route(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.get_by_role("status")).to_have_text("Answer ready, 1 source.")
    expect(box.locator(".card")).to_have_count(1)
    expect(box).not_to_contain_text("onfidence")
    expect(box).not_to_contain_text("removed")


def test_related_material_has_only_routes_and_location_cards(page: Page, site: Site) -> None:
    box = visit(page, site, RELATED)
    ask(box)
    expect(box.get_by_role("heading", name="Where to look")).to_be_focused()
    expect(box.locator(".sentence")).to_have_text([f"{ROUTE['text']}[1]"])
    expect(box.locator(".card")).to_have_count(1)
    expect(box.locator(".card.hint")).to_have_count(1)


def test_not_found_declines_without_cards(page: Page, site: Site) -> None:
    box = visit(page, site, NOT_FOUND | {"answer": "Trust me, it is 42."})
    ask(box)
    expect(box.get_by_role("heading", name="This site does not answer that.")).to_be_focused()
    expect(box.get_by_role("status")).to_have_text("Not found on this site.")
    expect(box.locator(".card, .sentence, .mark")).to_have_count(0)
    expect(box).not_to_contain_text("42")
    expect(box).not_to_contain_text("onfidence")


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
    "one good and one bad claim": Reply(PARTIAL | {"claims": [CLAIM, {"text": "x"}]}),
    "citation nobody uses": Reply(PARTIAL | {"citations": [RECORD, SECOND_RECORD]}),
    "two citations of one number": Reply(PARTIAL | {"citations": [RECORD, RECORD]}),
    "unknown kind": Reply(PARTIAL | {"citations": [RECORD | {"kind": "advert"}]}),
    "record without a title": Reply(PARTIAL | {"citations": [without(RECORD, "title")]}),
    "text that is an object": Reply(PARTIAL | {"claims": [CLAIM | {"text": {}}]}),
    "claims missing": Reply(without(PARTIAL, "claims")),
    "url that is a number": Reply(PARTIAL | {"citations": [RECORD | {"url": 5}]}),
}


def test_a_response_of_the_wrong_shape_draws_the_error_and_nothing_else(
    page: Page, site: Site
) -> None:
    box = visit(page, site, *MALFORMED.values())
    box.get_by_role("button", name="Ask").click()
    question = box.get_by_label("Your question")
    for case in MALFORMED:
        question.fill(case)
        question.press("Enter")
        expect_failure(box, case)
    assert [body["question"] for _, body in site.questions] == list(MALFORMED)


def test_an_error_replaces_an_earlier_answer(page: Page, site: Site) -> None:
    box = visit(page, site, SUPPORTED, Reply("<html>not JSON"))
    ask(box)
    expect(box.locator(".card")).to_have_count(3)
    box.get_by_label("Your question").press("Enter")
    expect_failure(box)


def test_503_keeps_the_question_and_retry_works(page: Page, site: Site) -> None:
    box = visit(page, site, problem(503), PARTIAL)
    ask(box)
    expect_failure(box)
    expect(box.get_by_label("Your question")).to_be_focused()
    box.get_by_role("button", name="Try again").click()
    expect(box.get_by_role("heading", name="Answer")).to_be_focused()
    expect(box.get_by_role("alert")).to_be_empty()
    assert [body for _, body in site.questions] == [asking("How do I deploy?")] * 2


def test_400_asks_to_change_the_question(page: Page, site: Site) -> None:
    box = visit(page, site, problem(400, "bad-request"))
    ask(box)
    expect(box.get_by_role("alert")).to_contain_text("Please change it")


def test_network_failure_is_an_error(page: Page, site: Site) -> None:
    box = visit(page, site)
    page.context.set_offline(True)
    ask(box)
    expect_failure(box)


def test_stop_aborts_and_keeps_the_question(page: Page, site: Site) -> None:
    box = visit(page, site, HANG)
    ask(box)
    expect(box).to_contain_text("Looking through this site")
    until(lambda: len(site.questions) == 1)
    box.get_by_role("button", name="Stop").click()
    assert site.hung_up.wait(PATIENCE)
    expect(box.get_by_label("Your question")).to_have_value("How do I deploy?")
    expect(box.get_by_role("button", name="Stop")).to_have_count(0)
    expect(box.get_by_role("alert")).to_be_empty()


def test_a_new_question_aborts_the_old_one(page: Page, site: Site) -> None:
    box = visit(page, site, HANG, PARTIAL)
    ask(box, "First?")
    expect(box).to_contain_text("Looking through this site")
    until(lambda: len(site.questions) == 1)
    box.get_by_label("Your question").fill("Second?")
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".card")).to_have_count(1)
    assert site.hung_up.wait(PATIENCE)


def test_closing_while_working_aborts(page: Page, site: Site) -> None:
    box = visit(page, site, HANG)
    ask(box)
    expect(box).to_contain_text("Looking through this site")
    until(lambda: len(site.questions) == 1)
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box.get_by_role("button", name="Ask")).to_be_focused()
    assert site.hung_up.wait(PATIENCE)


def test_shift_enter_is_a_newline_and_an_empty_question_is_not_sent(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    ask(box, "   ")
    question = box.get_by_label("Your question")
    question.fill("One")
    question.press("Shift+Enter")
    question.press_sequentially("two")
    expect(question).to_have_value("One\ntwo")
    box.get_by_role("dialog").get_by_role("button", name="Ask").click()
    expect(box.locator(".card")).to_have_count(1)
    assert [body for _, body in site.questions] == [asking("One\ntwo")]


def test_bare_letters_reach_the_page_only_while_the_dialog_is_closed(
    page: Page, site: Site
) -> None:
    box = visit(page, site)
    page.evaluate(
        "() => { window.seen = [];"
        " window.addEventListener('keydown', (event) => window.seen.push(event.key)); }"
    )
    box.get_by_role("button", name="Ask").focus()
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    expect(box.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("sFp")
    box.get_by_role("button", name="Close").focus()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert page.evaluate("window.seen") == ["f", "Enter", "g"]


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
    claim = CLAIM | {"citations": [citation["n"] for citation in citations]}
    box = visit(page, site, PARTIAL | {"claims": [claim], "citations": citations})
    ask(box)
    expect(box.locator(".card")).to_have_count(len(HOSTILE))
    paths = [path and site.origin + path for path in HOSTILE.values()]
    for place in (".card .title", ".mark"):
        assert [each.get_attribute("href") for each in box.locator(place).all()] == paths


def test_with_a_site_url_a_foreign_host_is_never_linked(page: Page, site: Site) -> None:
    citation = RECORD | {"url": "//evil.example/x", "href": "//evil.example/x"}
    fields = {"citations": [citation], "site_url": "https://example.org/docs/"}
    box = visit(page, site, PARTIAL | fields)
    ask(box)
    expect(box.locator(".card")).to_have_count(1)
    expect(box.locator("a")).to_have_count(0)


def test_a_hint_may_point_to_another_site(page: Page, site: Site) -> None:
    hint = HINT | {"url": "https://videos.example.org/call?t=760"}
    box = visit(page, site, RELATED | {"citations": [hint]})
    ask(box)
    expect(box.locator(".card a")).to_have_attribute("href", str(hint["url"]))


def test_markup_in_text_is_shown_as_text(page: Page, site: Site) -> None:
    markup = "<img src=x onerror=alert(1)><b>bold</b>"
    fields: Json = {
        "claims": [{"text": markup, "citations": [1]}],
        "citations": [RECORD | {"title": markup, "quote": markup}],
    }
    box = visit(page, site, PARTIAL | fields)
    ask(box)
    expect(box.locator(".sentence")).to_contain_text(markup)
    expect(box.locator(".card .title")).to_have_text(markup)
    expect(box.locator("blockquote")).to_have_text(markup)
    expect(box.locator("img, b")).to_have_count(0)


@pytest.mark.parametrize("published", [None, "/", "/sub/", "/en/latest/"])
def test_a_site_below_a_path_uses_that_path_for_requests_and_links(
    page: Page, site: Site, published: str | None
) -> None:
    site.prefix = "/sub"
    site_url = published and f"https://example.org{published}"
    prefix = (published or "").rstrip("/")
    citation = RECORD | {
        "url": f"{prefix}{RECORD['url']}",
        "href": f"{prefix}{RECORD['href']}",
    }
    reply = PARTIAL | {"citations": [citation], "site_url": site_url}
    box = visit(page, site, reply, path="/deep/page/")
    ask(box)
    expect(box.locator(".card a")).to_have_attribute("href", f"{site.origin}/sub{RECORD['href']}")
    assert [path for path, _ in site.questions] == ["/sub/_answerable/answer"]


@pytest.mark.parametrize(
    ("head", "attribute", "path"),
    [
        ('<link rel="answerable" href="/api">', "", "/api/answer"),
        ('<link rel="answerable" href="/api/">', 'endpoint="/mine"', "/mine/answer"),
    ],
)
def test_the_endpoint_is_the_attribute_then_the_link(
    page: Page, site: Site, head: str, attribute: str, path: str
) -> None:
    site.head = head
    site.ask_box = f"<answerable-ask {attribute}></answerable-ask>"
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box.locator(".card")).to_have_count(1)
    assert [url for url, _ in site.questions] == [path]


def test_the_endpoint_survives_a_change_of_address(page: Page, site: Site) -> None:
    site.head = '<link rel="answerable" href="../api/">'
    box = visit(page, site, PARTIAL, path="/guide/")
    page.evaluate("history.pushState(null, '', '/far/away/from/here/')")
    page.evaluate("document.body.append(document.querySelector('answerable-ask'))")
    ask(box)
    expect(box.locator(".card")).to_have_count(1)
    assert [url for url, _ in site.questions] == ["/api/answer"]


def test_placement_none_draws_no_button_but_opens_by_method(page: Page, site: Site) -> None:
    site.ask_box = '<answerable-ask placement="none"></answerable-ask>'
    box = visit(page, site)
    expect(box.locator(".trigger")).to_be_hidden()
    page.evaluate("document.querySelector('answerable-ask').open()")
    expect(box.get_by_label("Your question")).to_be_focused()


def test_following_a_source_on_this_page_closes_the_dialog(page: Page, site: Site) -> None:
    citation = RECORD | {"url": "/#aws", "href": "/#aws"}
    box = visit(page, site, PARTIAL | {"citations": [citation]})
    ask(box)
    box.locator(".card a").click()
    expect(box.get_by_role("dialog")).to_be_hidden()
    assert page.url == f"{site.origin}/#aws"


def test_events_reach_the_page_and_ask_can_be_cancelled(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    page.evaluate(
        "() => { window.log = [];"
        " document.addEventListener('answerable:ask', (event) => {"
        "   window.log.push([event.detail.question, event.composed]);"
        "   if (event.detail.question === 'No') event.preventDefault(); });"
        " document.addEventListener('answerable:answer', (event) =>"
        "   window.log.push([event.detail.mode, event.composed])); }"
    )
    ask(box, "No")
    box.get_by_label("Your question").fill("Yes")
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".card")).to_have_count(1)
    assert page.evaluate("window.log") == [["No", True], ["Yes", True], ["partial", True]]
    assert [body for _, body in site.questions] == [asking("Yes")]


def test_nothing_is_stored_and_nothing_leaves_the_site(page: Page, site: Site) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    box = visit(page, site, SUPPORTED)
    ask(box)
    expect(box.locator(".card")).to_have_count(3)
    assert all(url.startswith(site.origin) for url in requested)
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert page.context.cookies() == []


def test_the_dialog_fills_a_phone_and_print_hides_the_box(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    box = visit(page, site, SUPPORTED)
    ask(box)
    expect(box.locator(".card")).to_have_count(3)
    assert box.get_by_role("dialog").bounding_box() == {
        "x": 0,
        "y": 0,
        "width": 390,
        "height": 780,
    }
    page.emulate_media(media="print")
    expect(box.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize(
    "options",
    [{}, {"features": ["navigation.tabs", "navigation.tabs.sticky"]}],
    ids=["bar", "tabs"],
)
@pytest.mark.parametrize("plugins", [["search"], []], ids=["search", "no search"])
def test_the_override_puts_the_box_into_materials_header(
    tmp_path: Path, options: Json, plugins: list[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Home\n")
    theme = {"name": "material", "custom_dir": str(OVERRIDES), "font": False} | options
    config = {"site_name": "Docs", "docs_dir": str(docs), "theme": theme, "plugins": plugins}
    (tmp_path / "mkdocs.yml").write_text(json.dumps(config))
    build(load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "site")))
    html = (tmp_path / "site" / "index.html").read_text()
    assert html.count("<answerable-ask") == 1
    assert html.count('<nav class="md-tabs"') == (1 if options else 0)
    closing = r'</answerable-ask></nav>\s*(<nav class="md-tabs"|</header>)'
    assert re.search(closing, html)


@pytest.mark.skipif("ANSWERABLE_SHOTS" not in os.environ, reason="ANSWERABLE_SHOTS is not set")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("device", "width"), [("desktop", 1100), ("phone", 390)])
def test_screenshots_of_all_states_are_taken_where_a_folder_is_set(
    page: Page, site: Site, scheme: str, device: str, width: int
) -> None:
    folder = Path(os.environ["ANSWERABLE_SHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size({"width": width, "height": 820})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    site.head = '<link rel="stylesheet" href="/style.css">'

    def shoot(state: str) -> None:
        page.screenshot(path=folder / f"{device}-{scheme}-{state}.png", animations="disabled")

    box = visit(page, site, HANG, SUPPORTED, RELATED, NOT_FOUND, problem(503))
    shoot("closed")
    box.get_by_role("button", name="Ask").click()
    shoot("empty")
    question = box.get_by_label("Your question")
    question.fill("How do I deploy the answer function to AWS?")
    states = {
        "working": box.get_by_text("Looking through"),
        "supported": box.get_by_text("Answer", exact=True),
        "related": box.get_by_text("Where to look"),
        "not-found": box.get_by_text("does not answer that"),
        "error": box.get_by_role("button", name="Try again"),
    }
    for state, sign in states.items():
        question.press("Enter")
        expect(sign).to_be_visible()
        shoot(state)
        until(lambda: len(site.questions) > 0)


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


@pytest.mark.parametrize(
    ("page_language", "sources", "notice"),
    [
        ("fr", ("en",), "The sources are in English."),
        ("fr-CA", ("en", "de"), "The sources are in English and German."),
        ("fr", ("en", "en"), "The sources are in English."),
        ("fr-CA", ("fr", "en"), None),
        ("pt_BR", ("pt",), None),
        ("fr", (None,), None),
        ("", ("en",), None),
        ("fr", ("not a tag",), "The sources are in not a tag."),
    ],
)
def test_sources_in_another_language_name_that_language(
    page: Page, site: Site, page_language: str, sources: tuple[str | None, ...], notice: str | None
) -> None:
    site.lang = page_language
    site.ask_box = '<answerable-ask lang="en"></answerable-ask>'
    box = visit(page, site, cited_in(*sources))
    ask(box)
    expect(box.locator("blockquote")).to_have_count(len(sources))
    lines = box.locator(".meta").all_inner_texts()
    assert [each for each in lines if each.startswith("The sources")] == (
        [notice] if notice else []
    )
    for quote, language in zip(box.locator("blockquote").all(), sources, strict=True):
        assert quote.get_attribute("lang") == language


@pytest.mark.parametrize(
    ("page_language", "sent"),
    [("fr-CA", "fr-CA"), ("", None), ("e", None), ("x" * 36, None), ("<en>", None)],
)
def test_the_language_of_the_page_is_sent_where_it_is_valid(
    page: Page, site: Site, page_language: str, sent: str | None
) -> None:
    site.lang = page_language
    site.ask_box = '<answerable-ask lang="en"></answerable-ask>'
    box = visit(page, site, NOT_FOUND)
    ask(box)
    expect(box.get_by_role("heading", level=3)).to_be_visible()
    assert [body.get("language") for _, body in site.questions] == [sent]
