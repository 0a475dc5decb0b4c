"""Writers of the bundle and of the function's folder."""

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format import columns
from ...serve.bundle_format import manifest as manifest_module
from ...serve.bundle_format.columns import THEME_SEPARATOR, deflate, pack_columns, pack_lines
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
from ...serve.bundle_format.site_data import PhraseEntry
from ...serve.embedders.embedder import EmbedderIdentity
from ...serve.errors import BundleError, SiteError
from ...serve.structure import is_safe_url, pack_structure
from ...serve.text.languages import is_language_tag
from ...serve.types import Passage
from ...serve.vectors import Encoding
from ..index import SiteIndex, encode_vectors
from .files import lock_folder, remove_leftovers, write_private_file

# Of a page's summary, and of all its themes, that a model reads beside the passages.
MAX_SUMMARY_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class BundleContents:
    """The files of a bundle by name, in its encoding; ``counts`` are those of the manifest."""

    encoding: Encoding
    files: Mapping[str, bytes]
    counts: Mapping[str, int]


def serialize_index(index: SiteIndex, encoding: Encoding) -> BundleContents:
    """Serialize an index into the files of a bundle; SiteError for a url that no page can have."""
    files = {**_serialize_shared(index), **_serialize_vectors(index, encoding)}
    return BundleContents(encoding, files, _count_entries(index))


def reencode_contents(
    contents: BundleContents, index: SiteIndex, encoding: Encoding
) -> BundleContents:
    """Return the same bundle in another encoding: only the vectors' files are serialized anew."""
    shared = {name: contents.files[name] for name in manifest_module.SHARED_FILES}
    files = {**shared, **_serialize_vectors(index, encoding)}
    return BundleContents(encoding, files, contents.counts)


def _count_entries(index: SiteIndex) -> dict[str, int]:
    return {
        "records": len(index.records),
        "passages": len(index.passages),
        "hints": len(index.hints),
        "windows": len(index.hint_owners),
        "terms": len(index.lexicon.terms),
        "postings": len(index.lexicon.passages),
        "names": len(index.names),
        "aliases": len(index.aliases),
        "themes": len(index.themes),
        "title_terms": len(index.titles.terms),
        "label_terms": len(index.label_terms),
        "words": len(index.words),
        "bearers": sum(len(each.records) for table in _list_tables(index) for each in table),
    }


def _serialize_vectors(index: SiteIndex, encoding: Encoding) -> dict[str, bytes]:
    streams = {
        manifest_module.PASSAGE_STREAM: index.passage_vectors,
        manifest_module.HINT_STREAM: index.hint_vectors,
    }
    return {
        array_file_name(stream, name): _dump_array(array)
        for stream, rows in streams.items()
        for name, array in encode_vectors(rows, encoding).items()
    }


def _serialize_shared(index: SiteIndex) -> dict[str, bytes]:
    _check_urls((each.passage.id, each.passage.url) for each in index.passages)
    _check_urls((hint.id, hint.url) for hint in index.hints)
    _check_languages(language for language, _, _ in index.languages)
    passages = [each.passage for each in index.passages]
    texts, edges = _compress_passages(passages)
    return {
        manifest_module.TEXTS_FILE: texts,
        manifest_module.COLUMNS_FILE: pack_columns(_collect_columns(index, edges)),
        manifest_module.RECORDS_FILE: _pack_lines(
            [record.id for record in index.records],
            [record.metadata.date or "" for record in index.records],
            [clip_context(record.metadata.summary) for record in index.records],
            [join_themes(record.metadata.themes) for record in index.records],
        ),
        manifest_module.PASSAGES_FILE: _pack_lines(
            [passage.id for passage in passages],
            [passage.title for passage in passages],
            [passage.url for passage in passages],
        ),
        manifest_module.PHRASES_FILE: _pack_lines(
            *([entry.phrase for entry in table] for table in _list_tables(index))
        ),
        manifest_module.LEXICON_FILE: _pack_lines(index.lexicon.terms),
        manifest_module.WORDS_FILE: _pack_lines(index.words),
        manifest_module.FORMS_FILE: _pack_lines(
            *(index.forms[tag] for tag, _, _ in index.languages)
        ),
        manifest_module.HINTS_FILE: _pack_lines(
            [hint.id for hint in index.hints],
            [hint.label for hint in index.hints],
            [hint.locator for hint in index.hints],
            [hint.url for hint in index.hints],
        ),
        manifest_module.SITE_FILE: _dump_json(
            {
                "name": index.site.name,
                "url": index.site.url,
                "language": index.site.language,
                "route": index.site.route,
                "scripts": sorted(index.scripts),
                "languages": index.languages,
                "names": index.site.names,
                "author": index.site.author,
            }
        ),
    }


def _collect_columns(index: SiteIndex, edges: Sequence[int]) -> dict[str, NDArray[Any]]:
    """Collect the columns of numbers. edges: of the blocks of texts."""
    lexicon = index.lexicon
    phrases = [entry for table in _list_tables(index) for entry in table]
    return {
        columns.RECORD_WEIGHTS.name: np.array(index.weights),
        columns.RECORD_TITLE_NORMS.name: np.array(index.titles.norms),
        columns.RECORD_HISTORY.name: np.array(index.is_history),
        columns.PASSAGE_RECORDS.name: np.array(index.passage_records),
        columns.PASSAGE_LENGTHS.name: lexicon.lengths,
        columns.TEXT_BLOCKS.name: np.array(edges),
        columns.PHRASE_EDGES.name: np.cumsum([0, *(len(entry.records) for entry in phrases)]),
        columns.PHRASE_RECORDS.name: np.array([row for entry in phrases for row in entry.records]),
        columns.PHRASE_FREQUENCIES.name: np.array([entry.frequency for entry in phrases]),
        columns.POSTING_EDGES.name: lexicon.edges,
        columns.POSTING_PASSAGES.name: lexicon.passages,
        columns.POSTING_COUNTS.name: lexicon.counts,
        columns.HINT_OWNERS.name: np.array(index.hint_owners),
    }


def _list_tables(index: SiteIndex) -> tuple[tuple[PhraseEntry, ...], ...]:
    """List the tables of phrases in the order of ``columns.PHRASES``."""
    return index.names, index.aliases, index.themes, index.titles.terms, index.label_terms


def _pack_lines(*texts: Sequence[str]) -> bytes:
    """Pack columns of texts; SiteError for one of two lines, which only a file's name can have."""
    try:
        return pack_lines(texts)
    except ValueError as error:
        raise SiteError(f"{error}: rename its file, or write it on one line") from None


def clip_context(text: str) -> str:
    """Cut a text between words where it is longer than a model that answers has to read."""
    if len(text) <= MAX_SUMMARY_CHARACTERS:
        return text
    cut = text[:MAX_SUMMARY_CHARACTERS]
    return f"{cut.rpartition(' ')[0] or cut} …"


def join_themes(themes: Sequence[str]) -> str:
    """Join the first themes of a page, as many as are no longer than a summary."""
    ends = accumulate(len(theme) for theme in themes)
    pairs = zip(themes, ends, strict=True)
    return THEME_SEPARATOR.join(t for t, end in pairs if end <= MAX_SUMMARY_CHARACTERS)


def _check_urls(urls: Iterable[tuple[str, str]]) -> None:
    for name, url in urls:
        if not is_safe_url(url):
            raise SiteError(
                f"{name}: its url {url!r} is neither root-relative nor http(s), or holds white "
                "space; correct it"
            )


def _check_languages(tags: Iterable[str]) -> None:
    for tag in tags:
        if not is_language_tag(tag):
            raise SiteError(
                f"language: {tag!r} is not a language tag such as en or pt-BR; correct it"
            )


def _compress_passages(passages: Sequence[Passage]) -> tuple[bytes, list[int]]:
    """Compress JSON lines in independent blocks; return them and where each begins and ends."""
    size = manifest_module.PASSAGES_PER_BLOCK
    text = bytearray()
    edges = [0]
    for start in range(0, len(passages), size):
        block = passages[start : start + size]
        lines = b"\n".join(_dump_json(_passage_json(passage)) for passage in block)
        if len(lines) > manifest_module.MAX_BLOCK_BYTES:
            largest = max(block, key=lambda passage: len(passage.text))
            raise SiteError(
                f"{largest.record}: it has {len(largest.text)} characters under one heading that "
                "cannot be cut; break its lines"
            )
        text += deflate(lines)
        edges.append(len(text))
    return bytes(text), edges


def _passage_json(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.id,
        "text": passage.text,
        "sentences": passage.sentences,
        "blocks": pack_structure(passage.blocks),
        "spans": pack_structure(passage.spans),
    }


def _dump_json(value: object) -> bytes:
    """Dump JSON without a line break in it; a lone surrogate stays an escape."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


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
        id=compute_bundle_id(identity, profile, contents.encoding, files),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        encoding=contents.encoding,
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
