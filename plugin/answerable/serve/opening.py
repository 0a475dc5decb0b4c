"""A bundle's folder opened: everything in it is checked before the first question."""

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import codes, columns, site, urls
from . import manifest as m
from .bundle import Bundle, Hints, Names, Postings, Texts
from .codes import Codes
from .columns import Column
from .encoding import Encoding
from .errors import AGAIN, BundleError
from .manifest import Manifest

_EMPTY: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    """
    tried: list[str] = []
    while True:
        manifest = m.read(folder, verify=verify)
        tried.append(manifest.id)
        try:
            return _open(folder, manifest, verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if tried[-2:-1] == [manifest.id]:
                raise BundleError(f"{error.filename} is missing: {AGAIN}") from None
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): correct its rights, or build again"
            ) from None


def _open(folder: Path, manifest: Manifest, verify: bool) -> Bundle:
    paths = {
        name: _sized(folder / m.stored_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    hashes = _Hashes(paths, manifest) if verify else None
    try:
        return _load(manifest, paths)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        if hashes:
            hashes.check()


def _sized(path: Path, file: m.File) -> Path:
    found = path.stat()
    if not S_ISREG(found.st_mode):
        raise BundleError(f"{path} is no file: delete it and {AGAIN}")
    size = found.st_size
    if size != file.bytes:
        raise BundleError(f"{path} has {size} bytes, its manifest says {file.bytes}: {AGAIN}")
    return path


class _Hashes:
    """The files' hashes, compared by another core while the bundle is read."""

    def __init__(self, paths: Mapping[str, Path], manifest: Manifest) -> None:
        self._paths = paths
        self._files = manifest.files
        self._error: OSError | BundleError | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Wait for the last of them; OSError or BundleError if one could not be confirmed."""
        self._thread.join()
        if self._error:
            raise self._error

    def _run(self) -> None:
        import hashlib

        try:
            # The largest first, each in one call: it waits for the interpreter after every call.
            for name in sorted(self._paths, key=lambda name: -self._files[name].bytes):
                path, file = self._paths[name], self._files[name]
                data = np.memmap(path, dtype=np.uint8, mode="r") if file.bytes else _EMPTY
                if hashlib.sha256(data.data).hexdigest() != file.sha256:
                    raise BundleError(f"{path} does not match its hash: {AGAIN}")
        except (OSError, BundleError) as error:
            self._error = error


def _load(manifest: Manifest, paths: Mapping[str, Path]) -> Bundle:
    counts = manifest.counts
    records, passages = counts["records"], counts["passages"]
    numbers = columns.unpack(
        paths[m.COLUMNS].read_bytes(), m.COLUMNS, {**counts, "blocks": -(-passages // m.BLOCK)}
    )
    columns.check_weights(numbers[columns.RECORD_WEIGHTS.name])
    _check_rows(columns.PASSAGE_RECORDS, numbers, records)
    _check_rows(columns.HINT_OWNERS, numbers, counts["hints"])
    _check_rows(columns.PHRASE_RECORDS, numbers, records)
    _check_rows(columns.POSTING_PASSAGES, numbers, passages)
    record_ids, dates = _lines(paths, m.RECORDS, records, records)
    ids, titles, passage_urls = _lines(paths, m.PASSAGES, passages, passages, passages)
    urls.check(passage_urls, m.PASSAGES)
    hints = Hints(*_lines(paths, m.HINTS, *[counts["hints"]] * 4))
    urls.check(hints.urls, m.HINTS)
    described = site.parse(json.loads(paths[m.SITE].read_bytes()), passages)
    postings = _postings(_lines(paths, m.LEXICON, counts["terms"])[0], numbers, counts)
    if len(described.languages) > 1:
        columns.check_order(columns.POSTING_PASSAGES, postings.passages, postings.edges)
    names, themes = _names(paths, numbers, counts)
    return Bundle(
        manifest=manifest,
        site=described,
        record_ids=record_ids,
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=columns.dates(dates),
        names=names,
        themes=themes,
        passage_ids=ids,
        passage_urls=passage_urls,
        passage_titles=titles,
        passage_records=numbers[columns.PASSAGE_RECORDS.name],
        passage_codes=_codes(paths, m.PASSAGE, manifest.encoding, passages),
        texts=_texts(paths[m.TEXTS], numbers[columns.TEXT_BLOCKS.name]),
        postings=postings,
        hints=hints,
        hint_codes=_codes(paths, m.HINT, manifest.encoding, counts["windows"]),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _lines(paths: Mapping[str, Path], name: str, *lengths: int) -> list[list[str]]:
    return columns.unpack_lines(paths[name].read_bytes(), name, *lengths)


def _check_rows(column: Column, numbers: Mapping[str, NDArray[Any]], bound: int) -> None:
    columns.check_rows(column, numbers[column.name], bound)


def _texts(path: Path, edges: NDArray[np.uint64]) -> Texts:
    size = path.stat().st_size
    columns.check_edges(columns.TEXT_BLOCKS, edges, size)
    return Texts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY)


def _postings(
    terms: list[str], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    edges = numbers[columns.POSTING_EDGES.name]
    columns.check_edges(columns.POSTING_EDGES, edges, counts["postings"])
    return Postings(
        terms=dict(zip(terms, range(len(terms)), strict=True)),
        edges=edges,
        passages=numbers[columns.POSTING_PASSAGES.name],
        counts=numbers[columns.POSTING_COUNTS.name],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _names(
    paths: Mapping[str, Path], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> tuple[Names, Names]:
    """The names of records and their themes, which share their columns."""
    edges = numbers[columns.PHRASE_EDGES.name]
    columns.check_edges(columns.PHRASE_EDGES, edges, counts["bearers"])
    names, themes = _lines(paths, m.PHRASES, counts["names"], counts["themes"])
    bearers = numbers[columns.PHRASE_RECORDS.name]
    frequencies = numbers[columns.PHRASE_FREQUENCIES.name]
    middle = len(names)
    return (
        Names(dict(zip(names, range(middle), strict=True)), edges, bearers, frequencies),
        Names(
            dict(zip(themes, range(middle, middle + len(themes)), strict=True)),
            edges,
            bearers,
            frequencies,
        ),
    )


def _codes(paths: Mapping[str, Path], stream: str, encoding: Encoding, count: int) -> Codes:
    """The vectors of a stream as its encoding reads them."""
    arrays = {
        name: columns.mapped(paths[m.array(stream, name)], dtype, (count, *shape))
        for name, (dtype, shape) in encoding.arrays.items()
    }
    columns.check_vectors(arrays, stream)
    return codes.of(encoding, arrays)
