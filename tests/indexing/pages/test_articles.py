"""Test articles of HTML pages from many generators, and the metadata of the pages."""

import pytest

from answerable.indexing.html_site.articles import Article, decode_html, parse_built_page
from answerable.indexing.pages.markdown import parse_article

WORDS = "<h1>Mooring</h1><p>A buoy of forty litres.</p>"


def read(html: str) -> Article:
    return parse_built_page(html.encode())


def text(html: str) -> list[str]:
    """List the texts of the blocks of a page's article."""
    article = parse_article(read(html).html, "Mooring")
    return [block.text for section in article.sections for block in section.blocks]


@pytest.mark.parametrize(
    "html",
    [
        f"<main><article class='md-content__inner'><a class='md-content__button'>Edit</a>{WORDS}"
        "<aside class='md-source-file'>Last update</aside></article></main>",
        f"<div role='main'><ul role='navigation'>Menu</ul><div itemprop='articleBody'>{WORDS}"
        "</div></div><footer>Next</footer>",
        f"<div class='document'><div class='body' role='main'><section>{WORDS}</section></div>"
        "<div class='sphinxsidebar'>Menu</div></div>",
        f"<article role='main' id='furo-main-content'>{WORDS}</article><footer>Next</footer>",
        f"<article><nav>Menu</nav><div class='theme-doc-markdown'>{WORDS}</div>Edit</article>",
        f"<main><div>Menu</div><article>{WORDS}<a rel='edit'>Edit</a></article>Next</main>",
        f"<header>Menu</header><div role='navigation'>Menu</div>{WORDS}<footer>Next</footer>",
    ],
)
def test_the_author_s_words_are_told_from_the_theme_s(html: str) -> None:
    assert text(html) == ["A buoy of forty litres."]


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<div>Nothing that an author wrote</div>",
        "<html class='plugin-docs'><main><article><h2>Tag</h2><p>List</p></article></main>",
    ],
)
def test_a_page_without_an_article_has_none(html: str) -> None:
    article = read(html)
    assert (article.html, article.is_bare) == ("", True)


@pytest.mark.parametrize("symbol", ["¶", "\u200b", "<svg></svg>"])
def test_a_heading_s_link_to_itself_is_no_text(symbol: str) -> None:
    article = read(f"<main><h1>Mooring <a href='#m'>{symbol}</a></h1><p>x</p></main>")
    assert article.title == "Mooring"
    assert (parse_article(article.html, "").sections[0]).path == ("Mooring",)


@pytest.mark.parametrize(
    "code",
    [
        "<pre><span style='x:y;user-select:none'>1</span>a = 1\n"
        "<span class='ln'>2</span>b = 2</pre>",
        "<table class='lntable'><tr><td><pre><span class='lnt'>1\n</span></pre></td>"
        "<td><pre>a = 1\nb = 2</pre></td></tr></table>",
    ],
)
def test_hugo_s_line_numbers_are_no_code(code: str) -> None:
    assert text(f"<main><div class='highlight'>{code}</div></main>") == ["a = 1\nb = 2"]


def test_a_page_says_what_it_is() -> None:
    article = read(
        "<!doctype html><html lang='de'><head><title>Mooring | Harbour</title>"
        "<meta name='description' content=' How to\nmoor '><meta name='keywords' content='a, b'>"
        "<meta property='og:site_name' content='Harbour'>"
        "<meta property='article:modified_time' content='2024-05-01T10:00:00Z'>"
        "<link rel='canonical' href='https://harbour.example/m/'></head>"
        "<main><h1 id='m'>Mooring</h1><a name='old'></a><p>x</p></main></html>"
    )
    assert article.language == "de"
    assert article.title == "Mooring"
    assert (article.description, article.keywords) == ("How to moor", "a, b")
    assert (article.site, article.canonical) == ("Harbour", "https://harbour.example/m/")
    assert article.date == "2024-05-01T10:00:00Z"
    assert article.anchors == {"m", "old"}
    assert not article.hidden


@pytest.mark.parametrize(
    "head",
    [
        "<meta http-equiv='Refresh' content='0; url=/x/'>",
        "<meta name='robots' content='NOINDEX, nofollow'>",
    ],
)
def test_a_redirect_and_a_page_that_bids_it_are_hidden(head: str) -> None:
    assert read(f"<head>{head}</head><main><p>x</p></main>").hidden


@pytest.mark.parametrize(
    ("page", "title", "site"),
    [
        ("<title>Mooring | Harbour</title><main><h1>Moor</h1><p>x</p></main>", "Moor", "Harbour"),
        ("<title>Mooring — Harbour</title><main><p>x</p></main>", "Mooring", "Harbour"),
        ("<title>Harbour</title><main><p>x</p></main>", "Harbour", "Harbour"),
        ("<main><p>x</p></main>", "", ""),
    ],
)
def test_a_page_has_its_heading_or_the_document_s_title(page: str, title: str, site: str) -> None:
    article = read(page)
    assert (article.title, article.site) == (title, site)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "cp1252"),
        ("", "utf-8-sig"),
        ("", "utf-16"),
        ("<meta charset='iso-8859-1'>", "iso-8859-1"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=GBK'>", "gbk"),
        ("<meta charset='unicode_escape'>", "utf-8"),
        ("<meta charset='utf-16'>", "utf-8"),
        ("<meta charset='no-such'>", "cp1252"),
        (f"<!--{' ' * 1024}--><meta charset='gbk'>", "utf-8"),
    ],
)
def test_a_page_s_encoding_is_its_own(head: str, encoding: str) -> None:
    html = f"<!doctype html><head>{head}</head><main><p>à é</p></main>"
    assert decode_html(html.encode(encoding)) == html
