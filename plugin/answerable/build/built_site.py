"""A folder that any generator has built: its pages, their urls and what a note may name."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from ..serve.errors import SiteError
from . import articles, records, search_indexes, titles
from .articles import Article
from .records import Source
from .search_indexes import Listed
from .targets import Targets

_GENERATED = frozenset(("404.html", "search.html", "genindex.html", "py-modindex.html"))
_ASSETS = frozenset(("_static", "_sources", "_modules", "node_modules"))
_REDIRECT = re.compile(r"""<meta\s[^>]*http-equiv=["']?refresh""", re.I)
_INDEX = "index.html"
# What a generator may have made a page from, in the order in which a name is given away.
_SOURCES = (".md", ".mdx", ".rst", ".markdown")
_INDEX_SOURCES = ("index", "README", "_index")


@dataclass(frozen=True, slots=True)
class Options:
    """What an author may say of a built site; what is None is read from its pages.

    ``base_url``: the address that the site is published at, or its path.
    """

    base_url: str | None = None
    name: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site as read. ``base`` is the path it is served under, with a slash at both ends.

    ``files`` gives the file of every path that a note may name, ``targets`` where it leads.
    """

    name: str
    url: str | None
    base: str
    language: str
    sources: tuple[Source, ...]
    files: Mapping[str, str]
    targets: Targets


@dataclass(frozen=True, slots=True)
class _Page:
    """A file that has an article. ``url`` is relative to the site, and encoded."""

    file: str
    url: str
    article: Article
    listed: Listed | None


def read(folder: Path, options: Options | None = None) -> BuiltSite:
    """Read every page that the site's own search finds, or all where it has no search.

    SiteError if the folder is missing or holds no page, or if its search index is damaged.
    """
    options = options or Options()
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder; build the site first, or correct the path")
    listing = search_indexes.read(folder)
    pages = [_page(folder, file, listing) for file in html_files(folder)]
    chosen = [page for page in pages if page.article.html and _is_chosen(page, listing)]
    if not chosen:
        raise SiteError(
            f"{folder} holds no page with an article in it; name the folder that the site was "
            "built into"
        )
    name = options.name or titles.site_name([page.article for page in pages])
    address = _address(options.base_url, pages)
    base = _base(address)
    files = _named_files(folder, pages, base)
    language = options.language or _language(chosen)
    return BuiltSite(
        name=name,
        url=address if urlsplit(address).scheme else None,
        base=base,
        language=language,
        sources=tuple(_sources(chosen, name, base, options.language or "")),
        files=files,
        targets=_targets(files, pages, base),
    )


def html_files(folder: Path) -> list[str]:
    """Every HTML file of a site, in order, by its path in it with forward slashes."""
    return [file for file in _files(folder) if file.endswith(".html")]


def is_redirect(html: str) -> bool:
    """Whether a page does nothing but lead to another."""
    return _REDIRECT.search(html) is not None


def _files(folder: Path) -> list[str]:
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                found.append(Path(here, name).relative_to(folder).as_posix())
    return sorted(found)


def _page(folder: Path, file: str, listing: Mapping[str, Listed] | None) -> _Page:
    listed = (listing or {}).get(file)
    path = folder / file
    try:
        html = articles.text(path.read_bytes())
    except OSError as error:
        raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None
    url = listed.url if listed and listed.url is not None else _url(file)
    return _Page(file, url, articles.read(html), listed)


def _is_chosen(page: _Page, listing: Mapping[str, Listed] | None) -> bool:
    if listing is not None:
        return page.listed is not None
    *folders, name = page.file.split("/")
    if name in _GENERATED or not _ASSETS.isdisjoint(folders):
        return False
    # A section of which nobody wrote a page is a heading over links to its pages.
    return not page.article.hidden and not page.article.is_bare


def _url(file: str) -> str:
    """A file's url: that of its folder for an index page, encoded as MkDocs does."""
    if file == _INDEX or file.endswith(f"/{_INDEX}"):
        file = file.removesuffix(_INDEX)
    return quote(os.fsencode(file))


def _address(given: str | None, pages: Sequence[_Page]) -> str:
    """Where the site is published: as told, else by its first page's canonical link."""
    if given:
        if not _is_address(given):
            raise SiteError(f"base_url: {given!r} is not an address; correct it")
        return given if given.endswith("/") else f"{given}/"
    root = next((page.article.canonical for page in pages if page.file == _INDEX), "")
    if not _is_address(root) or urlsplit(root).scheme not in ("http", "https"):
        return "/"
    return root.removesuffix(_INDEX).rstrip("/") + "/"


def _is_address(text: str) -> bool:
    try:
        return bool(urlsplit(text))
    except ValueError:
        return False


def _base(address: str) -> str:
    # A path that is encoded already stays as it is; the plugin encodes `site_url` alike.
    path = quote(urlsplit(address).path.strip("/"), safe="/%:@!$&'()*+,;=~")
    return f"/{path}/" if path else "/"


def _language(pages: Sequence[_Page]) -> str:
    counts = Counter(page.article.language for page in pages if page.article.language)
    return counts.most_common(1)[0][0] if counts else "en"


def _sources(pages: Sequence[_Page], name: str, base: str, language: str) -> Iterator[Source]:
    descriptions = Counter(page.article.description for page in pages)
    keywords = Counter(page.article.keywords for page in pages)
    taken: set[str] = set()
    for page in pages:
        article, file = page.article, _shown(page.file)
        meta: dict[str, object] = {"date": article.date}
        # A description that two pages share is the site's; MkDocs writes `None` for a missing one.
        if descriptions[article.description] == 1 and article.description != "None":
            meta["description"] = article.description
        if keywords[article.keywords] == 1 or len(pages) > 2 * keywords[article.keywords]:
            meta["tags"] = list(article.keywords)
        yield Source(
            id=_id(page, taken),
            url=base + page.url,
            title=titles.title(article, page.listed.title if page.listed else "", name, file),
            html=article.html,
            metadata=records.metadata(meta),
            language=language or article.language or "en",
        )


def _id(page: _Page, taken: set[str]) -> str:
    """An id by the page's url; of two that would have the same, the second has its file's name."""
    path = unquote(page.url).strip("/")
    file = _shown(page.file).removesuffix(".html")
    numbered = (f"{file}~{number}" for number in count(2))
    names = chain((path.removesuffix(".html") or "index", file), numbered)
    found = next(name for name in names if name not in taken)
    taken.add(found)
    return found


def _shown(file: str) -> str:
    """A file's name as text; its bytes need not be UTF-8."""
    return os.fsencode(file).decode(errors="replace")


def _named_files(folder: Path, pages: Sequence[_Page], base: str) -> Mapping[str, str]:
    """By what a note may call it: its path, its url or the source that it was made from."""
    found = {file: file for file in _files(folder)}
    for page in pages:
        for name in _names(page, base):
            found.setdefault(name, page.file)
    return found


def _targets(files: Mapping[str, str], pages: Sequence[_Page], base: str) -> Targets:
    read = {page.file: (base + page.url, page.article.anchors) for page in pages}
    return {
        name: read.get(file) or (base + _url(file), frozenset()) for name, file in files.items()
    }


def _names(page: _Page, base: str) -> Iterator[str]:
    for url in (page.url, unquote(page.url)):
        yield from (url, url.rstrip("/"), base.removeprefix("/") + url)
    stem = page.file.removesuffix(".html")
    yield from (stem + suffix for suffix in _SOURCES)
    parent, _, last = stem.rpartition("/")
    if last == "index":
        folder = f"{parent}/" if parent else ""
        yield from (folder + name + suffix for name in _INDEX_SOURCES for suffix in _SOURCES)
        if parent:
            yield from (parent + suffix for suffix in _SOURCES)
