"""Test the structure of parsed pages: lists, tables, tabs, labels, code and links."""

from collections.abc import Sequence

import markdown  # type: ignore[import-untyped]
import pytest

from answerable.engine.text.markdown import Block
from answerable.engine.types import Passage
from answerable.indexing.pages.markdown import parse_article
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from support.doubles import record

Outline = list[tuple[str, int, str, str]]


def blocks_of(html: str, url: str = "/guide/deploy/") -> list[Block]:
    return [b for section in parse_article(html, "Title", url).sections for b in section.blocks]


def outline(blocks: Sequence[Block]) -> Outline:
    return [(b.kind, b.level, b.detail, b.text) for b in blocks]


def rendered(source: str, **options: dict[str, object]) -> list[Block]:
    """Markdown by the extensions that Material's users have."""
    html = markdown.markdown(
        source,
        extensions=["tables", "admonition", "attr_list", "def_list", "md_in_html",
                    "pymdownx.details", "pymdownx.highlight", "pymdownx.superfences",
                    "pymdownx.tabbed", "pymdownx.inlinehilite"],
        extension_configs={f"pymdownx.{name}": value for name, value in options.items()},
    )  # fmt: skip
    return blocks_of(html)


TABS = (
    '=== "Linux"\n\n    Use apt:\n\n    ```\n    apt\n    ```\n\n=== "Mac"\n\n    - brew\n\nAfter.'
)


@pytest.mark.parametrize("alternate", [True, False])
def test_each_tab_label_stands_before_its_own_content(alternate: bool) -> None:
    assert outline(rendered(TABS, tabbed={"alternate_style": alternate})) == [
        ("label", 0, "tab", "Linux"),
        ("text", 1, "", "Use apt:"),
        ("code", 1, "", "apt"),
        ("label", 0, "tab", "Mac"),
        ("item", 1, "", "brew"),
        ("text", 0, "", "After."),
    ]


OTHER_TABS = {
    "sphinx-design": '<div class="sd-tab-set docutils"><input checked id="t0" type="radio">'
    '<label class="sd-tab-label" for="t0">Linux</label>'
    '<div class="sd-tab-content docutils"><p>apt</p></div><input id="t1" type="radio">'
    '<label class="sd-tab-label" for="t1">Mac</label>'
    '<div class="sd-tab-content docutils"><p>brew</p></div></div>',
    "docusaurus": '<div class="theme-tabs-container tabs-container">'
    '<ul role="tablist" class="tabs"><li role="tab" class="tabs__item">Linux</li>'
    '<li role="tab" class="tabs__item">Mac</li></ul><div class="margin-top--md">'
    '<div role="tabpanel" class="tabItem_Ymn6"><p>apt</p></div>'
    '<div role="tabpanel" class="tabItem_Ymn6" hidden><p>brew</p></div></div></div>',
    "sphinx-tabs": '<div class="sphinx-tabs docutils container">'
    '<div role="tablist"><button role="tab" id="tab-0">Linux</button>'
    '<button role="tab" id="tab-1">Mac</button></div>'
    '<div class="sphinx-tabs-panel" role="tabpanel"><p>apt</p></div>'
    '<div class="sphinx-tabs-panel" hidden="true" role="tabpanel"><p>brew</p></div></div>',
}


@pytest.mark.parametrize("generator", OTHER_TABS)
def test_tabs_of_other_generators_are_read_with_their_labels(generator: str) -> None:
    assert outline(blocks_of(OTHER_TABS[generator])) == [
        ("label", 0, "tab", "Linux"),
        ("text", 1, "", "apt"),
        ("label", 0, "tab", "Mac"),
        ("text", 1, "", "brew"),
    ]


def test_a_nested_list_has_a_deeper_level() -> None:
    source = "1. one\n    - deep\n2. two\n\npara\n\n- three"
    assert outline(rendered(source)) == [
        ("item", 0, "1", "one"),
        ("item", 1, "", "deep"),
        ("item", 0, "2", "two"),
        ("text", 0, "", "para"),
        ("item", 0, "", "three"),
    ]


def test_a_table_in_an_item_stands_deeper_than_the_item() -> None:
    html = "<ul><li>a<table><caption>Ports</caption><tr><th>x<tr><td>y</table><li>b</ul>"
    assert outline(blocks_of(html)) == [
        ("item", 0, "", "a"),
        ("text", 1, "", "Ports"),
        ("row", 1, "header", "x"),
        ("row", 1, "", "y"),
        ("item", 0, "", "b"),
    ]


def test_admonitions_and_details_have_a_title_and_deeper_content() -> None:
    source = '!!! warning "Mind"\n    the gap\n\n    - x\n\n??? note "More"\n    inside\n\nafter'
    assert outline(rendered(source)) == [
        ("label", 0, "title", "Mind"),
        ("text", 1, "", "the gap"),
        ("item", 1, "", "x"),
        ("label", 0, "title", "More"),
        ("text", 1, "", "inside"),
        ("text", 0, "", "after"),
    ]


def test_definitions_stand_in_their_term() -> None:
    source = "term `x`\n:   meaning\n\n    more\n\nother\n:   else"
    blocks = rendered(source)
    assert outline(blocks) == [
        ("label", 0, "term", "term x"),
        ("text", 1, "", "meaning"),
        ("text", 1, "", "more"),
        ("label", 0, "term", "other"),
        ("text", 1, "", "else"),
    ]


LANGUAGES = {
    '<div class="language-python highlight"><pre><span></span><code>x</code></pre></div>': "python",
    '<div class="highlight"><pre><code class="language-go" data-lang="go">x</code></pre></div>':
    "go",
    '<div class="highlight-console notranslate"><div class="highlight"><pre>x</pre></div></div>':
    "console",
    '<div class="language-js codeBlock_x"><div><pre class="prism-code"><code>x</code></pre></div>'
    "</div>": "js",
    "<pre>x</pre>": "",
}  # fmt: skip


@pytest.mark.parametrize("html", LANGUAGES)
def test_the_language_of_code_is_what_its_highlighter_names(html: str) -> None:
    assert outline(blocks_of(html)) == [("code", 0, LANGUAGES[html], "x")]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("../api/", "/guide/api/"),
        ("#notes", "/guide/deploy/#notes"),
        ("/top/", "/top/"),
        ("javascript:alert(1)", None),
        ("//e.example/", "https://e.example/"),
        ("/a b", None),
    ],
)
def test_a_link_keeps_its_url_if_that_is_safe(href: str, url: str | None) -> None:
    (block,) = blocks_of(f'<p>See <a href="{href}">the notes</a>.')
    assert block.text == "See the notes."
    links = [(block.text[s.start : s.end], s.url) for s in block.spans]
    assert links == ([("the notes", url)] if url else [])


def words(count: int, stem: str = "word") -> str:
    return " ".join(f"{stem}{n}" for n in range(count))


def cut(html: str, limit: int = 40) -> list[Passage]:
    return [c.passage for c in cut_passages(record("page", html), PassageWindow(limit, 0.25))]


def test_a_window_that_begins_within_a_table_repeats_its_column_names() -> None:
    rows = "".join(f"<tr><td>{words(4, f'r{n}a')}<td>{words(4, f'r{n}b')}" for n in range(12))
    passages = cut(f"<p>Intro.<table><tr><th>key<th>use{rows}</table><p>{words(30)}")
    with_rows = [p.markdown for p in passages if "| r" in p.markdown]
    assert len(with_rows) > 2
    assert all(markdown.count("| key | use |\n| --- | --- |\n| r") == 1 for markdown in with_rows)
    assert all(f"| r{n}a0 " in "".join(with_rows) for n in range(12))
