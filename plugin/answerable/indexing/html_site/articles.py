"""Articles of HTML pages, and what the pages say of themselves."""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..pages.elements import list_anchors

# Where a theme puts what an author wrote: a place that says so goes before one that holds more.
_ARTICLES = (
    "[itemprop=articleBody], .theme-doc-markdown, #__blog-post-container",
    "[role=main], main, article",
    "body:has(p, h1, h2, h3, h4, h5, h6)",
)
# Where Docusaurus has none of the first, it lists links in what looks like an article.
_LINK_LISTS = "html.plugin-docs, html.plugin-blog"
# What themes and generators add to it: ways to other pages, and marks that a reader clicks.
_ADDITIONS = (
    "nav, footer, form, [role=navigation], [role=search], [rel~=edit], [rel=prev], [rel=next], "
    "[role=doc-noteref], [data-footnote-ref], [data-footnote-backref], "
    ".footnotes [role=doc-backlink], .fn-backref, .footnote > .label, "
    ".headerlink, .viewcode-link, .toctree-wrapper, .contents.topic, #TableOfContents, "
    ".md-content__button, .md-source-file, .md-feedback, .md-tags, "
    ".ln, .lnt, .highlight [style*='user-select:none']"
)
_PAGE_FURNITURE = "header, aside, [role=banner], [role=contentinfo], [role=complementary]"
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_PERMALINK_SYMBOLS = frozenset("# ¶ § ∞ ↩ 🔗 \u200b".split(" ")) | {""}
# How far into a page browsers look for its encoding.
_ENCODING_SCAN_BYTES = 1024
_CHARSET = re.compile(rb"""<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_REDIRECT = re.compile(r"""<meta\s[^>]*http-equiv=["']?refresh""", re.I)
_SEPARATOR = re.compile(r" (?:[-|—–·•»«]|::) ")


@dataclass(frozen=True, slots=True)
class Article:
    """An article and metadata of a built page. What the page does not say is empty.

    ``html`` is the inside of the article's element, ``anchors`` the ids in it; ``is_bare`` tells
    that it has nothing but headings. ``title`` is its first h1, else the document's title without
    the name of the site, which is ``site``. ``hidden`` tells that the page is a redirect, or asks
    robots not to index it.
    """

    html: str
    is_bare: bool
    anchors: frozenset[str]
    title: str
    site: str
    language: str
    description: str
    keywords: str
    date: str
    canonical: str
    hidden: bool


def decode_html(data: bytes) -> str:
    """Decode a page as UTF-8, else by the encoding that it declares, else as Windows-1252."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    declared = _CHARSET.search(data[:_ENCODING_SCAN_BYTES])
    name = declared[1].decode("ascii", errors="replace").lower() if declared else "cp1252"
    # Browsers read the first of these as Windows-1252, which has more characters.
    for encoding in ("utf-8-sig", "cp1252" if name == "iso-8859-1" else name):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeError):
            continue
    return data.decode("cp1252", errors="replace")


def parse_built_page(data: bytes) -> Article:
    """Parse a page of a built site."""
    html = decode_html(data)
    page = LexborHTMLParser(html)
    head, *others = _SEPARATOR.split(_extract_line(page.css_first("head > title")))
    equivalents = {_attribute(node, "http-equiv").lower() for node in page.css("meta[http-equiv]")}
    modified = _meta_content(page, "[property='article:modified_time']")
    article = _find_article(page)
    return Article(
        html=(article.inner_html or "").strip() if article else "",
        is_bare=article is None or _is_bare(article),
        anchors=list_anchors(article) if article else frozenset(),
        title=(_extract_line(article.css_first("h1")) if article else "") or head,
        site=_meta_content(page, "[property='og:site_name']") or (others or [head])[-1],
        language=_attribute(page.css_first("html"), "lang"),
        description=_meta_content(page, "[name=description]"),
        keywords=_meta_content(page, "[name=keywords]"),
        date=modified or _meta_content(page, "[property='article:published_time']"),
        canonical=_attribute(page.css_first("link[rel=canonical]"), "href"),
        hidden="refresh" in equivalents
        or "noindex" in _meta_content(page, "[name=robots]").lower(),
    )


def is_redirect(html: str) -> bool:
    """True if a page does nothing but lead to another."""
    return _REDIRECT.search(html) is not None


def _find_article(page: LexborHTMLParser) -> LexborNode | None:
    """Return the element that holds what the author wrote, without what the theme added to it."""
    places = _ARTICLES[:1] if page.css_first(_LINK_LISTS) else _ARTICLES
    article = next(filter(None, map(page.css_first, places)), None)
    if article is None:
        return None
    inner = article.css("article")
    if len(inner) == 1:
        # What stands in a main element beside its only article is the theme's.
        article = inner[0]
    permalinks = article.css(f":is({_HEADINGS}) a[href^='#']")
    _remove(link for link in permalinks if _extract_line(link) in _PERMALINK_SYMBOLS)
    additions = f"{_ADDITIONS}, {_PAGE_FURNITURE}" if article.tag == "body" else _ADDITIONS
    _remove(node for node in article.css(additions) if node.mem_id != article.mem_id)
    return article


def _remove(nodes: Iterable[LexborNode]) -> None:
    distinct = {node.mem_id: node for node in nodes}
    # The last in the page first, since a node is freed with the one that it stands in.
    for node in reversed(distinct.values()):
        node.decompose()


def _is_bare(article: LexborNode) -> bool:
    headings = sum(len("".join(node.text().split())) for node in article.css(_HEADINGS))
    return len("".join(article.text().split())) <= headings


def _meta_content(page: LexborHTMLParser, selector: str) -> str:
    return " ".join(_attribute(page.css_first(f"meta{selector}"), "content").split())


def _attribute(node: LexborNode | None, name: str) -> str:
    return ((node.attributes.get(name) if node else None) or "").strip()


def _extract_line(node: LexborNode | None) -> str:
    """Return a node's text on one line, without the permalinks that themes put into headings."""
    return " ".join(node.text().split()).removesuffix("¶").rstrip() if node else ""
