"""An answer that is an excerpt of the site: drawn once, as on its page, under its section."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from ask_box.test_widget_accessibility import violations
from ask_box.test_widget_actions import allow_copying, copied
from support.widget_excerpts import (
    CODE,
    GAP,
    LONG_LINE,
    OPTIONS,
    STEPS,
    TABS,
    excerpts,
    item,
    items,
    section,
    span,
    text,
)
from support.widget_site import (
    HINT,
    PARTIAL,
    ROUTE,
    SUPPORTED,
    Json,
    Reply,
    Site,
    ask,
    problem,
    visit,
)

QUESTION = "How do I disable the timeout for clients?"
CLIENT = "A client's timeout is five seconds."


def draw(page: Page, site: Site, answer: Json, question: str = QUESTION) -> Locator:
    box = visit(page, site, answer)
    ask(box, question)
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    return box


def focused(page: Page) -> str:
    """The text of what has the focus."""
    name: str = page.evaluate(
        "document.querySelector('answerable-ask').shadowRoot.activeElement.innerText"
    )
    return name.strip()


def outline(box: Locator) -> str:
    """The drawn excerpts by tag and text."""
    shape: str = box.locator(".words").first.evaluate(
        "function show(node) { const inner = [...node.childNodes].map((child) =>"
        " child.nodeType === 3 ? child.data : show(child)).join('');"
        " if (['mark', 'button', 'svg'].includes(node.localName))"
        " return node.localName === 'mark' ? inner : '';"
        " const value = node.getAttribute('value') ?? node.getAttribute('scope') ?? '';"
        " return `<${node.localName}${value && ' ' + value}>${inner}</>`; }"
    )
    return shape


def test_excerpts_draw_inline_code_links_and_code_blocks(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(CODE))
    words = box.locator(".words")
    expect(words.locator("p").first).to_have_text(
        "To disable timeouts of a client, pass timeout=None as in the guide:"
    )
    expect(words.locator("p code")).to_have_text("timeout=None")
    link = words.get_by_role("link", name="the guide")
    expect(link).to_have_attribute("href", f"{site.origin}/guide/timeouts/")
    assert words.locator("pre").inner_text() == f"import httpx\n\n{LONG_LINE}"
    expect(words.locator("pre")).to_have_css("white-space", "pre")
    expect(words.locator("p").nth(1)).to_have_text("…")


def test_excerpt_lists_keep_nesting_and_numbers(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(STEPS))
    assert outline(box).endswith(
        "<div><ol><li 1>Upload the folder.<ul><li>All files.</><li>No others.</></></>"
        "<li 2>Set the variables.</></></></>"
    )


def test_an_excerpt_list_interrupted_by_code_keeps_its_numbers(page: Page, site: Site) -> None:
    blocks = [items(item("One", number="1")), *TABS[1:2], items(item("Two", level=3, number="7"))]
    box = draw(page, site, excerpts(blocks))
    expect(box.locator("ol")).to_have_count(2)
    assert outline(box).endswith("<div><ol><li 7>Two</></></></>")


def test_excerpt_tables_have_column_names_and_empty_cells(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(OPTIONS))
    expect(box.get_by_role("columnheader")).to_have_text(["option", "effect"])
    expect(box.get_by_role("cell")).to_have_text(
        ["timeout", "seconds | of a request", "retries", ""]
    )
    expect(box.locator("td code")).to_have_text(["timeout", "retries"])
    expect(box.locator(".label")).to_have_text("Options")


def test_wide_excerpt_tables_scroll_by_keyboard(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    wide = {"kind": "table", "columns": [], "rows": [[[span("option" * 9)]] * 6]}
    box = draw(page, site, excerpts([wide]))
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    frame = box.locator(".table")
    frame.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('answerable-ask').shadowRoot"
        ".querySelector('.table').scrollLeft > 0"
    )


def test_a_tab_label_is_drawn_above_its_content(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(TABS))
    assert box.locator(".words").inner_text().split() == [
        "pip", "pip", "install", "httpx", "uv", "uv", "add", "httpx"
    ]  # fmt: skip
    expect(box.locator(".label")).to_have_text(["pip", "uv"])


def test_a_card_holds_its_excerpt_once_under_the_link(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    box = draw(page, site, excerpts(CODE, STEPS, TABS))
    titles = box.locator(".card h4 a")
    expect(titles).to_have_text(["Part 1 › Use", "Part 2 › Use", "Part 3 › Use"])
    expect(titles.first).to_have_attribute("href", f"{site.origin}{section(1)['href']}")
    expect(titles.first).to_be_in_viewport(ratio=1)
    expect(titles.nth(1)).to_be_in_viewport(ratio=1)
    expect(box.locator(".sentence, .mark, blockquote, .number")).to_have_count(0)
    expect(box.get_by_role("heading", name="Sources")).to_have_count(0)
    expect(box.get_by_text("Requests go before clients.")).to_have_count(1)
    title, words = titles.first.bounding_box(), box.locator(".words").first.bounding_box()
    assert title is not None
    assert words is not None
    assert title["y"] + title["height"] <= words["y"] + 1


def test_all_cards_but_the_first_are_folded_to_their_best_line(page: Page, site: Site) -> None:
    last = [text("Hold on. A client's timeout is five seconds. It can be changed."), *TABS]
    box = draw(page, site, excerpts(CODE, STEPS, last))
    cards = box.locator(".card")
    expect(cards.first.locator("details")).to_have_count(0)
    expect(cards.first.locator("pre")).to_be_visible()
    lines = box.locator("summary")
    expect(lines).to_have_text(["Three steps:Show less", f"{CLIENT}Show less"])
    assert [each.inner_text() for each in lines.all()] == ["Three steps:", CLIENT]
    expect(lines.last.locator("mark")).to_have_text(["client", "timeout"])
    expect(cards.last.locator(".words")).to_be_hidden()
    expect(box.get_by_role("status")).to_have_text("Answer ready, 3 sources.")
    cards.first.get_by_role("button", name="Whole section: Part 1 › Use").focus()
    for name in ("Part 2 › Use", "Three steps:"):
        page.keyboard.press("Tab")
        assert focused(page) == name
    page.keyboard.press("Enter")
    expect(cards.nth(1).locator("ol")).to_be_visible()
    assert lines.first.inner_text() == "Show less"
    expect(box.get_by_text("Three steps:").filter(visible=True)).to_have_count(1)
    page.keyboard.press("Space")
    expect(cards.nth(1).locator("ol")).to_be_hidden()
    lines.last.click()
    expect(cards.last.locator("pre").first).to_be_visible()
    expect(box.get_by_role("status")).to_have_text("Answer ready, 3 sources.")


def test_a_card_of_one_line_is_not_folded(page: Page, site: Site) -> None:
    box = draw(page, site, excerpts(CODE, [text("Five seconds.")]))
    expect(box.get_by_text("Five seconds.")).to_be_visible()
    expect(box.locator("details")).to_have_count(0)


def test_an_excerpt_opens_to_its_whole_section(page: Page, site: Site) -> None:
    whole = [text("To disable timeouts:"), *TABS, text("The end of the section.")]
    site.pages["/_answerable/section"] = Reply({"url": "/", "title": "Use", "blocks": whole})
    box = draw(page, site, excerpts(CODE, STEPS))
    first = box.locator(".card").first
    first.get_by_role("button", name="Whole section").press("Enter")
    expect(first.locator(".words")).to_be_focused()
    expect(first.locator(".words")).to_contain_text("The end of the section.")
    expect(first.get_by_text("To disable timeouts")).to_have_count(1)
    expect(first.get_by_role("button", name="Whole section")).to_have_count(0)


@pytest.mark.parametrize("sent", [problem(404, "not-found"), Reply({"blocks": [5]}), Reply({})])
def test_a_section_that_cannot_be_read_is_opened_on_its_page(
    page: Page, site: Site, sent: Reply
) -> None:
    site.pages["/_answerable/section"] = sent
    box = draw(page, site, excerpts(CODE))
    box.get_by_role("button", name="Whole section").click()
    page.wait_for_url(f"{site.origin}/part1/**")


def test_claims_of_one_section_share_a_card(page: Page, site: Site) -> None:
    answer = excerpts(STEPS, TABS, OPTIONS)
    same = [section(1), section(2, url="/part1/#use", title="Part 1 › Use"), section(3)]
    box = draw(page, site, answer | {"citations": same})
    expect(box.locator(".card")).to_have_count(2)
    expect(box.locator(".card").first.locator("ol, pre")).to_have_count(3)
    expect(box.get_by_role("status")).to_have_text("Answer ready, 2 sources.")


def test_quotes_of_one_section_share_a_card_below_prose(page: Page, site: Site) -> None:
    claims = [{"text": "Prose.", "citations": [1, 2]}, {"text": "More.", "citations": [3]}]
    cited = [section(1), section(2, quote="Other words"), section(3, url="/part1/#use")]
    cited[1] |= {"url": "/part1/#use", "title": "Part 1 › Use"}
    box = draw(page, site, PARTIAL | {"claims": claims, "citations": cited})
    expect(box.locator(".card .title")).to_have_text(["Part 1 › Use", "Part 3 › Use"])
    expect(box.locator(".card").first.locator("blockquote")).to_have_text(
        ["To disable", "Other words"]
    )
    expect(box.locator(".number")).to_have_text(["[1] [2]", "[3]"])


def test_a_route_beside_an_excerpt_is_drawn_once(page: Page, site: Site) -> None:
    answer = excerpts(STEPS)
    answer |= {"mode": "supported", "routes": [ROUTE], "citations": [section(1), HINT]}
    box = draw(page, site, answer)
    expect(box.locator(".card")).to_have_count(2)
    expect(box.get_by_text("Operations call about deployments")).to_have_count(1)
    expect(box.locator(".hint .locator")).to_have_text("from 12:40")


def test_the_words_of_the_question_are_marked_in_any_number_and_case(
    page: Page, site: Site
) -> None:
    blocks = [
        text("Timeouts: the client's timeout. ", span("disable", code=True), " Disabled, do."),
        text("Policies and classes."),
        *TABS[1:2],
    ]
    box = draw(page, site, excerpts(blocks), f"{QUESTION} Policy class? pip")
    expect(box.locator("mark")).to_have_text(
        ["Timeouts", "client", "timeout", "disable", "Policies", "classes"]
    )


def test_the_spelling_that_was_searched_is_marked(page: Page, site: Site) -> None:
    notes = [{"kind": "corrected", "from": "ingres", "to": "ingress"}]
    box = draw(page, site, excerpts([text("An Ingress routes.")], notes=notes), "ingres?")
    expect(box.locator("mark")).to_have_text("Ingress")
    expect(box.locator(".remarks")).to_have_text("Showing results for “ingress”.")


@pytest.mark.parametrize(
    ("confidence", "heading", "announced"),
    [
        ("high", "From this site", "Answer ready, 1 source."),
        ("medium", "From this site", "Answer ready, 1 source."),
        ("low", "Closest passages: they may not answer this", "No direct answer, 1 place to look."),
        (None, "From this site", "Answer ready, 1 source."),
    ],
)
def test_the_answer_heading_follows_the_confidence(
    page: Page, site: Site, confidence: str | None, heading: str, announced: str
) -> None:
    box = draw(page, site, excerpts(STEPS, confidence=confidence))
    expect(box.get_by_role("heading", level=3)).to_have_text(heading)
    expect(box.get_by_role("status")).to_have_text(announced)
    assert "confidence" not in box.get_by_role("dialog").inner_text().lower()


def test_excerpts_of_a_written_answer_stay_in_its_order(page: Page, site: Site) -> None:
    allow_copying(page)
    lead = {"text": "Take three steps:", "citations": [2]}
    answer = excerpts(STEPS, [text("The last word.")], written=True, complete=True)
    claims = [lead, *answer["claims"][::-1]]
    box = draw(page, site, answer | {"claims": claims})
    sentences = box.locator(".sentence")
    expect(sentences).to_have_count(3)
    expect(sentences.first).to_have_text("Take three steps:[1]")
    expect(sentences.nth(2).locator("li")).to_have_count(3)
    expect(box.locator(".excerpt")).to_have_count(0)
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    assert copied(page).startswith(f"**{QUESTION}**\n\nTake three steps: [1]\n\nExcerpt 2 [1]\n\n")


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
    ticks = [
        text(span("a`b", code=True), " and *two*"),
        {"kind": "code", "text": "```", "language": ""},
    ]
    answer = excerpts(CODE, STEPS, OPTIONS, ticks)
    answer |= {"mode": "supported", "routes": [ROUTE]}
    box = draw(page, site, answer | {"citations": [*answer["citations"], HINT | {"n": 3 + 6}],
                                     "routes": [ROUTE | {"citations": [9]}]})  # fmt: skip
    box.get_by_role("button", name="Copy answer").click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    links = [f"[Part {n} › Use](<{site.origin}{section(n)['href']}>)" for n in (1, 2, 3, 4)]
    assert copied(page) == (
        f"**{QUESTION}**\n\n{links[0]}\n\n"
        "To disable timeouts of a client, pass `timeout=None` as in "
        f"[the guide](<{site.origin}/guide/timeouts/>):\n\n"
        f"```python\nimport httpx\n\n{LONG_LINE}\n```\n\n…\n\nRequests go before clients.\n\n"
        f"{links[1]}\n\nThree steps:\n\n"
        "1. Upload the folder.\n    - All files.\n    - No others.\n2. Set the variables.\n\n"
        f"{links[2]}\n\n**Options**\n\n"
        "| option | effect |\n| --- | --- |\n"
        "| `timeout` | seconds \\| of a request |\n| `retries` |  |\n\n"
        f"{links[3]}\n\n``a`b`` and \\*two\\*\n\n~~~~~\n```\n~~~~~\n\n"
        f"[Operations call about deployments](<{site.origin}/guide/deploy/>) – from 12:40\n"
    )


def test_a_code_block_is_copied_by_its_own_button(page: Page, site: Site) -> None:
    allow_copying(page)
    box = draw(page, site, excerpts(TABS))
    box.get_by_role("button", name="Copy code").last.click()
    expect(box.get_by_role("status")).to_have_text("Copied.")
    expect(box.locator(".code .said")).to_have_text("Copied.")
    assert copied(page) == "uv add httpx"


UNSAFE = [
    "javascript:alert(1)", "data:text/html,x", "guide/", "//evil.example/", "", None, 5, ["/x"]
]  # fmt: skip


def test_only_safe_addresses_become_links_of_an_excerpt(page: Page, site: Site) -> None:
    blocks = [text(*(span(f"to {n} ", href=href) for n, href in enumerate(UNSAFE)))]
    safe = text(span("site", href="/sub/x/#y"), span("web", href="https://example.org/"))
    fields = {"site_url": "https://example.org/docs/"}
    box = draw(page, site, excerpts([*blocks, safe], **fields))
    hrefs = box.locator(".words a").evaluate_all("(all) => all.map((link) => link.href)")
    assert hrefs == [f"{site.origin}/sub/x/#y", "https://example.org/"]


BROKEN: list[object] = [
    [], {}, "text", 5, [None], [{}], [{"kind": "text"}], [{"kind": "text", "spans": [{}]}],
    [{"kind": "text", "spans": [{"text": 5}]}], [{"kind": "code", "text": None}],
    [{"kind": "list", "items": [{}]}], [{"kind": "list", "items": {}}],
    [{"kind": "table", "columns": [], "rows": [5]}], [{"kind": "constructor"}],
    [{"kind": "__proto__"}], [{"kind": "drawing of tomorrow"}], [GAP, {"kind": {"toString": 1}}],
    [{"kind": "list", "items": [{"level": -1, "number": "", "spans": []}]}],
    [{"kind": "list", "items": [{"level": 0, "number": {"toString": 1}, "spans": []}]}],
]  # fmt: skip


def test_invalid_excerpt_blocks_fall_back_to_plain_text(page: Page, site: Site) -> None:
    visit(page, site)
    drawn = page.evaluate(
        """async ([answer, broken]) => {
          const box = document.querySelector("answerable-ask");
          const wrong = [];
          for (const blocks of broken) {
            answer.claims[0].blocks = blocks;
            const drawn = new Promise((done) =>
              box.addEventListener("answerable:answer", done, { once: true }));
            box.fetch = async () => Response.json(answer);
            box.ask("How?");
            await drawn;
            const sentence = box.shadowRoot.querySelector(".sentence");
            if (!sentence?.textContent.startsWith("Excerpt 1")) wrong.push(blocks);
          }
          return wrong;
        }""",
        [excerpts(STEPS), BROKEN],
    )
    assert drawn == []


def test_axe_finds_no_fault_in_excerpts(page: Page, site: Site) -> None:
    site.csp = "default-src 'self'"
    site.head = '<link rel="stylesheet" href="/style.css">'
    answer = excerpts(CODE, STEPS, [*OPTIONS, *TABS], notes=[{"kind": "unknown", "word": "CEO"}])
    box = draw(page, site, answer)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(page) == [], scheme
    for line in box.locator("summary").all():
        line.click()
    assert violations(page) == []
    expect(box.locator(".card")).to_have_count(3)


def test_an_excerpt_fits_a_phone_in_both_directions(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    site.lang = "ar"
    box = visit(page, site, excerpts(CODE, STEPS, OPTIONS))
    box.locator(".trigger").click()
    page.keyboard.type("client?")
    page.keyboard.press("Enter")
    expect(box.locator(".card")).to_have_count(3)
    expect(box.locator(".panel")).to_have_css("direction", "rtl")
    expect(box.locator("pre")).to_have_css("direction", "ltr")
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")


def test_a_model_answer_draws_its_sentences_and_sources(page: Page, site: Site) -> None:
    claims = [SUPPORTED["claims"][0] | {"blocks": STEPS}, SUPPORTED["claims"][1]]
    box = draw(page, site, SUPPORTED | {"claims": claims})
    expect(box.locator(".sentence")).to_have_count(3)
    expect(box.get_by_role("heading", name="Sources")).to_be_visible()
    expect(box.locator("blockquote")).to_have_count(2)
