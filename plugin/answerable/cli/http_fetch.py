"""Fetch addresses over HTTP(S), redirects followed, within bounds of time, size and place."""

import ssl
import string
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPResponse,
    HTTPSConnection,
)
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Thread
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlsplit

from ..serve.bundle_format.compression import bound_inflated_size
from ..serve.errors import SiteError
from ..serve.text.sanitization import sanitize_text

IsPublic = Callable[[IPv4Address | IPv6Address], bool]
_Result = TypeVar("_Result")

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
        is_loopback = ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    return parts.scheme == "http" and is_loopback


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Test whether an address is everybody's: neither loopback nor of a private network."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_global


class WebClient:
    """Open addresses for a command, redirects followed.

    agent: the command that asks. is_allowed: where a redirect may lead. is_public: which addresses
    are everybody's. The first connection says where a command's user has sent it. If that is a
    public address, then no later one may be another: neither a redirect nor a name that changes
    its address reaches what only this machine can reach.
    """

    def __init__(
        self,
        agent: str,
        is_allowed: Callable[[str], bool] = lambda _: True,
        is_public: IsPublic = is_public_address,
    ) -> None:
        self._agent = f"mkdocs-answerable {agent}"
        self._is_public = is_public
        self._starts_public: bool | None = None
        self._opener = urllib.request.build_opener(
            _CheckedRedirects(is_allowed), _CheckedConnections(self._check_peer)
        )

    @contextmanager
    def open(self, address: str, accept: str = "*/*") -> Iterator[HTTPResponse]:
        """Open an address; HTTPError for a status of an error, or one of ``FETCH_ERRORS``."""
        headers = {"User-Agent": self._agent, "Accept": accept}
        request = urllib.request.Request(encode_address(address), headers=headers)
        try:
            response = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            raise
        with response:
            yield response

    def _check_peer(self, address: str) -> None:
        is_public = self._is_public(ip_address(address))
        if self._starts_public is None:
            self._starts_public = is_public
        elif self._starts_public and not is_public:
            raise ValueError(f"it leads to {address}, which is not a public address")


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
            fp.close()
            raise ValueError(f"it leads to {newurl:.200}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Connection(HTTPConnection):
    """Check the other end of a connection before anything is sent there."""

    check_peer: Callable[[str], None]

    def connect(self) -> None:
        super().connect()
        self.check_peer(self.sock.getpeername()[0])


class _SecureConnection(HTTPSConnection, _Connection):
    """Check the other end before TLS: HTTPSConnection connects by the class that follows it."""


class _CheckedConnections(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Open connections whose other end is checked."""

    def __init__(self, check_peer: Callable[[str], None]) -> None:
        super().__init__()
        self._check_peer = check_peer
        # One for all connections, since it reads the certificates of the system.
        self._tls = ssl.create_default_context()

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(partial(self._make_connection, _Connection), req)

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        make_connection = partial(self._make_connection, _SecureConnection)
        return self.do_open(make_connection, req, context=self._tls)

    def _make_connection(
        self, kind: type[_Connection], host: str, **options: Any
    ) -> HTTPConnection:
        connection = kind(host, **options)
        connection.check_peer = self._check_peer
        return connection


def start_thread(function: Callable[[], _Result]) -> Future[_Result]:
    """Run a function in a thread that keeps no process from its end, unlike an executor's."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def read_response(response: HTTPResponse, max_bytes: int) -> bytes:
    """Read a whole response; TimeoutError if it takes too long, though bytes keep coming.

    ValueError for one of more than ``max_bytes``.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    data = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        data += chunk
        if time.monotonic() >= deadline:
            raise TimeoutError("timed out")
        if len(data) > max_bytes:
            raise ValueError(f"it has more than {max_bytes} bytes")
    # Storage that keeps files compressed sends them so to whoever asks.
    if response.headers.get("Content-Encoding", "").lower() == "gzip":
        return _decompress(bytes(data), min(max_bytes, bound_inflated_size(len(data))))
    return bytes(data)


def _decompress(data: bytes, max_bytes: int) -> bytes:
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = inflater.decompress(data, max_bytes)
    if not inflater.eof:
        raise ValueError("it is cut off, or too long once it is decompressed")
    return text


def encode_address(address: str) -> str:
    """Encode an address as it is sent; ValueError for an invalid host name."""
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    return quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)


def format_reason(error: Exception) -> str:
    """Format on one line why an address could not be fetched, which the server may have written."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return format_line(str(reason)) or type(error).__name__


def format_line(text: str) -> str:
    """Format a stranger's text on one line, without control characters."""
    return " ".join(sanitize_text(text).split())
