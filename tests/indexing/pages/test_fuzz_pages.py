"""Fuzz page parsing: odd, deep and long pages are read, and their passages are valid."""

import datetime as dt
import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answerable.engine.text.markdown import CELL_SEPARATOR, read_markdown
from answerable.engine.text.tokenization import count_words
from answerable.engine.text.urls import is_safe_url
from answerable.indexing.pages import page_index
from answerable.indexing.pages.cache import decode_page, encode_page
from answerable.indexing.pages.page_index import (
    CuttingRules,
    PageIndex,
    index_record,
)
from answerable.indexing.pages.passages import PassageWindow
from answerable.indexing.pages.records import PageSource, parse_metadata
from support.fuzz_settings import fuzzed

pytestmark = pytest.mark.deep

SHOWN = "shownword"
HIDDEN = "hiddenword"
TITLE = "The Title"

# Any code point, lone surrogates too.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)

_ODD = (
    *("a", "I ran. It broke.", "e.g. 3.10", "&amp;", "&lt;b&gt;", "&#0;", "&#xd800;", "&nbsp;"),
    *("&notanentity;", "\x00", "\x0b", "\x7f", "\x85", "\xa0", "\u200b", "\u2028", "\ud800"),
    *("\u202eevil\u202c", "縄は麻です。錨の鎖。", "เรือลำนี้ยาวมาก", "مرحبا", "👩‍👩‍👧", "<wbr>"),
    *("e\u0301", "\t\n  ", "<!-- c -->", "<![CDATA[ x ]]>", "<?php x ?>", "word " * 30, "x" * 99),
    *("n\u0e48" + "\u0e48" * 70, "<img alt=x src=y>", "<input value=z>", "...", "。！？"),
)
_IDS = (
    *("a", "a", "a~2", "a~3", "b c", "100%", "a%20b", "a%20b c", "嵐", "é", "", "x<y", "a\\b"),
    *("\u202ex", "a#b", "?q", "\xa0"),
)
_odd = st.sampled_from(_ODD)
_anchor = st.sampled_from(_IDS).map(lambda name: f' id="{name}"') | st.just("")


def _joined(parts: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map("".join)


def _within(form: str, inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """An element that holds what is drawn, and an id where its form has a place for one."""
    pairs = st.tuples(_anchor, inside)
    return pairs.map(lambda pair: form.replace("{id}", pair[0]).replace("{}", pair[1]))


def _hidden(html: str) -> str:
    return html.replace(SHOWN, HIDDEN)


_INLINE = (
    *("<em>{}</em>", "<b{id}>{}</b>", "<code>{}</code>", "<span{id}>{}</span>", "{}<br>{}"),
    '<abbr title="long form">{}</abbr>',
)
_UNSEEN_INLINE = (
    *("<span hidden>{}</span>", "<span data-search-exclude>{}</span>"),
    *("<template><i>{}</i></template>", '<span class="x linenos">{}</span>'),
)
_RAW = tuple(
    form.replace("{}", f" {HIDDEN} ")
    for form in (
        *("<script>{}<b>{}</script>", "<style>{}</style>", "<textarea>{}</textarea>"),
        *("<button>{}</button>", "<noscript>{}</noscript>", "<iframe>{}</iframe>", "<!-- {} -->"),
        *('<a class="headerlink" href="#x">{}</a>', "<svg><title>{}</title></svg>"),
    )
)
_inline = st.recursive(
    st.just(f" {SHOWN} ") | _odd | st.sampled_from(_RAW),
    lambda inner: st.one_of(
        *(_within(form, _joined(inner)) for form in _INLINE),
        *(_within(form, _joined(inner)).map(_hidden) for form in _UNSEEN_INLINE),
    ),
    max_leaves=5,
)
_text = _joined(_inline)
_LINES = (
    *("<p{id}>{}</p>", "<pre>{}</pre>", '<p><a href="../x/#y">z</a>{}</p>'),
    *(f"<h{level}{{id}}>{TITLE}</h{level}>" for level in (1, 2, 3)),
    '<div class="language-py highlight"><span class="filename">a.py</span>'
    "<pre><code>{}</code></pre></div>",
)
_BLOCKS = (
    *("<div{id}>{}</div>", "<section{id}>{}</section>", "<blockquote>{}</blockquote>", "{}"),
    "<ul><li>{}</li><li{id}>{}</li></ul>",
    '<ol start=-3><li value="7">{}</li><li value=x>{}<ul><li>{}</li></ul></li></ol>',
    '<div class="tabbed-set"><input><label>{}</label><div class="tabbed-content">{}</div></div>',
    "<div><ul role=tablist><li role=tab>x</ul><div role=tabpanel>{}</div><div role=tabpanel hidden>"
    "{}</div></div>",
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}</table>",
    "<dl><dt>x</dt><dd>{}</dd></dl>",
    "<details{id}><summary>x</summary>{}</details>",
    '<div class="admonition note"><p class="admonition-title">Note</p>{}</div>',
)
_UNSEEN = (
    *("<nav>{}</nav>", "<div data-search-exclude>{}</div>", "<section hidden>{}</section>"),
    *("<template><div>{}</div></template>", '<div class="md-tags">{}</div>'),
)
# An excluded heading takes out what stands under it.
_EXCLUDED_TEXT = "<h2 data-search-exclude>x</h2><p>{}</p><h2>x</h2>"
_flow = st.recursive(
    st.one_of(
        *(_within(form, _text) for form in _LINES), _within(_EXCLUDED_TEXT, _text).map(_hidden)
    ),
    lambda inner: st.one_of(
        *(_within(form, _joined(inner)) for form in _BLOCKS),
        *(_within(form, _joined(inner)).map(_hidden) for form in _UNSEEN),
    ),
    max_leaves=10,
)


def _numbered(html: str) -> str:
    """Each word that must show, made one of its own."""
    first, *others = html.split(SHOWN)
    return first + "".join(f"{SHOWN}{number}{part}" for number, part in enumerate(others))


_TAGS = (
    "div p span section h1 h2 ul ol li table tr td th caption pre code dl dt dd details summary "
    "svg math template script style select a b abbr br textarea head body iframe plaintext"
).split()
_ATTRIBUTES = (
    *('id="a"', "id=a~2", 'id="', "class='highlight", "class=tabbed-set", "role=tablist", "hidden"),
    *(
        "class=tabbed-content",
        "role=tabpanel",
        "href=/x/",
        "start=9",
        'class="highlight"',
        "name=n",
    ),
    *("data-termynal", "data-search-exclude", 'title="long form"', "=", "/", "<", "a\x00b=c"),
)
_token = st.one_of(
    _odd,
    ANY_TEXT,
    st.builds(
        lambda tag, attributes: f"<{' '.join((tag, *attributes))}>",
        st.sampled_from(_TAGS),
        st.lists(st.sampled_from(_ATTRIBUTES), max_size=3),
    ),
    st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from(["<!--", "-->", "<![CDATA[", "]]>", "<", "</", "<!doctype html>", "&", "&#x"]),
)
BROKEN = st.lists(_token, max_size=30).map("".join)

fuzz = fuzzed(many=8000, deadline=dt.timedelta(seconds=30))
WINDOWS = st.builds(PassageWindow, st.sampled_from([20, 240]), st.sampled_from([0.0, 0.25, 0.5]))
LANGUAGES = st.sampled_from(["en", "de-AT", "ja", "th", "ar", "", "xx", "\x00", "zh_CN"])


def text_without_separators(markdown: str) -> str:
    """The words that an author wrote: not the dots between the cells of a row.

    A row that is cut keeps its empty cells, and so its columns, and each has a dot.
    """
    blocks = [placed.block for placed in read_markdown(markdown).blocks]
    return "\n".join(
        block.text.replace(CELL_SEPARATOR, " ") if block.kind == "row" else block.text
        for block in blocks
    )


def index_html(html: str, window: PassageWindow, language: str = "en") -> PageIndex:
    """A page read and cut, checked."""
    record = page_index.parse_record(
        PageSource("a/page", "/a/page/", TITLE, html, language=language)
    )
    page = index_record(record, CuttingRules(window))
    ids = [indexed.passage.id for indexed in page.passages]
    assert len(ids) == len(set(ids))
    for indexed in page.passages:
        passage = indexed.passage
        assert passage.text.strip()
        assert indexed.retrieval_text.encode()
        assert count_words(text_without_separators(passage.markdown)) <= window.words
        assert is_safe_url(passage.url)
        url, _, fragment = passage.url.partition("#")
        assert url == record.url
        assert not fragment or {fragment, unquote(fragment)} & page.record.anchors
    assert decode_page(encode_page(page)) == page
    return page


@fuzz
@given(ANY_TEXT | BROKEN, WINDOWS, LANGUAGES)
@example("<h2 id='a%20b c'>A</h2>x", PassageWindow(), "en")
def test_any_text_is_read(html: str, window: PassageWindow, language: str) -> None:
    index_html(html, window, language)


@fuzz
@given(_joined(_flow, 6).map(_numbered), WINDOWS)
def test_what_is_hidden_never_shows_and_all_else_does_in_order(
    html: str, window: PassageWindow
) -> None:
    text = "\n".join(indexed.passage.text for indexed in index_html(html, window).passages)
    assert HIDDEN not in text
    words = re.findall(rf"{SHOWN}\d+", text)
    assert list(dict.fromkeys(words)) == re.findall(rf"{SHOWN}\d+", html)


def test_what_no_file_can_hold_is_left_out_of_front_matter() -> None:
    metadata = parse_metadata({"tags": [10**5000, 7], "aliases": ["a\ud800b", "c\nd"]})
    assert (metadata.themes, metadata.aliases) == (("7",), ("ab", "c d"))


MANY = 20_000
LONG: dict[str, Callable[[], str]] = {
    "divs": lambda: "<div>" * 5000 + "x",
    "sections": lambda: "<section><h2>H</h2><p>x</p>" * 2000,
    "code in code": lambda: "<pre>" + "<span>" * 5000 + "x",
    "tables": lambda: "<table><tr><td>x" * 1000,
    "words in markup": lambda: "<b>word</b> " * MANY,
    "sentences": lambda: "The cat sat on a mat. " * MANY,
    "letter": lambda: "a" * (20 * MANY),
    "kana": lambda: "かな" * (4 * MANY),
    "full stops": lambda: "." * (20 * MANY),
    "lines of code": lambda: "<pre>" + "x = 1\n" * (4 * MANY),
    "headings of one id": lambda: "<h2 id=a>H</h2>x" * (MANY // 2),
    "cells": lambda: "<table>" + ("<tr>" + "<td>cell" * 20) * (MANY // 100),
}


@pytest.mark.parametrize("name", LONG)
def test_a_deep_or_long_page_is_read(name: str) -> None:
    """A quadratic reader would take hours."""
    record = page_index.parse_record(PageSource("a", "/a/", TITLE, LONG[name]()))
    page = index_record(record)
    assert page.passages
    assert len({indexed.passage.id for indexed in page.passages}) == len(page.passages)
