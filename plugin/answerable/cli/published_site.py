"""Open an engine over the index that a static site publishes for its readers' browsers."""

import json
import re
import threading
import urllib.error
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from ..indexing.browser_index.index_files import MANIFEST_FILE
from ..indexing.browser_index.index_reader import (
    IndexManifest,
    parse_index_manifest,
    read_published_index,
    verify_folder_name,
)
from ..indexing.browser_index.published_store import PublishedStore
from ..indexing.local_model import open_local_embedder
from ..indexing.widget.widget_config import WIDGET_CONFIG_PATH
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.embedders.local_embedder import LOCAL_IDENTITY
from ..serve.engine import Engine
from ..serve.errors import BundleError, EmbedderError, SiteError
from ..serve.providers import make_engine
from ..serve.text.languages import match_languages
from .http_fetch import (
    FETCH_ERRORS,
    format_reason,
    is_private_way,
    open_address,
    parse_site_url,
    read_response,
)

_PARALLEL_FETCHES = 16
# Of one file, and of all files of an index.
_MAX_FILE_BYTES = 64 * 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024

_INDEX_FOLDER = re.compile(r"index/[0-9a-f]{16}")
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

    engine: Engine[PublishedStore]
    root: str


def open_published_site(url: str, language: str | None = None, name: str = "URL") -> PublishedSite:
    """Fetch the index of a static site and open an engine over it.

    language: of the index, where each language has its own. name: of the argument or option that
    holds the address. SiteError for a site without an index, BundleError for a damaged one,
    EmbedderError for one of another version's model.
    """
    root = parse_site_url(url, name)
    if not is_private_way(root):
        raise SiteError(
            f"{name}: {root} is neither https nor on this machine, so that what it sends could be "
            "changed on its way; write https://"
        )
    try:
        return _open_site(root, language)
    except _IndexReplacedError:
        pass
    # A new deployment may have replaced the index since its name was read.
    try:
        return _open_site(root, language)
    except _IndexReplacedError as error:
        raise BundleError(f"{error} is missing: deploy the whole site again") from None


def _open_site(root: str, language: str | None) -> PublishedSite:
    base, settings = _fetch_settings(root)
    folder = _choose_folder(settings.get("index"), root, language)
    address = urljoin(base, f"{folder}/")
    manifest_data = _fetch_file(address + MANIFEST_FILE)
    index = parse_index_manifest(manifest_data, address + MANIFEST_FILE)
    _check_model(index.manifest.identity, root)
    files = _fetch_files(address, index)
    verify_folder_name(folder, {**files, MANIFEST_FILE: manifest_data}, address)
    store = read_published_index(index, files.__getitem__)
    engine = make_engine(store, open_local_embedder())
    return PublishedSite(engine, urljoin(base, "../../"))


def _fetch_settings(root: str) -> tuple[str, Mapping[str, Any]]:
    """Fetch the widget's settings. Returns their address, after redirects, and themselves."""
    address = root + WIDGET_CONFIG_PATH
    try:
        with open_address(address, "mcp", "application/json", is_private_way) as response:
            base = response.url
            settings = json.loads(read_response(response, _MAX_FILE_BYTES))
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


def _choose_folder(folders: object, root: str, language: str | None) -> str:
    """Choose the index's folder, the only one or that of a language; SiteError."""
    if isinstance(folders, dict):
        tags = sorted(map(str, folders))
        matches = match_languages(language, tags)
        if not matches:
            raise SiteError(
                f"{root} has an index for each language: choose one by --language: "
                f"{', '.join(tags)}"
            )
        folders = folders[min(matches)]
    if not isinstance(folders, str) or not _INDEX_FOLDER.fullmatch(folders):
        raise SiteError(f"{root} publishes no index; {_NO_INDEX}")
    return folders


def _check_model(identity: EmbedderIdentity, root: str) -> None:
    if identity != LOCAL_IDENTITY:
        raise EmbedderError(
            f"{root} was built with {identity.label:.200} and this program has "
            f"{LOCAL_IDENTITY.label}: install the version of mkdocs-answerable that the site was "
            "built with"
        )


def _fetch_files(address: str, index: IndexManifest) -> dict[str, bytes]:
    """Fetch all files of an index by name; BundleError for too many bytes of them."""
    names = [name for names in index.files.values() for name in names]
    lock, total = threading.Lock(), 0

    def fetch(name: str) -> bytes:
        nonlocal total
        if total > _MAX_INDEX_BYTES:
            return b""
        data = _fetch_file(address + name)
        with lock:
            total += len(data)
        return data

    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        files = dict(zip(names, pool.map(fetch, names), strict=True))
    if total > _MAX_INDEX_BYTES:
        raise BundleError(f"{address} has more than {_MAX_INDEX_BYTES} bytes: ask its function")
    return files


def _fetch_file(address: str) -> bytes:
    try:
        with open_address(address, "mcp", "*/*", is_private_way) as response:
            return read_response(response, _MAX_FILE_BYTES)
    except urllib.error.HTTPError as error:
        # Storage that may not be listed answers 403 for a file that is not there.
        if error.code in (403, 404, 410):
            raise _IndexReplacedError(address) from None
        raise BundleError(f"{address}: the server says {error.code}; try again later") from None
    except FETCH_ERRORS as error:
        raise BundleError(
            f"{address} cannot be fetched ({format_reason(error)}); try again later"
        ) from None
