"""Pages of a built site of any generator, and the search index that says which of them count."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from ...engine.errors import SiteError
from ..notes.note_places import AboutTargets
from ..pages.records import PageSource, parse_metadata
from .articles import Article, parse_built_page
from .source_pages import (
    SourcePage,
    find_source_page,
    locate_transcript,
    read_source_transcript,
)

# What stays as it is where an address is encoded.
_SAFE = "/%:@!$&'()*+,;=~"


def read_search_index(folder: Path) -> Mapping[str, str] | None:
    """Map the files that the search of a site finds to their urls; None without a search index.

    The index is that of MkDocs with any theme, of Zensical or of Sphinx. SiteError names one that
    cannot be read.
    """
    for name in ("search/search_index.json", "search.json", "searchindex.js"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            text = path.read_text("utf-8")
            if name == "searchindex.js":
                # A document without a title is kept out of its search.
                data = json.loads(text.partition("(")[2].rpartition(")")[0])
                titles = zip(data["docnames"], data["titles"], strict=True)
                documents = [str(document) for document, title in titles if title]
                endings = (".html", f"/{_INDEX_FILE}")
                return {d + ending: _file_url(d + ending) for d in documents for ending in endings}
            data = json.loads(text)
            if name == "search.json" and not _is_zensical_index(data):
                # Other generators have a file of this name too.
                continue
            entries = data["docs" if name.startswith("search/") else "items"]
            return dict(_locate_page(str(entry["location"])) for entry in entries)
        except (KeyError, TypeError, ValueError, RecursionError):
            raise SiteError(
                f"{path} is not a search index of a known kind; build the site again, or "
                "remove the file to read every page"
            ) from None
    return None


def _is_zensical_index(data: object) -> bool:
    items = data.get("items") if isinstance(data, dict) else None
    return isinstance(items, list) and all(isinstance(i, dict) and "location" in i for i in items)


def _locate_page(location: str) -> tuple[str, str]:
    """Locate the file of a page or a section, and the url of the page."""
    url = location.partition("#")[0].removeprefix("./")
    file = unquote(url)
    if not file or file.endswith("/"):
        file += _INDEX_FILE
    # MkDocs encodes its urls; what another has left as it is must not break one.
    return file, quote(url, safe=_SAFE)


_GENERATED = frozenset(("404.html", "search.html"))
_INDEX_FILE = "index.html"
# What a generator may have made a page from, in the order in which names are assigned.
_SOURCE_SUFFIXES = (".md", ".mdx", ".rst", ".markdown")
_INDEX_SOURCES = ("index", "README", "_index")


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
    is_indexed: bool
    source: SourcePage | None


def read_built_site(
    folder: Path,
    *,
    base_url: str | None = None,
    name: str | None = None,
    language: str | None = None,
    docs: Path | None = None,
) -> BuiltSite:
    """Read every page that the site's own search finds, or all where it has no search.

    base_url: the address that the site is published at, or its path; it, ``name`` and ``language``
    are read from the pages where they are None. docs: the folder of the sources of the pages, whose
    front matter is read. SiteError if the folder is missing or holds no page, or if its search
    index is damaged.
    """
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder; build the site first, or correct the path")
    search_index = read_search_index(folder)
    listed_files = _list_files(folder)
    html_files = [file for file in listed_files if file.endswith(".html")]
    pages = [_read_page(folder, file, search_index, docs) for file in html_files]
    indexed = [page for page in pages if page.is_indexed]
    if not indexed:
        raise SiteError(
            f"{folder} holds no page with an article in it; name the folder that the site was "
            "built into"
        )
    address = _find_site_address(base_url, pages)
    # A path that is encoded already stays as it is; the plugin encodes `site_url` alike.
    path = quote(urlsplit(address).path.strip("/"), safe=_SAFE)
    base = f"/{path}/" if path else "/"
    names = Counter(page.article.site for page in pages if page.article.site)
    languages = Counter(page.article.language for page in indexed if page.article.language)
    files = {file: file for file in listed_files}
    for page in pages:
        for label in _list_page_names(page, base):
            files.setdefault(label, page.file)
    urls = {page.file: (base + page.url, page.article.anchors) for page in pages}
    ids = _assign_record_ids(indexed)
    transcripts = ((page.source and locate_transcript(page.source), page) for page in indexed)
    outputs = {file: page.file for file, page in transcripts if file and (folder / file).is_file()}
    return BuiltSite(
        name=name or max(names, key=names.__getitem__, default=""),
        url=address if urlsplit(address).scheme else None,
        base=base,
        language=language or max(languages, key=languages.__getitem__, default="en"),
        sources=tuple(_make_sources(folder, indexed, ids, base, language, docs)),
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


def _list_files(folder: Path) -> list[str]:
    files: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = (name for name in names if not name.startswith("."))
        files += (Path(here, name).relative_to(folder).as_posix() for name in visible)
    return sorted(files)


def _read_page(
    folder: Path, file: str, search_index: Mapping[str, str] | None, docs: Path | None
) -> _BuiltPage:
    article = parse_built_page((folder / file).read_bytes())
    source = find_source_page(docs, _list_source_names(file)) if docs else None
    if search_index is not None:
        url = search_index.get(file, _file_url(file))
        return _BuiltPage(file, url, article, bool(article.html) and file in search_index, source)
    # A section of which nobody wrote a page is a heading over links to its pages.
    is_left_out = article.hidden or article.is_bare or Path(file).name in _GENERATED
    return _BuiltPage(file, _file_url(file), article, not is_left_out, source)


def _file_url(file: str) -> str:
    """Return a file's url: that of its folder for an index page, encoded as MkDocs does."""
    if file == _INDEX_FILE or file.endswith(f"/{_INDEX_FILE}"):
        file = file.removesuffix(_INDEX_FILE)
    return quote(os.fsencode(file))


def _find_site_address(option: str | None, pages: Sequence[_BuiltPage]) -> str:
    """Return where the site is published: the option, else its first page's canonical link."""
    if option:
        return option if option.endswith("/") else f"{option}/"
    root = next((page.article.canonical for page in pages if page.file == _INDEX_FILE), "")
    # A page may name any text.
    with suppress(ValueError):
        if urlsplit(root).scheme in ("http", "https"):
            return root.removesuffix(_INDEX_FILE).rstrip("/") + "/"
    return "/"


def _make_sources(
    folder: Path,
    pages: Sequence[_BuiltPage],
    ids: Mapping[str, str],
    base: str,
    language: str | None,
    docs: Path | None,
) -> Iterator[PageSource]:
    descriptions = Counter(page.article.description for page in pages)
    for page in pages:
        article, source = page.article, page.source
        meta: dict[str, object] = {"date": article.date, "keywords": article.keywords}
        # A description that two pages share is the site's; MkDocs writes `None` for a missing one.
        if descriptions[article.description] == 1 and article.description != "None":
            meta["description"] = article.description
        yield PageSource(
            id=ids[page.file],
            url=base + page.url,
            title=(source.title if source else "") or article.title or ids[page.file],
            html=article.html,
            metadata=parse_metadata({**meta, **(source.meta if source else {})}),
            language=language or article.language or "en",
            transcript=read_source_transcript(source, docs, folder) if source and docs else None,
        )


def _assign_record_ids(pages: Sequence[_BuiltPage]) -> dict[str, str]:
    """Assign an id to each file: its source's, else its url's, and if that is in use its own."""
    ids = {page.file: page.source.id for page in pages if page.source}
    used = set(ids.values())
    for page in pages:
        if page.source is None:
            name = unquote(page.url).strip("/").removesuffix(".html") or "index"
            # The bytes of a file's name need not be UTF-8.
            own_name = os.fsencode(page.file).decode(errors="replace")
            ids[page.file] = own_name if name in used else name
            used.add(ids[page.file])
    return ids


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
