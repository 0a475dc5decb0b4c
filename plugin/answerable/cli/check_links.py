"""``answerable check-links``: what answers may cite, looked up on the deployed site."""

import string
import time
import urllib.error
import urllib.request
import zlib
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPResponse
from pathlib import Path
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
from .context import find_bundle
from .render import to_plain_text

# Pages that are fetched at once, and the seconds that one may take.
_PARALLEL_FETCHES, _TIMEOUT_SECONDS = 8, 30.0
# Bytes that are read at once.
_CHUNK_BYTES = 1 << 16
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# A server's answer may be cut off or garbled, and it may redirect to what is no address.
_FETCH_ERRORS = (OSError, HTTPException, ValueError, zlib.error)
_HEADERS = {"User-Agent": "mkdocs-answerable check-links", "Accept": "text/html,*/*;q=0.5"}


def check_site_links(bundle: Path | None, config_file: Path, url: str) -> None:
    """Print every address that leads nowhere; exit status 1 if there is one.

    SiteError if the url is none, or if its server cannot be reached.
    """
    root = _parse_site_url(url)
    found = collect_cited_addresses(open_bundle(find_bundle(bundle, config_file)), root)
    _require_reachable(root)
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        broken = [each for some in pool.map(_find_broken, found.pages) for each in some]
    for each in broken:
        click.echo(to_plain_text(f"{each.address}: {each.why} (cited as {each.id})"))
    others = f"; {found.elsewhere} elsewhere are not looked up" if found.elsewhere else ""
    click.echo(
        f"{found.addresses} addresses on {len(found.pages)} pages, {len(broken)} broken{others}"
    )
    if broken:
        raise click.exceptions.Exit(1)


def _parse_site_url(url: str) -> str:
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
            f"URL: {url!r:.80} is no address of a site; name one such as https://docs.example.com/"
        )
    bare = url.partition("#")[0].partition("?")[0]
    return bare if bare.endswith("/") else f"{bare}/"


def _require_reachable(root: str) -> None:
    """SiteError unless some server answers there, whatever it says."""
    try:
        _fetch_page(root)
    except urllib.error.HTTPError:
        return
    except _FETCH_ERRORS as error:
        raise SiteError(
            f"URL: {root} cannot be reached ({_format_reason(error)}); correct it, or try "
            "again when "
            "its server runs"
        ) from None


def _find_broken(page: CitedPage) -> list[BrokenLink]:
    try:
        html = _fetch_page(page.address)
    except urllib.error.HTTPError as error:
        return report_missing_page(page, f"the server says {error.code}")
    except _FETCH_ERRORS as error:
        return report_missing_page(page, f"it cannot be reached ({_format_reason(error)})")
    return [] if html is None else find_missing_anchors(page, html)


def _fetch_page(address: str) -> str | None:
    """A page's text, redirects followed; None if what is there is no HTML."""
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
    """All that is sent; TimeoutError if it does not end, be it ever so lively."""
    ends = time.monotonic() + _TIMEOUT_SECONDS
    data = bytearray()
    while part := response.read1(_CHUNK_BYTES):
        data += part
        if time.monotonic() >= ends:
            raise TimeoutError("timed out")
    return bytes(data)


def _encode_address(address: str) -> str:
    """An address as it is sent; ValueError for a name that no host can have."""
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    return quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)


def _format_reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error) or type(error).__name__
