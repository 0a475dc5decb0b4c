"""Text fragments: how they are spelled, and what a real browser makes of them."""

import base64
import html
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page

from answerable.indexing.pages.passages import PassageWindow, cut_passages
from answerable.indexing.pages.statements import MAX_TERM_CHARACTERS
from answerable.serve.answers.statements import link_to_statements
from answerable.serve.types import Passage
from support.doubles import record
from support.passage_blocks import block, passage

WORDS = " ".join(f"w{n}" for n in range(120))
TWICE = "Iron rusts. Ropes do not. On rope: iron rusts. The end."


def link(source: Passage, quote: str, start: int = 0) -> str:
    """Return the link to the statements that hold a quote."""
    at = source.text.index(quote, start)
    return link_to_statements(source, at, at + len(quote))


def fragment(quote: str, source: Passage | str, start: int = 0) -> str:
    """Return what follows ``#:~:text=``, or nothing. source: a paragraph, or a passage."""
    if isinstance(source, str):
        source = passage(block("text", source))
    address = link(source, quote, start)
    assert address.startswith(source.url)
    return address.removeprefix(source.url).removeprefix(":~:text=")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/x/", "/x/#:~:text=A%20rope."),
        ("/x/#use", "/x/#use:~:text=A%20rope."),
        ("/x/#", "/x/#:~:text=A%20rope."),
        ("https://docs.example/x.html#a-b", "https://docs.example/x.html#a-b:~:text=A%20rope."),
        ("", "#:~:text=A%20rope."),
    ],
)
def test_the_fragment_follows_the_anchor(url: str, expected: str) -> None:
    source = replace(passage(block("text", "A rope.")), url=url)
    assert link(source, "rope") == expected


@pytest.mark.parametrize(
    ("words", "encoded"),
    [
        ("a b", "a%20b"),
        ("a-b, c & d", "a%2Db%2C%20c%20%26%20d"),
        ("--flag=x", "%2D%2Dflag%3Dx"),
        ("~a_b.c~", "~a_b.c~"),
        ("100 % sure?", "100%20%25%20sure%3F"),
        ("#a :~: b", "%23a%20%3A~%3A%20b"),
        ('<b>"q"</b>', "%3Cb%3E%22q%22%3C%2Fb%3E"),
        ("café — naïve", "caf%C3%A9%20%E2%80%94%20na%C3%AFve"),
        ("錨の鎖", "%E9%8C%A8%E3%81%AE%E9%8E%96"),
        ("go 🚀", "go%20%F0%9F%9A%80"),
        ("a\u00a0b", "a%20b"),
        ("a \ud800 b", "a%20%3F%20b"),
    ],
)
def test_reserved_characters_are_percent_encoded(words: str, encoded: str) -> None:
    assert fragment(words, passage(block("item", words, group=1))) == encoded


def test_what_is_in_no_statement_leaves_the_url() -> None:
    source = passage(block("label", "Warning", detail="title"), block("text", "Mind it."))
    assert fragment("Warning", source) == ""
    assert fragment("— ...", passage(block("text", "— ..."))) == ""


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("rusts", "Iron%20rusts."),
        ("do not. Hemp", "Ropes%20do%20not.,Hemp%20rots%20soon."),
        ("Iron rusts. Ropes do not.", "Iron%20rusts.,Ropes%20do%20not."),
    ],
)
def test_a_quote_is_linked_by_its_whole_sentences(quote: str, expected: str) -> None:
    assert fragment(quote, "Iron rusts. Ropes do not. Hemp rots soon.") == expected


def test_a_sentence_that_is_repeated_has_words_before_it() -> None:
    text = "Iron rusts. Ropes do not. Iron rusts. The end."
    assert fragment("Iron", text) == "Iron%20rusts."
    assert fragment("Iron", text, 5) == "Ropes%20do%20not.-,Iron%20rusts."
    assert fragment("Iron rusts. The", text, 5) == "Ropes%20do%20not.-,Iron%20rusts.,The%20end."
    # Its end would be found before it.
    assert fragment("not. Iron", text) == "Ropes%20do%20not."


@pytest.mark.parametrize("other", ["IRON RUSTS.", "írón  rusts.", "iron\u00a0rusts."])
def test_case_and_accents_make_no_difference_to_a_browser(other: str) -> None:
    source = passage(block("text", other), block("text", "Iron rusts."))
    assert fragment("Iron", source) == ""


def test_a_part_of_a_word_is_no_occurrence() -> None:
    source = passage(block("text", "Ropes"), block("text", "Rope"))
    assert fragment("Rope", source, 3) == "Rope"


def test_the_second_of_two_equal_lines_cannot_be_told() -> None:
    source = passage(block("item", "Set it.", group=1), block("item", "Set it.", group=1))
    assert fragment("Set it", source) == "Set%20it."
    assert fragment("Set it", source, 3) == ""


def test_a_long_sentence_is_a_range_of_whole_words() -> None:
    assert fragment("w0", WORDS) == "w0%20w1%20w2%20w3%20w4,w115%20w116%20w117%20w118%20w119"
    fits = WORDS[:MAX_TERM_CHARACTERS].rsplit(" ", 1)[0]
    assert "," not in fragment("w0", fits)


def test_the_edges_of_a_range_grow_until_they_are_unique() -> None:
    text = f"a b c d e f. a b c d e g {WORDS} z z z z z y z z z z z"
    expected = fragment("a b c d e g", text)
    assert expected.startswith("a%20b%20c%20d%20e%20g%20")
    assert expected.endswith("%20y%20z%20z%20z%20z%20z")


def test_words_that_are_too_long_leave_the_url() -> None:
    assert fragment("字", "字" * 400) == ""
    assert fragment("字", "字" * 300)


def test_no_term_reaches_over_a_break() -> None:
    paragraphs = passage(block("text", "One two."), block("text", "Three four."))
    assert fragment("two.\n\nThree", paragraphs) == "One%20two.,Three%20four."
    code = passage(block("code", "a = 1   # b\nc()\n)"))
    assert fragment("c()", code) == "a%20%3D%201,c%28%29"
    rows = passage(
        block("row", "rope · 12 mm · hemp", group=1), block("row", "chain · 30 mm · iron", group=1)
    )
    assert fragment("12", rows) == "rope,hemp"
    assert fragment("hemp\nchain", rows) == "rope,iron"


def test_code_whose_last_line_is_repeated_is_linked_by_its_first() -> None:
    source = passage(block("code", "with a:\n    pass\nwith b:\n    pass"))
    assert fragment("with a", source) == "with%20a%3A"


_STYLE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<link rel="icon" href="data:,">
<style>body { margin: 0; font: 16px/24px sans-serif } .gap { height: 3000px }
::target-text { color: #f0f; background: #f0f }</style>"""

# The words whose middle has the colour of the highlight in a screenshot.
_HIGHLIGHTED = """async png => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
      const range = new Range();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      const x = box.x + box.width / 2, y = box.y + box.height / 2;
      if (x < 0 || y < 0 || x >= image.width || y >= image.height) continue;
      const [r, g, b] = context.getImageData(x, y, 1, 1).data;
      if (r > 200 && g < 60 && b > 200) found.push(word[0]);
    }
  }
  return found.join(" ");
}"""


class Site:
    """One page at a time, on loopback."""

    def __init__(self) -> None:
        self.article = ""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                gap = '<div class="gap"></div>'
                body = f"{_STYLE}<body>{gap}{site.article}{gap}</body>".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever)
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def highlighted(page: Page, address: str) -> str:
    """Return what a browser that follows an address scrolls to and highlights."""
    # Without this, an address that differs in its fragment only would keep the old highlight.
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("scrollY > 0")
    shot = base64.b64encode(page.screenshot()).decode()
    highlight: str = page.evaluate(_HIGHLIGHTED, shot)
    return highlight


def passage_of(article: str, url: str) -> Passage:
    """The passage of an article as a build cuts it, at another url."""
    (cut,) = cut_passages(record("x", article), PassageWindow(words=1_000))
    return replace(cut.passage, url=url)


LONG = " ".join(f"Sentence number {n} says that a rope holds." for n in range(40))


@pytest.mark.parametrize(
    ("article", "quote", "shown"),
    [
        pytest.param("<p>A <b>rope</b> holds.</p>", "rope holds", "A rope holds.", id="plain"),
        pytest.param(
            "<p>Use <code>--flag=a,b&amp;c</code> - &lt;100&nbsp;% (see “x”, #1)? Yes.</p>",
            "--flag=a,b&c - <100\u00a0% (see “x”, #1)?",
            "Use --flag=a,b&c - <100 % (see “x”, #1)?",
            id="punctuation",
        ),
        pytest.param(
            "<p>Tout café naïve — 錨の鎖 за́мок שלום עולם 🚀 end.</p>",
            "café naïve — 錨の鎖 за́мок שלום עולם 🚀",
            "Tout café naïve — 錨の鎖 за́мок שלום עולם 🚀 end.",
            id="non-ascii",
        ),
        pytest.param(
            "<p>Iron rusts. <em>Ropes</em> do not. On rope: iron rusts. The end.</p>",
            "iron rusts",
            "On rope: iron rusts.",
            id="repeated",
        ),
        pytest.param(
            "<p>Set it here.</p><ul><li>Set it now.</li><li>Set it.</li></ul><p>Set it.</p>",
            "Set it now",
            "Set it now.",
            id="item",
        ),
        pytest.param(
            "<p>One two.</p><p>Three <i>four.</i></p><ul><li>five</li><li>six six</li></ul>",
            "two.\n\nThree four.\nfive\nsix",
            "One two. Three four. five six six",
            id="blocks",
        ),
        pytest.param(
            "<table><tr><th>a</th><th>b</th></tr><tr><td>rope</td><td>12 mm</td></tr>"
            "<tr><td>chain</td><td>30 mm</td></tr></table>",
            "12 mm\nchain · 30 mm",
            "rope 12 mm chain 30 mm",
            id="cells",
        ),
        pytest.param(
            "<pre><code>x = 1\nfor a in b:\n    use(a)    # twice\nend</code></pre>",
            "for a in b:\n    use(a)    # twice",
            "x = 1 for a in b: use(a) # twice end",
            id="code",
        ),
        pytest.param("<p>One<br>two<br>three</p>", "two\nthree", "One two three", id="lines"),
        pytest.param(
            f"<p>Before. {LONG} After.</p>", LONG, LONG, id="long"
        ),
        pytest.param("<p>A ropewalk.</p>", "opewalk", "A ropewalk.", id="part of a word"),
    ],
)  # fmt: skip
def test_a_browser_highlights_the_quote(
    site: Site, page: Page, article: str, quote: str, shown: str
) -> None:
    site.article = article
    address = link(passage_of(article, site.address), quote)
    assert address != site.address
    assert highlighted(page, address) == shown


def test_the_occurrence_is_the_cited_one(site: Site, page: Page) -> None:
    site.article = f"<p>{TWICE}</p>"
    source = passage_of(site.article, site.address)
    page.set_viewport_size({"width": 130, "height": 300})
    tops = []
    for start, shown in ((0, "Iron rusts."), (15, "On rope: iron rusts.")):
        assert highlighted(page, link(source, "rusts.", start)) == shown
        tops.append(page.evaluate("scrollY"))
    assert tops[0] < tops[1]


def test_a_missing_anchor_does_not_prevent_the_highlight(site: Site, page: Page) -> None:
    site.article = "<p>A rope holds.</p>"
    source = passage_of(site.article, f"{site.address}#gone")
    assert highlighted(page, link(source, "rope holds")) == "A rope holds."


def test_without_the_quote_the_anchor_is_shown(site: Site, page: Page) -> None:
    source = passage_of("<p>A rope holds.</p>", f"{site.address}#use")
    site.article = '<h2 id="use">Use</h2>'
    page.goto(link(source, "rope holds"))
    page.wait_for_function("scrollY > 0")


def test_a_clicked_link_on_the_same_page_leads_there(site: Site, page: Page) -> None:
    article = "<p>A rope holds.</p>"
    address = html.escape(link(passage_of(article, "/"), "rope holds"))
    site.article = f'{article}<div class="gap"></div><a href="{address}">go</a>'
    page.goto(site.address)
    page.locator("a").click()
    page.wait_for_function("scrollY > 0 && scrollY < 3000")
    shot = base64.b64encode(page.screenshot()).decode()
    assert page.evaluate(_HIGHLIGHTED, shot) == "A rope holds."
