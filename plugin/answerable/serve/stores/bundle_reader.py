"""Open a bundle folder as a store: check sizes, contents and, with ``verify``, hashes of files."""

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format import columns
from ..bundle_format import manifest as names
from ..bundle_format.columns import (
    check_offsets,
    check_row_bounds,
    check_row_order,
    check_vectors,
    map_array,
    unpack_columns,
)
from ..bundle_format.manifest import (
    BundleFile,
    Manifest,
    array_file_name,
    read_manifest,
    stored_file_name,
)
from ..bundle_format.postings import Postings
from ..bundle_format.site_metadata import load_site_columns
from ..bundle_format.text_lines import TextLines, check_urls, unpack_lines
from ..errors import BUILD_AGAIN, BundleError
from ..vectors.encodings import Codes, Encoding, open_codes
from .bundle import Bundle, HintColumns, PassageTexts
from .prefetch import Prefetch

_EMPTY_BYTES: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True, prefetch: Prefetch | None = None) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    prefetch: of this folder, with the same ``verify``.
    """
    prefetch = prefetch or Prefetch(folder, verify=verify)
    try:
        return _open_newest(folder, prefetch, verify=verify)
    finally:
        prefetch.close()


def _open_newest(folder: Path, prefetch: Prefetch, *, verify: bool) -> Bundle:
    """Open what a folder holds now, again where a build has replaced it meanwhile."""
    last_id = None
    while True:
        manifest = read_manifest(folder, verify=verify)
        try:
            return _open_files(folder, manifest, prefetch, verify=verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if last_id == manifest.id:
                raise BundleError(f"{error.filename} is missing: {BUILD_AGAIN}") from None
            last_id = manifest.id
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): check its permissions, or build again"
            ) from None


def _open_files(folder: Path, manifest: Manifest, prefetch: Prefetch, *, verify: bool) -> Bundle:
    paths = {
        name: _check_size(folder / stored_file_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    try:
        return _load_bundle(manifest, paths, prefetch)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        for name, path in paths.items() if verify else ():
            if prefetch.read_digest(path) != manifest.files[name].sha256:
                raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")


def _check_size(path: Path, file: BundleFile) -> Path:
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise BundleError(f"{path} is not a file: delete it and {BUILD_AGAIN}")
    if status.st_size != file.bytes:
        raise BundleError(
            f"{path} has {status.st_size} bytes, its manifest says {file.bytes}: {BUILD_AGAIN}"
        )
    return path


def _load_bundle(manifest: Manifest, paths: Mapping[str, Path], prefetch: Prefetch) -> Bundle:
    counts = manifest.counts
    passages = counts["passages"]
    numbers = unpack_columns(
        prefetch.read_decompressed(paths[names.COLUMNS_FILE]),
        names.COLUMNS_FILE,
        {**counts, "blocks": -(-passages // names.PASSAGES_PER_BLOCK)},
    )

    def lines(name: str, *lengths: int) -> list[TextLines]:
        return unpack_lines(prefetch.read_decompressed(paths[name]), name, *lengths)

    for column, bound in (
        (columns.HINT_OWNERS, counts["hints"]),
        (columns.POSTING_PASSAGES, passages),
    ):
        check_row_bounds(column, numbers[column.name], bound)
    record_ids, dates, summaries, themes = lines(names.RECORDS_FILE, *[counts["records"]] * 4)
    ids, titles, urls = lines(names.PASSAGES_FILE, *[passages] * 3)
    check_urls(urls, names.PASSAGES_FILE)
    hints = HintColumns(*lines(names.HINTS_FILE, *[counts["hints"]] * 4))
    check_urls(hints.urls, names.HINTS_FILE)
    phrases = lines(names.PHRASES_FILE, *(counts[kind] for kind in columns.PHRASE_KINDS))
    described = json.loads(paths[names.SITE_FILE].read_bytes())
    site_columns = load_site_columns(described, dates, phrases, numbers, counts)
    postings = _load_postings(lines(names.LEXICON_FILE, counts["terms"])[0], numbers, counts)
    if len(site_columns.site.languages) > 1:
        check_row_order(columns.POSTING_PASSAGES, postings.passages, postings.edges)
    return Bundle(
        **site_columns.as_fields(),
        manifest=manifest,
        record_ids=record_ids.texts(),
        record_summaries=summaries,
        record_themes=themes,
        passage_ids=ids.texts(),
        passage_urls=urls.texts(),
        passage_titles=titles.texts(),
        passage_codes=_map_codes(paths, names.PASSAGE_STREAM, manifest.encoding, passages),
        texts=_map_texts(paths[names.TEXTS_FILE], numbers[columns.TEXT_BLOCKS.name]),
        postings=postings,
        spellings=lines(names.WORDS_FILE, counts["words"])[0],
        hints=hints,
        hint_codes=_map_codes(paths, names.HINT_STREAM, manifest.encoding, counts["windows"]),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _map_texts(path: Path, edges: NDArray[np.uint64]) -> PassageTexts:
    size = path.stat().st_size
    check_offsets(columns.TEXT_BLOCKS, edges, size)
    return PassageTexts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY_BYTES)


def _load_postings(
    lexicon: TextLines, numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    edges = numbers[columns.POSTING_EDGES.name]
    check_offsets(columns.POSTING_EDGES, edges, counts["postings"])
    terms = lexicon.texts()
    return Postings(
        terms=dict(zip(terms, range(len(terms)), strict=True)),
        edges=edges,
        passages=numbers[columns.POSTING_PASSAGES.name],
        counts=numbers[columns.POSTING_COUNTS.name],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _map_codes(paths: Mapping[str, Path], stream: str, encoding: Encoding, count: int) -> Codes:
    """Map the vectors of a stream in its encoding."""
    arrays = {
        name: map_array(paths[array_file_name(stream, name)], dtype, (count, *shape))
        for name, (dtype, shape) in encoding.arrays.items()
    }
    check_vectors(arrays, stream)
    return open_codes(encoding, arrays)
