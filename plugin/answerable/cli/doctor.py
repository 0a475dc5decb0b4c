"""``answerable doctor``: say what keeps a site's published ask box from answering."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.error import HTTPError

import click

from ..evaluate.link_check import (
    BrokenLink,
    CitedPage,
    collect_cited_addresses,
    find_missing_anchors,
    report_missing_page,
)
from ..indexing.html_site.articles import decode_html
from ..mkdocs.site_checks import OnlineChecks, SiteCheck, check_site
from ..serve.stores.bundle_reader import open_bundle
from .context import SiteLocation
from .http_fetch import (
    FETCH_ERRORS,
    WebClient,
    format_line,
    format_reason,
    parse_site_url,
    read_response,
)

_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}
_MAX_HEALTH_BYTES = 64 * 1024
_MAX_PAGE_BYTES = 64 * 1024 * 1024
# Pages that are fetched at once.
_PARALLEL_FETCHES = 8
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_REMEDY = "deploy the function, or correct widget.endpoint"


@click.command("doctor")
@click.option(
    "--online", is_flag=True, help="Ask the function too, and look up all that answers cite."
)
@click.pass_obj
def command(location: SiteLocation, online: bool) -> None:
    """Check the configuration and what publishes the site; exit status 1 if something is wrong."""
    # Said before the file is read: afterwards its code has run.
    click.echo(
        f"{_MARKS['advice']} MkDocs runs the code that {location[1]} names (tags of YAML such as "
        "!!python/object/apply, hooks and plugins); read a stranger's file before you go on"
    )
    has_problem = False
    checks = OnlineChecks(_check_function, _check_links) if online else None
    for check in check_site(location[1], checks):
        # An address may be that of a page whose author is another one.
        click.echo(f"{_MARKS[check.level]} {format_line(check.text)}")
        has_problem |= check.level == "problem"
    raise SystemExit(1 if has_problem else 0)


def _check_function(endpoint: str, bundle: str | None) -> SiteCheck:
    """Check that a function answers at an address, from the bundle of the last build."""
    address = f"{endpoint.rstrip('/')}/health"
    try:
        with WebClient("doctor").open(address, "application/json") as response:
            health = json.loads(read_response(response, _MAX_HEALTH_BYTES))
        published = health["bundle"]
    except HTTPError as error:
        return SiteCheck("problem", f"{address} answers with {error.code}; {_REMEDY}")
    except (*FETCH_ERRORS, LookupError, TypeError) as error:
        reason = format_reason(error)
        return SiteCheck("problem", f"{address} is no answer function ({reason}); {_REMEDY}")
    if bundle is not None and published != bundle:
        return SiteCheck(
            "advice",
            f"the function at {endpoint} answers from another index than the last build's; "
            "deploy it again",
        )
    return SiteCheck("good", f"the function at {endpoint} answers from the last index")


def _check_links(site_url: str, bundle: Path) -> Iterator[SiteCheck]:
    """Look up all that answers from a bundle may cite on the published site."""
    root = parse_site_url(site_url, "site_url")
    cited = collect_cited_addresses(open_bundle(bundle), root)
    client = WebClient("doctor")
    try:
        _fetch_page(client, root)
    except HTTPError:
        # Some server is there.
        pass
    except FETCH_ERRORS as error:
        yield SiteCheck(
            "problem",
            f"site_url: {root} cannot be reached ({format_reason(error)}); correct it, or publish "
            "the site",
        )
        return
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        pages = pool.map(partial(_find_broken, client), cited.pages)
        broken = [link for links in pages for link in links]
    for link in broken:
        text = f"{link.address}: {link.why}, and answers cite it as {link.id}; publish the site"
        yield SiteCheck("problem", text)
    others = f"; {cited.elsewhere} elsewhere are not looked up" if cited.elsewhere else ""
    yield SiteCheck(
        "problem" if broken else "good",
        f"{cited.addresses} addresses on {len(cited.pages)} pages, {len(broken)} broken{others}",
    )


def _find_broken(client: WebClient, page: CitedPage) -> list[BrokenLink]:
    """Fetch a page and list what is cited on it and gone."""
    try:
        html = _fetch_page(client, page.address)
    except HTTPError as error:
        return report_missing_page(page, f"the server says {error.code}")
    except FETCH_ERRORS as error:
        return report_missing_page(page, f"it cannot be reached ({format_reason(error)})")
    return [] if html is None else find_missing_anchors(page, html)


def _fetch_page(client: WebClient, address: str) -> str | None:
    """Fetch a page's HTML, redirects followed; None for another content type."""
    with client.open(address, "text/html,*/*;q=0.5") as response:
        if response.headers.get_content_type() not in _HTML_TYPES:
            return None
        return decode_html(read_response(response, _MAX_PAGE_BYTES))
