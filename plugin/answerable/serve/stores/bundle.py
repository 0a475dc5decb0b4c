"""A bundle as a store: files are mapped or read lazily, and checked before the first question."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format import columns
from ..bundle_format import manifest as names
from ..bundle_format.columns import (
    THEME_SEPARATOR,
    TextLines,
    check_offsets,
    check_row_bounds,
    check_row_order,
    check_urls,
    check_vectors,
    hash_file,
    inflate,
    map_array,
    unpack_columns,
    unpack_lines,
)
from ..bundle_format.manifest import (
    MAX_BLOCK_BYTES,
    PASSAGES_PER_BLOCK,
    TEXTS_FILE,
    BundleFile,
    Manifest,
    array_file_name,
    read_manifest,
    stored_file_name,
)
from ..bundle_format.site_data import Postings, SiteColumns, load_site_columns
from ..errors import BUILD_AGAIN, BundleError
from ..retrieval.scoring import find_hint_candidates, find_passage_candidates, score_codes
from ..retrieval.store import Candidates, Floats, PassageQuery, Rows
from ..structure import Block, Span, unpack_blocks, unpack_spans
from ..types import Passage, RoutingHint
from ..vectors import Codes, Encoding, open_codes

# Texts of passages that are cached between questions, of some 3 KB each: to check their structure
# costs more than to parse their JSON.
_CACHED_TEXTS = 512
_CACHED_BLOCKS = 64


@dataclass(frozen=True, slots=True)
class HintColumns:
    """Hold the hints as columns; each is built on demand."""

    ids: TextLines
    labels: TextLines
    locators: TextLines
    urls: TextLines

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RoutingHint]:
        return map(self.row, range(len(self)))

    def row(self, row: int) -> RoutingHint:
        """Build the hint of a row."""
        return RoutingHint(self.ids[row], self.labels[row], self.locators[row], self.urls[row])


@dataclass(frozen=True, slots=True)
class PassageText:
    """Hold the decompressed text of a passage, and offsets of it."""

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


class PassageTexts:
    """Decompress the texts of passages on demand, in blocks, and cache some.

    Block ``b`` is ``data[edges[b]:edges[b + 1]]`` of a mapped file.
    """

    def __init__(self, edges: NDArray[np.uint64], data: NDArray[np.uint8]) -> None:
        self.edges = edges
        self.data = data
        self._read_block = lru_cache(maxsize=_CACHED_BLOCKS)(self.block)
        self._parse_cached = lru_cache(maxsize=_CACHED_TEXTS)(self._parse)

    def read_text(self, row: int, passage_id: str) -> PassageText:
        """Return the text of a row; BundleError if it is malformed or not that passage's."""
        return self._parse_cached(row, passage_id)

    def block(self, number: int) -> list[bytes]:
        """Decompress a block to a line of JSON for each of its passages; BundleError if damaged."""
        start, end = int(self.edges[number]), int(self.edges[number + 1])
        data = self.data[start:end].tobytes()
        text = inflate(data, TEXTS_FILE, MAX_BLOCK_BYTES)
        return text.split(b"\n", PASSAGES_PER_BLOCK)

    def _parse(self, row: int, passage_id: str) -> PassageText:
        block = self._read_block(row // PASSAGES_PER_BLOCK)
        place = row % PASSAGES_PER_BLOCK
        try:
            text = _parse_passage_text(json.loads(block[place])) if place < len(block) else None
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise BundleError(
                f"{TEXTS_FILE} is malformed ({error!s:.200}): {BUILD_AGAIN}"
            ) from None
        if text is None or text.id != passage_id:
            raise BundleError(f"{TEXTS_FILE} lacks {passage_id!r:.80}: {BUILD_AGAIN}")
        return text


def _parse_passage_text(row: Mapping[str, Any]) -> PassageText:
    text = row["text"]
    sentences = tuple((start, end) for start, end in row["sentences"])
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} is not a text")
    last = 0
    for start, end in sentences:
        if type(start) is not int or type(end) is not int or not last <= start <= end <= len(text):
            raise ValueError(f"{start!r:.40} to {end!r:.40} is not a sentence")
        last = end
    blocks = unpack_blocks(row["blocks"], len(text))
    return PassageText(row["id"], text, sentences, blocks, unpack_spans(row["spans"], len(text)))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Bundle(SiteColumns):
    """Hold an opened bundle, the store of a folder, whose every row can be looked at.

    ``passage_ids``, ``passage_urls`` and ``passage_titles`` have one value for each passage,
    ``record_ids``, ``record_summaries`` and ``record_themes`` (divided by ``THEME_SEPARATOR``) one
    for each record, ``hint_owners`` (a row of the hints) one for each row of ``hint_codes``.
    """

    manifest: Manifest
    record_ids: Sequence[str]
    record_summaries: TextLines
    record_themes: TextLines
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_codes: Codes
    texts: PassageTexts
    postings: Postings
    forms: Mapping[str, TextLines]
    spellings: TextLines
    hints: HintColumns
    hint_codes: Codes
    hint_owners: NDArray[np.uint32]

    @property
    def store_key(self) -> str:
        """Return "": the bundle itself, and no other store of it."""
        return ""

    @property
    def words(self) -> Sequence[str]:
        """Decode the site's words, for a question with a word that no passage holds."""
        return self.spellings.texts()

    def term_forms(self, language: str) -> Iterator[tuple[str, str]]:
        """Decode the forms of each term in a language."""
        return zip(self.postings.terms, self.forms[language].texts(), strict=True)

    def passage(self, row: int) -> Passage:
        """Build the passage of a row."""
        record = int(self.passage_records[row])
        text = self.texts.read_text(row, self.passage_ids[row])
        return Passage(
            id=text.id,
            record=self.record_ids[record],
            url=self.passage_urls[row],
            title=self.passage_titles[row],
            text=text.text,
            sentences=text.sentences,
            date=self.dates[record],
            language=self.site.language_of(row),
            blocks=text.blocks,
            spans=text.spans,
            summary=self.record_summaries[record],
            themes=tuple(filter(None, self.record_themes[record].split(THEME_SEPARATOR))),
        )

    def passages(self) -> Iterator[Passage]:
        """Build every passage, in the order of rows."""
        return map(self.passage, range(len(self.passage_ids)))

    def postings_of(self, terms: Collection[str]) -> Postings:
        """Return the postings of all terms, which are in memory."""
        del terms
        return self.postings

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score the best passages by the estimates of all."""
        return find_passage_candidates(self.passage_codes, self.manifest.profile, query)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, score_codes(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Score the best hints by the estimates of all."""
        return find_hint_candidates(self.hint_codes, self.hint_owners, added, unit, count)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Build the passages of some rows."""
        # In the order of rows, so that each block is decompressed once.
        return {row: self.passage(row) for row in sorted(rows)}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Build the hints of some rows."""
        return {row: self.hints.row(row) for row in rows}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        owners = self.passage_records.tolist()
        records = {row for row, record in enumerate(self.record_ids) if record == name}
        records |= {
            owner
            for owner, url in zip(owners, self.passage_urls, strict=True)
            if url.partition("#")[0] == name
        }
        return [row for row, owner in enumerate(owners) if owner in records]

    def check_reachable(self) -> None:
        """Do nothing: everything was checked when it was opened."""


_EMPTY_BYTES: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    """
    last_id = None
    while True:
        manifest = read_manifest(folder, verify=verify)
        try:
            return _open_files(folder, manifest, verify=verify)
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


def _open_files(folder: Path, manifest: Manifest, *, verify: bool) -> Bundle:
    paths = {
        name: _check_size(folder / stored_file_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    try:
        return _load_bundle(manifest, paths)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        for name, path in paths.items() if verify else ():
            if hash_file(path) != manifest.files[name].sha256:
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


def _load_bundle(manifest: Manifest, paths: Mapping[str, Path]) -> Bundle:
    counts = manifest.counts
    passages = counts["passages"]
    numbers = unpack_columns(
        _read_compressed(paths[names.COLUMNS_FILE]),
        names.COLUMNS_FILE,
        {**counts, "blocks": -(-passages // names.PASSAGES_PER_BLOCK)},
    )

    def lines(name: str, *lengths: int) -> list[TextLines]:
        return unpack_lines(_read_compressed(paths[name]), name, *lengths)

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
    tags = site_columns.site.tags
    if len(tags) > 1:
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
        forms=dict(zip(tags, lines(names.FORMS_FILE, *[counts["terms"]] * len(tags)), strict=True)),
        spellings=lines(names.WORDS_FILE, counts["words"])[0],
        hints=hints,
        hint_codes=_map_codes(paths, names.HINT_STREAM, manifest.encoding, counts["windows"]),
        hint_owners=numbers[columns.HINT_OWNERS.name],
    )


def _read_compressed(path: Path) -> bytes:
    return inflate(path.read_bytes(), path.name)


def _map_texts(path: Path, edges: NDArray[np.uint64]) -> PassageTexts:
    size = path.stat().st_size
    check_offsets(columns.TEXT_BLOCKS, edges, size)
    return PassageTexts(edges, np.memmap(path, dtype=np.uint8, mode="r") if size else _EMPTY_BYTES)


def _load_postings(
    lexicon: TextLines, numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> Postings:
    edges = numbers[columns.POSTING_EDGES.name]
    check_offsets(columns.POSTING_EDGES, edges, counts["postings"])
    terms = {term: row for row, term in enumerate(lexicon.texts())}
    if len(terms) != len(lexicon):
        raise ValueError("a term of its lexicon stands there twice")
    return Postings(
        terms=terms,
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
