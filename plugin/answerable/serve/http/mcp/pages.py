"""List the published pages of a store and read their text, section by section, for agents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import numpy as np

from ...retrieval.store import Store, memoize_per_store
from ...types import Passage

# What one result holds of a page, in characters: some 10,000 tokens.
MAX_PAGE_CHARACTERS = 40_000

_WINDOW_SUFFIX = re.compile(r"~\d+$")
_TITLE_SEPARATOR = " › "


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
    """A page or a part of it; ``left_out`` are the ids of sections that there is no room for."""

    id: str
    url: str
    title: str
    sections: tuple[PageSection, ...]
    left_out: tuple[str, ...] = ()


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

    name: the id of a page or a section, or the url of either. base: the site's address or origin.
    """
    page_name, _, anchor = name.strip().partition("#")
    rows = store.rows_of_page(page_name) or store.rows_of_page(_find_path(page_name, base))
    if not rows:
        return None
    by_row = store.passages_at(rows)
    passages = [by_row[row] for row in rows]
    sections = _join_windows(passages)
    if anchor:
        anchor = _WINDOW_SUFFIX.sub("", anchor)
        sections = [each for each in sections if anchor in (_anchor(each.id), _anchor(each.url))]
    return _fit_page(_describe_page(passages[0]), sections) if sections else None


def _fit_page(page: PublishedPage, sections: Sequence[PageSection]) -> PageText:
    """Keep the sections that one result has room for, the first one in any case."""
    length, count = 0, 0
    for section in sections:
        length += len(section.text)
        if count and length > MAX_PAGE_CHARACTERS:
            break
        count += 1
    left_out = tuple(section.id for section in sections[count:])
    return PageText(page.id, page.url, page.title, tuple(sections[:count]), left_out)


def _join_windows(passages: Sequence[Passage]) -> list[PageSection]:
    """Join the windows of each section, which repeat the end of the one before."""
    sections: list[PageSection] = []
    for passage in passages:
        section_id = _WINDOW_SUFFIX.sub("", passage.id)
        if sections and sections[-1].id == section_id:
            text = _append_window(sections[-1].text, passage.text)
            sections[-1] = replace(sections[-1], text=text)
        else:
            sections.append(PageSection(section_id, passage.url, passage.title, passage.text))
    return sections


def _append_window(text: str, window: str) -> str:
    """Append a window to the text before it, without the words that both hold."""
    longest = min(len(text), len(window))
    overlap = next((n for n in range(longest, 0, -1) if text.endswith(window[:n])), 0)
    return text + window[overlap:] if overlap else f"{text}\n\n{window}"


@memoize_per_store
def _find_first_rows(store: Store) -> Sequence[int]:
    """Find the first passage of each page."""
    _, first_rows = np.unique(store.passage_records, return_index=True)
    return tuple(sorted(first_rows.tolist()))


def _describe_page(passage: Passage) -> PublishedPage:
    title = passage.title.partition(_TITLE_SEPARATOR)[0]
    return PublishedPage(passage.record, passage.url.partition("#")[0], title)


def _find_path(url: str, base: str | None) -> str:
    """Find the path of a url of the site's own host; the url itself for any other."""
    parts = urlsplit(url)
    is_own = base is None or parts.netloc == urlsplit(base).netloc
    return parts.path if parts.netloc and is_own else url


def _anchor(name: str) -> str:
    return name.partition("#")[2]
