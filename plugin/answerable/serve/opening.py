"""A bundle's folder opened: everything in it is checked before the first question."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import codes, columns, site, urls
from . import manifest as m
from .bundle import Bundle, Hints, Name, Postings, Texts
from .codes import Codes
from .encoding import Encoding
from .errors import BundleError
from .manifest import Manifest

_EMPTY: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the SHA-256 of every file; sizes are always compared.
    """
    tried: list[str] = []
    while True:
        manifest = m.read(folder)
        tried.append(manifest.id)
        try:
            return _open(folder, manifest, verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if tried[-2:-1] == [manifest.id]:
                raise BundleError(
                    f"{error.filename} is missing: run `mkdocs build` again"
                ) from None
        except OSError as error:
            raise BundleError(f"{error.filename} cannot be read ({error.strerror})") from None


def _open(folder: Path, manifest: Manifest, verify: bool) -> Bundle:
    paths = {
        name: _sized(folder / m.stored_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    hashes = _Hashes(paths, manifest) if verify else None
    try:
        return _load(manifest, paths)
    except (LookupError, TypeError, ValueError, RecursionError, EOFError, zlib.error) as error:
        raise BundleError(f"{folder} is malformed ({error}): run `mkdocs build` again") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        if hashes:
            hashes.check()


def _sized(path: Path, file: m.File) -> Path:
    size = path.stat().st_size
    if size != file.bytes:
        raise BundleError(
            f"{path} has {size} bytes, its manifest says {file.bytes}: run `mkdocs build` again"
        )
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
        try:
            for name, path in self._paths.items():
                with path.open("rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
                if found != self._files[name].sha256:
                    raise BundleError(f"{path} does not match its hash: run `mkdocs build` again")
        except (OSError, BundleError) as error:
            self._error = error


def _load(manifest: Manifest, paths: Mapping[str, Path]) -> Bundle:
    counts = manifest.counts
    passages = counts["passages"]
    numbers = columns.unpack(
        paths[m.COLUMNS].read_bytes(), m.COLUMNS, {**counts, "blocks": -(-passages // m.BLOCK)}
    )
    records = _json(paths, m.RECORDS)
    pages = columns.texts(_json(paths, m.PASSAGES), ("id", "title", "url"), passages)
    urls.check(pages["url"], m.PASSAGES)
    hints = _hints(_json(paths, m.HINTS), counts["hints"])
    columns.check_rows(
        columns.PASSAGE_RECORDS, numbers[columns.PASSAGE_RECORDS.name], counts["records"]
    )
    columns.check_rows(columns.HINT_OWNERS, numbers[columns.HINT_OWNERS.name], counts["hints"])
    described = site.parse(json.loads(paths[m.SITE].read_bytes()), passages)
    postings = _postings(_inflated(paths, m.LEXICON).decode(), numbers, counts)
    if len(described.languages) > 1:
        columns.check_order(columns.POSTING_PASSAGES, postings.passages, postings.offsets)
    return Bundle(
        manifest=manifest,
        site=described,
        record_ids=columns.texts(records, ("id",), counts["records"])["id"],
        weights=columns.weights(records["weights"], counts["records"]),
        dates=columns.dates(records["dates"], counts["records"]),
        names=_names(records["names"], counts["records"]),
        themes=_names(records["themes"], counts["records"]),
        passage_ids=pages["id"],
        passage_urls=pages["url"],
        passage_titles=pages["title"],
        passage_records=numbers[columns.PASSAGE_RECORDS.name],
        passage_codes=_codes(paths, m.PASSAGE, manifest.encoding, passages),
        texts=_texts(paths[m.TEXTS], numbers[columns.TEXT_BLOCKS.name]),
        postings=postings,
        hints=hints,
        hint_codes=_codes(paths, m.HINT, manifest.encoding, counts["windows"]),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _inflated(paths: Mapping[str, Path], name: str) -> bytes:
    return columns.inflate(paths[name].read_bytes(), name)


def _json(paths: Mapping[str, Path], name: str) -> Any:
    return json.loads(_inflated(paths, name))


def _texts(path: Path, edges: NDArray[np.uint64]) -> Texts:
    size = path.stat().st_size
    columns.check_edges(columns.TEXT_BLOCKS, edges, size)
    return Texts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY)


def _postings(
    lexicon: str, numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    terms = lexicon.split("\n") if lexicon else []
    offsets = numbers[columns.POSTING_OFFSETS.name]
    passages = numbers[columns.POSTING_PASSAGES.name]
    columns.of_each(terms, counts["terms"], m.LEXICON)
    columns.check_edges(columns.POSTING_OFFSETS, offsets, counts["postings"])
    columns.check_rows(columns.POSTING_PASSAGES, passages, counts["passages"])
    return Postings(
        terms=dict(zip(terms, range(len(terms)), strict=True)),
        offsets=offsets,
        passages=passages,
        counts=numbers[columns.POSTING_COUNTS.name],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _names(rows: Any, records: int) -> tuple[Name, ...]:
    names = tuple(Name(str(p), tuple(int(r) for r in rs), int(f)) for p, rs, f in rows)
    if any(not 0 <= r < records for name in names for r in name.records):
        raise ValueError(f"{m.RECORDS} names a record that does not exist")
    return names


def _hints(rows: Mapping[str, Any], count: int) -> Hints:
    found = columns.texts(rows, ("id", "label", "locator", "url"), count)
    urls.check(found["url"], m.HINTS)
    return Hints(found["id"], found["label"], found["locator"], found["url"])


def _codes(paths: Mapping[str, Path], stream: str, encoding: Encoding, count: int) -> Codes:
    """The vectors of a stream as its encoding reads them."""
    arrays = {
        name: columns.mapped(paths[m.array(stream, name)], np.dtype(dtype), (count, *shape))
        for name, (dtype, shape) in encoding.arrays.items()
    }
    columns.check_vectors(arrays, stream)
    return codes.of(encoding, arrays)
