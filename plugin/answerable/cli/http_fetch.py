"""Fetch addresses over HTTP(S), redirects followed, within bounds of time and size."""

import ipaddress
import string
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO
from urllib.parse import quote, urlsplit

from ..serve.errors import SiteError

# Seconds that a response may take.
TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 16
# A response may be cut off or garbled, and a redirect may lead to an invalid address.
FETCH_ERRORS = (OSError, HTTPException, ValueError, zlib.error)


def parse_site_url(url: str, name: str = "URL") -> str:
    """Parse a site's address, to end in a slash; SiteError for another or one with a password.

    name: of the argument or option that holds it.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname
        is_secret = "@" in parts.netloc
    except ValueError:
        is_address = is_secret = False
    if is_secret:
        raise SiteError(f"{name}: it holds a user name or a password; leave it out")
    if not is_address:
        raise SiteError(
            f"{name}: {url!r:.80} is not the address of a site; name one such as "
            "https://docs.example.com/"
        )
    bare = url.partition("#")[0].partition("?")[0]
    return bare if bare.endswith("/") else f"{bare}/"


def is_private_way(address: str) -> bool:
    """Test whether nobody between can change what comes: https, or http on loopback."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return True
    host = parts.hostname or ""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    return parts.scheme == "http" and is_loopback


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to allowed addresses only; ValueError for another one."""

    def __init__(self, is_allowed: Callable[[str], bool]) -> None:
        self.is_allowed = is_allowed

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not self.is_allowed(newurl):
            raise ValueError(f"it leads to {newurl:.200}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def open_address(
    address: str, agent: str, accept: str, is_allowed: Callable[[str], bool] = lambda _: True
) -> Iterator[HTTPResponse]:
    """Open an address; HTTPError for a status of an error, one of ``FETCH_ERRORS`` otherwise.

    agent: the command that asks. is_allowed: where a redirect may lead.
    """
    headers = {"User-Agent": f"mkdocs-answerable {agent}", "Accept": accept}
    request = urllib.request.Request(encode_address(address), headers=headers)
    opener = urllib.request.build_opener(_CheckedRedirects(is_allowed))
    with opener.open(request, timeout=TIMEOUT_SECONDS) as response:
        yield response


def read_response(response: HTTPResponse, max_bytes: int | None = None) -> bytes:
    """Read a whole response; TimeoutError if it takes too long, though bytes keep coming.

    ValueError for one of more than ``max_bytes``.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    data = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        data += chunk
        if time.monotonic() >= deadline:
            raise TimeoutError("timed out")
        if max_bytes is not None and len(data) > max_bytes:
            raise ValueError(f"it has more than {max_bytes} bytes")
    # Storage that keeps files compressed sends them so to whoever asks.
    if response.headers.get("Content-Encoding", "").lower() == "gzip":
        return _decompress(bytes(data), max_bytes)
    return bytes(data)


def _decompress(data: bytes, max_bytes: int | None) -> bytes:
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = inflater.decompress(data, max_bytes or 0)
    if not inflater.eof:
        raise ValueError("it is cut off, or too long once it is decompressed")
    return text


def encode_address(address: str) -> str:
    """Encode an address as it is sent; ValueError for an invalid host name."""
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    return quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)


def format_reason(error: Exception) -> str:
    """Format why an address could not be fetched."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason) or type(error).__name__
