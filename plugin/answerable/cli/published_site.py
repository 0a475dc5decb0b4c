"""Sites that answer in the browser, asked from the terminal: fetched within bounds and opened."""

import json
import re
import urllib.request
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit

from ..engine.bundle import Bundle, load_index
from ..engine.embedders.local_embedder import LOCAL_IDENTITY
from ..engine.engine import Engine
from ..engine.errors import AnswerableError, BundleError, EmbedderError, SiteError
from ..engine.index.columns import PRIVATE_KINDS
from ..engine.index.format import unpack_container
from ..engine.index.manifest import name_file, parse_manifest
from ..engine.providers import make_engine
from ..engine.text.tokenization import sanitize_text
from ..engine.text.urls import is_loopback_address
from ..indexing.local_model import open_local_embedder
from ..indexing.widget.site_files import WIDGET_CONFIG_PATH

_TIMEOUT_SECONDS = 30.0
_PARALLEL_FETCHES = 16
# Of settings or a manifest, and of all files of an index together.
MAX_JSON_BYTES = 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024
# A response may be cut off or garbled, and an address may be invalid.
FETCH_ERRORS = (OSError, HTTPException, ValueError)
_MANIFEST = re.compile(r"index/[A-Za-z0-9-]+/manifest-[0-9a-f]{16}\.bin")
_NO_INDEX = (
    "name the start page of a site that answers in the browser, with the version where the site "
    "has several; if a function answers this site, ask on its pages, or run this without an "
    "address in the folder of its mkdocs.yml"
)


def open_published_site(url: str) -> tuple[Engine[Bundle], str]:
    """Fetch the index of a static site. Returns an engine over it, and where its pages begin.

    SiteError for a site without an index, BundleError for a damaged one, EmbedderError for one of
    another version's model.
    """
    if not _is_secure(url):
        raise SiteError(
            f"{url!r:.80} is not the address of a site; name one such as https://docs.example.com/"
        )
    bare = url.partition("#")[0].partition("?")[0].rstrip("/")
    try:
        return _open_site(f"{bare}/")
    except AnswerableError as error:
        # The site may have written a part of it.
        raise type(error)(format_line(str(error))) from None


def fetch(address: str, max_bytes: int) -> tuple[str, bytes]:
    """Fetch an address and follow redirects. Returns the last address, and the body.

    HTTPError for the status of an error, ValueError for a body that is too big or a redirect that
    is not secure, or another of ``FETCH_ERRORS``.
    """
    request = urllib.request.Request(address, headers={"User-Agent": "mkdocs-answerable"})
    opener = urllib.request.build_opener(_SecureRedirects)
    with opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
        body: bytes = response.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise ValueError(f"it has more than {max_bytes} bytes")
        return response.url, body


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects to https and loopback alone; ValueError for another, before it is followed."""

    def redirect_request(self, *request: Any) -> urllib.request.Request | None:
        if not _is_secure(request[-1]):
            raise ValueError(f"it leads to {request[-1]:.200}, which is not https")
        return super().redirect_request(*request)


def _is_secure(address: str) -> bool:
    """True if nobody in between can change a response: https, or http on loopback."""
    scheme = urlsplit(address).scheme
    return scheme == "https" or (scheme == "http" and is_loopback_address(address))


def format_reason(error: Exception) -> str:
    """Format why an address could not be fetched; a server may have written the reason."""
    return format_line(str(getattr(error, "reason", error))) or type(error).__name__


def format_line(text: str) -> str:
    """Format a stranger's text on one line, without control characters."""
    return " ".join(sanitize_text(text).split())


def _open_site(root: str) -> tuple[Engine[Bundle], str]:
    base, settings = _fetch_settings(root)
    entry = settings.get("index")
    if not (isinstance(entry, dict) and _MANIFEST.fullmatch(str(entry.get("manifest")))):
        raise SiteError(f"{root} publishes no index; {_NO_INDEX}")
    folder, _, name = entry["manifest"].rpartition("/")
    address = urljoin(base, f"{folder}/")
    packed, core = _split_first_stream(_fetch_checked(address, name, _MAX_INDEX_BYTES))
    values = unpack_container(packed, address + name, MAX_JSON_BYTES).values
    manifest = parse_manifest(values, address + name, verify=False)
    identity = manifest.identity
    if identity != LOCAL_IDENTITY:
        raise EmbedderError(
            f"{root} was built with {identity.label:.200} and this program has "
            f"{LOCAL_IDENTITY.label}: install the version of mkdocs-answerable that the site was "
            "built with"
        )
    published = [pack for pack in manifest.packs if pack.kind not in PRIVATE_KINDS]
    contents = sum(part.bytes + part.content for pack in published for part in pack.parts)
    if contents > _MAX_INDEX_BYTES:
        raise BundleError(f"{address} has more than {_MAX_INDEX_BYTES} bytes: ask its function")
    sizes = {pack.name: pack.bytes for pack in published if pack.kind != "core"}
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        fetched = pool.map(lambda name: _fetch_checked(address, name, sizes[name]), sizes)
        files = dict(zip(sizes, fetched, strict=True))
    index = load_index(manifest, lambda pack: files.get(pack.name, core), is_public=True)
    store = Bundle(manifest, index)
    # A damaged index fails here, and not at a later question.
    for _ in store.passages():
        pass
    return make_engine(store, open_local_embedder()), urljoin(base, "../../")


def _split_first_stream(data: bytes) -> tuple[bytes, bytes]:
    """Split off the first compressed stream, which marks its own end, from what follows it."""
    inflater = zlib.decompressobj()
    # A damaged one is refused where it is unpacked.
    with suppress(zlib.error):
        inflater.decompress(data, MAX_JSON_BYTES)
    end = len(data) - len(inflater.unused_data)
    return data[:end], data[end:]


def _fetch_settings(root: str) -> tuple[str, Mapping[str, Any]]:
    """Fetch the widget's settings. Returns their address, after redirects, and themselves."""
    address = root + WIDGET_CONFIG_PATH
    try:
        base, body = fetch(address, MAX_JSON_BYTES)
        settings = json.loads(body)
    except (*FETCH_ERRORS, RecursionError) as error:
        # Without any response, the site may be right and the network is not.
        is_unreachable = isinstance(error, URLError) and not isinstance(error, HTTPError)
        remedy = "check the address and your connection" if is_unreachable else _NO_INDEX
        raise SiteError(f"{address} cannot be read ({format_reason(error)}); {remedy}") from None
    return base, settings if isinstance(settings, dict) else {}


def _fetch_checked(folder: str, name: str, max_bytes: int) -> bytes:
    """Fetch a file of an index; BundleError if its content does not belong to its name."""
    address = folder + name
    try:
        body = fetch(address, max_bytes)[1]
    except FETCH_ERRORS as error:
        raise BundleError(
            f"{address} cannot be fetched ({format_reason(error)}); try again later, or deploy the "
            "whole site again"
        ) from None
    if name_file(name.rpartition("-")[0], body) != name:
        raise BundleError(f"{address} is not the file that was built: deploy the whole site again")
    return body
