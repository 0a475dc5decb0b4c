"""Test the parsing of rendered HTML into sections."""

import markdown  # type: ignore[import-untyped]
import pytest

from answerable.engine.text.markdown_writer import write_blocks
from answerable.indexing.pages.markdown import ParsedArticle, parse_article


def texts(page: ParsedArticle) -> list[str]:
    return [block.text for section in page.sections for block in section.blocks]


def rendered(source: str) -> ParsedArticle:
    """Markdown by the extensions that Material's users have, with permalinks and line numbers."""
    html = markdown.markdown(
        source,
        extensions=["toc", "tables", "admonition", "abbr", "attr_list", "pymdownx.highlight",
                    "pymdownx.superfences", "pymdownx.tabbed", "footnotes", "def_list"],
        extension_configs={
            "toc": {"permalink": True},
            "pymdownx.tabbed": {"alternate_style": True},
        },
    )  # fmt: skip
    return parse_article(html, "Title")


def test_headings_become_sections_with_their_path_and_anchor() -> None:
    page = rendered("# Title\n\nzero\n\n## One\n\nfirst\n\n### Two\n\nsecond\n\n## Three\n\nthird")
    assert [(s.path, s.anchor, s.blocks[0].text) for s in page.sections] == [
        ((), "title", "zero"),
        (("One",), "one", "first"),
        (("One", "Two"), "two", "second"),
        (("Three",), "three", "third"),
    ]
    assert {"title", "one", "two", "three"} <= page.anchors


def test_a_heading_that_repeats_the_title_is_not_in_the_path() -> None:
    assert parse_article("<h1 id=a>Title</h1><p>x", "Title").sections[0].path == ()
    assert parse_article("<h1 id=a>Other</h1><p>x", "Title").sections[0].path == ("Other",)


def test_a_heading_without_id_borrows_the_nearest_anchor_above() -> None:
    page = parse_article("<h2 id=up>Up</h2><p>a</p><h3>Down</h3><p>b</p>", "T")
    assert [(s.path, s.anchor) for s in page.sections] == [(("Up",), "up"), (("Up", "Down"), "up")]


def test_a_line_break_divides_lines_and_a_leading_one_does_not() -> None:
    assert texts(parse_article("<p><br>one <br> two<br/>three<br></p>", "T")) == ["one\ntwo\nthree"]


def test_line_numbers_are_no_code() -> None:
    page = rendered('``` {.python linenums="1"}\nimport os\nos.sep\n```')
    assert texts(page) == ["import os\nos.sep"]


def test_inline_code_is_marked_where_it_stands() -> None:
    (block,) = (
        parse_article("<p>Call  <code>a.b()</code> or <code>c</code>.</p>", "T").sections[0].blocks
    )
    assert write_blocks([block]) == "Call `a.b()` or `c`."


def test_a_table_in_a_cell_is_said_once() -> None:
    html = "<table><tr><td>a<td>b<table><tr><td>c<td>d</table></table>"
    page = parse_article(html, "Title")
    assert write_blocks(page.sections[0].blocks).split("\n")[2:] == ["| a | b c · d |"]


def test_table_rows_are_lines_of_cells() -> None:
    page = rendered("| key | use |\n|---|---|\n| `a` | one **b** |\n| | |\n| c | |")
    assert write_blocks(page.sections[0].blocks).split("\n") == [
        "| key | use |", "| --- | --- |", "| `a` | one b |", "| c |  |"
    ]  # fmt: skip


def test_an_icon_is_its_label() -> None:
    html = (
        '<table><tr><td>Fast<td><span class="twemoji" title=":material-check:"><svg></svg></span>'
        '<tr><td>Free<td><img class="emoji" alt="✅" src="/x.svg"></table>'
        '<p>See <img alt="a picture" src="/y.png">.'
    )
    assert texts(parse_article(html, "T")) == ["Fast · material-check", "Free · ✅", "See ."]


def test_footnote_marks_and_scripts_and_forms_are_not_read() -> None:
    assert texts(rendered("Fact.[^1]\n\n[^1]: Source."))[0] == "Fact."
    html = "<p>a<script>b()</script><style>c</style><button>d</button><svg><title>e</title></svg>"
    assert texts(parse_article(html, "T")) == ["a"]


@pytest.mark.parametrize("mark", ["data-search-exclude", "data-answerable-exclude"])
def test_an_excluded_heading_takes_its_own_text_out_only(mark: str) -> None:
    page = parse_article(
        f"<h2 id=a {mark}>Secret</h2><p>no</p><h3 id=b>Sub</h3><p>yes</p><h2 id=c>C</h2><p>c</p>",
        "T",
    )
    assert [(s.path, s.anchor, s.blocks[0].text) for s in page.sections] == [
        (("Sub",), "b", "yes"),
        (("C",), "c", "c"),
    ]


def test_abbreviations_are_collected() -> None:
    page = rendered("The HTML spec.\n\n*[HTML]: Hyper Text Markup Language")
    assert page.abbreviations == {"HTML": "Hyper Text Markup Language"}
    assert texts(page) == ["The HTML spec."]


@pytest.mark.parametrize("mark", ["data-search-exclude", "data-answerable-exclude", "hidden"])
def test_an_excluded_element_is_left_out_with_what_is_in_it(mark: str) -> None:
    html = f"<p>keep</p><div {mark}><h2 id=x>No</h2><p>no</p></div><p>keep too</p>"
    assert texts(parse_article(html, "T")) == ["keep", "keep too"]
