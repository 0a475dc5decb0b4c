"""List addresses that a bundle can cite, and anchors missing in HTML that the caller fetched."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from ..indexing.pages.html_parser import list_anchors
from ..serve.stores.bundle import Bundle


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that answers may cite: the citing id by anchor ("" for the page itself)."""

    address: str
    cited: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """An address that leads nowhere: the citing id, and the reason."""

    address: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class CitedAddresses:
    """All that answers may cite: pages of the site, and a count of addresses elsewhere."""

    pages: tuple[CitedPage, ...]
    elsewhere: int

    @property
    def addresses(self) -> int:
        """Count the different addresses of the site that can be cited."""
        return sum(len(page.cited) for page in self.pages)


def collect_cited_addresses(bundle: Bundle, root: str) -> CitedAddresses:
    """Collect what answers from a bundle may cite, resolved as the widget resolves it.

    root: the site's address, absolute, with a slash at its end.
    """
    cited: dict[str, dict[str, str]] = {}
    elsewhere = set()
    hints = ((hint.id, hint.url) for hint in bundle.hints)
    for name, url in (*zip(bundle.passage_ids, bundle.passage_urls, strict=True), *hints):
        # Without a `site_url` nobody knows the path that a site is served under.
        relative = url.startswith("/") and bundle.site.url is None
        address, _, anchor = urljoin(root, f".{url}" if relative else url).partition("#")
        if urlsplit(address)[:2] == urlsplit(root)[:2]:
            cited.setdefault(address, {}).setdefault(anchor, name)
        else:
            elsewhere.add(address)
    pages = tuple(CitedPage(address, ids) for address, ids in sorted(cited.items()))
    return CitedAddresses(pages, len(elsewhere))


def report_missing_page(page: CitedPage, why: str) -> list[BrokenLink]:
    """Report all links to a page that cannot be fetched."""
    return [
        BrokenLink(_join_anchor(page, anchor), name, why) for anchor, name in page.cited.items()
    ]


def find_missing_anchors(page: CitedPage, html: str) -> list[BrokenLink]:
    """Find the cited anchors that a page lacks."""
    root = LexborHTMLParser(html).root
    anchors = list_anchors(root) if root else frozenset()
    broken: list[BrokenLink] = []
    for anchor, name in page.cited.items():
        # A text directive follows the anchor and is not part of it.
        element_id = anchor.partition(":~:")[0]
        # A browser looks for the anchor as it is written, then for what it encodes.
        if element_id and anchors.isdisjoint((element_id, unquote(element_id))):
            why = f"no element has the id {unquote(element_id)!r}"
            broken.append(BrokenLink(_join_anchor(page, anchor), name, why))
    return broken


def _join_anchor(page: CitedPage, anchor: str) -> str:
    return f"{page.address}#{anchor}" if anchor else page.address
