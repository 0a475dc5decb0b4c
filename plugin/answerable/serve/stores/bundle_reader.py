"""A bundle's folder opened: everything in it is checked before the first question."""

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format import columns
from ..bundle_format import manifest as manifest_module
from ..bundle_format.columns import (
    Column,
    Lines,
    check_bearers,
    check_offsets,
    check_row_bounds,
    check_row_order,
    check_title_norms,
    check_vectors,
    check_weights,
    map_array,
    parse_dates,
    unpack_columns,
    unpack_lines,
)
from ..bundle_format.manifest import (
    BundleFile,
    Manifest,
    array_file_name,
    read_manifest,
    stored_file_name,
)
from ..bundle_format.postings import PhraseIndex, Postings, split_phrase_indexes
from ..bundle_format.site_metadata import parse_site_metadata
from ..errors import BUILD_AGAIN, BundleError
from ..urls import check_urls
from ..vectors.encodings import Codes, Encoding, open_codes
from .bundle import Bundle, HintColumns, PassageTexts
from .prefetch import Prefetch

_EMPTY_BYTES: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True, ahead: Prefetch | None = None) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ahead: what reads the folder already, with the same ``verify``.
    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    """
    ahead = ahead or Prefetch(folder, verify=verify)
    try:
        return _open_newest(folder, ahead, verify=verify)
    finally:
        ahead.close()


def _open_newest(folder: Path, ahead: Prefetch, *, verify: bool) -> Bundle:
    """Open what a folder holds now."""
    tried: list[str] = []
    while True:
        manifest = read_manifest(folder, verify=verify)
        tried.append(manifest.id)
        try:
            return _open_files(folder, manifest, ahead, verify=verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if tried[-2:-1] == [manifest.id]:
                raise BundleError(f"{error.filename} is missing: {BUILD_AGAIN}") from None
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): correct its rights, or build again"
            ) from None


def _open_files(folder: Path, manifest: Manifest, ahead: Prefetch, *, verify: bool) -> Bundle:
    paths = {
        name: _check_size(folder / stored_file_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    try:
        return _load_bundle(manifest, paths, ahead)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        if verify:
            _verify_hashes(manifest, paths, ahead)


def _verify_hashes(manifest: Manifest, paths: Mapping[str, Path], ahead: Prefetch) -> None:
    for name, path in paths.items():
        if ahead.digest(path) != manifest.files[name].sha256:
            raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")


def _check_size(path: Path, file: BundleFile) -> Path:
    found = path.stat()
    if not S_ISREG(found.st_mode):
        raise BundleError(f"{path} is no file: delete it and {BUILD_AGAIN}")
    size = found.st_size
    if size != file.bytes:
        raise BundleError(f"{path} has {size} bytes, its manifest says {file.bytes}: {BUILD_AGAIN}")
    return path


def _load_bundle(manifest: Manifest, paths: Mapping[str, Path], ahead: Prefetch) -> Bundle:
    counts = manifest.counts
    records, passages = counts["records"], counts["passages"]
    numbers = unpack_columns(
        ahead.text(paths[manifest_module.COLUMNS_FILE]),
        manifest_module.COLUMNS_FILE,
        {**counts, "blocks": -(-passages // manifest_module.PASSAGES_PER_BLOCK)},
    )

    def lines(name: str, *lengths: int) -> list[Lines]:
        return unpack_lines(ahead.text(paths[name]), name, *lengths)

    check_weights(numbers[columns.RECORD_WEIGHTS.name])
    check_title_norms(numbers[columns.RECORD_TITLE_NORMS.name])
    _check_column_rows(columns.PASSAGE_RECORDS, numbers, records)
    _check_column_rows(columns.HINT_OWNERS, numbers, counts["hints"])
    _check_column_rows(columns.POSTING_PASSAGES, numbers, passages)
    record_ids, dates = lines(manifest_module.RECORDS_FILE, records, records)
    ids, titles, passage_urls = lines(manifest_module.PASSAGES_FILE, passages, passages, passages)
    check_urls(passage_urls, manifest_module.PASSAGES_FILE)
    hints = HintColumns(*lines(manifest_module.HINTS_FILE, *[counts["hints"]] * 4))
    check_urls(hints.urls, manifest_module.HINTS_FILE)
    described = parse_site_metadata(
        json.loads(paths[manifest_module.SITE_FILE].read_bytes()), passages
    )
    postings = _load_postings(
        lines(manifest_module.LEXICON_FILE, counts["terms"])[0], numbers, counts
    )
    if len(described.languages) > 1:
        check_row_order(columns.POSTING_PASSAGES, postings.passages, postings.edges)
    lengths = [counts[kind] for kind in columns.PHRASE_KINDS]
    names, aliases, themes, title_terms, label_terms = _load_phrase_indexes(
        lines(manifest_module.PHRASES_FILE, *lengths), numbers, counts
    )
    return Bundle(
        manifest=manifest,
        site=described,
        record_ids=record_ids.texts(),
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=parse_dates(dates.texts()),
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
        passage_codes=_map_codes(
            paths, manifest_module.PASSAGE_STREAM, manifest.encoding, passages
        ),
        texts=_map_texts(paths[manifest_module.TEXTS_FILE], numbers[columns.TEXT_BLOCKS.name]),
        postings=postings,
        spellings=lines(manifest_module.WORDS_FILE, counts["words"])[0],
        hints=hints,
        hint_codes=_map_codes(
            paths, manifest_module.HINT_STREAM, manifest.encoding, counts["windows"]
        ),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _check_column_rows(column: Column, numbers: Mapping[str, NDArray[Any]], bound: int) -> None:
    check_row_bounds(column, numbers[column.name], bound)


def _map_texts(path: Path, edges: NDArray[np.uint64]) -> PassageTexts:
    size = path.stat().st_size
    check_offsets(columns.TEXT_BLOCKS, edges, size)
    return PassageTexts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY_BYTES)


def _load_postings(
    listed: Lines, numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    edges = numbers[columns.POSTING_EDGES.name]
    check_offsets(columns.POSTING_EDGES, edges, counts["postings"])
    terms = listed.texts()
    return Postings(
        terms=dict(zip(terms, range(len(terms)), strict=True)),
        edges=edges,
        passages=numbers[columns.POSTING_PASSAGES.name],
        counts=numbers[columns.POSTING_COUNTS.name],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _load_phrase_indexes(
    phrases: list[Lines], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> tuple[PhraseIndex, ...]:
    """The lists of ``columns.PHRASES``, which share their columns."""
    edges = numbers[columns.PHRASE_EDGES.name]
    check_offsets(columns.PHRASE_EDGES, edges, counts["bearers"])
    check_bearers(numbers[columns.PHRASE_RECORDS.name], edges, counts)
    return split_phrase_indexes(
        [listed.texts() for listed in phrases],
        edges,
        numbers[columns.PHRASE_RECORDS.name],
        numbers[columns.PHRASE_FREQUENCIES.name],
    )


def _map_codes(paths: Mapping[str, Path], stream: str, encoding: Encoding, count: int) -> Codes:
    """The vectors of a stream as its encoding reads them."""
    arrays = {
        name: map_array(paths[array_file_name(stream, name)], dtype, (count, *shape))
        for name, (dtype, shape) in encoding.arrays.items()
    }
    check_vectors(arrays, stream)
    return open_codes(encoding, arrays)
