"""Pages of a built site of any generator, and the search index that says which of them count."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from ...engine.errors import SiteError
from ..notes.note_places import AboutTargets
from ..pages.records import PageSource, parse_metadata
from .articles import Article, choose_title, decode_html, find_site_name, parse_built_page
from .source_pages import (
    SourcePage,
    find_source_page,
    locate_transcript,
    read_source_transcript,
)

# What stays as it is where an address is encoded.
_SAFE = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in the index: its url within the site, None where only its file is known."""

    title: str
    url: str | None = None


def read_search_index(folder: Path) -> Mapping[str, ListedPage] | None:
    """Map the files of a site to their entries in its own search index; None without an index.

    The index is that of MkDocs with any theme, of Zensical or of Sphinx. SiteError names one that
    cannot be read.
    """
    for name in ("search/search_index.json", "search.json", "searchindex.js"):
        path = folder / name
        try:
            text = path.read_text("utf-8") if path.is_file() else "null"
            if name == "searchindex.js" and path.is_file():
                return _map_documents(text, folder)
            data = json.loads(text)
            # Other generators have a file of the second name too.
            key = "docs" if name.startswith("search/") else "items"
            if data is not None and (key == "docs" or _is_zensical_index(data)):
                return _map_locations(data[key])
        except (KeyError, TypeError, ValueError, RecursionError):
            raise SiteError(
                f"{path} is not a search index of a known kind; build the site again, or "
                "remove the file to read every page"
            ) from None
    return None


def _is_zensical_index(data: Any) -> bool:
    items = data.get("items") if isinstance(data, dict) else None
    keys = {"location", "level", "title"}
    return isinstance(items, list) and all(isinstance(i, dict) and keys <= i.keys() for i in items)


def _map_locations(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, ListedPage]:
    """Map files to their pages; of entries of pages and sections, a page's own comes first."""
    pages: dict[str, ListedPage] = {}
    for entry in entries:
        url = str(entry["location"]).partition("#")[0].removeprefix("./")
        file = unquote(url)
        if not file or file.endswith("/"):
            file += "index.html"
        # MkDocs encodes its urls; what another has left as it is must not break one.
        page = ListedPage(_strip_markup(str(entry["title"])), quote(url, safe=_SAFE))
        pages.setdefault(file, page)
    return pages


def _map_documents(text: str, folder: Path) -> Mapping[str, ListedPage]:
    """Map files to Sphinx's documents; one without a title is kept out of its search."""
    pages: dict[str, ListedPage] = {}
    names, titles = _parse_array(text, "docnames"), _parse_array(text, "titles")
    for name, title in zip(names, titles, strict=True):
        files = (f"{name}.html", f"{name}/index.html")
        # Unlike the method of a path, it takes a name that is too long for a file.
        file = next((f for f in files if os.path.isfile(folder / f)), None)  # noqa: PTH113
        if title and file:
            pages[file] = ListedPage(_strip_markup(title))
    return pages


def _parse_array(text: str, key: str) -> list[str]:
    """Parse an array of strings in Sphinx's file: JSON, or in older versions JavaScript."""
    match = re.search(rf'[{{,]"?{key}"?:', text)
    if match is None:
        raise KeyError(key)
    items, _ = json.JSONDecoder().raw_decode(text, match.end())
    return [str(item) for item in items]


def _strip_markup(title: str) -> str:
    body = LexborHTMLParser(title).body
    return " ".join(body.text().split()) if body else ""


_GENERATED = frozenset(("404.html", "search.html"))
_REDIRECT = re.compile(r"""<meta\s[^>]*http-equiv=["']?refresh""", re.I)
_INDEX_FILE = "index.html"
# What a generator may have made a page from, in the order in which names are assigned.
_SOURCE_SUFFIXES = (".md", ".mdx", ".rst", ".markdown")
_INDEX_SOURCES = ("index", "README", "_index")


@dataclass(frozen=True, slots=True)
class BuiltSiteOptions:
    """Overrides for a built site's metadata; None is read from its pages.

    ``base_url``: the address that the site is published at, or its path. ``docs``: the folder of
    the sources of its pages, whose front matter is read; None where nobody knows it.
    """

    base_url: str | None = None
    name: str | None = None
    language: str | None = None
    docs: Path | None = None


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site as read. ``base`` is the path it is served under, with a slash at both ends.

    ``files`` maps every path that a note may name to its file, ``targets`` to where it leads.
    ``records``: the file of each record. ``outputs``: the page in each file, which publishes a
    transcript too.
    """

    name: str
    url: str | None
    base: str
    language: str
    sources: tuple[PageSource, ...]
    files: Mapping[str, str]
    targets: AboutTargets
    records: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _BuiltPage:
    """A file that has an article. ``url`` is relative to the site, and encoded."""

    file: str
    url: str
    article: Article
    listed: ListedPage | None
    source: SourcePage | None


def read_built_site(folder: Path, options: BuiltSiteOptions | None = None) -> BuiltSite:
    """Read every page that the site's own search finds, or all where it has no search.

    SiteError if the folder is missing or holds no page, or if its search index is damaged.
    """
    options = options or BuiltSiteOptions()
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder; build the site first, or correct the path")
    search_index = read_search_index(folder)
    html_files = list_html_files(folder)
    pages = [_read_page(folder, file, search_index or {}, options.docs) for file in html_files]
    indexed = [page for page in pages if _is_searchable(page, search_index is not None)]
    if not indexed:
        raise SiteError(
            f"{folder} holds no page with an article in it; name the folder that the site was "
            "built into"
        )
    name = options.name or find_site_name([page.article for page in pages])
    address = _find_site_address(options.base_url, pages)
    # A path that is encoded already stays as it is; the plugin encodes `site_url` alike.
    path = quote(urlsplit(address).path.strip("/"), safe=_SAFE)
    base = f"/{path}/" if path else "/"
    languages = Counter(page.article.language for page in indexed if page.article.language)
    files = {file: file for file in _list_files(folder)}
    for page in pages:
        for label in _list_page_names(page, base):
            files.setdefault(label, page.file)
    urls = {page.file: (base + page.url, page.article.anchors) for page in pages}
    ids = _assign_record_ids(indexed)
    transcripts = ((page.source and locate_transcript(page.source), page) for page in indexed)
    outputs = {name: page.file for name, page in transcripts if name and (folder / name).is_file()}
    return BuiltSite(
        name=name,
        url=address if urlsplit(address).scheme else None,
        base=base,
        language=options.language or max(languages, key=languages.__getitem__, default="en"),
        sources=tuple(_make_sources(folder, indexed, ids, name, base, options)),
        files=files,
        targets={
            label: urls.get(file) or (base + _file_url(file), frozenset())
            for label, file in files.items()
        },
        records={ids[page.file]: page.file for page in indexed},
        outputs={**outputs, **{file: file for file in html_files}},
    )


def list_html_files(folder: Path) -> list[str]:
    """List every HTML file of a site, sorted, by its path in it with forward slashes."""
    return [file for file in _list_files(folder) if file.endswith(".html")]


def is_redirect(html: str) -> bool:
    """True if a page does nothing but lead to another."""
    return _REDIRECT.search(html) is not None


def _list_files(folder: Path) -> list[str]:
    files: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = (name for name in names if not name.startswith("."))
        files += (Path(here, name).relative_to(folder).as_posix() for name in visible)
    return sorted(files)


def _read_page(
    folder: Path, file: str, search_index: Mapping[str, ListedPage], docs: Path | None
) -> _BuiltPage:
    listed = search_index.get(file)
    html = decode_html((folder / file).read_bytes())
    url = listed.url if listed and listed.url is not None else _file_url(file)
    source = find_source_page(docs, _list_source_names(file)) if docs else None
    return _BuiltPage(file, url, parse_built_page(html), listed, source)


def _is_searchable(page: _BuiltPage, has_search_index: bool) -> bool:
    article, name = page.article, page.file.rpartition("/")[2]
    if has_search_index:
        return bool(article.html) and page.listed is not None
    # A section of which nobody wrote a page is a heading over links to its pages.
    return not (name in _GENERATED or article.hidden or article.is_bare)


def _file_url(file: str) -> str:
    """Return a file's url: that of its folder for an index page, encoded as MkDocs does."""
    if file == _INDEX_FILE or file.endswith(f"/{_INDEX_FILE}"):
        file = file.removesuffix(_INDEX_FILE)
    return quote(os.fsencode(file))


def _find_site_address(option: str | None, pages: Sequence[_BuiltPage]) -> str:
    """Return where the site is published: the option, else its first page's canonical link."""
    root = next((page.article.canonical for page in pages if page.file == _INDEX_FILE), "")
    try:
        if option:
            urlsplit(option)
            return option if option.endswith("/") else f"{option}/"
        if urlsplit(root).scheme in ("http", "https"):
            return root.removesuffix(_INDEX_FILE).rstrip("/") + "/"
    except ValueError:
        if option:
            raise SiteError(f"site_url: {option!r} is not an address; correct it") from None
    return "/"


def _make_sources(
    folder: Path,
    pages: Sequence[_BuiltPage],
    ids: Mapping[str, str],
    site_name: str,
    base: str,
    options: BuiltSiteOptions,
) -> Iterator[PageSource]:
    descriptions = Counter(page.article.description for page in pages)
    keywords = Counter(page.article.keywords for page in pages)
    for page in pages:
        article, source, docs = page.article, page.source, options.docs
        meta: dict[str, object] = {"date": article.date}
        # A description that two pages share is the site's; MkDocs writes `None` for a missing one.
        if descriptions[article.description] == 1 and article.description != "None":
            meta["description"] = article.description
        if keywords[article.keywords] == 1 or len(pages) > 2 * keywords[article.keywords]:
            meta["tags"] = list(article.keywords)
        listed = page.listed.title if page.listed else ""
        title = choose_title(article, listed, site_name, _decode_name(page.file))
        yield PageSource(
            id=ids[page.file],
            url=base + page.url,
            title=(source.title if source else "") or title,
            html=article.html,
            metadata=parse_metadata({**meta, **(source.meta if source else {})}),
            language=options.language or article.language or "en",
            transcript=read_source_transcript(source, docs, folder) if source and docs else None,
        )


def _assign_record_ids(pages: Sequence[_BuiltPage]) -> dict[str, str]:
    """Assign an id to each file: its source's, else its url's, and if that is in use its own."""
    used = {page.source.id for page in pages if page.source}
    ids: dict[str, str] = {}
    for page in pages:
        path = unquote(page.url).strip("/")
        file = _decode_name(page.file).removesuffix(".html")
        numbered = (f"{file}~{number}" for number in count(2))
        candidates = chain((path.removesuffix(".html") or "index", file), numbered)
        unused = (name for name in candidates if name not in used)
        ids[page.file] = page.source.id if page.source else next(unused)
        used.add(ids[page.file])
    return ids


def _decode_name(file: str) -> str:
    """Return a file's name as text; its bytes need not be UTF-8."""
    return os.fsencode(file).decode(errors="replace")


def _list_page_names(page: _BuiltPage, base: str) -> Iterator[str]:
    """List what a note may call a page: its path, its url or its source."""
    for url in (page.url, unquote(page.url)):
        yield from (url, url.rstrip("/"), base.removeprefix("/") + url)
    yield from _list_source_names(page.file)


def _list_source_names(file: str) -> Iterator[str]:
    """List the paths in the docs folder of what a file may have been made from."""
    stem = file.removesuffix(".html")
    stems = [stem]
    parent, _, last = stem.rpartition("/")
    if last == "index":
        folder = f"{parent}/" if parent else ""
        stems = [stem, *(folder + name for name in _INDEX_SOURCES), *([parent] if parent else [])]
    yield from (name + suffix for name in stems for suffix in _SOURCE_SUFFIXES)
