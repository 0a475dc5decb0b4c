"""Check that a site holds what its bundle cites: urls, anchors and every line of text."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from answerable.engine.bundle import Bundle
from answerable.engine.types import Passage
from support.sites import opened

# Of Material and of the themes that come with MkDocs.
_ARTICLE = ".md-content__inner", "[itemprop=articleBody]", "[role=main]"
# A reader sees them in the article, but they are marks and not what it says.
_MARKS = (
    ".footnote-ref, .footnote-backref, .headerlink, .linenos, .linenodiv, script, style, svg,"
    "button, [data-search-exclude], [data-answerable-exclude]"
)


def records(folder: Path, function: str = "function") -> dict[str, tuple[str, str]]:
    """The url and the title of every record that has text, by its id."""
    anchors: dict[str, tuple[str, str]] = {}
    for passage in passages(folder, function):
        url, title = passage.url.partition("#")[0], passage.title.partition(" › ")[0]
        assert anchors.setdefault(passage.record, (url, title)) == (url, title)
    return anchors


def passages(folder: Path, function: str = "function") -> list[Passage]:
    """Every passage that a site's build has published."""
    return list(_passages(opened(folder, function)))


def text(folder: Path, record: str, function: str = "function") -> str:
    """All text of a record."""
    return "\n".join(p.text for p in passages(folder, function) if p.record == record)


def assert_resolves(folder: Path, function: str = "function", site: str = "site") -> None:
    """Every passage's url leads to a file of the site, and its fragment to an element there."""
    lost = []
    for file, passages in _by_file(folder, function, site).items():
        anchors = _anchors(file) if file.is_file() else frozenset()
        for passage in passages:
            fragment = unquote(urlsplit(passage.url).fragment)
            if not file.is_file() or (fragment and fragment not in anchors):
                lost.append(passage.url)
    assert lost == []


def assert_in_articles(folder: Path, function: str = "function", site: str = "site") -> None:
    """Every line of every passage stands in the article of its page."""
    strange = []
    for file, passages in _by_file(folder, function, site).items():
        article = _article(file)
        lines = ((passage.id, line) for passage in passages for line in passage.text.splitlines())
        strange += [(name, line) for name, line in lines if _letters(line) not in article]
    assert strange == []


def _passages(bundle: Bundle) -> Iterator[Passage]:
    return (bundle.passage(row) for row in range(bundle.manifest.counts["passages"]))


def _by_file(folder: Path, function: str, site: str) -> dict[Path, list[Passage]]:
    bundle = opened(folder, function)
    root = unquote(urlsplit(bundle.index.site.url or "/").path).strip("/")
    prefix = f"/{root}/" if root else "/"
    by_file: dict[Path, list[Passage]] = {}
    for passage in _passages(bundle):
        path = unquote(urlsplit(passage.url).path)
        assert path.startswith(prefix), passage.url
        path = path.removeprefix(prefix)
        name = f"{path}index.html" if not path or path.endswith("/") else path
        by_file.setdefault(folder / site / name, []).append(passage)
    return by_file


def _parsed(file: Path) -> LexborHTMLParser:
    return LexborHTMLParser(file.read_text("utf-8"))


def _anchors(file: Path) -> frozenset[str]:
    nodes = _parsed(file).css("[id], a[name]")
    names = {node.attributes.get(key) for node in nodes for key in ("id", "name")}
    return frozenset(name for name in names if name)


def _article(file: Path) -> str:
    tree = _parsed(file)
    article = next(node for selector in _ARTICLE if (node := tree.css_first(selector)))
    for mark in article.css(_MARKS):
        mark.decompose()
    return _letters(article.text())


def _letters(text: str) -> str:
    """A text without white space and the signs that stand for a table's lines."""
    return re.sub(r"[\s·]+", "", text)
