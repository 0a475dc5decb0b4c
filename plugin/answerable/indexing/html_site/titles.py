"""Choose a built site's name from its pages, and a page's title from header, index, head, file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from .articles import Article

_SEPARATORS = (" - ", " | ", " — ", " – ", " :: ", " · ", " • ", " » ", " « ")


def find_site_name(pages: Sequence[Article]) -> str:
    """Return the site's name as its pages give it, else the end that most of their titles share."""
    names = Counter(page.site for page in pages if page.site)
    if names:
        return names.most_common(1)[0][0]
    endings = Counter(ending for page in pages for ending in _list_title_endings(page.head))
    shared = [ending for ending, count in endings.items() if count > max(1, len(pages) // 2)]
    return max(shared, key=len, default="") or next((p.head for p in pages if p.head), "")


def choose_title(page: Article, listed: str, site: str, file: str) -> str:
    """Return a page's title: of its header, the search index, its head, its h1, or its file's name.

    listed: the one in the search index, or nothing. The site's name is no page's title, unless
    the page's heading says so.
    """
    head = _strip_site_name(page.head, site)
    return page.topic or listed or head or page.heading or _title_from_file_name(file) or site


def _list_title_endings(head: str) -> Iterator[str]:
    """List all that may be a site's name at the end of a document's title."""
    for separator in _SEPARATORS:
        parts = head.split(separator)
        yield from (separator.join(parts[n:]) for n in range(1, len(parts)))


def _strip_site_name(head: str, site: str) -> str:
    """Return a document's title without the site's name; empty if it is nothing else."""
    for separator in _SEPARATORS:
        if head.endswith(ending := separator + site):
            return head.removesuffix(ending)
        if head.startswith(start := site + separator):
            return head.removeprefix(start)
    return "" if head == site else head


def _title_from_file_name(file: str) -> str:
    """Make a title of a file's name as MkDocs does."""
    path = PurePosixPath(file)
    stem = path.parent.name if path.name == "index.html" else path.stem
    text = stem.replace("-", " ").replace("_", " ")
    return text.capitalize() if text == text.lower() else text
