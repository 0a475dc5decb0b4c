"""Pages for agents: found by whatever names them, as Markdown within what one result may hold."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

import numpy as np

from ...serve.answers.wire import join_windows
from ...serve.retrieval.sections import WINDOW_SUFFIX
from ...serve.retrieval.store import Store, memoize_per_store
from ...serve.text.normalization import normalize_phrase
from ...serve.types import TITLE_SEPARATOR, Passage

# What one result holds of a page, in characters: some 10,000 tokens.
MAX_PAGE_CHARACTERS = 40_000
# Known questions that an agent is offered as prompts.
MAX_QUESTIONS = 20

# Begins the words that a browser marks, in the fragment of a citation's link.
_TEXT_FRAGMENT = ":~:"
# What a path ends in beside the name of its page, as a source or as a file of the site.
_PAGE_ENDING = re.compile(r"((^|/)index)?\.(md|html?)$|/+$")
_BEGUN_WORD = re.compile(r"(\s|\S+)\Z")
_FENCE = re.compile("^ *(?::   )?(`{3,})", re.M)


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """One page that has a passage. ``url``: without an anchor."""

    id: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class PageSection:
    """The Markdown under one heading. ``url`` has its anchor."""

    id: str
    url: str
    title: str
    markdown: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page or a part of it, as far as one result has room for it.

    ``left_out``: the ids of the sections after these. ``is_cut``: the last section was too long,
    and ends early.
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


@memoize_per_store
def list_questions(store: Store) -> Sequence[str]:
    """List questions that sections are known to answer: one of a page, of the first pages."""
    records = store.index.passage_records[store.index.question_passages].tolist()
    by_page: dict[int, str] = {}
    for text, key, record in zip(
        store.index.questions, store.index.question_keys, records, strict=True
    ):
        # The key of one whose section has changed since is 0.
        if text and key:
            by_page.setdefault(record, text)
    return tuple(by_page.values())[:MAX_QUESTIONS]


def read_page(
    store: Store, name: str, base: str | None, max_words: int | None = None
) -> PageText | None:
    """Read a page or one of its sections; None if nothing has that name.

    name: the id of a page or a section, the url of either, which may be a citation's link with the
    words to mark, the path of a source or of a file of the site, or a title that one page has.
    base: the site's address or origin.
    """
    name = name.strip()
    page_name, _, anchor = name.partition("#")
    rows = _find_rows(store, page_name, base) or _find_title(store, name)
    if not rows:
        return None
    by_row = store.passages_at(rows)
    sections = _join_windows([by_row[row] for row in rows])
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
        sections = [section for section in sections if section.url == page_name]
    if not sections:
        return None
    return _fit_page(_describe_page(by_row[rows[0]]), sections, max_words)


def _find_rows(store: Store, name: str, base: str | None) -> Sequence[int]:
    """Find the passages of the page of an id, a path or a url, in this order."""
    names = dict.fromkeys(_list_page_names(name, base)) if name else {}
    return next((rows for candidate in names if (rows := store.rows_of_page(candidate))), ())


def _list_page_names(name: str, base: str | None) -> Iterator[str]:
    """Yield the names that a page may have in a store: its id, or its url as the site writes it."""
    yield name
    try:
        parts = urlsplit(name)
        root = urlsplit(base or "")
    except ValueError:
        return
    if parts.netloc and root.netloc and parts.netloc.lower() != root.netloc.lower():
        return
    if parts.query:
        yield f"{parts.path}?{parts.query}"
    prefix = root.path.rstrip("/")
    path = _PAGE_ENDING.sub("", unquote(parts.path)).lstrip("/")
    for stem in (path, path.removeprefix(prefix.lstrip("/")).lstrip("/")):
        yield stem
        yield f"{stem}/index".lstrip("/")
        for folder in ("", prefix):
            page = f"{folder}/{stem}".rstrip("/")
            yield from (f"{page}/", page, f"{page}.html", f"{page}/index.html")


def _find_title(store: Store, title: str) -> Sequence[int]:
    """Find the passages of the one page that has a title or a file name, none if several do."""
    phrase = normalize_phrase(title)
    if phrase not in store.index.names.rows:
        return ()
    records = store.index.names.entry(phrase).records
    return (
        np.flatnonzero(store.index.passage_records == records[0]).tolist()
        if len(records) == 1
        else ()
    )


def _fit_page(
    page: PublishedPage, sections: Sequence[PageSection], max_words: int | None
) -> PageText:
    """Keep what one result has room for: whole sections, or else the begin of the first one."""
    room, words = MAX_PAGE_CHARACTERS, max_words
    fitting: list[PageSection] = []
    for section in sections:
        end = room - len(section.title) if fitting else room
        if words is not None:
            end = min(end, _find_word_end(section.markdown, words))
        if len(section.markdown) <= end:
            fitting.append(section)
            room -= len(section.title) + len(section.markdown)
            words = None if words is None else words - len(section.markdown.split())
            continue
        is_cut = not fitting
        if is_cut:
            fitting.append(replace(section, markdown=_cut_text(section.markdown, end)))
        left_out = tuple(other.id for other in sections[len(fitting) :])
        return PageText(page.id, page.url, page.title, tuple(fitting), left_out, is_cut)
    return PageText(page.id, page.url, page.title, tuple(fitting))


def _find_word_end(text: str, words: int) -> int:
    """Find where a number of words ends."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    return ends[words - 1] if 0 < words < len(ends) else len(text) if words > 0 else 0


def _cut_text(text: str, end: int) -> str:
    """Cut a text, if it can after a line or a word, and close the code that this leaves open."""
    line_end = text.rfind("\n", 0, end)
    words = _BEGUN_WORD.sub("", text[: end + 1])
    cut = text[:line_end] if line_end > end // 2 else words or text[:end]
    fences = _FENCE.findall(cut)
    return f"{cut}\n{fences[-1]}" if len(fences) % 2 else cut


def _join_windows(passages: Sequence[Passage]) -> list[PageSection]:
    """Join the windows of each section, which repeat the end of the one before."""
    groups: list[list[Passage]] = []
    for passage in passages:
        last = groups[-1][-1] if groups else None
        is_same = last and (last.url, last.title) == (passage.url, passage.title)
        # By its id: a later window of its section.
        if is_same and WINDOW_SUFFIX.search(passage.id.removeprefix(passage.record)):
            groups[-1].append(passage)
        else:
            groups.append([passage])
    return [
        PageSection(
            windows[0].id,
            windows[0].url,
            windows[0].title,
            join_windows(windows),
        )
        for windows in groups
    ]


@memoize_per_store
def _find_first_rows(store: Store) -> Sequence[int]:
    """Find the first passage of each page."""
    _, first_rows = np.unique(store.index.passage_records, return_index=True)
    return tuple(sorted(first_rows.tolist()))


def _describe_page(passage: Passage) -> PublishedPage:
    title = passage.title.partition(TITLE_SEPARATOR)[0]
    url = passage.url.partition("#")[0].partition("?")[0]
    return PublishedPage(passage.record, url, title)
