"""Compare the pages of two states of a site: which are gone, new, renamed or have another url."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..serve.stores.bundle import Bundle
from .verdict import Verdict

PageChangeKind = Literal["gone", "new", "renamed", "moved"]

# A page that has so much of the lines of one that is gone is that page under another name.
_SHARED_LINES = 0.5
# A shorter line, such as "Example:", stands on many pages.
_LINE_WORDS = 4


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """Hold what is compared of a page: its url and the lines of its text, with plain spaces."""

    url: str
    lines: frozenset[str]


@dataclass(frozen=True, slots=True)
class PageChange:
    """Say what became of a page. ``page``: its id; of a renamed one ``new_page`` is the later id.

    ``moved``: the same id has another url.
    """

    kind: PageChangeKind
    page: str
    url_before: str | None = None
    url_after: str | None = None
    new_page: str | None = None


def list_pages(bundle: Bundle) -> dict[str, ComparedPage]:
    """List the pages of a bundle, by their ids."""
    return _group_pages((each.record, each.url, each.text) for each in bundle.passages())


def list_cited_pages(verdicts: Iterable[Verdict]) -> dict[str, ComparedPage]:
    """List the pages that recorded answers cite, with the quoted lines, by their ids."""
    return _group_pages(
        (each.id.partition("#")[0], each.url, each.quote)
        for verdict in verdicts
        if verdict.answer
        for each in verdict.answer.citations
        if each.kind == "record"
    )


def compare_pages(
    before: Mapping[str, ComparedPage], after: Mapping[str, ComparedPage], *, is_whole: bool
) -> tuple[PageChange, ...]:
    """Compare pages by their ids.

    is_whole: ``before`` has every page with all its lines, so others are new or renamed.
    """
    changes: list[PageChange] = []
    new = {page: after[page] for page in after if page not in before}
    for page, earlier in before.items():
        if page in after:
            if earlier.url != after[page].url:
                changes.append(PageChange("moved", page, earlier.url, after[page].url))
        # A report knows a page by the lines that it cites, which other pages may have too.
        elif is_whole and (new_page := _find_renamed(earlier, new)):
            url = new.pop(new_page).url
            changes.append(PageChange("renamed", page, earlier.url, url, new_page))
        else:
            changes.append(PageChange("gone", page, earlier.url))
    if is_whole:
        changes += [PageChange("new", page, None, new[page].url) for page in new]
    return tuple(changes)


def _group_pages(passages: Iterable[tuple[str, str, str]]) -> dict[str, ComparedPage]:
    """Join passages, each (page, url, text), to pages."""
    lines: dict[str, set[str]] = defaultdict(set)
    urls: dict[str, str] = {}
    for page, url, text in passages:
        urls.setdefault(page, url.partition("#")[0])
        lines[page] |= {
            " ".join(words)
            for line in text.splitlines()
            if len(words := line.split()) >= _LINE_WORDS
        }
    return {page: ComparedPage(urls[page], frozenset(lines[page])) for page in urls}


def _find_renamed(page: ComparedPage, new: Mapping[str, ComparedPage]) -> str | None:
    """Find the new page with most of a page's lines, None if no page has enough of them."""
    shared = {name: len(page.lines & other.lines) for name, other in new.items()}
    best = max(shared, key=shared.__getitem__, default=None)
    if best is None or not page.lines or shared[best] < _SHARED_LINES * len(page.lines):
        return None
    return best
