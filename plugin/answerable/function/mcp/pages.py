"""Pages for agents: found by whatever names them, as Markdown within what one result may hold."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from ...engine.answers.wire import add_absolute_url
from ...engine.retrieval.retrieve import WINDOW_SUFFIX
from ...engine.retrieval.store import Store
from ...engine.text.tokenization import normalize_phrase
from ...engine.types import TITLE_SEPARATOR, Passage

# The most that one result holds of a page: some 10,000 tokens.
MAX_PAGE_CHARACTERS = 40_000
# Sections that a result names if it has no room for their text.
MAX_LISTED = 50
# What a path ends in after the name of its page, as a source or as a file of the site.
_PAGE_ENDING = re.compile(r"((^|/)index)?\.(md|html?)$|/+$")


def read_page(store: Store, name: str, base: str | None) -> str | None:
    """Read a page, or the one section that ``#`` names, as Markdown; None if there is none.

    name: see ``find_page``. base: the site's address or origin.
    """
    rows = find_page(store, name, base)
    passages = store.passages_at(rows)
    sections = [
        list(windows)
        for _, windows in groupby(
            (passages[row] for row in rows), lambda passage: WINDOW_SUFFIX.sub("", passage.id)
        )
    ]
    # A link that marks words has them behind the anchor.
    anchor = WINDOW_SUFFIX.sub("", unquote(name.partition("#")[2].partition(":~:")[0].strip()))
    if anchor:
        sections = [windows for windows in sections if anchor in _list_anchors(windows[0])]
    return _format_page(sections, base) if sections else None


def find_page(store: Store, name: str, base: str | None) -> Sequence[int]:
    """Find the passages of a page by its id, its path, its address or a title that no other has."""
    name = name.partition("#")[0].strip()
    try:
        address, root = urlsplit(name), urlsplit(base or "")
    except ValueError:
        return ()
    is_elsewhere = root.netloc and address.netloc.lower() not in ("", root.netloc.lower())
    if is_elsewhere or not name:
        return ()
    home = root.path.strip("/")
    path = _PAGE_ENDING.sub("", unquote(address.path)).strip("/")
    inner = path.removeprefix(home).strip("/") if home else path
    for candidate in (name, address.path, path, inner, f"{inner}/index".strip("/"), f"/{path}/"):
        if rows := store.rows_of_page(candidate):
            return rows
    records = store.index.names.find_records(normalize_phrase(name))
    if len(records) != 1:
        return ()
    return np.flatnonzero(store.index.passage_records == records[0]).tolist()


def _list_anchors(passage: Passage) -> tuple[str, str]:
    """List the anchors that name the section of its first passage: the id's and the url's."""
    return passage.id.partition("#")[2], unquote(passage.url.partition("#")[2])


def _format_page(sections: Sequence[Sequence[Passage]], base: str | None) -> str:
    """Format as many whole sections as there is room for, or else the beginning of the first."""
    first = sections[0][0]
    url = find_url(add_absolute_url({"url": first.url.partition("#")[0]}, base))
    parts = [f"{first.title.partition(TITLE_SEPARATOR)[0]}\n{url}"]
    room = MAX_PAGE_CHARACTERS
    left_out: list[str] = []
    for windows in sections:
        part = "\n\n".join([f"## {windows[0].title}", *(window.markdown for window in windows)])
        if len(parts) == 1 and len(part) > room:
            beginning = part[:room].rpartition("\n")[0]
            part = f"{beginning}\n…\n\n(Cut here: search for what follows.)"
        elif left_out or len(part) > room:
            left_out.append(windows[0].id)
            continue
        parts.append(part)
        room -= len(part)
    if left_out:
        names = ", ".join(left_out[:MAX_LISTED])
        parts.append(f"(Left out: {len(left_out)} more sections of this page, such as {names})")
    return "\n\n".join(parts)


def find_url(row: Mapping[str, Any]) -> str:
    """Find the url of a row to cite: absolute, if the site or the request tells where it lies."""
    return str(row.get("absolute_url") or row["url"])
