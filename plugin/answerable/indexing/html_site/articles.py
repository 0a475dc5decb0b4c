"""Articles of HTML pages, and their titles without the name of the site."""

import codecs
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..pages.elements import list_anchors

# Where generators put what an author wrote, and what their themes add to it. The first family
# whose place a page has is its own; the last selectors are what most other themes share.
_SPHINX_ADDITIONS = (
    ".source-links, .viewcode-link, .toctree-wrapper, .contents.topic, .footnote-reference, "
    ".footnote > .label, .footnote .fn-backref, .sphinxsidebar, .related, .prev-next-area"
)
_GENERATORS = (
    (
        "article.md-content__inner, .md-content__inner > header.md-typeset",
        ".md-content__button, .md-tags, .md-source-file, .md-feedback, #__comments, "
        ".md-post__meta, .md-post__back, .md-pagination",
    ),
    (
        "[itemprop=articleBody], .col-md-9[role=main], article#furo-main-content, "
        "div.body[role=main], div.document [role=main], div.bodywrapper > div.body",
        _SPHINX_ADDITIONS,
    ),
    (
        ".theme-doc-markdown, html.blog-post-page article .markdown, html.plugin-pages main",
        ".hash-link, [data-footnote-ref], [data-footnote-backref], .theme-doc-toc-mobile, "
        ".theme-doc-breadcrumbs, .theme-doc-version-badge, .theme-edit-this-page, "
        ".theme-last-updated, .pagination-nav, .theme-doc-footer, .theme-unlisted-banner",
    ),
)
_THEME_ADDITIONS = (
    f"{_SPHINX_ADDITIONS}, [role=navigation], [role=doc-noteref], .footnotes [role=doc-backlink], "
    "[rel~=edit], [rel=prev], [rel=next], #TableOfContents, .breadcrumb, .breadcrumbs, "
    ".edit-page, .skip-link, .td-page-meta, .td-heading-self-link, .td-toc, .book-toc, "
    ".anchor-link"
)
_PAGE_FURNITURE = (
    "header, nav, footer, aside, form, [role=banner], [role=navigation], [role=search], "
    "[role=contentinfo], [role=complementary]"
)
# The lists of links that Docusaurus generates look like pages without an article.
_LINK_LIST_PAGES = "html.plugin-docs, html.plugin-blog"
# A theme's link to the repository of the site, or to the source of the page in it.
_REPOSITORY_LINKS = (
    "a.md-source, a.icon-github, a.icon-gitlab, a[rel~=edit], .edit-this-page a, "
    "a.theme-edit-this-page"
)
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_PERMALINK_SYMBOLS = frozenset("# ¶ § ∞ ↩ 🔗 \u200b".split(" ")) | {""}
_LINE_NUMBERS = ".highlight span[style*='user-select:none'], .highlight .ln, .highlight .lnt"
_DIGITS = re.compile(r"[\d\s]*")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# How far into a page browsers look for its encoding.
_ENCODING_SCAN_BYTES = 1024
_CHARSET = re.compile(rb"""<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
# Python knows encodings that no page has, such as `unicode_escape`.
_ENCODING = re.compile(r"utf-8|(iso|cp|koi|mac|gb|big5|shift|euc|tis)[\w-]*")
_READ_AS_CP1252 = frozenset(("ascii", "iso8859-1"))


@dataclass(frozen=True, slots=True)
class Article:
    """An article and metadata of a built page. What the page does not say is empty.

    ``html`` is the inside of the article's element, ``anchors`` the ids in it; ``is_bare`` tells
    that it has nothing but headings. ``topic`` is the title that a theme's header shows, ``head``
    that of the document, ``heading`` its first h1. ``hidden`` tells that the page is a redirect,
    or asks robots not to index it. ``repository`` is a link to the site's own or into it.
    """

    html: str
    is_bare: bool
    anchors: frozenset[str]
    topic: str
    head: str
    heading: str
    site: str
    language: str
    description: str
    keywords: tuple[str, ...]
    date: str
    canonical: str
    hidden: bool
    repository: str


def decode_html(data: bytes) -> str:
    """Decode a page by the encoding that it declares; without one as UTF-8, else Windows-1252."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if declared := _find_declared_encoding(data[:_ENCODING_SCAN_BYTES]):
        return data.decode(declared, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _find_declared_encoding(start: bytes) -> str | None:
    match = _CHARSET.search(start)
    if match is None:
        return None
    try:
        name = codecs.lookup(match[1].decode("ascii")).name
    except (LookupError, ValueError):
        return None
    # Browsers read these as Windows-1252, which has more characters.
    return "cp1252" if name in _READ_AS_CP1252 else name if _ENCODING.fullmatch(name) else None


def parse_built_page(html: str) -> Article:
    """Parse a page of a built site."""
    page = LexborHTMLParser(html)
    topic = _extract_line(page.css_first(".md-header__topic[data-md-component=header-topic]"))
    site = _extract_line(page.css_first(".md-header__topic:not([data-md-component])"))
    head = _extract_line(page.css_first("head > title"))
    # Cleaning the article removes nodes, so what may stand among them is read before.
    listed = _meta_content(page, "[name=keywords]").split(",")
    tags = [_extract_line(node) for node in page.css(".md-content .md-tags .md-tag")]
    keywords = tuple(dict.fromkeys(word for word in (*map(str.strip, listed), *tags) if word))
    # Beyond doubt: in the head, or the only one that the page shows.
    kinds = ("modified", "published")
    in_head = (_meta_content(page, f"[property='article:{kind}_time']") for kind in kinds)
    shown = {_attribute(node, "datetime") for node in page.css("time[datetime]")}
    date = next(filter(None, in_head), shown.pop() if len(shown) == 1 else "")
    repository = _attribute(page.css_first(_REPOSITORY_LINKS), "href")
    article = _find_article(page)
    equivalents = {_attribute(node, "http-equiv").lower() for node in page.css("meta[http-equiv]")}
    hidden = "refresh" in equivalents or "noindex" in _meta_content(page, "[name=robots]").lower()
    return Article(
        html=(article.inner_html or "").strip() if article else "",
        is_bare=article is None or _is_bare(article),
        anchors=list_anchors(article) if article else frozenset(),
        topic=topic,
        head=head,
        heading=_extract_line(article.css_first("h1")) if article else "",
        site=site or _meta_content(page, "[property='og:site_name']"),
        language=_attribute(page.css_first("html"), "lang"),
        description=_meta_content(page, "[name=description]"),
        keywords=keywords,
        date=date,
        canonical=_attribute(page.css_first("link[rel=canonical]"), "href"),
        hidden=hidden,
        repository=repository,
    )


def _find_article(page: LexborHTMLParser) -> LexborNode | None:
    """Return the element that holds what the author wrote, without what the theme added to it."""
    for selector, additions in _GENERATORS:
        if article := page.css_first(selector):
            return _clean_article(article, additions)
    if page.css_first(_LINK_LIST_PAGES):
        return None
    if article := page.css_first("[role=main], main, article"):
        inner = article.css("article")
        # What stands in a main element beside its only article is the theme's.
        return _clean_article(inner[0] if len(inner) == 1 else article, _THEME_ADDITIONS)
    body = page.body
    if body is None:
        return None
    _remove_matches(body, _PAGE_FURNITURE)
    return _clean_article(body, _THEME_ADDITIONS) if body.css_first(f"p, {_HEADINGS}") else None


def _clean_article(article: LexborNode, additions: str) -> LexborNode:
    _remove_matches(article, f"{additions}, .headerlink, {_LINE_NUMBERS}")
    for heading in article.css(_HEADINGS):
        for link in heading.css("a[href^='#']"):
            if _extract_line(link) in _PERMALINK_SYMBOLS:
                link.decompose()
    for table in article.css(".highlight table"):
        # Hugo's line numbers are in a cell of their own, which has no name.
        cells = table.css("td")
        if len(cells) > 1 and _DIGITS.fullmatch(cells[0].text()):
            cells[0].decompose()
    return article


def _remove_matches(article: LexborNode, selector: str) -> None:
    nodes = {node.mem_id: node for node in article.css(selector)}
    nodes.pop(article.mem_id, None)
    # A node is freed with the one that it stands in, so only the outermost are removed.
    for node in [node for node in nodes.values() if not _is_inside(node, nodes)]:
        node.decompose()


def _is_inside(node: LexborNode, others: Collection[int]) -> bool:
    parent = node.parent
    while parent is not None and parent.mem_id not in others:
        parent = parent.parent
    return parent is not None


def _is_bare(article: LexborNode) -> bool:
    headings = sum(len("".join(node.text().split())) for node in article.css(_HEADINGS))
    return len("".join(article.text().split())) <= headings


def _meta_content(page: LexborHTMLParser, selector: str) -> str:
    return " ".join(_attribute(page.css_first(f"meta{selector}"), "content").split())


def _attribute(node: LexborNode | None, name: str) -> str:
    return ((node.attributes.get(name) if node else None) or "").strip()


def _extract_line(node: LexborNode | None) -> str:
    """Return a node's text on one line, without the permalinks that themes put into headings."""
    if node is None:
        return ""
    return " ".join(node.text().split()).removesuffix("¶").rstrip()


_SEPARATORS = (" - ", " | ", " — ", " – ", " :: ", " · ", " • ", " » ", " « ")


def find_site_name(pages: Sequence[Article]) -> str:
    """Return the site's name as its pages give it, else the end that most of their titles share."""
    names = Counter(page.site for page in pages if page.site)
    if names:
        return names.most_common(1)[0][0]
    endings = Counter(ending for page in pages for ending in _list_title_endings(page.head))
    shared = [ending for ending, count in endings.items() if count > max(1, len(pages) // 2)]
    return max(shared, key=len, default="") or next((p.head for p in pages if p.head), "")


def choose_title(page: Article, listed: str, site: str, file: str) -> str:
    """Return a page's title: of its header, the search index, its head, its h1, or its file's name.

    listed: the one in the search index, or nothing. The site's name is no page's title, unless
    the page's heading says so.
    """
    head = _strip_site_name(page.head, site)
    return page.topic or listed or head or page.heading or _title_from_file_name(file) or site


def _list_title_endings(head: str) -> Iterator[str]:
    """List all that may be a site's name at the end of a document's title."""
    for separator in _SEPARATORS:
        parts = head.split(separator)
        yield from (separator.join(parts[n:]) for n in range(1, len(parts)))


def _strip_site_name(head: str, site: str) -> str:
    """Return a document's title without the site's name; empty if it is nothing else."""
    for separator in _SEPARATORS:
        if head.endswith(ending := separator + site):
            return head.removesuffix(ending)
        if head.startswith(start := site + separator):
            return head.removeprefix(start)
    return "" if head == site else head


def _title_from_file_name(file: str) -> str:
    """Make a title of a file's name as MkDocs does."""
    path = PurePosixPath(file)
    stem = path.parent.name if path.name == "index.html" else path.stem
    text = stem.replace("-", " ").replace("_", " ")
    return text.capitalize() if text == text.lower() else text
