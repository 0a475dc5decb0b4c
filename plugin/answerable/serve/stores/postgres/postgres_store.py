"""The store of a site that a database holds: what is small in memory, all else asked for."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bundle_format.manifest import Manifest, parse_manifest
from ...bundle_format.postings import PhraseIndex, Postings
from ...bundle_format.site_metadata import SiteMetadata
from ...errors import BundleError, StorageError
from ...retrieval.scoring import max_cosine_per_hint
from ...retrieval.store import Candidates, Floats, PassageQuery, Rows
from ...structure import unpack_blocks, unpack_spans
from ...types import Passage, RoutingHint
from ...vectors import scalar_codes
from ...vectors.encodings import Codes, score_codes
from ...vectors.scalar_codes import Float32Codes, Int8Codes
from . import schema, threshold_algorithm
from .connections import OPENING_SECONDS, DatabaseReader, Row
from .database_options import VectorSearch, parse_vector_search
from .postings_cache import PostingsCache
from .schema import (
    BundleTables,
    VectorColumn,
    select_hint_windows,
    select_hints,
    select_passages,
    select_postings,
    select_snapshot,
    select_vectors,
)
from .snapshot import StoreSnapshot, parse_snapshot, unpack_postings
from .threshold_algorithm import complete_candidates, merge_candidates

# The nearest passages of an exact search that are fetched before any others.
MIN_NEAREST = 256
# Others that are looked at beside those that an index gives.
_MAX_INDEX_EXTRAS = 2 * threshold_algorithm.ROWS_PER_FETCH
# Others that are looked at to prove that an exact search leaves nothing out.
_MAX_PROOF_ROWS = 50 * threshold_algorithm.ROWS_PER_FETCH
# So many passages of a language are searched exactly, whatever the search.
_EXACT_UP_TO_ROWS = 20_000
# What adding up single-precision numbers in another order can do.
_SUMMATION_ERROR = 1e-5
# Before the numbers of a vector: how many there are.
_VECTOR_HEADER_BYTES = 4


class PostgresStore:
    """See Store. Every table that it reads is of one bundle, which nothing changes."""

    def __init__(
        self,
        reader: DatabaseReader,
        tables: BundleTables,
        manifest: Manifest,
        search: VectorSearch,
        held: StoreSnapshot,
    ) -> None:
        self.manifest = manifest
        self.key = tables.key
        self.search = search
        self._reader = reader
        self._tables = tables
        self._vectors = VectorColumn(manifest.encoding)
        self._frame = held
        self._kept = PostingsCache()

    @property
    def site(self) -> SiteMetadata:
        return self._frame.site

    @property
    def weights(self) -> Floats:
        return self._frame.weights

    @property
    def dates(self) -> tuple[str | None, ...]:
        return self._frame.dates

    @property
    def title_norms(self) -> Floats:
        return self._frame.title_norms

    @property
    def is_history(self) -> NDArray[np.bool_]:
        return self._frame.is_history

    @property
    def names(self) -> PhraseIndex:
        return self._frame.names

    @property
    def words(self) -> list[str]:
        return self._frame.words.texts()

    @property
    def aliases(self) -> PhraseIndex:
        return self._frame.aliases

    @property
    def title_terms(self) -> PhraseIndex:
        return self._frame.title_terms

    @property
    def label_terms(self) -> PhraseIndex:
        return self._frame.label_terms

    @property
    def themes(self) -> PhraseIndex:
        return self._frame.themes

    @property
    def passage_records(self) -> NDArray[np.uint32]:
        return self._frame.passage_records

    def postings_of(self, terms: Collection[str]) -> Postings:
        """See Store."""
        wanted = sorted(set(terms))
        found = self._kept.of(wanted, self._fetch_postings)
        sizes = [len(rows) for rows, _ in found]
        none: list[NDArray[Any]] = [np.zeros(0, np.uint32)]
        return Postings(
            terms={term: place for place, term in enumerate(wanted)},
            edges=np.cumsum([0, *sizes]).astype(np.uint32),
            passages=np.concatenate([*(rows for rows, _ in found), *none]),
            counts=np.concatenate([*(counts for _, counts in found), none[0].astype(np.uint16)]),
            lengths=self._frame.lengths,
        )

    def passage_candidates(self, wanted: PassageQuery) -> Candidates:
        """See Store.

        An exact search proves that nothing is left out, as long as the proof is affordable. One
        by the index looks at what the index gives and at the passages that their words and names
        bring up.
        """
        count = len(self.passage_records)
        if not count:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        unit, is_exact = wanted.unit, self.search.how == "exact"
        first = max(MIN_NEAREST if is_exact else self.search.ef_search, wanted.top_k)
        found = self._nearest(unit, first)
        if len(found.rows) == count:
            return found
        ceilings = np.full(count, self._ceiling(unit, found), np.float32)
        # Of a language with few pages: others are nearer, and say little of how near these are.
        if wanted.readable.any() and 4 * wanted.readable[found.rows].sum() < first:
            low, high = np.flatnonzero(wanted.readable)[[0, -1]].tolist()
            own = self._nearest(unit, first, (low, high))
            ceilings[low : high + 1] = min(ceilings[0], self._ceiling(unit, own))
            found = merge_candidates(found, own)
        return complete_candidates(
            self.manifest.profile,
            wanted,
            found,
            ceilings,
            lambda rows: self.passage_cosines(unit, rows),
            _MAX_PROOF_ROWS if is_exact else _MAX_INDEX_EXTRAS,
        )

    def _ceiling(self, unit: Floats, found: Candidates) -> float:
        """The cosine that no passage surpasses that is not among the nearest."""
        return min(1.0, float(found.cosines.min(initial=1.0)) + 2 * self._slack(unit))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """See Store. Always exact: hints with something added are looked at where they matter."""
        if not self.manifest.counts["hints"]:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        statement = self._vectors.nearest_hints(self._tables)
        most = max(scalar_codes.SCALAR_POOL, count)
        nearest = self._best_windows(
            unit, self._reader.read(statement, (_format_vector(unit), most))
        )
        # No other hint is nearer than the last of these.
        scores = np.sort(nearest.cosines + added[nearest.rows])[::-1]
        least = float(scores[most - 1]) if len(scores) >= most else -1.0
        reach = self._ceiling(unit, nearest) + added >= least
        reach[nearest.rows] = False
        others = np.flatnonzero(reach & (added > 0))
        if not len(others):
            return nearest
        found = self._reader.read(select_hint_windows(self._tables), (others.tolist(),))
        return merge_candidates(nearest, self._best_windows(unit, found))

    def _best_windows(self, unit: Floats, rows: list[Row]) -> Candidates:
        """The hints of some windows, all of each, by the best cosine of theirs."""
        owners, cosines = self._scored(unit, rows)
        hints, places = np.unique(owners, return_inverse=True)
        best = max_cosine_per_hint(places.astype(np.uint32), cosines, len(hints))
        return Candidates(hints, best)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """See Store."""
        found = self._at(select_passages(self._tables), rows)
        return {row[0]: _parse_passage(row, self.site.language_of(row[0])) for row in found}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """See Store."""
        found = self._at(select_hints(self._tables), rows)
        return {number: RoutingHint(*fields) for number, *fields in found}

    def check(self) -> None:
        """See Store."""
        self._reader.read("SELECT 1")

    def _at(self, statement: str, rows: Collection[int]) -> list[Row]:
        if not rows:
            return []
        found = self._reader.read(statement, (list(rows),))
        if len(found) != len(set(rows)):
            raise StorageError("the database lacks rows of its bundle: publish it again")
        return found

    def _fetch_postings(
        self, terms: list[str]
    ) -> dict[str, tuple[NDArray[np.uint32], NDArray[np.uint16]]]:
        rows = self._reader.read(select_postings(self._tables), (terms,))
        count = len(self.passage_records)
        return {term: unpack_postings(data, count) for term, data in rows}

    def _nearest(
        self, unit: Floats, count: int, within: tuple[int, int] | None = None
    ) -> Candidates:
        """The nearest passages. within: of these rows only, from the first to the last."""
        parameters = (*(within or ()), _format_vector(unit), count)
        is_small = within is not None and within[1] - within[0] < _EXACT_UP_TO_ROWS
        if self.search.how == "exact" or is_small:
            statement = self._vectors.nearest(self._tables, within=within is not None)
            rows = self._reader.read(statement, parameters)
        else:
            settings = {
                "hnsw.ef_search": str(self.search.ef_search),
                "hnsw.iterative_scan": "relaxed_order",
            }
            statement = self._vectors.indexed_nearest(self._tables, within=within is not None)
            rows = self._reader.read(statement, parameters, settings)
        return self._candidates(unit, rows)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """See Store."""
        found = self._at(select_vectors(self._tables), rows.tolist())
        return self._candidates(unit, found)

    def _candidates(self, unit: Floats, rows: list[Row]) -> Candidates:
        numbers, cosines = self._scored(unit, rows)
        order = np.argsort(numbers)
        return Candidates(numbers[order], cosines[order])

    def _scored(self, unit: Floats, rows: list[Row]) -> tuple[Rows, Floats]:
        """The numbers of rows, and their cosines by the bundle's own code and its codes."""
        numbers = np.array([number for number, _, _ in rows], dtype=np.intp)
        norms = np.array([norm for _, norm, _ in rows], dtype=np.float32)
        dimensions = self.manifest.encoding.dimensions
        width, kind = (2, ">f2") if self._vectors.is_whole else (4, ">f4")
        size = _VECTOR_HEADER_BYTES + width * dimensions
        joined = np.frombuffer(b"".join(data for _, _, data in rows), np.uint8)
        if joined.size != size * len(rows):
            raise BundleError("the database's vectors have other dimensions: publish again")
        numerals = np.ascontiguousarray(joined.reshape(-1, size)[:, _VECTOR_HEADER_BYTES:]).view(
            kind
        )
        stream: Codes
        if self._vectors.is_whole:
            stream = Int8Codes(numerals.astype(np.int8), norms)
        else:
            stream = Float32Codes(numerals.astype(np.float32), norms)
        return numbers, score_codes(stream, unit, np.arange(len(rows)))

    def _slack(self, unit: Floats) -> float:
        """By how much a cosine of the database may differ: it reads the question's numbers in half
        precision, and by Cauchy and Schwarz no cosine is off by more than what that takes away.
        """
        if not self._vectors.is_whole:
            return _SUMMATION_ERROR
        lost = unit - unit.astype(np.float16).astype(np.float32)
        return float(np.linalg.norm(lost)) + _SUMMATION_ERROR


def read_served_key(reader: DatabaseReader, name: str) -> str:
    """The key of the bundle that is served under a name; BundleError if there is none."""
    rows = reader.read(schema.SELECT_SERVED_KEY, (name,))
    if not rows:
        raise BundleError(
            f"the database serves nothing called {name!r:.80}: run `mkdocs build` with `store` set"
        )
    return str(rows[0][0])


def open_postgres_store(reader: DatabaseReader, key: str) -> PostgresStore:
    """The store of a bundle by its key; BundleError if it is not what it should be."""
    rows = reader.read(schema.SELECT_BUNDLE, (key,))
    if not rows:
        raise StorageError("this bundle is no longer in the database: ask again")
    version, name, text, search = rows[0]
    if version != schema.TABLE_FORMAT:
        raise BundleError(
            f"the database's tables are of format {version}, and this version reads "
            f"{schema.TABLE_FORMAT}: publish again with the version that serves"
        )
    try:
        told, tables = json.loads(text), BundleTables(key)
    except ValueError as error:
        raise BundleError(
            f"the database's manifest is malformed ({error!s:.200}): publish again"
        ) from None
    manifest = parse_manifest(told, "the database's bundle")
    if manifest.id != name:
        raise BundleError("the database's bundle has another id than its manifest: publish again")
    parts: dict[str, bytes] = dict(reader.read(select_snapshot(tables), (), None, OPENING_SECONDS))
    held = parse_snapshot(parts, manifest)
    return PostgresStore(reader, tables, manifest, parse_vector_search(search), held)


def _parse_passage(row: Row, language: str) -> Passage:
    """The passage of a row; BundleError if its structure is not one of its text."""
    _, name, record, url, title, text, sentences, packed, date = row
    try:
        blocks, spans = json.loads(packed)
        return Passage(
            id=name,
            record=record,
            url=url,
            title=title,
            text=text,
            sentences=tuple(zip(sentences[::2], sentences[1::2], strict=True)),
            date=date,
            language=language,
            blocks=unpack_blocks(blocks, len(text)),
            spans=unpack_spans(spans, len(text)),
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise BundleError(
            f"the database's passage {name!r:.80} is malformed ({error!s:.200}): publish again"
        ) from None


def _format_vector(unit: Floats) -> str:
    """A question as pgvector reads it."""
    return "[" + ",".join(map(repr, unit.tolist())) + "]"
