"""The search index that a generator wrote: which pages its author lets be found."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from selectolax.lexbor import LexborHTMLParser

from ...serve.errors import SiteError

# Relative to the site: what MkDocs with any theme, Zensical and Sphinx write.
_MKDOCS_INDEX = "search/search_index.json"
_ZENSICAL_INDEX = "search.json"
_SPHINX_INDEX = "searchindex.js"


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in the index: its url within the site, None where only its file is known."""

    title: str
    url: str | None = None


def read_search_index(folder: Path) -> Mapping[str, ListedPage] | None:
    """The pages in a site's own search index, by their files; None where there is no index.

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
            found = parse(path.read_text(encoding="utf-8"), folder)
        except OSError as error:
            raise SiteError(f"{path} cannot be read ({error.strerror}); make it readable") from None
        except (KeyError, TypeError, ValueError, RecursionError):
            raise SiteError(
                f"{path} is no search index of a kind that is known; build the site again, or "
                "remove the file to read every page"
            ) from None
        if found is not None:
            return found
    return None


def _parse_mkdocs_index(text: str, folder: Path) -> Mapping[str, ListedPage]:
    del folder
    return _map_by_location(json.loads(text)["docs"])


def _parse_zensical_index(text: str, folder: Path) -> Mapping[str, ListedPage] | None:
    del folder
    data = json.loads(text)
    items = data.get("items") if isinstance(data, dict) else None
    # Other generators have a file of this name too.
    if not isinstance(items, list) or not all(map(_is_zensical_item, items)):
        return None
    return _map_by_location(items)


def _is_zensical_item(item: object) -> bool:
    return isinstance(item, dict) and {"location", "level", "title"} <= item.keys()


def _map_by_location(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, ListedPage]:
    """Entries of pages and sections; a page's own comes first and holds its title."""
    found: dict[str, ListedPage] = {}
    for entry in entries:
        url = str(entry["location"]).partition("#")[0].removeprefix("./")
        file = unquote(url)
        if not file or file.endswith("/"):
            file += "index.html"
        # MkDocs encodes its urls; what another has left as it is must not break one.
        url = quote(url, safe="/%:@!$&'()*+,;=~")
        found.setdefault(file, ListedPage(_strip_markup(str(entry["title"])), url))
    return found


def _parse_sphinx_index(text: str, folder: Path) -> Mapping[str, ListedPage]:
    """Sphinx lists documents; a title is empty if the document is kept out of the search."""
    names, titles = _parse_array(text, "docnames"), _parse_array(text, "titles")
    found: dict[str, ListedPage] = {}
    for name, title in zip(names, titles, strict=True):
        files = (f"{name}.html", f"{name}/index.html")
        file = next((file for file in files if _is_file(folder / file)), None)
        if title and file:
            found[file] = ListedPage(_strip_markup(title))
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # No file has a name as long as this.
        return False


def _parse_array(text: str, key: str) -> list[str]:
    """An array of strings in what Sphinx writes: JSON, or in older versions JavaScript."""
    match = re.search(rf'[{{,]"?{key}"?:', text)
    if match is None:
        raise KeyError(key)
    found, _ = json.JSONDecoder().raw_decode(text, match.end())
    return [str(item) for item in found]


def _strip_markup(title: str) -> str:
    body = LexborHTMLParser(title).body
    return " ".join(body.text().split()) if body else ""
