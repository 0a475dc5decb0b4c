"""An answer that is an excerpt of the site: drawn once, as on its page, under its section."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from ask_box.test_widget_accessibility import SCHEMES, violations
from ask_box.test_widget_actions import allow_copying, copied
from support.widget_excerpts import (
    CODE,
    LONG_LINE,
    OPTIONS,
    STEPS,
    TABS,
    excerpts,
    join,
    section,
)
from support.widget_site import (
    Json,
    Site,
    ask,
    visit,
)

QUESTION = "How do I disable the timeout for clients?"


# What a reader gets who selects a part of the box and copies it.
SELECTED = "(node) => (getSelection().selectAllChildren(node), getSelection().toString().trim())"


def draw(page: Page, site: Site, answer: Json, question: str = QUESTION) -> Locator:
    box = visit(page, site, answer)
    ask(box, question)
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    return box


def test_excerpts_are_drawn_as_on_their_page(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(join(CODE, STEPS, OPTIONS, TABS)))
    words = box.locator(".card .words")
    expect(words.locator("p").first).to_have_text(
        "To disable timeouts of a client, pass timeout=None as in the guide:"
    )
    expect(words.locator("p code")).to_have_text("timeout=None")
    link = words.get_by_role("link", name="the guide")
    expect(link).to_have_attribute("href", f"{site.origin}/guide/timeouts/")
    assert words.locator("pre").first.evaluate(SELECTED) == f"import httpx\n\n{LONG_LINE}".strip()
    expect(words.locator("ol > li")).to_have_text(
        ["Upload the folder.All files.No others.", "Set the variables."]
    )
    expect(words.locator("ol > li > ul > li")).to_have_text(["All files.", "No others."])
    expect(box.get_by_role("columnheader")).to_have_text(["option", "effect"])
    expect(box.get_by_role("cell")).to_have_text(
        ["timeout", "seconds | of a request", "retries", ""]
    )
    expect(words.locator("td code")).to_have_text(["timeout", "retries"])
    tabs = words.get_by_role("button", name=re.compile("^(pip|uv)$"))
    expect(tabs).to_have_text(["pip", "uv"])
    expect(words.locator(".tab:visible")).to_have_text("pip install httpx")
    tabs.last.click()
    expect(words.locator(".tab:visible")).to_have_text("uv add httpx")
    expect(tabs.last).to_have_attribute("aria-pressed", "true")


HELD = """\
- Run it:

    ```sh title="run.sh"
    make all
    ```

    | a |
    | --- |
    | `b` |

    |  |
    | --- |
    | c |
- `list[`[`Item`](/api/)`]` and [<b>](/x/"onclick=alert)

!!! "Mind \\_this\\_"

    One\\
    line.

Term
:   What it is."""


def test_what_an_item_or_a_label_holds_is_drawn_with_it(page: Page, site: Site) -> None:
    words = draw(page, site, excerpts(HELD)).locator(".words")
    expect(words.locator("ul > li")).to_have_count(2)
    expect(words.locator("li > .label")).to_have_text("run.sh")
    expect(words.locator("li > .code")).to_have_text("make all")
    expect(words.locator("li > .table")).to_have_text(["ab", "c"])
    expect(words.locator("li code > a")).to_have_text("Item")
    expect(words.get_by_role("link", name="<b>")).to_have_attribute(
        "href", f"{site.origin}/x/%22onclick=alert"
    )
    expect(words.locator("> .label")).to_have_text(["Mind _this_", "Term"])
    expect(words.locator("> p:not(.label)")).to_have_text(["Oneline.", "What it is."])
    expect(words.locator("b")).to_have_count(0)


@pytest.mark.deep
def test_wide_excerpt_tables_scroll_by_keyboard(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    cell = f" {'option' * 9} |"
    box = draw(page, site, excerpts(f"|{cell * 6}"))
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    frame = box.locator(".table")
    frame.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('answerable-ask').shadowRoot"
        ".querySelector('.table').scrollLeft > 0"
    )


def test_unknown_words_are_named_and_malformed_notes_ignored(page: Page, site: Site) -> None:
    notes = [
        {"kind": "unknown", "word": "CEO"}, {"kind": "unknown", "word": "<b>x</b>"},
        {"kind": "of tomorrow"}, {"kind": ["unknown"]}, {"kind": "unknown", "word": {}}, None, 5,
    ]  # fmt: skip
    box = draw(page, site, excerpts(STEPS, notes=notes))
    expect(box.locator(".remarks")).to_have_text(
        "This site does not mention “CEO”. This site does not mention “<b>x</b>”."
    )


def test_an_excerpt_is_copied_once_as_markdown_with_its_links(page: Page, site: Site) -> None:
    allow_copying(page)
    ticks = "`` [a`](/b) `` and \\*two\\*\n\n````\n``` [c](/d)\n````"
    box = draw(page, site, excerpts(join(CODE, STEPS), join(OPTIONS, ticks)))
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    links = [f"[Part {n} › Use](<{site.origin}{section(n)['href']}>)" for n in (1, 2)]
    assert copied(page) == (
        f"**{QUESTION}**\n\n{links[0]}\n\n"
        f"{CODE.replace('/guide', f'{site.origin}/guide')}\n\n{STEPS}\n\n"
        f"{links[1]}\n\n{OPTIONS}\n\n{ticks}\n"
    )


def test_a_code_block_is_copied_by_its_own_button(page: Page, site: Site) -> None:
    allow_copying(page)
    box = draw(page, site, excerpts(TABS))
    box.get_by_role("button", name="uv", exact=True).click()
    box.get_by_role("button", name="Copy code").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    expect(box.locator(".code .said")).to_have_text("Copied.")
    assert copied(page) == "uv add httpx"


UNSAFE = ["javascript:alert(1)", "data:text/html,x", "guide/", "//evil.example/", ""]


def test_only_safe_addresses_become_links_of_an_excerpt(page: Page, site: Site) -> None:
    unsafe = " ".join(f"[to {n}]({url})" for n, url in enumerate(UNSAFE))
    safe = "[site](/sub/x/#y) [web](https://example.org/)"
    box = draw(page, site, excerpts(join(unsafe, safe), site_url="https://example.org/docs/"))
    expect(box.locator(".words p").first).to_have_text(unsafe)
    hrefs = box.locator(".words a").evaluate_all("(all) => all.map((link) => link.href)")
    assert hrefs == [f"{site.origin}/sub/x/#y", "https://example.org/"]


def test_axe_finds_no_fault_in_excerpts(page: Page, site: Site) -> None:
    site.csp = "default-src 'self'"
    site.head = '<link rel="stylesheet" href="/style.css">'
    answer = excerpts(CODE, STEPS, join(OPTIONS, TABS), notes=[{"kind": "unknown", "word": "CEO"}])
    box = draw(page, site, answer)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme
    rows = box.locator(".entry summary")
    expect(rows).to_have_count(2)
    for row in rows.all():
        row.press("Enter")
    expect(box.locator(".entry .words")).to_have_count(2)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme


def test_line_of_a_passage_is_marked_and_opens_what_hides_it(page: Page, site: Site) -> None:
    lines = "\n    ".join([*(f"step {n}" for n in range(25)), "To disable", "done"])
    box = draw(page, site, excerpts(join(STEPS, TABS.replace("uv add httpx", lines))))
    expect(box.locator(".card summary")).to_have_text("27 lines")
    expect(box.locator(".card .here")).to_have_text("To disable")
    expect(box.locator(".card .here")).to_be_visible()
    expect(box.get_by_role("button", name="uv", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_long_passage_is_folded_until_its_reader_wants_it_whole(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(join(*(f"Paragraph {n}." for n in range(60)))))
    words = box.locator(".card .words")
    folded = words.evaluate("(node) => node.clientHeight / node.scrollHeight")
    assert 0.2 < folded < 0.6
    box.get_by_role("button", name="Show the whole section: Part 1 › Use").press("Enter")
    expect(words).to_be_focused()
    expect(words.locator("p").last).to_have_text("Paragraph 59.")
    assert words.evaluate("(node) => node.clientHeight >= node.scrollHeight")
    expect(box.locator(".whole")).to_have_count(0)
