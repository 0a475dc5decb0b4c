"""A bundle's folder opened: everything in it is checked before the first question."""

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import codes, columns, site, urls
from . import manifest as m
from .ahead import Ahead
from .bundle import Bundle, Hints, Texts
from .codes import Codes
from .columns import Column, Lines
from .encoding import Encoding
from .errors import AGAIN, BundleError
from .manifest import Manifest
from .vocabulary import Names, Postings, split_names

_EMPTY: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True, ahead: Ahead | None = None) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ahead: what reads the folder already, with the same ``verify``.
    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    """
    ahead = ahead or Ahead(folder, verify=verify)
    try:
        return _newest(folder, ahead, verify=verify)
    finally:
        ahead.close()


def _newest(folder: Path, ahead: Ahead, *, verify: bool) -> Bundle:
    """Open what a folder holds now."""
    tried: list[str] = []
    while True:
        manifest = m.read(folder, verify=verify)
        tried.append(manifest.id)
        try:
            return _open(folder, manifest, ahead, verify=verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if tried[-2:-1] == [manifest.id]:
                raise BundleError(f"{error.filename} is missing: {AGAIN}") from None
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): correct its rights, or build again"
            ) from None


def _open(folder: Path, manifest: Manifest, ahead: Ahead, *, verify: bool) -> Bundle:
    paths = {
        name: _sized(folder / m.stored_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    try:
        return _load(manifest, paths, ahead)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        if verify:
            _verify(manifest, paths, ahead)


def _verify(manifest: Manifest, paths: Mapping[str, Path], ahead: Ahead) -> None:
    for name, path in paths.items():
        if ahead.digest(path) != manifest.files[name].sha256:
            raise BundleError(f"{path} does not match its hash: {AGAIN}")


def _sized(path: Path, file: m.File) -> Path:
    found = path.stat()
    if not S_ISREG(found.st_mode):
        raise BundleError(f"{path} is no file: delete it and {AGAIN}")
    size = found.st_size
    if size != file.bytes:
        raise BundleError(f"{path} has {size} bytes, its manifest says {file.bytes}: {AGAIN}")
    return path


def _load(manifest: Manifest, paths: Mapping[str, Path], ahead: Ahead) -> Bundle:
    counts = manifest.counts
    records, passages = counts["records"], counts["passages"]
    numbers = columns.unpack(
        ahead.text(paths[m.COLUMNS]), m.COLUMNS, {**counts, "blocks": -(-passages // m.BLOCK)}
    )

    def lines(name: str, *lengths: int) -> list[Lines]:
        return columns.unpack_lines(ahead.text(paths[name]), name, *lengths)

    columns.check_weights(numbers[columns.RECORD_WEIGHTS.name])
    columns.check_title_norms(numbers[columns.RECORD_TITLE_NORMS.name])
    _check_rows(columns.PASSAGE_RECORDS, numbers, records)
    _check_rows(columns.HINT_OWNERS, numbers, counts["hints"])
    _check_rows(columns.POSTING_PASSAGES, numbers, passages)
    record_ids, dates = lines(m.RECORDS, records, records)
    ids, titles, passage_urls = lines(m.PASSAGES, passages, passages, passages)
    urls.check(passage_urls, m.PASSAGES)
    hints = Hints(*lines(m.HINTS, *[counts["hints"]] * 4))
    urls.check(hints.urls, m.HINTS)
    described = site.parse(json.loads(paths[m.SITE].read_bytes()), passages)
    postings = _postings(lines(m.LEXICON, counts["terms"])[0], numbers, counts)
    if len(described.languages) > 1:
        columns.check_order(columns.POSTING_PASSAGES, postings.passages, postings.edges)
    lengths = [counts[kind] for kind in columns.PHRASES]
    names, aliases, themes, title_terms, label_terms = _names(
        lines(m.PHRASES, *lengths), numbers, counts
    )
    return Bundle(
        manifest=manifest,
        site=described,
        record_ids=record_ids.texts(),
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=columns.dates(dates.texts()),
        title_norms=numbers[columns.RECORD_TITLE_NORMS.name],
        is_history=numbers[columns.RECORD_HISTORY.name].astype(np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        label_terms=label_terms,
        passage_ids=ids.texts(),
        passage_urls=passage_urls.texts(),
        passage_titles=titles.texts(),
        passage_records=numbers[columns.PASSAGE_RECORDS.name],
        passage_codes=_codes(paths, m.PASSAGE, manifest.encoding, passages),
        texts=_texts(paths[m.TEXTS], numbers[columns.TEXT_BLOCKS.name]),
        postings=postings,
        spellings=lines(m.WORDS, counts["words"])[0],
        hints=hints,
        hint_codes=_codes(paths, m.HINT, manifest.encoding, counts["windows"]),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _check_rows(column: Column, numbers: Mapping[str, NDArray[Any]], bound: int) -> None:
    columns.check_rows(column, numbers[column.name], bound)


def _texts(path: Path, edges: NDArray[np.uint64]) -> Texts:
    size = path.stat().st_size
    columns.check_edges(columns.TEXT_BLOCKS, edges, size)
    return Texts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY)


def _postings(
    listed: Lines, numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    edges = numbers[columns.POSTING_EDGES.name]
    columns.check_edges(columns.POSTING_EDGES, edges, counts["postings"])
    terms = listed.texts()
    return Postings(
        terms=dict(zip(terms, range(len(terms)), strict=True)),
        edges=edges,
        passages=numbers[columns.POSTING_PASSAGES.name],
        counts=numbers[columns.POSTING_COUNTS.name],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _names(
    phrases: list[Lines], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> tuple[Names, ...]:
    """The lists of ``columns.PHRASES``, which share their columns."""
    edges = numbers[columns.PHRASE_EDGES.name]
    columns.check_edges(columns.PHRASE_EDGES, edges, counts["bearers"])
    columns.check_bearers(numbers[columns.PHRASE_RECORDS.name], edges, counts)
    return split_names(
        [listed.texts() for listed in phrases],
        edges,
        numbers[columns.PHRASE_RECORDS.name],
        numbers[columns.PHRASE_FREQUENCIES.name],
    )


def _codes(paths: Mapping[str, Path], stream: str, encoding: Encoding, count: int) -> Codes:
    """The vectors of a stream as its encoding reads them."""
    arrays = {
        name: columns.mapped(paths[m.array(stream, name)], dtype, (count, *shape))
        for name, (dtype, shape) in encoding.arrays.items()
    }
    columns.check_vectors(arrays, stream)
    return codes.of(encoding, arrays)
