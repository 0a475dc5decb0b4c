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

from ..build import articles
from ..evaluate import links
from ..evaluate.links import Broken, Page
from ..serve.errors import SiteError
from ..serve.opening import open_bundle
from . import opening, showing

# Pages that are fetched at once, and the seconds that one may take.
_AT_ONCE, _SECONDS = 8, 30.0
# Bytes that are read at once.
_PART = 1 << 16
_PAGES = frozenset(("text/html", "application/xhtml+xml"))
# A server's answer may be cut off or garbled, and it may redirect to what is no address.
_FAULTS = (OSError, HTTPException, ValueError, zlib.error)
_HEADERS = {"User-Agent": "mkdocs-answerable check-links", "Accept": "text/html,*/*;q=0.5"}


def check(bundle: Path | None, config_file: Path, url: str) -> None:
    """Print every address that leads nowhere; exit status 1 if there is one.

    SiteError if the url is none, or if its server cannot be reached.
    """
    root = _root(url)
    found = links.citable(open_bundle(opening.bundle_folder(bundle, config_file)), root)
    _reach(root)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        broken = [each for some in pool.map(_broken, found.pages) for each in some]
    for each in broken:
        click.echo(showing.plain(f"{each.address}: {each.why} (cited as {each.id})"))
    others = f"; {found.elsewhere} elsewhere are not looked up" if found.elsewhere else ""
    click.echo(
        f"{found.addresses} addresses on {len(found.pages)} pages, {len(broken)} broken{others}"
    )
    if broken:
        raise click.exceptions.Exit(1)


def _root(url: str) -> str:
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


def _reach(root: str) -> None:
    """SiteError unless some server answers there, whatever it says."""
    try:
        _fetch(root)
    except urllib.error.HTTPError:
        return
    except _FAULTS as error:
        raise SiteError(
            f"URL: {root} cannot be reached ({_reason(error)}); correct it, or try again when "
            "its server runs"
        ) from None


def _broken(page: Page) -> list[Broken]:
    try:
        html = _fetch(page.address)
    except urllib.error.HTTPError as error:
        return links.gone(page, f"the server says {error.code}")
    except _FAULTS as error:
        return links.gone(page, f"it cannot be reached ({_reason(error)})")
    return [] if html is None else links.missing(page, html)


def _fetch(address: str) -> str | None:
    """A page's text, redirects followed; None if what is there is no HTML."""
    request = urllib.request.Request(_encoded(address), headers=_HEADERS)
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:
        if response.headers.get_content_type() not in _PAGES:
            return None
        data = _read(response)
        # Storage that keeps files compressed sends them so to whoever asks.
        if response.headers.get("Content-Encoding", "").lower() == "gzip":
            data = zlib.decompress(data, zlib.MAX_WBITS | 16)
        return articles.text(data)


def _read(response: HTTPResponse) -> bytes:
    """All that is sent; TimeoutError if it does not end, be it ever so lively."""
    ends = time.monotonic() + _SECONDS
    data = bytearray()
    while part := response.read1(_PART):
        data += part
        if time.monotonic() >= ends:
            raise TimeoutError("timed out")
    return bytes(data)


def _encoded(address: str) -> str:
    """An address as it is sent; ValueError for a name that no host can have."""
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    return quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error) or type(error).__name__
