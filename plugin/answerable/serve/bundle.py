"""The serve-time artifact: opening a bundle and reading from it."""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import columns, site
from . import manifest as m
from .errors import BundleError
from .manifest import Manifest
from .site import Site
from .types import Passage, RoutingHint


@dataclass(frozen=True, slots=True)
class Vectors:
    """The quantized rows of one stream: codes (n, d) int8, inverse norms (n,) float32."""

    codes: NDArray[np.int8]
    inverse_norms: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Postings:
    """The lexical index of passages: for each term, which passages hold it and how often.

    ``passages`` and ``counts`` are parallel; term ``t`` owns ``offsets[t]:offsets[t + 1]``.
    ``lengths`` (n,) counts the terms of each passage.
    """

    terms: Mapping[str, int]
    offsets: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Name:
    """An authored phrase, the records it belongs to and in how many records it occurs."""

    phrase: str
    records: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, eq=False)
class Bundle:
    """An opened bundle; arrays are mapped, passages are decompressed when asked for.

    ``weights`` and ``dates`` have one value for each record.
    """

    manifest: Manifest
    site: Site
    record_ids: Sequence[str]
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    names: tuple[Name, ...]
    themes: tuple[Name, ...]
    hints: tuple[RoutingHint, ...]
    passage_vectors: Vectors
    passage_records: NDArray[np.int32]
    hint_vectors: Vectors
    hint_owners: NDArray[np.int32]
    postings: Postings
    blocks: NDArray[np.uint64]
    text: NDArray[np.uint8]

    def passage(self, row: int) -> Passage:
        """The passage of a row."""
        data = self._block(row // m.BLOCK)[row % m.BLOCK]
        return Passage(
            id=data["id"],
            record=self.record_ids[int(self.passage_records[row])],
            url=data["url"],
            title=data["title"],
            text=data["text"],
            sentences=tuple((start, end) for start, end in data["sentences"]),
            date=data["date"],
            language=self.site.language_of(row),
        )

    @cached_property
    def _block(self) -> Callable[[int], list[dict[str, Any]]]:
        """Reads a block by its number, and keeps some."""
        return lru_cache(maxsize=64)(partial(_read_block, self.blocks, self.text))


def _read_block(
    blocks: NDArray[np.uint64], text: NDArray[np.uint8], number: int
) -> list[dict[str, Any]]:
    start, end = int(blocks[number]), int(blocks[number + 1])
    lines = columns.inflate(text[start:end].tobytes(), m.PASSAGES).splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for row in rows:
        _check_url(row["url"], m.PASSAGES)
    return rows


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
        name: _checked(folder / m.stored_name(name, file.sha256), file, verify)
        for name, file in manifest.files.items()
    }
    try:
        return _load(manifest, paths)
    except (LookupError, TypeError, ValueError, RecursionError, EOFError, zlib.error) as error:
        raise BundleError(f"{folder} is malformed ({error}): run `mkdocs build` again") from None


def _checked(path: Path, file: m.File, verify: bool) -> Path:
    size = path.stat().st_size
    if size != file.bytes:
        raise BundleError(
            f"{path} has {size} bytes, its manifest says {file.bytes}: run `mkdocs build` again"
        )
    if verify:
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                raise BundleError(f"{path} does not match its hash: run `mkdocs build` again")
    return path


def _load(manifest: Manifest, paths: Mapping[str, Path]) -> Bundle:
    counts = manifest.counts
    dimensions = manifest.identity.dimensions
    if manifest.encoding != "int8":
        raise BundleError(
            f"encoding {manifest.encoding!r} is unknown to this version: upgrade mkdocs-answerable"
        )
    passages, windows = counts["passages"], counts["windows"]
    terms = _inflated(paths, m.LEXICON).decode().split("\n")
    terms = terms if terms != [""] else []
    blocks = columns.array(paths[m.PASSAGE_BLOCKS], np.uint64, (-(-passages // m.BLOCK) + 1,))
    text = np.memmap(paths[m.PASSAGES], dtype=np.uint8, mode="r") if passages else _EMPTY
    columns.check_edges(m.PASSAGE_BLOCKS, blocks, len(text))
    described = site.parse(json.loads(paths[m.SITE].read_bytes()), passages)
    records = json.loads(_inflated(paths, m.RECORDS))
    record_count = len(records["id"])
    hints = _hints(json.loads(_inflated(paths, m.HINTS)))
    postings = _postings(paths, terms, passages)
    if len(described.languages) > 1:
        columns.check_order(m.POSTING_PASSAGES, postings.passages, postings.offsets)
    return Bundle(
        manifest=manifest,
        site=described,
        record_ids=records["id"],
        weights=columns.weights(records["weights"], record_count),
        dates=columns.dates(records["dates"], record_count),
        names=_names(records["names"], record_count),
        themes=_names(records["themes"], record_count),
        hints=hints,
        passage_vectors=Vectors(
            columns.array(paths[m.PASSAGE_CODES], np.int8, (passages, dimensions)),
            columns.finite(paths[m.PASSAGE_INVERSE_NORMS], passages),
        ),
        passage_records=columns.indices(paths[m.PASSAGE_RECORDS], passages, record_count),
        hint_vectors=Vectors(
            columns.array(paths[m.HINT_CODES], np.int8, (windows, dimensions)),
            columns.finite(paths[m.HINT_INVERSE_NORMS], windows),
        ),
        hint_owners=columns.indices(paths[m.HINT_OWNERS], windows, len(hints)),
        postings=postings,
        blocks=blocks,
        text=text,
    )


_EMPTY: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def _inflated(paths: Mapping[str, Path], name: str) -> bytes:
    return columns.inflate(paths[name].read_bytes(), name)


def _postings(paths: Mapping[str, Path], terms: Sequence[str], passages: int) -> Postings:
    offsets = columns.array(paths[m.POSTING_OFFSETS], np.uint32, (len(terms) + 1,))
    total = int(offsets[-1])
    columns.check_edges(m.POSTING_OFFSETS, offsets, total)
    return Postings(
        terms={term: index for index, term in enumerate(terms)},
        offsets=offsets,
        passages=columns.indices(paths[m.POSTING_PASSAGES], total, passages, np.uint32),
        counts=columns.array(paths[m.POSTING_COUNTS], np.uint16, (total,)),
        lengths=columns.array(paths[m.PASSAGE_LENGTHS], np.uint32, (passages,)),
    )


def _names(rows: Sequence[Sequence[Any]], records: int) -> tuple[Name, ...]:
    names = tuple(Name(str(p), tuple(int(r) for r in rs), int(f)) for p, rs, f in rows)
    if any(not 0 <= r < records for name in names for r in name.records):
        raise ValueError(f"{m.RECORDS} names a record that does not exist")
    return names


def _hints(columns: Mapping[str, Sequence[str]]) -> tuple[RoutingHint, ...]:
    rows = zip(columns["id"], columns["label"], columns["locator"], columns["url"], strict=True)
    hints = tuple(RoutingHint(*row) for row in rows)
    for hint in hints:
        _check_url(hint.url, m.HINTS)
    return hints


def is_safe_url(url: str) -> bool:
    """Whether a url is root-relative or absolute http(s), without control characters."""
    if any(c <= " " or "\x7f" <= c <= "\xa0" or c == "\\" for c in url):
        return False
    return url.startswith(("https://", "http://")) or (
        url.startswith("/") and not url.startswith("//")
    )


def _check_url(url: object, name: str) -> None:
    if not isinstance(url, str) or not is_safe_url(url):
        raise BundleError(f"{name} holds the unsafe url {url!r}: run `mkdocs build` again")
