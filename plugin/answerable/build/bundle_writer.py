"""An index to the serve-time bundle: quantized, stripped of all that is private, atomic."""

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve import columns, languages, structure
from ..serve import encoding as encodings
from ..serve import manifest as m
from ..serve.embedder import Identity
from ..serve.encoding import Encoding
from ..serve.errors import BundleError, SiteError
from ..serve.inflating import deflate
from ..serve.manifest import File, Manifest
from ..serve.profile import Profile
from ..serve.types import Passage
from ..serve.urls import is_safe_url
from ..serve.vocabulary import Name
from . import files, quantize
from .index import Index


@dataclass(frozen=True, slots=True)
class Contents:
    """The files of a bundle by name, in its encoding."""

    encoding: Encoding
    files: Mapping[str, bytes]


def write(
    index: Index,
    folder: Path,
    identity: Identity,
    profile: Profile,
    now: dt.datetime,
    made: Contents | None = None,
) -> Manifest:
    """Write a bundle, which its owner alone can read.

    now: the time of the build, kept from the last bundle if nothing changed. made: what
    ``contents`` gave for the index; int8 of all dimensions by default. The manifest is replaced
    last, in one step; files that no manifest names are removed after. Of two builds at once, one
    waits for the other.
    """
    made = made or contents(index, encodings.whole(identity.dimensions))
    manifest = describe(index, made, identity, profile, now)
    with files.lock(folder):
        return _replace(_same(manifest, folder), made.files, folder)


def describe(
    index: Index, made: Contents, identity: Identity, profile: Profile, now: dt.datetime
) -> Manifest:
    """The manifest of an index's contents."""
    entries = {name: _file(data) for name, data in made.files.items()}
    return Manifest(
        id=m.bundle_id(identity, profile, made.encoding, entries),
        built_at=now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=profile,
        encoding=made.encoding,
        counts={
            "records": len(index.records),
            "passages": len(index.cuts),
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
            "bearers": sum(len(name.records) for listed in _phrases(index) for name in listed),
        },
        files=entries,
    )


def _replace(manifest: Manifest, contents: Mapping[str, bytes], folder: Path) -> Manifest:
    files.remove_leftovers(folder)
    kept = {m.MANIFEST}
    for name, data in contents.items():
        stored = m.stored_name(name, manifest.files[name].sha256)
        files.write_private(folder / stored, data)
        kept.add(stored)
    text = json.dumps(manifest.as_json(), indent=1, sort_keys=True) + "\n"
    files.write_private(folder / m.MANIFEST, text.encode())
    _remove_others(folder, kept)
    return manifest


def _same(manifest: Manifest, folder: Path) -> Manifest:
    """The last manifest if it is of the same bundle, so that an unchanged build changes nothing."""
    try:
        last = m.read(folder)
    except BundleError:
        return manifest
    return last if last.id == manifest.id and last.generator == manifest.generator else manifest


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Remove the files of earlier bundles, and nothing that only lies beside them."""
    for path in folder.iterdir():
        if path.name not in kept and m.is_stored_name(path.name):
            try:
                path.unlink()
            except OSError:
                # On Windows a file that a reader has mapped stays until the next build.
                continue


def contents(index: Index, encoding: Encoding) -> Contents:
    """The files of an index's bundle; SiteError for a url that no page could have."""
    return Contents(encoding, {**_shared(index), **_vectors(index, encoding)})


def recoded(made: Contents, index: Index, encoding: Encoding) -> Contents:
    """The same bundle in another encoding: only the vectors' files are made anew."""
    shared = {name: made.files[name] for name in m.SHARED}
    return Contents(encoding, {**shared, **_vectors(index, encoding)})


def _vectors(index: Index, encoding: Encoding) -> dict[str, bytes]:
    streams = {m.PASSAGE: index.passage_vectors, m.HINT: index.hint_vectors}
    return {
        m.array(stream, name): _npy(array)
        for stream, rows in streams.items()
        for name, array in quantize.encode(rows, encoding).items()
    }


def _shared(index: Index) -> dict[str, bytes]:
    _check_urls((cut.passage.id, cut.passage.url) for cut in index.cuts)
    _check_urls((hint.id, hint.url) for hint in index.hints)
    _check_languages(language for language, _, _ in index.languages)
    passages = [cut.passage for cut in index.cuts]
    texts, edges = _blocks(passages)
    return {
        m.TEXTS: texts,
        m.COLUMNS: columns.pack(_numbers(index, edges)),
        m.RECORDS: _lines(
            [record.id for record in index.records],
            [record.metadata.date or "" for record in index.records],
        ),
        m.PASSAGES: _lines(
            [passage.id for passage in passages],
            [passage.title for passage in passages],
            [passage.url for passage in passages],
        ),
        m.PHRASES: _lines(*([name.phrase for name in listed] for listed in _phrases(index))),
        m.LEXICON: _lines(index.lexicon.terms),
        m.WORDS: _lines(index.words),
        m.HINTS: _lines(
            [hint.id for hint in index.hints],
            [hint.label for hint in index.hints],
            [hint.locator for hint in index.hints],
            [hint.url for hint in index.hints],
        ),
        m.SITE: _json(
            {
                "name": index.site.name,
                "url": index.site.url,
                "language": index.site.language,
                "route": index.site.route,
                "scripts": sorted(index.scripts),
                "languages": index.languages,
                "names": index.site.names,
            }
        ),
    }


def _numbers(index: Index, edges: Sequence[int]) -> dict[str, NDArray[Any]]:
    """The columns of numbers. edges: of the blocks of texts."""
    lexicon = index.lexicon
    phrases = [name for listed in _phrases(index) for name in listed]
    return {
        columns.RECORD_WEIGHTS.name: np.array(index.weights),
        columns.RECORD_TITLE_NORMS.name: np.array(index.titles.norms),
        columns.RECORD_HISTORY.name: np.array(index.is_history),
        columns.PASSAGE_RECORDS.name: np.array(index.passage_records),
        columns.PASSAGE_LENGTHS.name: lexicon.lengths,
        columns.TEXT_BLOCKS.name: np.array(edges),
        columns.PHRASE_EDGES.name: np.cumsum([0, *(len(name.records) for name in phrases)]),
        columns.PHRASE_RECORDS.name: np.array([row for name in phrases for row in name.records]),
        columns.PHRASE_FREQUENCIES.name: np.array([name.frequency for name in phrases]),
        columns.POSTING_EDGES.name: lexicon.edges,
        columns.POSTING_PASSAGES.name: lexicon.passages,
        columns.POSTING_COUNTS.name: lexicon.counts,
        columns.HINT_OWNERS.name: np.array(index.hint_owners),
    }


def _phrases(index: Index) -> tuple[tuple[Name, ...], ...]:
    """The lists of ``columns.PHRASES``."""
    return index.names, index.aliases, index.themes, index.titles.terms, index.label_terms


def _lines(*texts: Sequence[str]) -> bytes:
    """Columns of texts; SiteError for one of two lines, which only a file's name can have."""
    try:
        return columns.pack_lines(texts)
    except ValueError as error:
        raise SiteError(f"{error}: rename its file, or write it on one line") from None


def _file(data: bytes) -> File:
    return File(len(data), hashlib.sha256(data).hexdigest())


def _check_urls(urls: Iterable[tuple[str, str]]) -> None:
    for name, url in urls:
        if not is_safe_url(url):
            raise SiteError(
                f"{name}: its url {url!r} is neither root-relative nor http(s), or holds white "
                "space; correct it"
            )


def _check_languages(tags: Iterable[str]) -> None:
    for tag in tags:
        if not languages.is_tag(tag):
            raise SiteError(f"language: {tag!r} is no language tag such as en or pt-BR; correct it")


def _blocks(passages: Sequence[Passage]) -> tuple[bytes, list[int]]:
    """JSON lines in independently compressed blocks, and where each block begins and ends."""
    text = bytearray()
    edges = [0]
    for start in range(0, len(passages), m.BLOCK):
        lines = b"\n".join(_json(_line(passage)) for passage in passages[start : start + m.BLOCK])
        if len(lines) > m.MAX_BLOCK:
            largest = max(passages[start : start + m.BLOCK], key=lambda p: len(p.text))
            raise SiteError(
                f"{largest.record}: it has {len(largest.text)} characters under one heading that "
                "cannot be cut; break its lines"
            )
        text += deflate(lines)
        edges.append(len(text))
    return bytes(text), edges


def _line(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.id,
        "text": passage.text,
        "sentences": passage.sentences,
        "blocks": structure.pack(passage.blocks),
        "spans": structure.pack(passage.spans),
    }


def _json(value: object) -> bytes:
    """JSON without a line break in it; a lone surrogate stays an escape."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def build_time(epoch: str | None) -> dt.datetime:
    """Now, or a reproducible build's SOURCE_DATE_EPOCH; SiteError if that is no number."""
    if epoch is None:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise SiteError(
            f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds; correct or unset it"
        ) from None
