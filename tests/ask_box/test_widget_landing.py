"""A followed citation leads to its words, by the browser or else by the script."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support import browser as chromium
from support.widget_site import PARTIAL, RECORD, Reply, Site, ask, serving, visit

WORDS = "Upload the function folder and set the two environment variables."
HREF = "/guide/#aws:~:text=Upload%20the%20function,environment%20variables."
SPACE = '<div style="height: 3000px"></div>'
GUIDE = (
    f"<main>{SPACE}<p>Set the two oars aside.</p>{SPACE}"
    f'<h2 id="aws">AWS</h2>{SPACE}<p id="words">Upload the <b>function folder</b> and set the'
    f" two environment variables.</p>{SPACE}</main>"
)
# A page that loads its own links, as routers do: it is told when to put the content of the next.
ROUTER = """
document.addEventListener("click", async (event) => {
  const link = event.composedPath().find((node) => node.localName === "a");
  if (!link) return;
  event.preventDefault();
  const text = await (await fetch(link.href)).text();
  await new Promise((done) => setTimeout(done, 300));
  const next = new DOMParser().parseFromString(text, "text/html");
  document.querySelector("main").replaceWith(next.querySelector("main"));
  history.pushState(null, "", link.href);
});
"""


@pytest.fixture
def guide(site: Site) -> Site:
    """A site whose guide is long, and whose other pages may load it by a router of their own."""
    site.csp = "default-src 'self' 'unsafe-inline'"
    page = str(site.page().body)
    site.pages["/guide/"] = Reply(
        page[: page.index("<main>")] + GUIDE + page[page.index("</main>") + 7 :],
        content_type="text/html",
    )
    site.pages["/router.js"] = Reply(ROUTER, content_type="text/javascript")
    return site


def follow(page: Page, site: Site, href: str = HREF, path: str = "/") -> Locator:
    """Ask and follow the card of the answer, whose citation leads to an address of the site."""
    citation = RECORD | {"url": href.partition("#")[0], "href": href}
    box = visit(page, site, PARTIAL | {"citations": [citation]}, path=path)
    ask(box)
    box.locator(".card .title").click()
    return box


def expect_beside(box: Locator) -> None:
    """The answer stays, small and beside what it leads to."""
    dialog = box.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog).not_to_have_attribute("aria-modal", "true")
    assert not dialog.evaluate("(node) => node.matches(':modal')")
    place = dialog.bounding_box()
    assert place is not None
    assert place["height"] <= 0.5 * dialog.evaluate("() => innerHeight")
    expect(box.locator(".card .title").first).to_be_focused()


def expect_selected(page: Page, words: str = WORDS) -> None:
    page.wait_for_function("(words) => getSelection().toString() === words", arg=words)
    expect(page.locator("#words")).to_be_in_viewport()


def test_the_browser_scrolls_to_the_text_fragment(page: Page, guide: Site) -> None:
    follow(page, guide)
    expect(page).to_have_url(f"{guide.origin}/guide/#aws")
    expect(page.locator("#words")).to_be_in_viewport()
    expect(page.locator("#aws")).not_to_be_in_viewport()
    assert page.evaluate("'fragmentDirective' in document")
    assert page.evaluate("getSelection().toString()") == ""


def test_a_citation_of_the_same_page_is_shown_behind_the_dialog(page: Page, guide: Site) -> None:
    box = follow(page, guide, path="/guide/")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#words")).to_be_in_viewport()
    assert page.evaluate("scrollY") > 5000


def test_instant_navigation_selects_the_cited_words(page: Page, guide: Site) -> None:
    guide.head = '<script src="/router.js"></script>'
    box = follow(page, guide)
    expect_selected(page)
    expect_beside(box)
    assert page.url == f"{guide.origin}/guide/#aws"


# Chromium takes the words out of an address even where it is told to do nothing with them, and goes
# to the heading: this is the address as a browser sees it that has never heard of them.
OLD = """
const location = {
  get hash() { return self.address.hash; }, get href() { return self.address.href; },
  get search() { return self.address.search; }, get pathname() { return self.address.pathname; },
};
"""


@pytest.fixture(scope="module")
def old_page(browser: Browser) -> Iterator[Page]:
    """A page of a browser that knows no text fragments."""
    arguments = [*chromium.CHROMIUM_ARGS, "--disable-blink-features=TextFragmentIdentifiers"]
    old = browser.browser_type.launch(executable_path=chromium.executable(), args=arguments)
    yield old.new_page()
    old.close()


FRAGMENTS = {
    "Upload%20the%20function,environment%20variables.": WORDS,
    "set%20the%20two": "set the two",
    "SET%20the": "set the",
    "folder-,and%20set,-the": "and set",
    "Upload%20the%20function%20folder%20and&text=other": "Upload the function folder and",
    "no%20such%20words": "",
    "%E0%A4%A": "",
    "": "",
}


@pytest.mark.deep
def test_the_script_selects_the_words_in_an_older_browser(old_page: Page) -> None:
    page = old_page
    with serving() as site:
        site.csp = ""
        html = str(site.page().body)
        script = site.file("/assets/answerable/ask-box.js")
        site.pages["/assets/answerable/ask-box.js"] = Reply(
            OLD + str(script.body), content_type="text/javascript"
        )
        for fragment, words in FRAGMENTS.items():
            address = f"{site.origin}/guide/#aws:~:text={fragment}"
            own = f"<script>self.address = new URL({address!r})</script>"
            text = html.replace("</head>", f"{own}</head>")
            text = text[: text.index("<main>")] + GUIDE + text[text.index("</main>") + 7 :]
            site.pages["/guide/"] = Reply(text, content_type="text/html")
            page.goto(f"{site.origin}/guide/")
            assert not page.evaluate("'fragmentDirective' in document")
            expect(page.get_by_role("button", name="Ask")).to_be_visible()
            if words:
                expect_selected(page, words)
            else:
                expect(page.locator("#aws")).to_be_in_viewport()
                assert page.evaluate("getSelection().toString()") == ""


def test_the_answer_beside_a_source_closes_by_its_key_and_button(page: Page, guide: Site) -> None:
    guide.head = '<script src="/router.js"></script>'
    box = follow(page, guide)
    expect_selected(page)
    page.keyboard.press("Escape")
    expect(box.get_by_role("dialog")).to_be_hidden()
    expect(box).not_to_have_attribute("open", "")
    page.keyboard.press("Control+i")
    expect(box.get_by_label("Your question")).to_be_focused()
    expect(box.locator(".card")).to_be_visible()
    assert box.get_by_role("dialog").evaluate("(node) => node.matches(':modal')")
