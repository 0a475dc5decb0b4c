"""Pages for agents: public passages joined to the text of their page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

import numpy as np

from ...answers.wire import find_new_words
from ...retrieval.selection import WINDOW_SUFFIX
from ...retrieval.store import Store, memoize_per_store
from ...structure import TITLE_SEPARATOR
from ...types import Passage


def append_window(text: str, window: Passage) -> str:
    """Append a window to the text of those before it, without the words that both hold."""
    begin, is_repeated = find_new_words(text, window)
    added = window.text[begin:]
    if is_repeated:
        return text + added
    return f"{text}\n{added}" if begin else f"{text}\n\n{added}"


# What one result holds of a page, in characters: some 10,000 tokens.
MAX_PAGE_CHARACTERS = 40_000

# Begins the words that a browser marks, in the fragment of a citation's link.
_TEXT_FRAGMENT = ":~:"


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """One page that has a passage. ``url``: without an anchor."""

    id: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class PageSection:
    """The text under one heading, whose windows are joined again. ``url`` has its anchor."""

    id: str
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page or a part of it, as far as one result has room for it.

    ``left_out``: the ids of the sections after these. ``is_cut``: the one section that there is
    was too long, and ends early.
    """

    id: str
    url: str
    title: str
    sections: tuple[PageSection, ...]
    left_out: tuple[str, ...] = ()
    is_cut: bool = False


def count_pages(store: Store) -> int:
    """Count the pages that have a passage."""
    return len(_find_first_rows(store))


def list_pages(store: Store, start: int, count: int) -> list[PublishedPage]:
    """List some pages in the order of the store, from a number on."""
    rows = _find_first_rows(store)[start : start + count]
    passages = store.passages_at(rows)
    return [_describe_page(passages[row]) for row in rows]


def read_page(store: Store, name: str, base: str | None) -> PageText | None:
    """Read a page or one of its sections; None if nothing has that name.

    name: the id of a page or a section, or the url of either, which may be a citation's link with
    the words to mark. base: the site's address or origin.
    """
    page_name, _, anchor = name.strip().partition("#")
    rows: Sequence[int] = ()
    for candidate in _list_page_names(page_name, base):
        rows = store.rows_of_page(candidate)
        if rows:
            page_name = candidate
            break
    if not rows:
        return None
    by_row = store.passages_at(rows)
    passages = [by_row[row] for row in rows]
    sections = _join_windows(passages)
    if anchor := unquote(anchor.partition(_TEXT_FRAGMENT)[0]):
        # A section may be named by its id's anchor, and by its url's as decoded.
        names = {anchor, WINDOW_SUFFIX.sub("", anchor)} - {""}
        sections = [
            section
            for section in sections
            if section.id.partition("#")[2] in names
            or unquote(section.url.partition("#")[2]) in names
        ]
    elif "?" in page_name:
        # A place in a recording, which a url names by its query.
        sections = [each for each in sections if each.url == page_name]
    return _fit_page(_describe_page(passages[0]), sections) if sections else None


def _list_page_names(name: str, base: str | None) -> list[str]:
    """List the names that a page may have in a store: its id, or its url as the site writes it."""
    names = [name]
    try:
        parts = urlsplit(name)
        own_host = urlsplit(base).netloc.lower() if base else ""
    except ValueError:
        return names
    if parts.netloc and parts.netloc.lower() == (own_host or parts.netloc.lower()):
        names += [f"{parts.path}?{parts.query}"] if parts.query else []
        names += [parts.path, f"{parts.path}/"]
    return names


def _fit_page(page: PublishedPage, sections: Sequence[PageSection]) -> PageText:
    """Keep the sections that one result has room for; a first one that is too long is cut."""
    first = sections[0]
    if len(first.text) > MAX_PAGE_CHARACTERS:
        end = first.text.rfind("\n", 0, MAX_PAGE_CHARACTERS)
        cut = replace(first, text=first.text[: end if end > 0 else MAX_PAGE_CHARACTERS])
        left_out = tuple(section.id for section in sections[1:])
        return PageText(page.id, page.url, page.title, (cut,), left_out, is_cut=True)
    length, count = 0, 0
    for section in sections:
        length += len(section.title) + len(section.text)
        if count and length > MAX_PAGE_CHARACTERS:
            break
        count += 1
    left_out = tuple(section.id for section in sections[count:])
    return PageText(page.id, page.url, page.title, tuple(sections[:count]), left_out)


def _join_windows(passages: Sequence[Passage]) -> list[PageSection]:
    """Join the windows of each section, which repeat the end of the one before."""
    sections: list[PageSection] = []
    for passage in passages:
        place = (passage.url, passage.title)
        # By its id: a later window of its section.
        is_window = WINDOW_SUFFIX.search(passage.id.removeprefix(passage.record))
        if sections and (sections[-1].url, sections[-1].title) == place and is_window:
            sections[-1] = replace(sections[-1], text=append_window(sections[-1].text, passage))
        else:
            sections.append(PageSection(passage.id, *place, passage.text))
    return sections


@memoize_per_store
def _find_first_rows(store: Store) -> Sequence[int]:
    """Find the first passage of each page."""
    _, first_rows = np.unique(store.passage_records, return_index=True)
    return tuple(sorted(first_rows.tolist()))


def _describe_page(passage: Passage) -> PublishedPage:
    title = passage.title.partition(TITLE_SEPARATOR)[0]
    url = passage.url.partition("#")[0].partition("?")[0]
    return PublishedPage(passage.record, url, title)
