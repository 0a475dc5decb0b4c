"""A site in PostgreSQL as a store: exact search, and postings read until no passage can rise."""

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve.errors import BundleError, StorageError
from ..serve.index.columns import Index
from ..serve.index.manifest import Manifest, Profile, parse_manifest
from ..serve.retrieval.bm25 import select_top_rows
from ..serve.retrieval.rank import Ranking, max_cosine_per_hint, score_rows
from ..serve.retrieval.store import Candidates, Floats, PassageQuery, Rows, TermPostings
from ..serve.types import Passage, RoutingHint
from ..serve.vectors import Int8Codes
from . import tables
from .connections import OPENING_SECONDS, Fetch, Row
from .options import SearchMethod, check_search_method
from .rows import PassagePostings, PostingsCache, parse_snapshot, unpack_postings
from .tables import BundleTables, VectorColumn

ROWS_PER_FETCH = 1000

FetchCosines = Callable[[Rows], Candidates]


def complete_candidates(
    profile: Profile,
    query: PassageQuery,
    candidates: Candidates,
    ceilings: NDArray[np.float32],
    fetch: FetchCosines,
    limit: int,
) -> Candidates:
    """Add to the nearest passages all others that may be among the best.

    ceilings: (n,) bound of the cosine of each passage that is not a candidate. limit: at most so
    many others are fetched, those with the highest bounds first. Of passages under the floor only
    those better than the candidates are looked for: there may be none at all.
    """
    count = len(query.signals.weight)
    is_unseen = np.ones(count, dtype=np.bool_)
    is_unseen[candidates.rows] = False
    bounds = score_rows(profile, np.arange(count), ceilings, query.signals)
    fetched = 0
    while is_unseen.any() and fetched < limit:
        is_in_reach = is_unseen & _find_reachable(profile, query, candidates, bounds)
        rows = np.sort(select_top_rows(bounds.score, ROWS_PER_FETCH, is_in_reach))
        if not len(rows):
            break
        candidates = merge_candidates(candidates, fetch(rows))
        is_unseen[rows] = False
        fetched += len(rows)
    return candidates


def _find_reachable(
    profile: Profile, query: PassageQuery, candidates: Candidates, bounds: Ranking
) -> NDArray[np.bool_]:
    """Find the passages, (n,), that may be among the best by their bounds."""
    signals = query.signals.select(candidates.rows)
    scores = score_rows(profile, candidates.rows, candidates.cosines, signals)
    readable = query.readable
    lowest = _find_lowest_score(scores, scores.above_floor, query.top_k)
    is_in_reach = bounds.above_floor & (bounds.score >= lowest)
    if readable.any():
        lowest = _find_lowest_score(
            scores, scores.above_floor & readable[candidates.rows], query.top_k
        )
        is_in_reach |= bounds.above_floor & readable & (bounds.score >= lowest)
    if query.near:
        is_near = ~scores.above_floor & (scores.base >= query.near_floor)
        lowest = _find_lowest_score(scores, is_near, query.near)
        if max(lowest, query.near_floor) > -math.inf:
            is_in_reach |= (bounds.base >= query.near_floor) & (bounds.score >= lowest)
    return is_in_reach


def _find_lowest_score(scores: Ranking, among: NDArray[np.bool_], count: int) -> float:
    """Return the score of the last of the best ``count``; -inf where there are fewer."""
    best = select_top_rows(scores.score, count, among)
    return float(scores.score[best[-1]]) if len(best) == count else -math.inf


def merge_candidates(first: Candidates, second: Candidates) -> Candidates:
    """Merge two sets of candidates, each row once."""
    rows, places = np.unique(np.concatenate([first.rows, second.rows]), return_index=True)
    return Candidates(rows, np.concatenate([first.cosines, second.cosines])[places])


# The nearest rows of an exact search that are fetched before any others.
MIN_NEAREST = 256
# Others that are scored beside those that an index gives.
_MAX_INDEX_EXTRAS = 2 * ROWS_PER_FETCH
# Others that are scored to prove that an exact search leaves nothing out.
_MAX_PROOF_ROWS = 50 * ROWS_PER_FETCH
# The passages that the index is asked for, which are ten times pgvector's default.
_HNSW_NEAREST = 400
# Up to so many passages of a language are searched exactly, whatever the search.
_EXACT_UP_TO_ROWS = 20_000
# Error of adding up single-precision numbers in another order.
_SUMMATION_ERROR = 1e-5
# Precedes the numbers of a vector: how many there are.
_VECTOR_HEADER_BYTES = 4


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PostgresStore:
    """A bundle in its tables, which nothing changes, whose rows are scored as the bundle's are."""

    manifest: Manifest
    index: Index
    fetch: Fetch
    tables: BundleTables
    search: SearchMethod
    postings_cache: PostingsCache = field(default_factory=PostingsCache)

    @property
    def _vectors(self) -> VectorColumn:
        return VectorColumn(self.manifest.dimensions)

    def postings_of(self, terms: Collection[str]) -> TermPostings:
        """Assemble the postings of some terms, fetching those that are not cached."""
        distinct = sorted(set(terms))
        postings = self.postings_cache.get(distinct, self._fetch_postings)
        none: list[NDArray[Any]] = [np.zeros(0, np.uint32)]
        return TermPostings(
            terms={term: place for place, term in enumerate(distinct)},
            edges=np.cumsum([0, *(len(rows) for rows, _ in postings)]).astype(np.uint32),
            passages=np.concatenate([*(rows for rows, _ in postings), *none]),
            counts=np.concatenate([*(counts for _, counts in postings), none[0].astype(np.uint16)]),
            lengths=self.index.passage_lengths,
        )

    def _fetch_postings(self, terms: list[str]) -> dict[str, PassagePostings]:
        rows = self._fetch(tables.SELECT_POSTINGS, terms)
        count = len(self.index.passage_records)
        return {term: unpack_postings(data, count) for term, data in rows}

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Find the passages that may come first.

        An exact search proves that nothing is left out, as long as the proof is affordable. One
        by the index scores what the index gives and the passages that their words and names
        bring up.
        """
        count = len(self.index.passage_records)
        if not count:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        unit, is_exact = query.unit, self.search == "exact"
        first = max(MIN_NEAREST if is_exact else _HNSW_NEAREST, query.top_k)
        nearest = self._find_nearest(unit, first)
        if len(nearest.rows) == count:
            return nearest
        ceilings = np.full(count, self._ceiling(unit, nearest), np.float32)
        # Of a language with few pages: others are nearer, and say little of how near these are.
        if query.readable.any() and 4 * query.readable[nearest.rows].sum() < first:
            low, high = np.flatnonzero(query.readable)[[0, -1]].tolist()
            of_language = self._find_nearest(unit, first, (low, high))
            ceilings[low : high + 1] = min(ceilings[0], self._ceiling(unit, of_language))
            nearest = merge_candidates(nearest, of_language)
        return complete_candidates(
            self.manifest.profile,
            query,
            nearest,
            ceilings,
            lambda rows: self.passage_cosines(unit, rows),
            _MAX_PROOF_ROWS if is_exact else _MAX_INDEX_EXTRAS,
        )

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Fetch and score the vectors of some passages."""
        return self._score_passages(unit, self._read_rows(tables.SELECT_VECTORS, rows.tolist()))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Find the best hints, always exactly: those with something added where it matters."""
        if not self.manifest.counts["hints"]:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        limit = max(MIN_NEAREST, count)
        windows = self._fetch(self._vectors.select_nearest_hints(), _format_vector(unit), limit)
        nearest = self._score_hints(unit, windows)
        # No other hint is nearer than the last of these.
        scores = np.sort(nearest.cosines + added[nearest.rows])[::-1]
        threshold = float(scores[limit - 1]) if len(scores) >= limit else -1.0
        is_in_reach = self._ceiling(unit, nearest) + added >= threshold
        is_in_reach[nearest.rows] = False
        others = np.flatnonzero(is_in_reach & (added > 0))
        if not len(others):
            return nearest
        windows = self._fetch(tables.SELECT_WINDOWS, others.tolist())
        return merge_candidates(nearest, self._score_hints(unit, windows))

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Fetch the passages of some rows; BundleError for a malformed one."""
        fetched = self._read_rows(tables.SELECT_PASSAGES, rows)
        return {row[0]: _make_passage(row, self.index.site.language_of(row[0])) for row in fetched}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Fetch the hints of some rows."""
        fetched = self._read_rows(tables.SELECT_HINTS, rows)
        return {number: RoutingHint(*fields) for number, *fields in fetched}

    def rows_of_page(self, name: str) -> list[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        return [number for (number,) in self._fetch(tables.SELECT_PAGE, name, name)]

    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        return self.fetch(self.tables.name_tables(statement), parameters)

    def _read_rows(self, statement: str, rows: Collection[int]) -> list[Row]:
        if not rows:
            return []
        fetched = self._fetch(statement, list(rows))
        if len(fetched) != len(set(rows)):
            raise StorageError("the database lacks rows of its bundle: publish it again")
        return fetched

    def _find_nearest(
        self, unit: Floats, count: int, within: tuple[int, int] | None = None
    ) -> Candidates:
        """Find the nearest passages. within: of the rows from the first to the last only."""
        parameters = (*(within or ()), _format_vector(unit), count)
        is_small = within is not None and within[1] - within[0] < _EXACT_UP_TO_ROWS
        indexed = self.search != "exact" and not is_small
        statement = self._vectors.select_nearest(indexed=indexed, within=within is not None)
        settings = {
            "hnsw.ef_search": str(_HNSW_NEAREST),
            "hnsw.iterative_scan": "relaxed_order",
        }
        vectors = self.fetch(
            self.tables.name_tables(statement), parameters, settings if indexed else None
        )
        return self._score_passages(unit, vectors)

    def _score_passages(self, unit: Floats, vectors: list[Row]) -> Candidates:
        numbers, cosines = self._score(unit, vectors)
        order = np.argsort(numbers)
        return Candidates(numbers[order], cosines[order])

    def _score_hints(self, unit: Floats, windows: list[Row]) -> Candidates:
        """Score hints by the best cosine of their windows, all of which are given."""
        owners, cosines = self._score(unit, windows)
        hints, places = np.unique(owners, return_inverse=True)
        best = max_cosine_per_hint(places.astype(np.uint32), cosines, len(hints))
        return Candidates(hints, best)

    def _score(self, unit: Floats, vectors: list[Row]) -> tuple[Rows, Floats]:
        """Decode vectors and score them as the bundle does; returns (numbers, cosines)."""
        numbers = np.array([number for number, _, _ in vectors], dtype=np.intp)
        norms = np.array([norm for _, norm, _ in vectors], dtype=np.float32)
        size = _VECTOR_HEADER_BYTES + 2 * self.manifest.dimensions
        data = np.frombuffer(b"".join(data for _, _, data in vectors), np.uint8)
        if data.size != size * len(vectors):
            raise BundleError("the database's vectors have other dimensions: publish again")
        values = np.ascontiguousarray(data.reshape(-1, size)[:, _VECTOR_HEADER_BYTES:]).view(">f2")
        return numbers, Int8Codes(values.astype(np.int8), norms).score(unit)

    def _ceiling(self, unit: Floats, nearest: Candidates) -> float:
        """Bound the cosine of all that is not among the nearest."""
        return min(1.0, float(nearest.cosines.min(initial=1.0)) + 2 * self._slack(unit))

    def _slack(self, unit: Floats) -> float:
        """Bound by how much a cosine of the database may differ.

        It reads the question's numbers in half precision, and by Cauchy and Schwarz no cosine is
        off by more than the length of what that takes away.
        """
        rounding = unit - unit.astype(np.float16).astype(np.float32)
        return float(np.linalg.norm(rounding)) + _SUMMATION_ERROR


def read_served_key(fetch: Fetch, name: str) -> str:
    """Read the key of the bundle that is served under a name; BundleError if there is none."""
    rows = fetch(tables.SELECT_SERVED_KEY, (name,))
    if not rows:
        raise BundleError(
            f"the database serves nothing called {name!r:.80}: set `store` and run `answerable "
            "build`"
        )
    return str(rows[0][0])


def open_postgres_store(fetch: Fetch, key: str) -> PostgresStore:
    """Open the store of a bundle by its key; BundleError if it is not what it should be."""
    rows = fetch(tables.SELECT_BUNDLE, (key,))
    if not rows:
        raise StorageError("this bundle is no longer in the database: ask again")
    version, bundle_id, text, search = rows[0]
    if version != tables.TABLE_FORMAT:
        raise BundleError(
            f"the database's tables are of format {version}, and this version reads "
            f"{tables.TABLE_FORMAT}: publish again with the version that serves"
        )
    try:
        data, bundle_tables = json.loads(text), BundleTables(key)
    except ValueError as error:
        raise BundleError(
            f"the database's manifest is malformed ({error!s:.200}): publish again"
        ) from None
    manifest = parse_manifest(data, "the database's bundle")
    if manifest.id != bundle_id:
        raise BundleError("the database's bundle has another id than its manifest: publish again")
    statement = bundle_tables.name_tables(tables.SELECT_SNAPSHOT)
    parts: dict[str, bytes] = dict(fetch(statement, (), None, OPENING_SECONDS))
    index = parse_snapshot(parts, manifest)
    if check_search_method(search) != "exact":
        # An index of a database may find less: its answers are cached apart.
        manifest = replace(manifest, generator=f"{manifest.generator} ({search})")
    return PostgresStore(manifest, index, fetch, bundle_tables, search)


def _make_passage(row: Row, language: str) -> Passage:
    """Make the passage of a row."""
    _, passage_id, record, url, title, markdown, date, summary, themes = row
    return Passage(
        id=passage_id,
        record=record,
        url=url,
        title=title,
        markdown=markdown,
        date=date,
        language=language,
        summary=summary,
        themes=tuple(themes),
    )


def _format_vector(unit: Floats) -> str:
    """Format a question as pgvector reads it."""
    return "[" + ",".join(map(repr, unit.tolist())) + "]"
