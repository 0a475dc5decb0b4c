"""Sites that answer in the browser, asked from the terminal: fetched within bounds and opened."""

import json
import re
import string
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from ..indexing.browser_index.index_reader import (
    check_file_name,
    parse_index_manifest,
    read_published_index,
)
from ..indexing.local_model import open_local_embedder
from ..indexing.widget.site_files import WIDGET_CONFIG_PATH
from ..serve.embedders.local_embedder import LOCAL_IDENTITY
from ..serve.engine import Engine
from ..serve.errors import AnswerableError, BundleError, EmbedderError, SiteError
from ..serve.provider_registry import is_loopback_address
from ..serve.providers import make_engine
from ..serve.stores.bundle import Bundle
from ..serve.text.languages import match_languages
from ..serve.text.sanitization import sanitize_text

_TIMEOUT_SECONDS = 30.0
_PARALLEL_FETCHES = 16
# Of settings or a manifest, of another file, and of all files of an index.
MAX_JSON_BYTES = 1024 * 1024
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024
# A response may be cut off or garbled, and a redirect may lead to an invalid address.
FETCH_ERRORS = (OSError, HTTPException, ValueError)
_INDEX_FILE = re.compile(r"(index/[A-Za-z0-9-]+)/(?:manifest|core)-[0-9a-f]{12}\.bin")
_NO_INDEX = (
    "name the start page of a site that answers in the browser, with the version or language "
    "where the site has several; for a site whose function answers, add the address of its "
    "function to the agent instead"
)


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """An engine over a site's index, and the address that its pages lie below."""

    engine: Engine[Bundle]
    root: str


def open_published_site(url: str, language: str | None = None, name: str = "URL") -> PublishedSite:
    """Fetch the index of a static site and open an engine over it.

    language: of the index, where each language has its own. name: of the argument or option that
    holds the address. SiteError for a site without an index, BundleError for a damaged one,
    EmbedderError for one of another version's model.
    """
    root = _parse_site_url(url, name)
    try:
        return _open_site(root, language)
    except AnswerableError as error:
        # The site may have written a part of it.
        raise type(error)(format_line(str(error))) from None


def fetch(address: str, max_bytes: int) -> tuple[str, bytes]:
    """Fetch an address, redirects followed. Returns where they have led, and the body.

    HTTPError for a status of an error, ValueError for a body that is too big or a way that is not
    private, or another of ``FETCH_ERRORS``.
    """
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode("ascii")
    encoded = quote(parts._replace(netloc=host).geturl(), safe=string.punctuation)
    request = urllib.request.Request(encoded, headers={"User-Agent": "mkdocs-answerable"})
    opener = urllib.request.build_opener(_PrivateRedirects)
    with opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
        body: bytes = response.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise ValueError(f"it has more than {max_bytes} bytes")
        return response.url, body


class _PrivateRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects whose way nobody can change; ValueError for another one, before it is asked."""

    def redirect_request(self, *request: Any) -> urllib.request.Request | None:
        if not _is_private_way(request[-1]):
            raise ValueError(f"it leads to {request[-1]:.200}, which is not https")
        return super().redirect_request(*request)


def format_reason(error: Exception) -> str:
    """Format on one line why an address could not be fetched, which the server may have written."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return format_line(str(reason)) or type(error).__name__


def format_line(text: str) -> str:
    """Format a stranger's text on one line, without control characters."""
    return " ".join(sanitize_text(text).split())


def _parse_site_url(url: str, name: str) -> str:
    """Parse a site's address, to end in a slash; SiteError for another or one with a password."""
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
    if not _is_private_way(url):
        raise SiteError(
            f"{name}: {url:.200} is neither https nor on this machine, so that what it sends could "
            "be changed on its way; write https://"
        )
    bare = url.partition("#")[0].partition("?")[0]
    return bare if bare.endswith("/") else f"{bare}/"


def _is_private_way(address: str) -> bool:
    """True if nobody between can change what comes: https, or http on loopback."""
    return urlsplit(address).scheme == "https" or is_loopback_address(address)


def _open_site(root: str, language: str | None) -> PublishedSite:
    base, settings = _fetch_settings(root)
    entry = _choose_index(settings.get("index"), root, language)
    folder, _, manifest_name = entry["manifest"].rpartition("/")
    address = urljoin(base, f"{folder}/")
    data = _fetch_checked(address, manifest_name, MAX_JSON_BYTES)
    core_name = entry["core"].rpartition("/")[2]
    index = parse_index_manifest(data, address + manifest_name, core_name, entry["built_at"])
    identity = index.manifest.identity
    if identity != LOCAL_IDENTITY:
        raise EmbedderError(
            f"{root} was built with {identity.label:.200} and this program has "
            f"{LOCAL_IDENTITY.label}: install the version of mkdocs-answerable that the site was "
            "built with"
        )
    files, total = {}, 0
    names = [name for column in index.files.values() for name in column]
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        fetched = pool.map(lambda name: _fetch_checked(address, name, _MAX_FILE_BYTES), names)
        for name, body in zip(names, fetched, strict=True):
            files[name] = body
            total += len(body)
            if total > _MAX_INDEX_BYTES:
                pool.shutdown(cancel_futures=True)
                raise BundleError(
                    f"{address} has more than {_MAX_INDEX_BYTES} bytes: ask its function"
                )
    store = read_published_index(index, files.__getitem__)
    return PublishedSite(make_engine(store, open_local_embedder()), urljoin(base, "../../"))


def _fetch_settings(root: str) -> tuple[str, Mapping[str, Any]]:
    """Fetch the widget's settings. Returns their address, after redirects, and themselves."""
    address = root + WIDGET_CONFIG_PATH
    try:
        base, body = fetch(address, MAX_JSON_BYTES)
        settings = json.loads(body)
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


def _fetch_checked(folder: str, name: str, max_bytes: int) -> bytes:
    """Fetch a file of an index; BundleError if it is not the one that its name is of."""
    address = folder + name
    try:
        body = fetch(address, max_bytes)[1]
    except FETCH_ERRORS as error:
        raise BundleError(
            f"{address} cannot be fetched ({format_reason(error)}); try again later, or deploy the "
            "whole site again"
        ) from None
    check_file_name(name, body, address)
    return body
