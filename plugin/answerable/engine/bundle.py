"""A bundle as a store: an index that is in memory but for the texts of its passages.

Everything in its folder is checked here, once, before the first question.
"""

import mmap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from .errors import BUILD_AGAIN, BundleError
from .index.column_types import COLUMN_TYPES, expand_places, unpack_columns
from .index.columns import (
    COLUMNS,
    NO_CODES,
    PRIVATE_KINDS,
    Column,
    Index,
    SiteMetadata,
    list_columns,
)
from .index.format import (
    MALFORMED,
    Container,
    join_containers,
    parse_content,
    unpack_container,
)
from .index.manifest import Manifest, Pack, name_file, read_manifest
from .retrieval.store import Candidates, PassageQuery, Store, TermPostings, memoize_per_store
from .text.tokenization import is_language_tag
from .text.urls import is_safe_url
from .types import Passage, RoutingHint
from .vectors import Floats, Int8Codes, Rows

# Returns the bytes of a file of the index.
ReadPack = Callable[[Pack], bytes | memoryview]
# Unpacks a part of a file.
UnpackPart = Callable[[], Container]
# The kind of file whose parts are read when they are asked for.
_LAZY_KIND = "texts"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Bundle:
    """An index whose every row can be looked at, and its manifest."""

    manifest: Manifest
    index: Index

    @property
    def hints(self) -> list[RoutingHint]:
        """All hints, in the order of rows."""
        return list(map(self.index.make_hint, range(len(self.index.hint_ids))))

    def passage(self, row: int) -> Passage:
        """Build the passage of a row."""
        index = self.index
        columns = (index.passage_ids, index.passage_urls, index.passage_titles, index.texts)
        return index.make_passage(row, *(column[row] for column in columns))

    def passages(self) -> Iterator[Passage]:
        """Build every passage, in the order of rows."""
        return map(self.passage, range(len(self.index.passage_ids)))

    def postings_of(self, terms: Collection[str]) -> TermPostings:
        """Return the postings of all terms, which are in memory."""
        del terms
        return _index_postings(self)

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score all passages."""
        codes = self.index.codes
        return Candidates(np.arange(len(codes)), codes.score(query.unit))

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, self.index.codes.select_rows(rows).score(unit))

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Build the passages of some rows."""
        # In the order of rows, so that each shard is decompressed once.
        return {row: self.passage(row) for row in sorted(rows)}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        urls = enumerate(self.index.passage_urls)
        found = [row for row, url in urls if url.partition("#")[0] == name]
        return self.index.list_page_rows(name, found)


@memoize_per_store
def _index_postings(store: Store, /) -> TermPostings:
    index, postings = store.index, store.index.postings
    rows = {term: row for row, term in enumerate(index.terms)}
    return TermPostings(
        postings.edges, postings.passages, postings.counts, rows, index.passage_lengths
    )


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the hash of every file and of the manifest; sizes are always compared.
    """
    last_id = None
    while True:
        manifest = read_manifest(folder, verify=verify)
        try:
            read = partial(_read_pack, folder, verify=verify)
            return Bundle(manifest, load_index(manifest, read))
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


def _read_pack(folder: Path, pack: Pack, *, verify: bool) -> bytes | memoryview:
    """Map a file, so that no more of it is read than questions need."""
    path = folder / pack.name
    if (size := path.stat().st_size) != pack.bytes:
        raise BundleError(f"{path} has {size} bytes, its manifest says {pack.bytes}: {BUILD_AGAIN}")
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")
    if verify and name_file(pack.kind, data) != pack.name:
        raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")
    return data


def load_index(manifest: Manifest, read: ReadPack, *, is_public: bool = False) -> Index:
    """Read and check an index. BundleError if anything in it is malformed.

    is_public: without the columns that no site publishes, which are empty then.
    """
    columns = [column for column in COLUMNS if not (is_public and column.private)]
    values: dict[str, Any] = {}
    try:
        # All files are opened now: the next build removes them from the folder.
        parts = _read_parts(manifest, read, is_public=is_public)
        for kind in dict.fromkeys(column.file for column in columns):
            if kind == _LAZY_KIND:
                length, rows = manifest.counts["passages"], manifest.rows_per_part
                values["texts"] = LazyTexts(length, rows, parts.get(kind, []))
            elif kind in parts:
                container = join_containers([unpack() for unpack in parts[kind]])
                values |= unpack_columns(list_columns(kind), container)
        expand_places(values)
        for name in ("codes", "hint_codes"):
            # Where there are no vectors, they have their dimensions too.
            codes: Int8Codes = values.get(name, NO_CODES)
            numbers = codes.codes.reshape(len(codes), manifest.dimensions)
            values[name] = replace(codes, codes=numbers)
        index = Index(**values)
        check_index(index, manifest.counts, columns)
        return index
    except MALFORMED as error:
        raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def _read_parts(
    manifest: Manifest, read: ReadPack, *, is_public: bool
) -> dict[str, list[UnpackPart]]:
    """Read the parts of all files by kind, or of those that a site publishes."""
    parts: dict[str, list[UnpackPart]] = {}
    for pack in manifest.packs:
        if is_public and pack.kind in PRIVATE_KINDS:
            continue
        data, end = memoryview(read(pack)), 0
        for part in pack.parts:
            start, end = end, end + part.bytes
            stored = data[start:end], pack.name
            parts.setdefault(part.kind, []).append(
                partial(unpack_container, *stored, part.content)
                if part.content
                else partial(parse_content, *stored)
            )
    return parts


class LazyTexts(Sequence[str]):
    """The texts of passages, read from their parts when they are asked for, some kept in memory.

    ``length``: the number of passages. ``rows``: how many a part holds.
    """

    def __init__(self, length: int, rows: int, parts: Sequence[UnpackPart]) -> None:
        if len(parts) != -(-length // rows):
            raise ValueError("the parts of its texts do not cover its passages")
        self._length, self._rows, self._parts = length, rows, parts
        self._read_part = lru_cache(maxsize=64)(self._read)

    def __len__(self) -> int:
        return self._length

    # A slice is asked for nowhere.
    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < self._length:
            raise IndexError(row)
        return self._read_part(row // self._rows)[row % self._rows]

    def _read(self, number: int) -> Sequence[str]:
        try:
            texts = msgspec.convert(self._parts[number]().values["texts"], list[str])
            if len(texts) != min(self._rows, self._length - number * self._rows):
                raise ValueError(f"{len(texts)} texts")
        except MALFORMED as error:
            raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
        return texts


def check_index(index: Index, counts: Mapping[str, int], columns: Iterable[Column]) -> None:
    """Compare columns with each other and the manifest. An error is one of ``MALFORMED``.

    columns: those that were read, others are empty.
    """
    for column in columns:
        value = getattr(index, column.name)
        if column.counted and len(value) != counts[column.counted]:
            counted = f"{counts[column.counted]} {column.counted} instead of {len(value)}"
            raise ValueError(f"its manifest counts {counted}, see {column.name}")
        rows = COLUMN_TYPES[column.type].rows_of(value) if column.points_to else np.zeros(0)
        if len(rows) and int(rows.max()) >= counts[column.points_to]:
            raise ValueError(f"{column.name} points past the last of its {column.points_to}")
    passages = counts["passages"]
    if (terms := len(set(index.terms))) != counts["terms"]:
        raise ValueError(f"its manifest counts {counts['terms']} terms instead of {terms}")
    if len(index.postings.edges) - 1 not in (len(index.terms), 0):
        raise ValueError("its postings do not match its terms")
    if any(len(index.forms[tag]) != len(index.terms) for tag in index.site.tags):
        raise ValueError("its forms do not match its terms")
    if (index.passage_sections > np.arange(passages)).any():
        raise ValueError("passage_sections points past its own row")
    if not index.question_norms.all() or (index.has_answer > 0).sum() != len(index.answers):
        raise ValueError("its questions do not match their norms or answers")
    _check_languages(index.site, passages)
    own = () if index.site.url is None else (index.site.url,)
    for url in chain(own, index.record_urls, index.passage_urls, index.hint_urls):
        if not is_safe_url(url):
            raise ValueError(f"it holds the unsafe url {url!r:.80}")


def _check_languages(site: SiteMetadata, passages: int) -> None:
    """Raise ValueError for languages that do not cover each passage once."""
    ends = [0, *(language.end for language in site.languages)]
    if [language.first for language in site.languages] != ends[:-1] or ends[-1] != passages:
        raise ValueError("the languages do not cover the passages in order")
    tags = {language.tag for language in site.languages if is_language_tag(language.tag)}
    if len(tags) != len(site.languages) or any(x.first >= x.end for x in site.languages):
        raise ValueError("a language is not a tag, is empty or occurs twice")
