"""Read the search index of MkDocs, Zensical or Sphinx: the files that it lists, with titles."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from selectolax.lexbor import LexborHTMLParser

from ...serve.errors import SiteError

# Relative to the site: the files of MkDocs with any theme, Zensical and Sphinx.
_MKDOCS_INDEX = "search/search_index.json"
_ZENSICAL_INDEX = "search.json"
_SPHINX_INDEX = "searchindex.js"


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in the index: its url within the site, None where only its file is known."""

    title: str
    url: str | None = None


def read_search_index(folder: Path) -> Mapping[str, ListedPage] | None:
    """Map the files of a site to their entries in its own search index; None without an index.

    SiteError names an index that cannot be read.
    """
    for name, parse in (
        (_MKDOCS_INDEX, _parse_mkdocs_index),
        (_ZENSICAL_INDEX, _parse_zensical_index),
        (_SPHINX_INDEX, _parse_sphinx_index),
    ):
        path = folder / name
        if not path.is_file():
            continue
        try:
            pages = parse(path.read_text(encoding="utf-8"), folder)
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None
        except (KeyError, TypeError, ValueError, RecursionError):
            raise SiteError(
                f"{path} is not a search index of a known kind; build the site again, or "
                "remove the file to read every page"
            ) from None
        if pages is not None:
            return pages
    return None


def _parse_mkdocs_index(text: str, _folder: Path) -> Mapping[str, ListedPage]:
    return _map_by_location(json.loads(text)["docs"])


def _parse_zensical_index(text: str, _folder: Path) -> Mapping[str, ListedPage] | None:
    data = json.loads(text)
    items = data.get("items") if isinstance(data, dict) else None
    # Other generators have a file of this name too.
    if not isinstance(items, list) or not all(map(_is_zensical_item, items)):
        return None
    return _map_by_location(items)


def _is_zensical_item(item: object) -> bool:
    return isinstance(item, dict) and {"location", "level", "title"} <= item.keys()


def _map_by_location(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, ListedPage]:
    """Map files to their pages; of entries of pages and sections, a page's own comes first."""
    pages: dict[str, ListedPage] = {}
    for entry in entries:
        url = str(entry["location"]).partition("#")[0].removeprefix("./")
        file = unquote(url)
        if not file or file.endswith("/"):
            file += "index.html"
        # MkDocs encodes its urls; what another has left as it is must not break one.
        url = quote(url, safe="/%:@!$&'()*+,;=~")
        pages.setdefault(file, ListedPage(_strip_markup(str(entry["title"])), url))
    return pages


def _parse_sphinx_index(text: str, folder: Path) -> Mapping[str, ListedPage]:
    """List Sphinx's documents; a title is empty if the document is kept out of the search."""
    pages: dict[str, ListedPage] = {}
    names, titles = _parse_array(text, "docnames"), _parse_array(text, "titles")
    for name, title in zip(names, titles, strict=True):
        files = (f"{name}.html", f"{name}/index.html")
        file = next((file for file in files if _is_file(folder / file)), None)
        if title and file:
            pages[file] = ListedPage(_strip_markup(title))
    return pages


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # The name is too long for a file.
        return False


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
