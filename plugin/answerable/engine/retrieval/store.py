"""Stores, which retrieval reads: their protocol, a bundle as one, and results memoized for each."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..index.column_types import Postings
from ..index.columns import Index
from ..index.manifest import Manifest
from ..index.read import read_index
from ..types import Passage, RoutingHint
from ..vectors import Floats, Rows


@dataclass(frozen=True, slots=True)
class Signals:
    """All but the cosine that counts for a passage, (n,) each.

    ``question``: how near the best question is that its section is known to answer, in [0, 1].
    """

    lexical: Floats
    boost: Floats
    page: Floats
    weight: Floats
    question: Floats

    def select(self, rows: Rows) -> "Signals":
        """Select the signals of some rows."""
        return Signals(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A query for the passages of a store with the best scores.

    ``unit``: (d,) the question, of length 1. ``signals``: all but the cosine that counts for each
    passage. ``readable``: (n,) those that the asker can read, whose best are included too.
    ``top_k`` of either, and ``near`` of those under the floor whose score before boosts is at least
    ``near_floor``.
    """

    unit: Floats
    signals: Signals
    readable: NDArray[np.bool_]
    top_k: int
    near: int
    near_floor: float = -math.inf


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of passages, rising, and the cosine of each with the float query, (k,) both."""

    rows: Rows
    cosines: Floats


@dataclass(frozen=True, slots=True)
class TermPostings(Postings):
    """The postings of some terms, by the row of each; ``lengths`` (n,) counts a passage's terms."""

    terms: Mapping[str, int]
    lengths: NDArray[np.uint32]


class Store(Protocol):
    """All that a question reads of a site, everything of one bundle id.

    StorageError, from all but the first two, where a database is out of reach.
    """

    @property
    def manifest(self) -> Manifest: ...

    @property
    def index(self) -> Index:
        """The columns that are in memory: a database has those that grow with the passages."""

    def postings_of(self, terms: Collection[str]) -> TermPostings:
        """Return the postings of some terms, and maybe of others; the lengths of all passages."""

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Find the passages of a query, and maybe others."""

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages. rows: rising."""

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Return the passages of some rows."""

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""


P = ParamSpec("P")
R = TypeVar("R")


def memoize_per_store(
    function: Callable[Concatenate[Store, P], R],
) -> Callable[Concatenate[Store, P], R]:
    """Memoize a function per store, by weak reference, and its hashable arguments.

    A dev server opens a bundle at every rebuild: a cached result must not keep the bundle.
    """
    cache: WeakKeyDictionary[Store, dict[object, R]] = WeakKeyDictionary()

    @wraps(function)
    def memoized(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results = cache.setdefault(store, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(store, *args, **kwargs)
        return results[key]

    return memoized


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
    return Bundle(*read_index(folder, verify=verify))
