"""Text fragments: how they are spelled, and what a real browser makes of them."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from answerable.engine.text.sentences import link_to_range
from answerable.engine.types import Passage
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from support import static_server
from support.doubles import record
from support.passage_blocks import block, passage


def link(source: Passage, quote: str, start: int = 0) -> str:
    at = source.text.index(quote, start)
    return link_to_range(source, at, at + len(quote))


def fragment(quote: str, source: Passage | str, start: int = 0) -> str:
    """Return what follows ``#:~:text=``. source: a paragraph, or a passage."""
    if isinstance(source, str):
        source = passage(block("text", source))
    return link(source, quote, start).removeprefix(f"{source.url}:~:text=")


def test_a_range_is_named_by_its_first_and_last_words() -> None:
    text = "Before it. one two three four five six seven eight nine."
    whole = "one%20two%20three%20four%20five%20six%20seven%20eight"
    assert fragment("one two three four five six seven eight", text) == whole
    assert fragment("one two three four five six seven eight nine.", text) == (
        "one%20two%20three%20four,six%20seven%20eight%20nine."
    )
    assert link(replace(passage(block("text", text)), url="/x/"), "it.") == "/x/#:~:text=it."


def test_the_words_grow_until_the_passage_has_them_once() -> None:
    text = "A b c d e. A b c d f g h i j k l m. Not k l m. So i j k l m."
    start = text.index("A b c d f")
    assert fragment("A b c d f g h i j k l m.", text, start) == (
        "A%20b%20c%20d%20f,h%20i%20j%20k%20l%20m."
    )


_STYLE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<link rel="icon" href="data:,">
<style>body { margin: 0; font: 16px/24px sans-serif } .gap { height: 3000px }
::target-text { color: #f0f; background: #f0f }</style><div class="gap"></div>"""

# The words whose middle has the color of the highlight in a screenshot.
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

LONG = " ".join(f"Sentence number {n} says that a rope holds." for n in range(12))


@pytest.mark.parametrize(
    ("article", "quote"),
    [
        pytest.param(
            "<p>Use <code>-f=a,b&amp;c</code> - &lt;100&nbsp;% (“錨”, naïve за́мок 🚀)? Yes.</p>",
            "Use -f=a,b&c - <100\u00a0% (“錨”, naïve за́мок 🚀)?",
            id="punctuation",
        ),
        pytest.param(
            "<pre><code>for a in b:\n    use(a)    # twice</code></pre>"
            "<table><tr><td>rope</td><td>12 mm</td></tr></table>",
            "for a in b:\n    use(a)    # twice\nrope · 12 mm",
            id="code and cells",
        ),
        pytest.param(f"<p>Before. {LONG} After.</p>", LONG, id="long"),
    ],
)
def test_a_browser_highlights_the_range(
    tmp_path: Path, page: Page, article: str, quote: str
) -> None:
    (tmp_path / "index.html").write_text(f'{_STYLE}{article}<div class="gap"></div>', "utf-8")
    (cut,) = cut_passages(record("x", article), PassageWindow(words=1_000))
    with static_server.serving(tmp_path) as origin:
        source = replace(cut.passage, url=f"{origin}/index.html#missing")
        page.goto(link(source, quote))
        page.wait_for_function("scrollY > 0")
        shot = base64.b64encode(page.screenshot()).decode()
        highlighted = page.evaluate(_HIGHLIGHTED, shot)
    assert highlighted == " ".join(quote.replace(" · ", " ").split())
