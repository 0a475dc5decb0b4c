"""Fuzz page parsing: odd, deep and long pages are read, and their passages are valid."""

import datetime as dt
import json
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import markdown  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answerable.indexing.pages import page_index
from answerable.indexing.pages.page_index import (
    CuttingRules,
    PageIndex,
    decode_page,
    encode_page,
    hash_page,
    index_record,
)
from answerable.indexing.pages.passages import PassageWindow
from answerable.indexing.pages.records import PageSource, Record, parse_metadata
from answerable.serve.structure import (
    is_safe_url,
    pack_structure,
    unpack_blocks,
    unpack_spans,
)
from answerable.serve.text.tokenization import count_words
from answerable.serve.types import Passage
from support.fuzz_settings import DEEP, fuzzed

SHOWN = "shownword"
HIDDEN = "hiddenword"
TITLE = "The Title"

# Any code point, lone surrogates too.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)

_ODD = (
    *("a", "I ran. It broke.", "e.g. 3.10", "&amp;", "&lt;b&gt;", "&#0;", "&#xd800;", "&nbsp;"),
    *(
        "&notanentity;",
        "\x00",
        "\x0b",
        "\x1f",
        "\x7f",
        "\x85",
        "\xa0",
        "\u200b",
        "\u2028",
        "\ud800",
    ),
    *(
        "\u202eevil\u202c",
        "\u2066x\u2069",
        "縄は麻です。錨の鎖。",
        "เรือลำนี้ยาวมาก",
        "مرحبا",
        "👩‍👩‍👧",
    ),
    *("e\u0301", "\t\n  ", "<!-- c -->", "<![CDATA[ x ]]>", "<?php x ?>", "word " * 30, "x" * 99),
    *("n\u0e48" + "\u0e48" * 70, "<wbr>", "<img alt=x src=y>", "<input value=z>", "...", "。！？"),
)
_IDS = (
    *("a", "a", "a~2", "a~3", "b c", "100%", "a%20b", "a%20b c", "嵐", "é", "", "x<y", "a\\b"),
    *("\u202ex", "a#b", "?q", "\xa0"),
)

_odd = st.sampled_from(_ODD)
_word = st.just(f" {SHOWN} ")
_anchor = st.sampled_from(_IDS).map(lambda name: f' id="{name.replace(chr(34), "")}"') | st.just("")


def _joined(parts: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map("".join)


def _within(form: str, inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """An element that holds what is drawn, and an id where its form has a place for one."""
    if "{id}" not in form:
        return inside.map(lambda html: form.replace("{}", html))
    pairs = st.tuples(_anchor, inside)
    return pairs.map(lambda pair: form.replace("{id}", pair[0]).replace("{}", pair[1]))


def _hidden(html: str) -> str:
    return html.replace(SHOWN, HIDDEN)


_INLINE = (
    *("<em>{}</em>", "<b{id}>{}</b>", "<code>{}</code>", "<kbd>{}</kbd>", "<i>{}</i>"),
    *('<abbr title="long form">{}</abbr>', "<span{id}>{}</span>", "{}<br>{}", "<mark>{}</mark>"),
)
# A browser ends a link where another begins, with every element that is open in it, a hidden one
# too: so a link holds no elements.
_LINKS = ('<a href="../x/#y">{}</a>', '<a href="javascript:x">{}</a>', "<a href=//[>{}</a>")
_UNSEEN_INLINE = (
    *("<span hidden>{}</span>", "<span data-search-exclude>{}</span>"),
    "<template><i>{}</i></template>",
    '<span class="x linenos">{}</span>',
)
_RAW = tuple(
    form.replace("{}", f" {HIDDEN} ")
    for form in (
        *("<script>{}<b>{}</script>", "<style>{}</style>", "<textarea>{}</textarea>"),
        *("<button>{}</button>", "<noscript>{}</noscript>", "<a name=n></a>"),
        '<a class="headerlink" href="#x">{}</a>',
        "<svg><title>{}</title><text>{}</text></svg><math><mi>{}</mi></math>",
        *("<iframe>{}</iframe>", "<!-- {} -->", '<img alt="{}">', "<select><option>{}</select>"),
    )
)
_inline = st.recursive(
    st.one_of(
        _word, _odd, st.sampled_from(_RAW), *(_within(form, _word | _odd) for form in _LINKS)
    ),
    lambda inner: st.one_of(
        *(_within(form, _joined(inner)) for form in _INLINE),
        *(_within(form, _joined(inner)).map(_hidden) for form in _UNSEEN_INLINE),
    ),
    max_leaves=5,
)
_text = _joined(_inline)

_HEADING = st.tuples(st.integers(1, 6), _anchor, _odd | st.just(TITLE)).map(
    lambda drawn: f"<h{drawn[0]}{drawn[1]}>{drawn[2]}</h{drawn[0]}>"
)
_LINES = (
    "<p{id}>{}</p>",
    "<pre>{}</pre>",
    '<div class="language-py highlight"><span class="filename">a.py</span>'
    "<pre><code>{}</code></pre></div>",
    '<div class="highlight"><table class="highlighttable"><tr><td class="linenos"><pre>'
    f"1 {HIDDEN}</pre></td>"
    '<td class="code"><div><pre><code>{}</code></pre></div></td></tr></table></div>',
)
_BLOCKS = (
    *("<div{id}>{}</div>", "<section{id}>{}</section>", "<blockquote>{}</blockquote>", "{}"),
    "<ul><li>{}</li><li{id}>{}</li></ul>",
    '<ol start=-3><li value="7">{}</li><li value=x>{}</li></ol>',
    '<div class="tabbed-set"><input><label>{}</label><div class="tabbed-content">{}</div></div>',
    '<div class="tabbed-set"><div class="tabbed-labels"><label>x</label></div><div class='
    '"tabbed-content"><div class="tabbed-block">{}</div><div class="tabbed-block">{}</div></div>'
    "</div>",
    "<div><ul role=tablist><li role=tab>x</ul><div role=tabpanel>{}</div><div role=tabpanel hidden>"
    "{}</div></div>",
    "<div><div role=tablist></div><div role=tabpanel><div role=tabpanel>{}</div></div></div>",
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}</table>",
    "<ol><li>{}<ul><li>{}</li></ul></li></ol>",
    "<dl><dt>x</dt><dd>{}</dd></dl>",
    "<details{id}><summary>x</summary>{}</details>",
    '<div class="admonition note"><p class="admonition-title">Note</p>{}</div>',
    "<table><thead><tr><th>k</th></tr></thead><tbody><tr><td>{}</td><td>{}</td></tr></table>",
    "<table><tr><td><table><tr><td>{}</td></tr></table></td></tr></table>",
)
_UNSEEN = (
    *("<nav>{}</nav>", "<div data-search-exclude>{}</div>", "<section hidden>{}</section>"),
    *('<template><div>{}</div></template>', '<div class="md-tags">{}</div>'),
)  # fmt: skip
# An excluded heading takes out what stands under it.
_EXCLUDED_TEXT = "<h2 data-search-exclude>x</h2><p>{}</p><h2>x</h2>"
_ROOTS = (
    _HEADING,
    *(_within(form, _text) for form in _LINES),
    _within(_EXCLUDED_TEXT, _text).map(_hidden),
)
_flow = st.recursive(
    st.one_of(*_ROOTS),
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


WELL_FORMED = _joined(_flow, 6).map(_numbered)

_TAGS = (
    "div p span section article h1 h2 h3 ul ol li table tr td th tbody caption pre code dl dt dd "
    "details summary svg math foreignObject template script style nav form select option button "
    "a b i abbr br hr textarea title head body html frameset noscript iframe plaintext "
).split()
_ATTRIBUTES = (
    *(
        'id="a"',
        "id=a~2",
        "id",
        'id="',
        "class='highlight",
        "class=tabbed-set",
        "class=tabbed-content",
        "class=admonition-title",
        "class='admonition language-<b>'",
        "role=tablist",
        "role=tabpanel",
        "data-termynal",
        "href=/x/",
        "start=9",
        'class="highlight"',
        "hidden",
        "name=n",
    ),
    *(
        "data-search-exclude",
        "title=x",
        'title="long form"',
        "=",
        "/",
        "<",
        "a\x00b=c",
        'lang="\ud800"',
    ),
)
_opening = st.tuples(st.sampled_from(_TAGS), st.lists(st.sampled_from(_ATTRIBUTES), max_size=3))
_token = st.one_of(
    _odd,
    ANY_TEXT,
    _opening.map(lambda drawn: f"<{' '.join((drawn[0], *drawn[1]))}>"),
    st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from(["<!--", "-->", "<![CDATA[", "]]>", "<", "</", "<!doctype html>", "&", "&#x"]),
)
BROKEN = st.lists(_token, max_size=30).map("".join)


@cache
def rendered() -> tuple[str, ...]:
    """This repository's docs as HTML."""
    docs = sorted((Path(__file__).parents[3] / "docs").glob("*.md"))
    extensions = ["admonition", "attr_list", "md_in_html", "tables", "toc", "pymdownx.highlight"]
    return tuple(
        markdown.markdown(
            path.read_text(encoding="utf-8"),
            extensions=[*extensions, "pymdownx.superfences"],
            extension_configs={"toc": {"permalink": True}},
        )
        for path in docs
    )


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A part of the docs of which some places are cut, doubled or overwritten."""
    html = draw(st.sampled_from(rendered()))
    start = draw(st.integers(0, len(html)))
    html = html[start : start + 4000]
    for _ in range(draw(st.integers(1, 5))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(html))] * 2)))
        html = draw(
            st.sampled_from([html[:at] + html[end:], html[:end] + html[at:]])
            | _token.map(lambda token: html[:at] + token + html[at:])  # noqa: B023
        )
    return html[:6000]


fuzz = fuzzed(many=8000, deadline=dt.timedelta(seconds=30))

WINDOWS = st.builds(
    PassageWindow, st.sampled_from([20, 40, 240]), st.sampled_from([0.0, 0.25, 0.5])
)
LANGUAGES = st.sampled_from(["en", "de-AT", "ja", "th", "ar", "", "xx", "\x00", "zh_CN"])


def index_html(html: str, window: PassageWindow | None = None, language: str = "en") -> PageIndex:
    """A page read and cut, checked."""
    record = page_index.parse_record(
        PageSource("a/page", "/a/page/", TITLE, html, language=language)
    )
    window = window or PassageWindow()
    page = index_record(record, CuttingRules(window))
    check_page(record, page, window)
    return page


def check_page(record: Record, page: PageIndex, window: PassageWindow) -> None:
    assert all(TITLE not in section.path for section in record.sections)
    ids = [indexed.passage.id for indexed in page.passages]
    assert len(ids) == len(set(ids))
    for indexed in page.passages:
        passage = indexed.passage
        assert passage.text.strip()
        assert indexed.retrieval_text.encode()
        assert count_words(passage.text) <= window.words
        assert is_safe_url(passage.url)
        url, _, fragment = passage.url.partition("#")
        assert url == record.url
        assert not fragment or {fragment, unquote(fragment)} & page.record.anchors
        last = 0
        for start, end in passage.sentences:
            assert last <= start < end <= len(passage.text)
            assert passage.text[start:end] == passage.text[start:end].strip()
            last = end
        check_structure(passage)
    assert decode_page(encode_page(page)) == page


def check_structure(passage: Passage) -> None:
    """Blocks cover all but white space, spans lie in blocks, and both survive being packed."""
    text = passage.text
    packed = json.loads(json.dumps(pack_structure(passage.blocks)))
    assert unpack_blocks(packed, len(text)) == passage.blocks
    packed = json.loads(json.dumps(pack_structure(passage.spans)))
    assert unpack_spans(packed, len(text)) == passage.spans
    edges = [0, *(edge for block in passage.blocks for edge in (block.start, block.end)), len(text)]
    assert not "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)).strip()
    for span in passage.spans:
        assert any(b.start <= span.start and span.end <= b.end for b in passage.blocks), span
    assert {b.group for b in passage.blocks} - {0} <= set(range(1, len(passage.blocks) + 1))


def shown(page: PageIndex) -> list[str]:
    """The words that must show, each where it shows first."""
    text = "\n".join(indexed.passage.text for indexed in page.passages)
    return list(dict.fromkeys(re.findall(rf"{SHOWN}\d+", text)))


@fuzz
@given(ANY_TEXT | BROKEN, WINDOWS, LANGUAGES)
@example("<h2 id='a%20b c'>A</h2>x", PassageWindow(), "en")
def test_any_text_is_read(html: str, window: PassageWindow, language: str) -> None:
    index_html(html, window, language)


@fuzz
@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    index_html(data.decode(errors="replace"))
    index_html(data.decode(errors="surrogateescape"))
    index_html(f"<p>{data.decode('latin-1')}")


@fuzz
@given(WELL_FORMED, WINDOWS)
def test_what_is_hidden_never_shows_and_all_else_does_in_order(
    html: str, window: PassageWindow
) -> None:
    page = index_html(html, window)
    assert not any(HIDDEN in indexed.passage.text for indexed in page.passages)
    assert shown(page) == re.findall(rf"{SHOWN}\d+", html)


@fuzz
@given(mutated(), WINDOWS)
def test_mutilated_pages_are_read(html: str, window: PassageWindow) -> None:
    index_html(html, window)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([float("nan"), "\ud800", "2024-05-01", "a, b"])
    | st.just(5000).map(lambda digits: 10**digits)
    | st.floats()
    | ANY_TEXT
    | st.binary(max_size=8)
    | st.dates()
    | st.datetimes(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["exclude", "created", "updated", "x"]) | st.integers(),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
KEYS = (
    "description summary meaning themes keywords topics tags aliases date search answerable".split()
)


@fuzz
@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_front_matter_is_read(meta: dict[str, object]) -> None:
    metadata = parse_metadata(meta)
    assert isinstance(metadata.excluded, bool)
    assert metadata.date is None or dt.date.fromisoformat(metadata.date)
    for text in (metadata.summary, *metadata.themes, *metadata.aliases):
        assert isinstance(text, str)
        assert text.encode().decode() == " ".join(text.split())
    assert all((*metadata.themes, *metadata.aliases))
    source = PageSource("a", "/a/", TITLE, "<p>x", metadata)
    assert hash_page(source, CuttingRules())
    page = index_record(page_index.parse_record(source))
    assert decode_page(encode_page(page)) == page


def test_what_no_file_can_hold_is_left_out_of_front_matter() -> None:
    metadata = parse_metadata({"tags": [10**5000, 7], "aliases": ["a\ud800b", "c\nd"]})
    assert (metadata.themes, metadata.aliases) == (("7",), ("ab", "c d"))


# A quadratic reader of the shorter pages misses their limit too.
MANY = 100_000 if DEEP else 20_000
LONG: dict[str, Callable[[], str]] = {
    "divs": lambda: "<div>" * 5000 + "x",
    "sections": lambda: "<section><h2>H</h2><p>x</p>" * 2000,
    "spans": lambda: "<p>" + "<span>" * 5000 + "x",
    "code in code": lambda: "<pre>" + "<span>" * 5000 + "x",
    "lists": lambda: "<ul><li>x" * 2500,
    "tables": lambda: "<table><tr><td>x" * 1000,
    "paragraphs": lambda: "<p>word</p>" * MANY,
    "words in markup": lambda: "<b>word</b> " * MANY,
    "breaks": lambda: "a<br>" * MANY,
    "sentences": lambda: "The cat sat on a mat. " * MANY,
    "letter": lambda: "a" * (20 * MANY),
    "kana": lambda: "かな" * (4 * MANY),
    "full stops": lambda: "." * (20 * MANY),
    "lines of code": lambda: "<pre>" + "x = 1\n" * (4 * MANY),
    "headings": lambda: "<h2>H</h2>x" * (MANY // 2),
    "headings of one id": lambda: "<h2 id=a>H</h2>x" * (MANY // 2),
    "headings of ids": lambda: "".join(f"<h3 id=a{n}>H</h3>x" for n in range(MANY // 2)),
    "cells": lambda: "<table>" + ("<tr>" + "<td>cell" * 20) * (MANY // 100),
    "cells of a row": lambda: "<table><tr>" + "<td>cell" * (MANY // 5),
    "inline code": lambda: "<code>a.b</code> " * (MANY // 2),
    "comments": lambda: "<!-- x -->" * MANY + "x",
}


@pytest.mark.parametrize("name", LONG)
def test_a_deep_or_long_page_is_read_in_time(name: str) -> None:
    html = LONG[name]()
    began = time.thread_time()
    record = page_index.parse_record(PageSource("a", "/a/", TITLE, html))
    page = index_record(record)
    assert time.thread_time() - began < (60 if DEEP else 20)
    assert page.passages
    assert len({indexed.passage.id for indexed in page.passages}) == len(page.passages)


@pytest.mark.parametrize("form", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<pre><i>"])
def test_a_page_may_be_as_deep_as_a_browser_bears(form: str) -> None:
    html = form * 600 + SHOWN

    def at_depth(left: int) -> PageIndex:
        return at_depth(left - 1) if left else index_html(f"{html}<p>{SHOWN}")

    assert any(SHOWN in indexed.passage.text for indexed in at_depth(500).passages)
