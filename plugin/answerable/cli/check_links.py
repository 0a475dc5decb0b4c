"""``answerable check-links``: fetch pages that answers may cite; list missing pages and anchors."""

import urllib.error
from concurrent.futures import ThreadPoolExecutor

import click

from ..evaluate.link_check import (
    BrokenLink,
    CitedPage,
    collect_cited_addresses,
    find_missing_anchors,
    report_missing_page,
)
from ..indexing.html_site.articles import decode_html
from ..serve.errors import SiteError
from ..serve.stores.bundle_reader import open_bundle
from .context import SiteLocation, find_bundle
from .http_fetch import FETCH_ERRORS, WebClient, format_reason, parse_site_url, read_response
from .render import to_plain_text

# Pages that are fetched at once.
_PARALLEL_FETCHES = 8
_MAX_PAGE_BYTES = 64 * 1024 * 1024
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))


@click.command("check-links")
@click.argument("url")
@click.pass_obj
def command(location: SiteLocation, url: str) -> None:
    """Look up all that answers may cite on the site at URL; exit status 1 if some is gone."""
    root = parse_site_url(url)
    cited = collect_cited_addresses(open_bundle(find_bundle(*location)), root)
    _require_reachable(root)
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        broken = [link for links in pool.map(_find_broken, cited.pages) for link in links]
    for link in broken:
        click.echo(to_plain_text(f"{link.address}: {link.why} (cited as {link.id})"))
    others = f"; {cited.elsewhere} elsewhere are not looked up" if cited.elsewhere else ""
    click.echo(
        f"{cited.addresses} addresses on {len(cited.pages)} pages, {len(broken)} broken{others}"
    )
    if broken:
        raise click.exceptions.Exit(1)


def _require_reachable(root: str) -> None:
    """Raise SiteError unless some server responds there, with whatever status."""
    try:
        _fetch_page(root)
    except urllib.error.HTTPError:
        return
    except FETCH_ERRORS as error:
        raise SiteError(
            f"URL: {root} cannot be reached ({format_reason(error)}); correct it, or try again "
            "when its server runs"
        ) from None


def _find_broken(page: CitedPage) -> list[BrokenLink]:
    """Fetch a page and list what is cited on it and gone."""
    try:
        html = _fetch_page(page.address)
    except urllib.error.HTTPError as error:
        return report_missing_page(page, f"the server says {error.code}")
    except FETCH_ERRORS as error:
        return report_missing_page(page, f"it cannot be reached ({format_reason(error)})")
    return [] if html is None else find_missing_anchors(page, html)


def _fetch_page(address: str) -> str | None:
    """Fetch a page's HTML, redirects followed; None for another content type."""
    with WebClient("check-links").open(address, "text/html,*/*;q=0.5") as response:
        if response.headers.get_content_type() not in _HTML_TYPES:
            return None
        return decode_html(read_response(response, _MAX_PAGE_BYTES))
