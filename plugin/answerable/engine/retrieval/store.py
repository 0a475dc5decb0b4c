"""Protocol of stores, which retrieval reads: a bundle or a database; memoize results per store."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..index.columns import Index, Postings
from ..index.manifest import Manifest
from ..types import Passage
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
        """The columns that are in memory; those that a database holds are empty then."""

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
