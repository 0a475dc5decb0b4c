"""A followed source leads to its words, highlighted once, and a bar leads on and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from ask_box.test_widget_accessibility import CONTRAST, RULES, SCHEMES, violations
from ask_box.test_widget_languages import STRINGS
from support.widget_site import (
    CLAIM,
    PARTIAL,
    RECORD,
    SECOND_CLAIM,
    SECOND_RECORD,
    STYLES,
    Reply,
    Site,
    ask,
    visit,
)

WORDS = str(RECORD["quote"])
SPACE = '<div style="height: 3000px"></div>'
GUIDE = (
    f"<main>{SPACE}<p>{WORDS}</p>{SPACE}"
    f'<h2 id="aws">AWS</h2>{SPACE}<details><summary>Steps</summary><p id="words">Upload the'
    " <b>function  folder</b> and set the two environment variables.</p></details></main>"
)
LIMITS = f"<main>{SPACE}<p id='words'>{SECOND_RECORD['quote']}</p></main>"
HIGHLIGHTED = "() => [...(CSS.highlights.get('answerable') ?? [])].map(String).join('|')"
# What of the bar is cut with the words of a language.
CUT = """(bar, words) => {
  for (const [name, text] of Object.entries(words)) {
    bar.querySelector(`.${name} span`).textContent = text;
  }
  return [bar, ...bar.querySelectorAll("button")].filter((node) =>
    node.scrollWidth > node.clientWidth).map((node) => node.textContent);
}"""
ANSWER = PARTIAL | {
    "claims": [CLAIM, SECOND_CLAIM],
    "citations": [RECORD | {"url": "/guide/", "href": "/guide/#aws:~:text=Upload"}, SECOND_RECORD],
}


@pytest.fixture
def guide(site: Site) -> Site:
    """A site of two long pages that an answer cites."""
    site.csp = "default-src 'self' 'unsafe-inline'"
    page = str(site.page().body)
    for path, content in [("/guide/", GUIDE), ("/reference/limits/", LIMITS)]:
        head, tail = page[: page.index("<main>")], page[page.index("</main>") + 7 :]
        site.pages[path] = Reply(
            f"{head}<style>{STYLES}</style>{content}{tail}", content_type="text/html"
        )
    return site


def follow(page: Page, site: Site, path: str = "/") -> Locator:
    """Ask, and follow the first source of the answer to its page."""
    box = visit(page, site, ANSWER, path=path)
    ask(box)
    box.locator(".sources .title").first.click()
    expect(box.locator(".bar")).to_be_visible()
    expect(box.get_by_role("dialog")).to_be_hidden()
    return box


def expect_words(page: Page, words: str) -> None:
    """The words are the only ones that are highlighted, and nothing covers them."""
    expect(page.locator("#words")).to_be_in_viewport(ratio=1)
    assert " ".join(page.evaluate(HIGHLIGHTED).split()) == words.rstrip(".")
    bar = page.locator(".bar").bounding_box()
    place = page.locator("#words").bounding_box()
    assert bar is not None
    assert place is not None
    assert place["y"] + place["height"] <= bar["y"]


@pytest.mark.parametrize("path", ["/", "/guide/"])
def test_a_source_is_highlighted_under_its_heading_in_one_step(
    page: Page, guide: Site, path: str
) -> None:
    box = follow(page, guide, path)
    expect_words(page, WORDS)
    expect(page).to_have_url(f"{guide.origin}/guide/#aws")
    assert page.evaluate("getSelection().toString()") == ""
    assert page.evaluate("history.length") == 3
    assert not page.evaluate("document.querySelector('answerable-ask').matches(':focus-within')")
    page.go_back()
    expect(page).to_have_url(guide.origin + path)
    # Either way the answer is at hand.
    way = box.get_by_role("button", name="Back to the answer")
    expect(way if path == "/guide/" else box.get_by_role("dialog")).to_be_visible()


def test_a_section_without_a_heading_is_shown_on_its_page_without_a_reload(
    page: Page, guide: Site
) -> None:
    record = RECORD | {"url": "/guide/", "href": "/guide/"}
    box = visit(
        page, guide, ANSWER | {"citations": [record, SECOND_RECORD]}, path="/guide/?q=x#aws"
    )
    page.evaluate("document.documentElement.dataset.stays = ''")
    ask(box)
    for _ in range(2):
        box.locator(".sources .title").first.click()
        expect(box.get_by_role("dialog")).to_be_hidden()
        page.wait_for_function(f"() => ({HIGHLIGHTED})() !== ''")
        expect(page).to_have_url(f"{guide.origin}/guide/?q=x#")
        box.get_by_role("button", name="Back to the answer").click()
    expect(page.locator("html[data-stays]")).to_have_count(1)
    assert page.evaluate("history.length") == 3


def test_the_bar_leads_on_back_to_the_answer_and_away_at_360_pixels(
    page: Page, guide: Site
) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    box = follow(page, guide)
    bar = box.get_by_role("region", name="Sources")
    expect(bar).to_contain_text("1 of 2")
    expect(bar.get_by_role("button", name="Previous place")).to_be_disabled()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page, CONTRAST if scheme == "dark" else RULES) == [], scheme
    for language in STRINGS:
        assert bar.evaluate(CUT, {key: STRINGS[language][key] for key in ("back", "again")}) == []
        expect(bar.locator(".close")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    bar.evaluate(CUT, {key: STRINGS["en"][key] for key in ("back", "again")})
    bar.get_by_role("button", name="Next place").press("Enter")
    expect(page).to_have_url(f"{guide.origin}/reference/limits/")
    expect(bar).to_contain_text("2 of 2")
    expect(bar.get_by_role("button", name="Next place")).to_be_disabled()
    expect_words(page, str(SECOND_RECORD["quote"]))
    assert page.evaluate("history.length") == 3
    bar.get_by_role("button", name="Back to the answer").press("Enter")
    expect(box.locator(".sentence")).to_have_count(2)
    expect(box.get_by_role("heading", level=3)).to_be_focused()
    page.keyboard.press("Escape")
    expect(bar.get_by_role("button", name="Back to the answer")).to_be_focused()
    bar.get_by_role("button", name="Ask again").press("Enter")
    expect(box.get_by_label("Your question")).to_be_focused()
    expect(box.get_by_label("Your question")).to_have_value("How do I deploy?")
    page.keyboard.press("Escape")
    bar.get_by_role("button", name="Close").press("Enter")
    expect(bar).to_be_hidden()
    assert page.evaluate(HIGHLIGHTED) == ""
    page.reload()
    expect(box.get_by_role("button", name="Ask")).to_be_visible()
    expect(bar).to_be_hidden()
    assert len(guide.questions) == 1


def test_a_browser_without_highlights_shows_the_words_itself(page: Page, guide: Site) -> None:
    page.add_init_script("Object.defineProperty(CSS, 'highlights', { value: undefined })")
    once = GUIDE.replace(f"<p>{WORDS}</p>", "").replace("<details>", "<details open>")
    guide.pages["/guide/"].body = str(guide.pages["/guide/"].body).replace(GUIDE, once)
    follow(page, guide)
    expect(page).to_have_url(f"{guide.origin}/guide/#aws")
    expect(page.locator("#words")).to_be_in_viewport()
    expect(page.locator("#aws")).not_to_be_in_viewport()


def test_words_that_are_gone_lead_to_their_heading(page: Page, guide: Site) -> None:
    guide.pages["/guide/"].body = str(guide.pages["/guide/"].body).replace("Upload", "Put")
    box = follow(page, guide)
    expect(page.locator("#aws")).to_be_in_viewport()
    assert page.evaluate(HIGHLIGHTED) == ""
    expect(box.get_by_role("button", name="Back to the answer")).to_be_visible()
