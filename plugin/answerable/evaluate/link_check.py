"""Whether what an answer may cite is there on the site as it is deployed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from ..indexing.pages.html_elements import list_anchors
from ..serve.stores.bundle import Bundle


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that answers may cite: who cites it, by the anchor ("" for the page itself)."""

    address: str
    cited: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """An address that leads nowhere: the id of what is cited there, and why."""

    address: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class CitedAddresses:
    """All that answers may cite: pages of the site, and how many addresses lie elsewhere."""

    pages: tuple[CitedPage, ...]
    elsewhere: int

    @property
    def addresses(self) -> int:
        """How many different addresses of the site can be cited."""
        return sum(len(page.cited) for page in self.pages)


def collect_cited_addresses(bundle: Bundle, root: str) -> CitedAddresses:
    """What answers from a bundle may cite of a site whose address is root, as the widget reads it.

    root: absolute, with a slash at its end.
    """
    found: dict[str, dict[str, str]] = {}
    elsewhere = set()
    for name, url in _iterate_citations(bundle):
        # Without a `site_url` nobody knows the path that a site is served under.
        relative = url.startswith("/") and bundle.site.url is None
        address, _, anchor = urljoin(root, f".{url}" if relative else url).partition("#")
        if urlsplit(address)[:2] == urlsplit(root)[:2]:
            found.setdefault(address, {}).setdefault(anchor, name)
        else:
            elsewhere.add(address)
    pages = tuple(CitedPage(address, cited) for address, cited in sorted(found.items()))
    return CitedAddresses(pages, len(elsewhere))


def _iterate_citations(bundle: Bundle) -> Iterator[tuple[str, str]]:
    yield from zip(bundle.passage_ids, bundle.passage_urls, strict=True)
    yield from ((hint.id, hint.url) for hint in bundle.hints)


def report_missing_page(page: CitedPage, why: str) -> list[BrokenLink]:
    """All of a page that cannot be had."""
    return [
        BrokenLink(_join_anchor(page, anchor), name, why) for anchor, name in page.cited.items()
    ]


def find_missing_anchors(page: CitedPage, html: str) -> list[BrokenLink]:
    """What a page lacks of the anchors that are cited."""
    root = LexborHTMLParser(html).root
    anchors = list_anchors(root) if root else frozenset()
    found: list[BrokenLink] = []
    for anchor, name in page.cited.items():
        # What follows is a text to mark, and no part of the anchor.
        wanted = anchor.partition(":~:")[0]
        # A browser looks for the anchor as it is written, then for what it encodes.
        if wanted and anchors.isdisjoint((wanted, unquote(wanted))):
            why = f"no element has the id {unquote(wanted)!r}"
            found.append(BrokenLink(_join_anchor(page, anchor), name, why))
    return found


def _join_anchor(page: CitedPage, anchor: str) -> str:
    return f"{page.address}#{anchor}" if anchor else page.address
