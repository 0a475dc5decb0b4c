"""``answerable check-links``: fetch pages that answers may cite; list missing pages and anchors."""

import string
import time
import urllib.error
import urllib.request
import zlib
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPResponse
from urllib.parse import quote, urlsplit

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
from .render import to_plain_text

# Pages that are fetched at once, and the seconds that one may take.
_PARALLEL_FETCHES = 8
_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 16
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# A response may be cut off or garbled, and a redirect may lead to an invalid address.
_FETCH_ERRORS = (OSError, HTTPException, ValueError, zlib.error)
_HEADERS = {"User-Agent": "mkdocs-answerable check-links", "Accept": "text/html,*/*;q=0.5"}


@click.command("check-links")
@click.argument("url")
@click.pass_obj
def command(location: SiteLocation, url: str) -> None:
    """Look up all that answers may cite on the site at URL; exit status 1 if some is gone."""
    root = _parse_site_url(url)
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


def _parse_site_url(url: str) -> str:
    """Parse a site's address, to end in a slash; SiteError for another or one with a password."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname
        is_secret = "@" in parts.netloc
    except ValueError:
        is_address = is_secret = False
    if is_secret:
        raise SiteError("URL: it holds a user name or a password; leave it out")
    if not is_address:
        raise SiteError(
            f"URL: {url!r:.80} is not the address of a site; name one such as "
            "https://docs.example.com/"
        )
    bare = url.partition("#")[0].partition("?")[0]
    return bare if bare.endswith("/") else f"{bare}/"


def _require_reachable(root: str) -> None:
    """Raise SiteError unless some server responds there, with whatever status."""
    try:
        _fetch_page(root)
    except urllib.error.HTTPError:
        return
    except _FETCH_ERRORS as error:
        raise SiteError(
            f"URL: {root} cannot be reached ({_format_reason(error)}); correct it, or try again "
            "when its server runs"
        ) from None


def _find_broken(page: CitedPage) -> list[BrokenLink]:
    """Fetch a page and list what is cited on it and gone."""
    try:
        html = _fetch_page(page.address)
    except urllib.error.HTTPError as error:
        return report_missing_page(page, f"the server says {error.code}")
    except _FETCH_ERRORS as error:
        return report_missing_page(page, f"it cannot be reached ({_format_reason(error)})")
    return [] if html is None else find_missing_anchors(page, html)


def _fetch_page(address: str) -> str | None:
    """Fetch a page's HTML, redirects followed; None for another content type."""
    request = urllib.request.Request(_encode_address(address), headers=_HEADERS)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        if response.headers.get_content_type() not in _HTML_TYPES:
            return None
        data = _read_response(response)
        # Storage that keeps files compressed sends them so to whoever asks.
        if response.headers.get("Content-Encoding", "").lower() == "gzip":
            data = zlib.decompress(data, zlib.MAX_WBITS | 16)
        return decode_html(data)


def _read_response(response: HTTPResponse) -> bytes:
    """Read a whole response; TimeoutError if it takes too long, though bytes keep coming."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    data = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        data += chunk
        if time.monotonic() >= deadline:
            raise TimeoutError("timed out")
    return bytes(data)


def _encode_address(address: str) -> str:
    """Encode an address as it is sent; ValueError for an invalid host name."""
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    return quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)


def _format_reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason) or type(error).__name__
