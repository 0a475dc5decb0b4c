"""Writers of the bundle and of the function's folder."""

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format import manifest as manifest_module
from ...serve.bundle_format.container import pack_container
from ...serve.bundle_format.manifest import (
    MANIFEST_FILE,
    BundleFile,
    Manifest,
    Profile,
    array_file_name,
    compute_bundle_id,
    is_stored_file_name,
    read_manifest,
    stored_file_name,
)
from ...serve.bundle_format.site_data import (
    collect_label_columns,
    index_entries,
    list_columns,
    pack_columns,
)
from ...serve.embedders.embedder import EmbedderIdentity
from ...serve.errors import BundleError, SiteError
from ...serve.text.languages import is_language_tag
from ...serve.text.urls import is_safe_url
from ...serve.vectors import CODES, INVERSE_NORMS
from ..browser_index.index_files import (
    clip_summary,
    clip_themes,
    collect_columns,
    select_public_index,
    serialize_terms,
    serialize_texts,
)
from ..index import SiteIndex, encode_vectors
from .files import lock_folder, remove_leftovers, write_private_file

# Passages whose texts share a shard: more of them take less space and longer to read.
PASSAGES_PER_SHARD = 8


@dataclass(frozen=True, slots=True)
class BundleContents:
    """The files of a bundle by name; ``dimensions`` and ``counts`` are those of the manifest."""

    dimensions: int
    files: Mapping[str, bytes]
    counts: Mapping[str, int]


def serialize_index(index: SiteIndex, dimensions: int) -> BundleContents:
    """Serialize an index into the files of a bundle; SiteError for a url that no page can have.

    dimensions: how many of a vector's leading numbers are kept.
    """
    files = {**_serialize_shared(index), **_serialize_vectors(index, dimensions)}
    counts = {
        "records": len(index.records),
        "passages": len(index.passages),
        "terms": len(index.lexicon.terms),
        "words": len(index.words),
        "questions": len(index.questions.texts),
        "answers": len(index.questions.answers),
        "hints": len(index.hints),
        "windows": len(index.hint_owners),
    }
    return BundleContents(dimensions, files, counts)


def _serialize_vectors(index: SiteIndex, dimensions: int) -> dict[str, bytes]:
    files = {}
    for stream, rows in (
        (manifest_module.PASSAGE_STREAM, index.passage_vectors),
        (manifest_module.HINT_STREAM, index.hint_vectors),
    ):
        codes = encode_vectors(rows, dimensions)
        files[array_file_name(stream, CODES)] = _dump_array(codes.codes)
        files[array_file_name(stream, INVERSE_NORMS)] = _dump_array(codes.inverse_norms)
    return files


def _serialize_shared(index: SiteIndex) -> dict[str, bytes]:
    _check_urls((each.passage.id, each.passage.url) for each in index.passages)
    _check_urls((hint.id, hint.url) for hint in index.hints)
    _check_languages(language for language, _, _ in index.languages)
    _check_lines(record.id for record in index.records)
    _check_lines(each.passage.title for each in index.passages)
    _check_lines(text for hint in index.hints for text in (hint.label, hint.locator))
    public = select_public_index(index)
    starts = range(0, len(public.passages), PASSAGES_PER_SHARD)
    texts = serialize_texts(public.passages, starts)
    columns = {
        **collect_columns(public, starts),
        **_collect_unpublished_columns(index),
        "textsSizes": [len(shard) for shard in texts],
    }
    (terms,) = serialize_terms(public, [range(len(public.lexicon.terms))])
    packed = {manifest_module.TERMS_FILE: terms, manifest_module.TEXTS_FILE: b"".join(texts)}
    return packed | {
        name: pack_container(pack_columns(list_columns(name), columns))
        for name in manifest_module.SHARED_FILES
        if name not in packed
    }


def _collect_unpublished_columns(index: SiteIndex) -> Mapping[str, Any]:
    """Collect the columns that no site publishes: of notes, and what a model reads of pages."""
    return {
        "summaries": [clip_summary(record.metadata.summary) for record in index.records],
        "themes": [clip_themes(record.metadata.themes) for record in index.records],
        "ids": [hint.id for hint in index.hints],
        "labels": [hint.label for hint in index.hints],
        "locators": [hint.locator for hint in index.hints],
        "urls": [hint.url for hint in index.hints],
        "windowsPerHint": np.bincount(index.hint_owners, minlength=len(index.hints)),
        **collect_label_columns(*index_entries([index.label_terms], len(index.hints))),
    }


def _check_urls(urls: Iterable[tuple[str, str]]) -> None:
    for name, url in urls:
        if not is_safe_url(url):
            raise SiteError(
                f"{name}: its url {url!r} is neither root-relative nor http(s), or holds white "
                "space; correct it"
            )


def _check_lines(texts: Iterable[str]) -> None:
    for text in texts:
        if "\n" in text:
            raise SiteError(f"{text!r} has a line break: rename its file, or write it on one line")


def _check_languages(tags: Iterable[str]) -> None:
    for tag in tags:
        if not is_language_tag(tag):
            raise SiteError(
                f"language: {tag!r} is not a language tag such as en or pt-BR; correct it"
            )


def _dump_array(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def write_bundle(
    contents: BundleContents,
    folder: Path,
    identity: EmbedderIdentity,
    profile: Profile,
    now: dt.datetime,
) -> Manifest:
    """Write a bundle, which its owner alone can read.

    now: the time of the build; that of the last bundle stays if nothing changed. The manifest is
    replaced last, in one step; files that no manifest names are removed after. Of two builds at
    once, one waits for the other.
    """
    manifest = make_manifest(contents, identity, profile, now)
    with lock_folder(folder):
        return _write_files(_reuse_manifest(manifest, folder), contents.files, folder)


def make_manifest(
    contents: BundleContents, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> Manifest:
    """Make a bundle's manifest from its contents."""
    files = {
        name: BundleFile(len(data), hashlib.sha256(data).hexdigest())
        for name, data in contents.files.items()
    }
    return Manifest(
        id=compute_bundle_id(identity, profile, contents.dimensions, files),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        dimensions=contents.dimensions,
        counts=contents.counts,
        files=files,
    )


def parse_build_time(epoch: str | None) -> dt.datetime:
    """Parse a reproducible build's SOURCE_DATE_EPOCH, None for now; SiteError if not a number."""
    if epoch is None:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise SiteError(
            f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds; correct or unset it"
        ) from None


def _reuse_manifest(manifest: Manifest, folder: Path) -> Manifest:
    """Return the last manifest if the bundle is the same: an unchanged build changes nothing."""
    try:
        last = read_manifest(folder)
    except BundleError:
        return manifest
    return last if last.id == manifest.id and last.generator == manifest.generator else manifest


def _write_files(manifest: Manifest, files: Mapping[str, bytes], folder: Path) -> Manifest:
    remove_leftovers(folder)
    current = {MANIFEST_FILE}
    for name, data in files.items():
        stored = stored_file_name(name, manifest.files[name].sha256)
        write_private_file(folder / stored, data)
        current.add(stored)
    text = json.dumps(manifest.as_json(), indent=1, sort_keys=True) + "\n"
    write_private_file(folder / MANIFEST_FILE, text.encode())
    _remove_stale_files(folder, current)
    return manifest


def _remove_stale_files(folder: Path, current: set[str]) -> None:
    """Remove the files of earlier bundles, and nothing else that lies beside them."""
    for path in folder.iterdir():
        if path.name not in current and is_stored_file_name(path.name):
            try:
                path.unlink()
            except OSError:
                # On Windows a file that a reader has mapped stays until the next build.
                continue
