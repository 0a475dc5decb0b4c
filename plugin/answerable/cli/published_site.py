"""Open an engine over the index that a static site publishes for its readers' browsers."""

import json
import re
import urllib.error
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
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
from ..serve.errors import AnswerableError, BundleError, EmbedderError, SiteError
from ..serve.providers import make_engine
from ..serve.text.languages import match_languages
from .http_fetch import (
    FETCH_ERRORS,
    IsPublic,
    WebClient,
    format_line,
    format_reason,
    is_private_way,
    is_public_address,
    parse_site_url,
    read_response,
    start_thread,
)

# For the whole opening, of a site of thousands of files too.
_OPENING_SECONDS = 120.0
_PARALLEL_FETCHES = 16
# Of settings or a manifest, of another file, and of all files of an index.
_MAX_JSON_BYTES = 1024 * 1024
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024

_INDEX_FOLDER = re.compile(r"index/[0-9a-f]{16}")
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

    engine: Engine[PublishedStore]
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
    _check_engine(settings.get("engine"), root)
    folder = _choose_folder(settings.get("index"), root, language)
    address = urljoin(base, f"{folder}/")
    manifest_data = _fetch_file(client, address + MANIFEST_FILE, _MAX_JSON_BYTES)
    index = parse_index_manifest(manifest_data, address + MANIFEST_FILE)
    _check_model(index.manifest.identity, root)
    files = _fetch_files(client, address, index)
    verify_folder_name(folder, {**files, MANIFEST_FILE: manifest_data}, address)
    store = read_published_index(index, files.__getitem__)
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


def _check_engine(paths: object, root: str) -> None:
    """Refuse a site whose readers would run another site's code as its own; SiteError."""
    names = paths if isinstance(paths, list) else [] if paths is None else [paths]
    for path in names:
        if not isinstance(path, str) or not _ENGINE_FILE.fullmatch(path):
            raise SiteError(
                f"{root} names the engine {path!r:.80}, which is no path of the site: its owner "
                "has to build and deploy it again"
            )


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


def _fetch_files(client: WebClient, address: str, index: IndexManifest) -> dict[str, bytes]:
    """Fetch all files of an index by name; BundleError for too many bytes of them."""
    files: dict[str, bytes] = {}
    # The threads take names from one iterator.
    names = iter([name for names in index.files.values() for name in names])
    lock, total = Lock(), 0

    def fetch() -> None:
        nonlocal total
        for name in names:
            files[name] = _fetch_file(client, address + name, _MAX_FILE_BYTES)
            with lock:
                total += len(files[name])
            if total > _MAX_INDEX_BYTES:
                raise BundleError(
                    f"{address} has more than {_MAX_INDEX_BYTES} bytes: ask its function"
                )

    for thread in [start_thread(fetch) for _ in range(_PARALLEL_FETCHES)]:
        thread.result()
    return files


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
