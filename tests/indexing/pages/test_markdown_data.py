"""Pages of real sites as Markdown: it is written as it is read, and has the words of the pages."""

import difflib
import re
from collections.abc import Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser

from answerable.engine.text.markdown import Block, parse_blocks, plain_text
from answerable.engine.text.markdown_writer import write_blocks
from answerable.indexing.html_site.built_site import read_built_site
from answerable.indexing.pages.elements import extract_text
from answerable.indexing.pages.markdown import parse_article
from answerable.indexing.pages.records import PageSource
from support import sites

FOUND = sorted(path.parent for path in sites.DATA.glob("sites/*/mkdocs.yml"))
# Headings are no text of a section, and labels of tabs stand before their own contents there.
_MOVED = "h1, h2, h3, h4, h5, h6, .tabbed-labels, .tabbed-set > label"
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not FOUND, reason=f"no sites in {sites.DATA}: ANSWERABLE_DATA"),
]


@pytest.fixture(scope="module", params=FOUND, ids=lambda path: str(path.name))
def pages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[PageSource, ...]:
    folder = tmp_path_factory.mktemp("real")
    done = sites.build(request.param, "-q", "--site-dir", str(folder))
    assert done.returncode == 0, done.stderr
    return read_built_site(folder).sources


def read_sections(page: PageSource) -> Iterator[list[Block]]:
    for section in parse_article(page.html or "", page.title, page.url).sections:
        yield list(section.blocks)


def letters_of(text: str) -> str:
    """The words of a text without what divides them, which no element of a page has to show."""
    return "".join(re.findall(r"\w", text))


def test_markdown_is_written_as_it_is_read(pages: tuple[PageSource, ...]) -> None:
    for page in pages:
        for blocks in read_sections(page):
            markdown = write_blocks(blocks)
            assert write_blocks(parse_blocks(markdown)) == markdown, page.id


def test_markdown_has_the_words_of_a_page_in_order(pages: tuple[PageSource, ...]) -> None:
    for page in pages:
        body = LexborHTMLParser(page.html or "").body
        assert body
        for node in reversed(body.css(_MOVED)):
            node.decompose()
        for panel in body.css("[role=tabpanel][hidden]"):
            # Only a script hides it.
            del panel.attrs["hidden"]
        expected = letters_of(extract_text(body))
        written = [
            write_blocks([block for block in blocks if block.detail != "tab"])
            for blocks in read_sections(page)
        ]
        found = letters_of("\n".join(map(plain_text, written)))
        if found != expected:
            match = difflib.SequenceMatcher(None, expected, found, autojunk=False)
            pytest.fail(f"{page.id}: {match.get_opcodes()[:3]}")
