"""An answer that is an excerpt of the site: drawn once, as on its page, under its section."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

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
    Reply,
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


UNSAFE = ["javascript:alert(1)", "data:text/html,x", "guide/", "//evil.example/", ""]


def test_what_items_and_labels_hold_is_drawn_with_them_and_safe_links_alone(
    page: Page, site: Site
) -> None:
    unsafe = " ".join(f"[to {n}]({url})" for n, url in enumerate(UNSAFE))
    safe = "[site](/sub/x/#y) [web](https://example.org/)"
    notes = [
        *({"kind": "unknown", "word": word} for word in ("CEO", "<b>x</b>")),
        {"kind": "of tomorrow"},
    ]
    linked = excerpts(join(unsafe, safe), notes=notes, site_url="https://example.org/docs/")
    box = visit(page, site, excerpts(HELD), linked)
    ask(box)
    words = box.locator(".words")
    expect(words.locator("ul > li")).to_have_count(2)
    expect(words.locator("li > .label")).to_have_text("run.sh")
    expect(words.locator("li > .code")).to_have_text("make all")
    expect(words.locator("li > .table")).to_have_text(["ab", "c"])
    expect(words.locator("li code > a")).to_have_text("Item")
    expect(words.get_by_role("link", name="<b>")).to_have_attribute(
        "href", f"{site.origin}/x/%22onclick=alert"
    )
    expect(words.locator("> .label")).to_have_text(["Mind _this_", "Term"])
    expect(words.locator("> p:not(.label)")).to_have_text(["One line.", "What it is."])
    expect(words.locator("b")).to_have_count(0)
    box.get_by_label("Your question").press("Enter")
    expect(words.locator("p").first).to_have_text(unsafe)
    hrefs = words.locator("a").evaluate_all("(all) => all.map((link) => link.href)")
    assert hrefs == [f"{site.origin}/sub/x/#y", "https://example.org/"]
    expect(box.locator(".remarks")).to_have_text(
        "This site does not mention “CEO”. This site does not mention “<b>x</b>”."
    )


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


def test_an_excerpt_is_copied_as_markdown_and_its_code_apart(page: Page, site: Site) -> None:
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
    box.get_by_role("button", name="Copy code").click()
    expect(box.locator(".code .said")).to_have_text("Copied.")
    assert copied(page) == f"import httpx\n\n{LONG_LINE}"


def test_line_of_a_passage_is_marked_and_opens_what_hides_it(page: Page, site: Site) -> None:
    lines = "\n    ".join([*(f"step {n}" for n in range(25)), "To disable", "done"])
    box = draw(page, site, excerpts(join(STEPS, TABS.replace("uv add httpx", lines))))
    expect(box.locator(".card summary")).to_have_text("27 lines")
    expect(box.locator(".card .here")).to_have_text("To disable")
    expect(box.locator(".card .here")).to_be_visible()
    expect(box.get_by_role("button", name="uv", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_long_passage_may_be_a_window_of_its_section(page: Page, site: Site) -> None:
    site.pages["/_answerable/section"] = Reply({"markdown": "The whole section."})
    box = draw(page, site, excerpts("A sentence of a long section. " * 30))
    words = box.locator(".card .words")
    whole = box.get_by_role("button", name="Show the whole section: Part 1 › Use")
    whole.press("Enter")
    expect(words).to_be_focused()
    expect(words).to_have_text("The whole section.")
    expect(whole).to_have_count(0)
