"""Articles of HTML pages, and their titles without the name of the site."""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..pages.elements import list_anchors

# Where a theme puts what an author wrote: a place that says so goes before one that holds more.
_ARTICLES = (
    "[itemprop=articleBody], .theme-doc-markdown, #__blog-post-container",
    "[role=main]",
    "main",
    "article",
    "body:has(p, h1, h2, h3, h4, h5, h6)",
)
# Where Docusaurus has none of the first, it lists links in what looks like an article.
_LINK_LISTS = "html.plugin-docs, html.plugin-blog"
# What themes and generators add to it: ways to other pages, and marks that a reader clicks.
_ADDITIONS = (
    "nav, footer, form, [role=navigation], [role=search], [rel~=edit], [rel=prev], [rel=next], "
    "[role=doc-noteref], .footnotes [role=doc-backlink], .footnote-reference, .footnote > .label, "
    ".fn-backref, [data-footnote-ref], [data-footnote-backref], .headerlink, .viewcode-link, "
    ".toctree-wrapper, .contents.topic, #TableOfContents, "
    # Of Material, whose article holds more than the text.
    ".md-content__button, .md-source-file, .md-feedback, .md-tags, "
    # Line numbers of Hugo and Sphinx.
    ".highlight [style*='user-select:none'], .highlight .ln, .highlight .lnt"
)
_PAGE_FURNITURE = "header, aside, [role=banner], [role=contentinfo], [role=complementary]"
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_PERMALINK_SYMBOLS = frozenset("# ¶ § ∞ ↩ 🔗 \u200b".split(" ")) | {""}
# How far into a page browsers look for its encoding.
_ENCODING_SCAN_BYTES = 1024
_CHARSET = re.compile(rb"""<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.I)


@dataclass(frozen=True, slots=True)
class Article:
    """An article and metadata of a built page. What the page does not say is empty.

    ``html`` is the inside of the article's element, ``anchors`` the ids in it; ``is_bare`` tells
    that it has nothing but headings. ``head`` is the title of the document, ``heading`` its first
    h1. ``hidden`` tells that the page is a redirect, or asks robots not to index it.
    """

    html: str
    is_bare: bool
    anchors: frozenset[str]
    head: str
    heading: str
    site: str
    language: str
    description: str
    keywords: tuple[str, ...]
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


def parse_built_page(html: str) -> Article:
    """Parse a page of a built site."""
    page = LexborHTMLParser(html)
    head = _extract_line(page.css_first("head > title"))
    # Cleaning the article removes nodes, so what may stand among them is read before.
    listed = _meta_content(page, "[name=keywords]").split(",")
    tags = [_extract_line(node) for node in page.css(".md-tags .md-tag")]
    keywords = tuple(dict.fromkeys(word for word in (*map(str.strip, listed), *tags) if word))
    # Beyond doubt: in the head, or the only one that the page shows.
    kinds = ("modified", "published")
    in_head = (_meta_content(page, f"[property='article:{kind}_time']") for kind in kinds)
    shown = {_attribute(node, "datetime") for node in page.css("time[datetime]")}
    date = next(filter(None, in_head), shown.pop() if len(shown) == 1 else "")
    equivalents = {_attribute(node, "http-equiv").lower() for node in page.css("meta[http-equiv]")}
    hidden = "refresh" in equivalents or "noindex" in _meta_content(page, "[name=robots]").lower()
    article = _find_article(page)
    return Article(
        html=(article.inner_html or "").strip() if article else "",
        is_bare=article is None or _is_bare(article),
        anchors=list_anchors(article) if article else frozenset(),
        head=head,
        heading=_extract_line(article.css_first("h1")) if article else "",
        site=_meta_content(page, "[property='og:site_name']"),
        language=_attribute(page.css_first("html"), "lang"),
        description=_meta_content(page, "[name=description]"),
        keywords=keywords,
        date=date,
        canonical=_attribute(page.css_first("link[rel=canonical]"), "href"),
        hidden=hidden,
    )


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
    _remove(article, f"{_ADDITIONS}, {_PAGE_FURNITURE}" if article.tag == "body" else _ADDITIONS)
    for heading in article.css(_HEADINGS):
        for link in heading.css("a[href^='#']"):
            if _extract_line(link) in _PERMALINK_SYMBOLS:
                link.decompose()
    for cell in article.css(".highlight table td:first-child:not(:last-child)"):
        # Hugo's line numbers are in a cell of their own, which has no name.
        if not re.search(r"[^\d\s]", cell.text()):
            cell.decompose()
    return article


def _remove(article: LexborNode, selector: str) -> None:
    nodes = {node.mem_id: node for node in article.css(selector)}
    nodes.pop(article.mem_id, None)
    # The last in the page first, since a node is freed with the one that it stands in.
    for node in reversed(nodes.values()):
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


_SEPARATOR = re.compile(r" (?:[-|—–·•»«]|::) ")


def find_site_name(pages: Sequence[Article]) -> str:
    """Return the site's name as its pages give it, else the end that most of their titles share."""
    names = Counter(page.site for page in pages if page.site)
    if names:
        return names.most_common(1)[0][0]
    endings = Counter(
        page.head[separator.end() :]
        for page in pages
        for separator in _SEPARATOR.finditer(page.head)
    )
    shared = [ending for ending, count in endings.items() if count > max(1, len(pages) // 2)]
    return max(shared, key=len, default="") or next((p.head for p in pages if p.head), "")


def choose_title(page: Article, listed: str, site: str, file: str) -> str:
    """Return a page's title: of the search index, its head, its h1, or its file's name.

    listed: the one in the search index, or nothing. The site's name is no page's title, unless
    the page's heading says so.
    """
    name = re.escape(site)
    # With the separator before or behind it.
    head = re.sub(rf"{_SEPARATOR.pattern}{name}$|^{name}{_SEPARATOR.pattern}", "", page.head)
    path = PurePosixPath(file)
    stem = path.parent.name if path.name == "index.html" else path.stem
    return listed or ("" if head == site else head) or page.heading or stem or site
