"""A site in PostgreSQL as a store, whose answers are those of its bundle."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..engine.errors import BundleError
from ..engine.index.columns import Index
from ..engine.index.manifest import Manifest, Profile, parse_manifest
from ..engine.retrieval.rank import Ranking, score_candidates, select_top_rows
from ..engine.retrieval.store import (
    Candidates,
    PassageQuery,
    Store,
    TermPostings,
    memoize_per_store,
)
from ..engine.types import Passage
from ..engine.vectors import Floats, Rows
from . import tables
from .connections import Fetch, Row
from .rows import PassagePostings, format_vector, read_vectors, unpack_memory, unpack_postings

# The nearest passages that are fetched before any others, and how many others at a time.
NEAREST, ROWS_PER_FETCH = 400, 1000
# Postings that a store keeps before it begins anew, 30 MB of them.
_CACHED_POSTINGS = 5_000_000
# Error of adding up single-precision numbers in another order.
_SUMMATION_ERROR = 1e-5


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PostgresStore:
    """An index in tables, which nothing changes.

    Notes and all that is small are in memory, and texts, vectors and postings of passages are
    fetched. Vectors are scored here, as the bundle's are.
    """

    manifest: Manifest
    index: Index
    fetch: Fetch
    names: Mapping[str, str]
    cache: dict[int, PassagePostings] = field(default_factory=dict)

    def postings_of(self, terms: Collection[str]) -> TermPostings:
        """Return the postings of some terms, fetching those that are not cached."""
        rows = _number_terms(self)
        known = {term: rows[term] for term in terms if term in rows}
        by_row = self._load_postings(list(known.values()))
        postings = [by_row[row] for row in known.values()]
        return TermPostings(
            terms={term: place for place, term in enumerate(known)},
            edges=np.cumsum([0, *(len(passages) for passages, _ in postings)]).astype(np.uint32),
            passages=np.concatenate([np.zeros(0, np.uint32), *(rows for rows, _ in postings)]),
            counts=np.concatenate([np.zeros(0, np.uint16), *(counts for _, counts in postings)]),
            lengths=self.index.passage_lengths,
        )

    def _load_postings(self, rows: list[int]) -> Mapping[int, PassagePostings]:
        found = {row: cached for row in rows if (cached := self.cache.get(row))}
        if missing := [row for row in rows if row not in found]:
            fetched = self._fetch(tables.SELECT_POSTINGS, missing)
            read = {number: unpack_postings(data) for number, data in fetched}
            if sum(len(counts) for _, counts in list(self.cache.values())) > _CACHED_POSTINGS:
                self.cache.clear()
            self.cache.update(read)
            found |= read
        return found

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Find the nearest passages, and all others that their words and names may lift above them.

        With an exact search none is left out. An index on vectors may miss some of the nearest.
        """
        profile, count = self.manifest.profile, len(self.index.passage_records)
        candidates, ceilings = self._find_nearest(query)
        bounds = score_candidates(profile, Candidates(np.arange(count), ceilings), query.signals)
        unseen = np.ones(count, dtype=np.bool_)
        while True:
            unseen[candidates.rows] = False
            reachable = unseen & _find_reachable(profile, query, candidates, bounds)
            if not reachable.any():
                return candidates
            rows = np.sort(select_top_rows(bounds.score, ROWS_PER_FETCH, reachable))
            candidates = _merge_candidates(candidates, self.passage_cosines(query.unit, rows))

    def _find_nearest(self, query: PassageQuery) -> tuple[Candidates, Floats]:
        """Find the nearest passages of the site, and of each language that the asker can read.

        Returns them and the highest cosine that any other passage can have, (n,).
        """
        count = len(self.index.passage_records)
        languages = self.index.site.languages
        spans = {(each.first, each.end) for each in languages if query.readable[each.first]}
        limit = max(NEAREST, query.top_k)
        nearest = Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        ceilings = np.ones(count, np.float32)
        for first, end in sorted({(0, count), *spans}):
            parameters = (first, end, format_vector(query.unit), limit)
            found = self._score(query.unit, self._fetch(tables.SELECT_NEAREST, *parameters))
            # A passage whose vector is 0 has the cosine 0, and is the farthest for the database.
            farthest = max(0.0, float(found.cosines.min(initial=1.0)))
            ceiling = np.float32(min(1.0, farthest + 2 * _bound_error(query.unit)))
            ceilings[first:end] = np.minimum(ceilings[first:end], ceiling)
            nearest = _merge_candidates(nearest, found)
        return nearest, ceilings

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Fetch and score the vectors of some passages."""
        return self._score(unit, self._fetch(tables.SELECT_VECTORS, rows.tolist()))

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Fetch the passages of some rows."""
        fetched = self._fetch(tables.SELECT_PASSAGES, list(rows)) if rows else []
        return {row[0]: self.index.make_passage(*row) for row in fetched}

    def rows_of_page(self, name: str) -> list[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        found = [number for (number,) in self._fetch(tables.SELECT_URLS, name)]
        return self.index.list_page_rows(name, found)

    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        return self.fetch(statement.format(**self.names), *parameters)

    def _score(self, unit: Floats, vectors: list[Row]) -> Candidates:
        rows, codes = read_vectors(vectors, self.manifest.dimensions)
        order = np.argsort(rows)
        return Candidates(rows[order], codes.score(unit)[order])


@memoize_per_store
def _number_terms(store: Store, /) -> Mapping[str, int]:
    return {term: row for row, term in enumerate(store.index.terms)}


def _merge_candidates(first: Candidates, second: Candidates) -> Candidates:
    """Merge two sets of candidates, each row once."""
    rows, places = np.unique(np.concatenate([first.rows, second.rows]), return_index=True)
    return Candidates(rows, np.concatenate([first.cosines, second.cosines])[places])


def _find_reachable(
    profile: Profile, query: PassageQuery, candidates: Candidates, bounds: Ranking
) -> NDArray[np.bool_]:
    """Find the passages that may be among the best, (n,), some candidates among them.

    bounds: the scores of all passages, (n,), with cosines that none of them exceeds. Passages under
    the floor are wanted only where there are too few above it.
    """
    scores = score_candidates(profile, candidates, query.signals)
    reachable = np.zeros(len(bounds.rows), dtype=np.bool_)
    for wanted in (np.ones_like(query.readable), query.readable):
        known = wanted[candidates.rows]
        lowest = _find_lowest_score(scores, scores.above_floor & known, query.top_k)
        reachable |= wanted & bounds.above_floor & (bounds.score >= lowest)
        if query.near and lowest == -math.inf:
            is_near = ~scores.above_floor & (scores.base >= query.near_floor)
            lowest = _find_lowest_score(scores, is_near & known, query.near)
            may_be_near = (bounds.base >= query.near_floor) & (bounds.score >= lowest)
            reachable |= wanted & may_be_near
    return reachable


def _find_lowest_score(scores: Ranking, among: NDArray[np.bool_], count: int) -> float:
    """Find the score of the last of the best ``count``; -inf where there are fewer."""
    best = select_top_rows(scores.score, count, among)
    return float(scores.score[best[-1]]) if len(best) == count else -math.inf


def _bound_error(unit: Floats) -> float:
    """Bound by how much a cosine of the database may differ.

    It reads the question's numbers in half precision, and by Cauchy and Schwarz no cosine is off by
    more than the length of what that takes away.
    """
    rounding = unit - unit.astype(np.float16).astype(np.float32)
    return float(np.linalg.norm(rounding)) + _SUMMATION_ERROR


def read_served_key(fetch: Fetch, name: str) -> str:
    """Read the key of the index that is served under a name; BundleError if there is none."""
    return str(_fetch_site(fetch, tables.SELECT_KEY, name)[0])


def open_postgres_store(fetch: Fetch, name: str) -> PostgresStore:
    """Open the store of the index that is served under a name; BundleError if it is malformed."""
    key, version, manifest_text, columns = _fetch_site(fetch, tables.SELECT_SITE, name)
    if version != tables.TABLE_FORMAT:
        raise BundleError(
            f"the database's tables are of format {version}, and this version reads "
            f"{tables.TABLE_FORMAT}: publish again with the version that serves"
        )
    manifest = parse_manifest(json.loads(manifest_text), "the database's index")
    index = unpack_memory(columns, manifest)
    return PostgresStore(manifest, index, fetch, tables.name_tables(key))


def _fetch_site(fetch: Fetch, statement: str, name: str) -> Row:
    rows = fetch(statement, name)
    if not rows:
        raise BundleError(
            f"the database serves nothing called {name!r:.80}: set `store` and run `answerable "
            "build`"
        )
    return rows[0]
