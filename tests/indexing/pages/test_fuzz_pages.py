"""Fuzz page parsing: odd, deep and long pages are read, and their passages are valid."""

import datetime as dt
import json
import re
import time
from collections.abc import Callable
from urllib.parse import unquote

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
from answerable.serve.structure import is_safe_url, pack_structure, unpack_blocks, unpack_spans
from answerable.serve.text.tokenization import count_words
from answerable.serve.types import Passage
from support import markup_strategies
from support.fuzz_settings import DEEP, fuzzed
from support.markup_strategies import ANY_TEXT, BROKEN, HIDDEN, SHOWN, TITLE, WELL_FORMED

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
@given(markup_strategies.mutated(), WINDOWS)
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
