"""The floating button in pages of real themes: what it must not cover."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from support import sites, static_server

# Highlighting of a built-in theme comes from another host.
THEMES: dict[str, dict[str, object]] = {
    "material": {"font": False, "features": ["navigation.footer"]},
    "readthedocs": {"highlightjs": False},
}
CONTENTS = [f"Section {n}" for n in range(60)]
# Observers have been told of what is drawn.
FRAMES = """async () => {
  for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
}"""
# What of the page can be seen under the button, wherever that stands.
COVERED = """(box) => {
  const { left, right, top, bottom } = box.shadowRoot.querySelector(".trigger")
    .getBoundingClientRect();
  const nodes = new Set();
  for (let x = left; x <= right; x += 4)
    for (let y = top; y <= bottom; y += 4)
      for (const node of document.elementsFromPoint(x, y)) {
        if (node.matches("a, p, nav li, footer *")) nodes.add(node);
      }
  return [...nodes].map((node) => node.textContent.trim());
}"""


@pytest.fixture(scope="module", params=THEMES)
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A built site of a theme, whose first page has a long table of contents and a next page."""
    sections = "".join(f"## {name}\n\nSome words of it.\n\n" for name in CONTENTS)
    pages = {
        "index.md": f"# Home\n\n{sections}The last words of the page.\n",
        "next.md": "# Next\n\nLittle.\n",
    }
    theme = {"name": request.param, **THEMES[request.param]}
    # Scripts of a built-in theme fail without the search that they expect.
    answerable = {"answerable": {"widget": {"placement": "button"}}}
    folder = sites.write_site(
        tmp_path_factory.mktemp(request.param), pages, theme=theme, plugins=["search", answerable]
    )
    sites.build_here(folder)
    with static_server.serving(folder / "site") as origin:
        yield origin


def opened(page: Page, address: str, width: int = 1280) -> Locator:
    page.set_viewport_size({"width": width, "height": 800})
    # By then Material has measured its sidebars.
    page.goto(f"{address}/", wait_until="networkidle")
    box = page.locator("answerable-ask")
    expect(box.get_by_role("button", name="Ask")).to_be_in_viewport(ratio=1)
    return box


def test_the_button_covers_no_contents_and_no_end(page: Page, address: str) -> None:
    for width in (1280, 390):
        check_what_is_covered(page, address, width)


def check_what_is_covered(page: Page, address: str, width: int) -> None:
    box = opened(page, address, width)
    for place in (0, 800):
        page.evaluate("(top) => scrollTo(0, top)", place)
        page.evaluate(FRAMES)
        assert [each for each in box.evaluate(COVERED) if each in CONTENTS] == [], place
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.evaluate(FRAMES)
    covered = box.evaluate(COVERED)
    # Its pages end outside of the page's flow: its credits stay where they are.
    if "Read the Docs" in page.locator("footer").inner_text():
        covered = [each for each in covered if "Next" in each or "last words" in each]
    assert covered == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
