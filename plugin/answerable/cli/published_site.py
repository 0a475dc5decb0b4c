"""Sites that answer in the browser, asked from the terminal: fetched within bounds and opened."""

import json
import re
import ssl
import string
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Lock, Thread
from typing import IO, Any, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from ..indexing.browser_index.index_reader import (
    IndexManifest,
    check_file_name,
    parse_index_manifest,
    read_published_index,
)
from ..indexing.local_model import open_local_embedder
from ..indexing.widget.site_files import WIDGET_CONFIG_PATH
from ..serve.bundle_format.container import bound_inflated_size
from ..serve.embedders.local_embedder import LOCAL_IDENTITY
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, BundleError, EmbedderError, SiteError
from ..serve.providers import make_engine
from ..serve.stores.bundle import Bundle
from ..serve.text.languages import match_languages
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
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        text = inflater.decompress(bytes(data), min(max_bytes, bound_inflated_size(len(data))))
        if not inflater.eof:
            raise ValueError("it is cut off, or too long once it is decompressed")
        return text
    return bytes(data)


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


# For the whole opening, of a site of thousands of files too.
_OPENING_SECONDS = 120.0
_PARALLEL_FETCHES = 16
# Of settings or a manifest, of another file, and of all files of an index.
_MAX_JSON_BYTES = 1024 * 1024
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024

_INDEX_FILE = re.compile(r"(index/[A-Za-z0-9-]+)/(?:manifest|core)-[0-9a-f]{12}\.bin")
_ENGINE_FILE = re.compile(r"engine/[0-9a-f]{16}/[\w/-]+\.js")
_NO_INDEX = (
    "name the start page of a site that answers in the browser, with the version or language "
    "where the site has several; for a site whose function answers, add the address of its "
    "function to the agent instead"
)


class _IndexReplacedError(Exception):
    """Report that a file is gone, as after a new deployment of the site."""


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """Hold the engine over a site's index, and the address that its pages lie below."""

    engine: Engine[Bundle]
    root: str


def open_published_site(
    url: str,
    language: str | None = None,
    name: str = "URL",
    *,
    seconds: float = _OPENING_SECONDS,
    is_public: IsPublic = is_public_address,
) -> PublishedSite:
    """Fetch the index of a static site and open an engine over it.

    language: of the index, where each language has its own. name: of the argument or option that
    holds the address. seconds: that the opening may take. is_public: which addresses are not this
    machine's or its network's; a site at one of them leads to no other. SiteError for a site
    without an index, BundleError for a damaged one, EmbedderError for one of another version's
    model.
    """
    root = parse_site_url(url, name)
    if not is_private_way(root):
        raise SiteError(
            f"{name}: {root} is neither https nor on this machine, so that what it sends could be "
            "changed on its way; write https://"
        )
    client = WebClient("mcp", is_private_way, is_public)
    opening = start_thread(partial(_open_newest, client, root, language))
    try:
        return opening.result(seconds)
    except TimeoutError:
        raise SiteError(
            f"{root} did not send its index within {seconds:g} seconds; try again later"
        ) from None
    except AnswerableError as error:
        # The site may have written a part of it.
        raise type(error)(format_line(str(error))) from None


def _open_newest(client: WebClient, root: str, language: str | None) -> PublishedSite:
    try:
        return _open_site(client, root, language)
    except _IndexReplacedError:
        pass
    # A new deployment may have replaced the index since its name was read.
    try:
        return _open_site(client, root, language)
    except _IndexReplacedError as error:
        raise BundleError(f"{error} is missing: deploy the whole site again") from None


def _open_site(client: WebClient, root: str, language: str | None) -> PublishedSite:
    base, settings = _fetch_settings(client, root)
    # Readers would run another site's code as its own.
    paths = settings.get("engine")
    names = paths if isinstance(paths, list) else [] if paths is None else [paths]
    for path in names:
        if not isinstance(path, str) or not _ENGINE_FILE.fullmatch(path):
            raise SiteError(
                f"{root} names the engine {path!r:.80}, which is no path of the site: its owner "
                "has to build and deploy it again"
            )
    entry = _choose_index(settings.get("index"), root, language)
    folder, _, manifest_name = entry["manifest"].rpartition("/")
    address = urljoin(base, f"{folder}/")
    data = _fetch_checked(client, address, manifest_name, _MAX_JSON_BYTES)
    core_name = entry["core"].rpartition("/")[2]
    index = parse_index_manifest(data, address + manifest_name, core_name, entry["built_at"])
    identity = index.manifest.identity
    if identity != LOCAL_IDENTITY:
        raise EmbedderError(
            f"{root} was built with {identity.label:.200} and this program has "
            f"{LOCAL_IDENTITY.label}: install the version of mkdocs-answerable that the site was "
            "built with"
        )
    store = read_published_index(index, _fetch_files(client, address, index).__getitem__)
    engine = make_engine(store, open_local_embedder())
    return PublishedSite(engine, urljoin(base, "../../"))


def _fetch_settings(client: WebClient, root: str) -> tuple[str, Mapping[str, Any]]:
    """Fetch the widget's settings. Returns their address, after redirects, and themselves."""
    address = root + WIDGET_CONFIG_PATH
    try:
        with client.open(address, "application/json") as response:
            base = response.url
            settings = json.loads(read_response(response, _MAX_JSON_BYTES))
    except urllib.error.HTTPError as error:
        raise SiteError(f"{address}: the server says {error.code}; {_NO_INDEX}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise SiteError(f"{address} is not JSON; {_NO_INDEX}") from None
    except FETCH_ERRORS as error:
        raise SiteError(
            f"{address} cannot be reached ({format_reason(error)}); correct the address, or try "
            "again later"
        ) from None
    return base, settings if isinstance(settings, dict) else {}


def _choose_index(indexes: object, root: str, language: str | None) -> Mapping[str, str]:
    """Choose the entry of the index, the only one or that of a language; SiteError."""
    entries = indexes if isinstance(indexes, dict) else {}
    tags = sorted(map(str, entries))
    matches = tags if len(tags) == 1 else match_languages(language, tags)
    if tags and not matches:
        raise SiteError(
            f"{root} has an index for each language: choose one by --language: {', '.join(tags)}"
        )
    entry = entries[min(matches)] if matches else None
    names = ("manifest", "core", "built_at")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(n), str) for n in names):
        raise SiteError(f"{root} publishes no index; {_NO_INDEX}")
    manifest, core = (_INDEX_FILE.fullmatch(entry[name]) for name in ("manifest", "core"))
    if not manifest or not core or manifest[1] != core[1]:
        raise SiteError(f"{root} publishes no index; {_NO_INDEX}")
    return entry


def _fetch_files(client: WebClient, address: str, index: IndexManifest) -> dict[str, bytes]:
    """Fetch all files of an index by name; BundleError for too many bytes of them."""
    files: dict[str, bytes] = {}
    # The threads take names from one iterator.
    names = iter([name for names in index.files.values() for name in names])
    lock, total = Lock(), 0

    def fetch() -> None:
        nonlocal total
        for name in names:
            files[name] = _fetch_checked(client, address, name, _MAX_FILE_BYTES)
            with lock:
                total += len(files[name])
            if total > _MAX_INDEX_BYTES:
                raise BundleError(
                    f"{address} has more than {_MAX_INDEX_BYTES} bytes: ask its function"
                )

    for thread in [start_thread(fetch) for _ in range(_PARALLEL_FETCHES)]:
        thread.result()
    return files


def _fetch_checked(client: WebClient, folder: str, name: str, max_bytes: int) -> bytes:
    """Fetch a file of an index; BundleError if it is not the one that its name is of."""
    data = _fetch_file(client, folder + name, max_bytes)
    check_file_name(name, data, folder + name)
    return data


def _fetch_file(client: WebClient, address: str, max_bytes: int) -> bytes:
    try:
        with client.open(address) as response:
            return read_response(response, max_bytes)
    except urllib.error.HTTPError as error:
        # Storage that may not be listed answers 403 for a file that is not there.
        if error.code in (403, 404, 410):
            raise _IndexReplacedError(address) from None
        raise BundleError(f"{address}: the server says {error.code}; try again later") from None
    except FETCH_ERRORS as error:
        raise BundleError(
            f"{address} cannot be fetched ({format_reason(error)}); try again later"
        ) from None
