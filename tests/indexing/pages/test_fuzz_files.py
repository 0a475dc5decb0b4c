"""Fuzz the files of a site and its author: each is read, or refused in one sentence."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.errors import SiteError
from answerable.engine.text.urls import is_safe_url
from answerable.indexing.html_site.articles import parse_built_page
from answerable.indexing.html_site.built_site import read_built_site
from answerable.indexing.pages import page_index
from answerable.indexing.pages.page_index import index_record, read_abbreviations, read_enrichment
from indexing.pages.test_fuzz_pages import ANY_TEXT, BROKEN
from support.fuzz_settings import fuzzed
from support.sites import put

pytestmark = pytest.mark.deep
fuzz = fuzzed(deadline=dt.timedelta(seconds=30))
PAGE = "<title>A</title><main><h1>A</h1><p>x</p></main>"
_HEADS = (
    *("<title>a | b</title>", "<link rel=canonical href='http://['>", "<html lang='\x00'>"),
    *("<link rel=canonical href='https://x.example/a b/'>", "<main>", "<article>", "<h1>", "<p>x"),
    *("<meta name=keywords content='a,,b'>", "<meta property='og:site_name' content=S>"),
    *("<div class=highlight><table><tr><td>1<td>x</table></div>", "<div role=main>"),
    *("<a href='#x'>#</a>", "<nav><nav>"),
)
_html = st.lists(st.sampled_from(_HEADS) | BROKEN, max_size=10).map("".join)
BYTES = st.binary(max_size=200) | _html.map(lambda text: text.encode(errors="surrogatepass"))

_LOCATIONS = ("", "a b.html", "a%20b.html", "./#x", "index.html", "\ud800", "//x", "\x00")
_value = st.none() | st.integers() | st.sampled_from(_LOCATIONS) | ANY_TEXT
_full = st.fixed_dictionaries({"location": st.sampled_from(_LOCATIONS), "title": ANY_TEXT})
_entries = st.lists(_full | _value, max_size=3) | _value
_index = st.dictionaries(st.sampled_from(["docs", "items", "docnames", "titles"]), _entries)
INDEXES = (
    st.binary(max_size=60)
    | (_index | _entries).map(lambda data: json.dumps(data).encode())
    | _index.map(lambda data: f"Search.setIndex({json.dumps(data)})".encode())
    | st.just(b"[" * 100_000)
)


def check_site(folder: Path) -> None:
    """Either a complaint, or sources that all have an id and a url to cite."""
    try:
        site = read_built_site(folder)
    except SiteError:
        return
    ids = [source.id for source in site.sources]
    assert len(ids) == len(set(ids))
    for source in site.sources:
        assert is_safe_url(source.url)
        assert (source.id + source.title + source.language).encode()
        page = index_record(page_index.parse_record(source))
        assert all(is_safe_url(cut.passage.url) for cut in page.passages)


@fuzz
@given(BYTES)
def test_any_page_of_a_site_is_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    parse_built_page(data)
    folder = tmp_path_factory.getbasetemp() / "any-page"
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_bytes(data)
    (folder / "b.html").write_bytes(data)
    check_site(folder)


@pytest.mark.parametrize("name", ["search/search_index.json", "search.json", "searchindex.js"])
@fuzz
@given(data=INDEXES)
def test_any_search_index_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"any-{name.replace('/', '-')}"
    for file in ("index.html", "a b.html", name):
        put(folder / file, PAGE)
    (folder / name).write_bytes(data)
    check_site(folder)


_TOKENS = (
    *("*[A]: b\n", "*[", "]:", "a: b\n", "- x\n", "a:\n  - b\n", "!!int ", "!!timestamp ", "? "),
    *(
        "!!float ",
        "!!binary ",
        "!!bool ",
        "''",
        "&a ",
        "*a",
        "{",
        "}",
        "[",
        "]",
        ": ",
        "\n",
        "<<: ",
    ),
    *("0x" + "f" * 5000, "2024-13-01", "1:2:3", "!!set ", "%YAML 9\n", "---\n", "\ufeff", "#"),
    *("\t", "\x00", "\x85", "!!python/name:x ", "|\n a", "[" * 2000),
)
TEXTS = st.binary(max_size=60) | st.lists(st.sampled_from(_TOKENS) | ANY_TEXT, max_size=12).map(
    lambda parts: "".join(parts).encode(errors="replace")
)


@pytest.mark.parametrize("reader", [read_abbreviations, read_enrichment])
@fuzz
@given(data=TEXTS)
def test_any_file_of_an_author_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    reader: Callable[[Path], dict[str, str]],
    data: bytes,
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    with contextlib.suppress(SiteError):
        texts = reader(path)
        assert all(isinstance(text, str) and text for text in texts.values())
