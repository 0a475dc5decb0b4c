"""Text fragments: how they are spelled, and what a real browser makes of them."""

import base64
import html
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page

from answerable.indexing.pages.html_parser import parse_article
from answerable.serve.answers.text_fragments import MAX_TERM_CHARACTERS, link_to_quote

WORDS = " ".join(f"w{n}" for n in range(120))
TWICE = "Iron rusts. Ropes do not. On rope: iron rusts. The end."
ROWS = "rope · 12 mm · hemp\nchain · 30 mm · iron"


def fragment(quote: str, text: str, start: int = 0) -> str:
    """Return the text after ``#:~:text=``, or nothing."""
    link = link_to_quote("/x/", quote, text, start)
    assert link.startswith("/x/")
    return link.removeprefix("/x/").removeprefix("#:~:text=")


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("/x/", "/x/#:~:text=rope"),
        ("/x/#use", "/x/#use:~:text=rope"),
        ("/x/#", "/x/#:~:text=rope"),
        ("https://docs.example/x.html#a-b", "https://docs.example/x.html#a-b:~:text=rope"),
        ("", "#:~:text=rope"),
    ],
)
def test_the_fragment_follows_the_anchor(url: str, link: str) -> None:
    assert link_to_quote(url, "rope", "A rope.") == link


@pytest.mark.parametrize(
    ("quote", "encoded"),
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
    ],
)
def test_reserved_characters_are_percent_encoded(quote: str, encoded: str) -> None:
    assert fragment(quote, quote) == encoded


@pytest.mark.parametrize("quote", ["", " ", "\n", "—", " · ", "...", "absent", "A Rope"])
def test_a_quote_not_in_the_text_leaves_the_url(quote: str) -> None:
    assert link_to_quote("/x/#a", quote, "A rope — and \n · a chain...") == "/x/#a"


def test_a_lone_surrogate_leaves_the_url() -> None:
    assert link_to_quote("/x/", "a \ud800 b", "a \ud800 b") == "/x/"


@pytest.mark.parametrize(
    ("quote", "text", "link"),
    [
        ("ope hol", "A rope holds.", "rope%20holds"),
        ("2.5 mm", "It is 12.5 mm.", "12.5%20mm"),
        ("12", "It is 12.5 mm.", "12.5"),
        ("don", "You don't.", "don%27t"),
        ("line", "Set max_line_len.", "max_line_len"),
        ("rope", "A (rope).", "rope"),
        ("cafe", "A cafe\u0301.", "cafe%CC%81"),
        ("rope", "A ropewalk has a rope.", "ropewalk"),
    ],
)
def test_a_fragment_has_whole_words(quote: str, text: str, link: str) -> None:
    assert fragment(quote, text) == link


@pytest.mark.parametrize(
    ("quote", "start", "link"),
    [
        ("iron rusts", 0, "not.%20On%20rope%3A-,iron%20rusts"),
        ("Iron rusts.", 0, "Iron%20rusts.,-Ropes%20do%20not."),
        ("rusts.", 15, "On%20rope%3A%20iron-,rusts."),
        ("Ropes", 0, "Ropes"),
    ],
)
def test_a_quote_that_is_not_unique_has_words_around_it(quote: str, start: int, link: str) -> None:
    assert fragment(quote, TWICE, start) == link


@pytest.mark.parametrize("other", ["IRON RUSTS", "írón  rusts", "iron\u00a0rusts"])
def test_case_and_accents_make_no_difference_to_a_browser(other: str) -> None:
    assert fragment("iron rusts", f"Say {other}; iron rusts") != "iron%20rusts"


def test_a_part_of_a_word_is_no_occurrence() -> None:
    assert fragment("rope", "Ropes are made of rope.") == "rope"


def test_context_stays_within_its_line() -> None:
    text = "First:\n\nset it\n\nSecond:\n\nset it now"
    assert fragment("set it", text) == "set%20it"
    assert fragment("set it", text, 10) == "set%20it,-now"


def test_the_second_of_two_equal_lines_cannot_be_told() -> None:
    assert fragment("set it", "set it\nset it") == "set%20it"
    assert link_to_quote("/x/", "set it", "set it\nset it", 3) == "/x/"


def test_a_long_quote_is_a_range_of_whole_words() -> None:
    assert fragment(WORDS, WORDS) == "w0%20w1%20w2%20w3%20w4,w115%20w116%20w117%20w118%20w119"
    fits = WORDS[:MAX_TERM_CHARACTERS].rsplit(" ", 1)[0]
    assert "," not in fragment(fits, WORDS)


def test_the_edges_of_a_range_grow_until_they_are_unique() -> None:
    text = f"a b c d e. a b c d e f {WORDS} z z z z z. y z z z z z."
    start = text.index("a b c d e f")
    link = fragment(text[start:], text, start)
    assert link.startswith("a%20b%20c%20d%20e%20f%20")
    assert link.endswith("%20y%20z%20z%20z%20z%20z.")


def test_a_range_has_context_only_on_its_outside() -> None:
    text = "One. Two.\n\nSaid one.\nEnd. End. Fin."
    assert fragment("one.\nEnd.", text) == "Said-,one.,End.,-End.%20Fin."


def test_words_that_are_too_long_leave_the_url() -> None:
    assert link_to_quote("/x/", "字" * 400, "字" * 400) == "/x/"
    assert fragment("字" * 300, "字" * 300)


@pytest.mark.parametrize(
    ("quote", "text", "link"),
    [
        ("One two.\n\nThree four.", "One two.\n\nThree four.", "One%20two.,Three%20four."),
        ("a\nb\nc", "a\nb\nc", "a,c"),
        ("a   # b", "x = a   # b", "a,%23%20b"),
        ("\n\nThree", "One.\n\nThree", "Three"),
        ("rope · 12 mm", ROWS, "rope,12%20mm"),
        ("mm · hemp\nchain · 30", ROWS, "12-,mm,30"),
        ("· hemp\n", ROWS, "hemp"),
        ("12 mm", ROWS, "12%20mm"),
    ],
)
def test_no_term_reaches_over_a_break(quote: str, text: str, link: str) -> None:
    assert fragment(quote, text) == link


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


def passage_of(article: str) -> str:
    """The text of an article as the build reads it and joins its blocks."""
    (section,) = parse_article(article, "").sections
    text = ""
    for block in section.blocks:
        glue = "\n" if block.kind in ("item", "row") else "\n\n"
        text += (glue if text else "") + block.text
    return text


LONG = " ".join(f"Sentence number {n} says that a rope holds." for n in range(40))


@pytest.mark.parametrize(
    ("article", "quote", "shown"),
    [
        pytest.param("<p>A <b>rope</b> holds it.</p>", "rope holds", "rope holds", id="plain"),
        pytest.param(
            "<p>Use <code>--flag=a,b&amp;c</code> - &lt;100&nbsp;% (see “x”, #1)? Yes.</p>",
            "--flag=a,b&c - <100\u00a0% (see “x”, #1)?",
            "--flag=a,b&c - <100 % (see “x”, #1)?",
            id="punctuation",
        ),
        pytest.param(
            "<p>Tout café naïve — 錨の鎖 за́мок שלום עולם 🚀 end.</p>",
            "café naïve — 錨の鎖 за́мок שלום עולם 🚀",
            "café naïve — 錨の鎖 за́мок שלום עולם 🚀",
            id="non-ascii",
        ),
        pytest.param(
            "<p>Iron rusts. <em>Ropes</em> do not. On rope: iron rusts. The end.</p>",
            "iron rusts",
            "iron rusts.",
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
            "two. Three four. five six",
            id="blocks",
        ),
        pytest.param(
            "<table><tr><th>a</th><th>b</th></tr><tr><td>rope</td><td>12 mm</td></tr>"
            "<tr><td>chain</td><td>30 mm</td></tr></table>",
            "12 mm\nchain · 30 mm",
            "12 mm chain 30 mm",
            id="cells",
        ),
        pytest.param(
            "<pre><code>x = 1\nfor a in b:\n    use(a)    # twice\nend</code></pre>",
            "for a in b:\n    use(a)    # twice",
            "for a in b: use(a) # twice",
            id="code",
        ),
        pytest.param("<p>One<br>two<br>three four</p>", "two\nthree", "two three", id="lines"),
        pytest.param(
            f"<p>Before. {LONG} After.</p>", LONG, LONG, id="long"
        ),
        pytest.param("<p>The ropewalk is long.</p>", "opewalk", "ropewalk", id="part of a word"),
    ],
)  # fmt: skip
def test_a_browser_highlights_the_quote(
    site: Site, page: Page, article: str, quote: str, shown: str
) -> None:
    site.article = article
    link = link_to_quote(site.address, quote, passage_of(article))
    assert link != site.address
    assert highlighted(page, link) == shown


def test_the_occurrence_is_the_cited_one(site: Site, page: Page) -> None:
    site.article = f"<p>{TWICE}</p>"
    first, second = (link_to_quote(site.address, "rusts.", TWICE, start) for start in (0, 15))
    page.set_viewport_size({"width": 130, "height": 300})
    tops = []
    for address in (first, second):
        assert highlighted(page, address) == "rusts."
        tops.append(page.evaluate("scrollY"))
    assert tops[0] < tops[1]


def test_a_missing_anchor_does_not_prevent_the_highlight(site: Site, page: Page) -> None:
    site.article = "<p>A rope holds.</p>"
    link = link_to_quote(f"{site.address}#gone", "rope holds", "A rope holds.")
    assert highlighted(page, link) == "rope holds."


def test_without_the_quote_the_anchor_is_shown(site: Site, page: Page) -> None:
    site.article = '<h2 id="use">Use</h2>'
    page.goto(link_to_quote(f"{site.address}#use", "rope holds", "A rope holds."))
    page.wait_for_function("scrollY > 0")


def test_a_clicked_link_on_the_same_page_leads_there(site: Site, page: Page) -> None:
    link = link_to_quote("/", "rope holds", "A rope holds.")
    site.article = (
        f'<p>A rope holds.</p><div class="gap"></div><a href="{html.escape(link)}">go</a>'
    )
    page.goto(site.address)
    page.locator("a").click()
    page.wait_for_function("scrollY > 0 && scrollY < 3000")
    shot = base64.b64encode(page.screenshot()).decode()
    assert page.evaluate(_HIGHLIGHTED, shot) == "rope holds."
