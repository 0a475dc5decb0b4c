"""The seam between retrieval and what holds a site: the bundle's folder, or a database.

What is worked out of a store once, and forgotten with it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.manifest import Manifest
from ..bundle_format.postings import PhraseIndex, Postings
from ..bundle_format.site_metadata import SiteMetadata
from ..types import Passage, RoutingHint

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Signals:
    """All but the cosine that counts for a passage, (n,) each.

    ``is_whole``: whether it holds all of a question of few terms, which no floor refuses then.
    """

    lexical: Floats
    boost: Floats
    is_whole: NDArray[np.bool_]
    page: Floats
    fresh: Floats
    weight: Floats

    def of(self, rows: Rows) -> "Signals":
        """Those of some rows."""
        return Signals(
            self.lexical[rows],
            self.boost[rows],
            self.is_whole[rows],
            self.page[rows],
            self.fresh[rows],
            self.weight[rows],
        )


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Which passages a question wants: the best by their scores.

    ``unit``: (d,) the question, of length 1. ``given``: all but the cosine that counts for each
    passage. ``readable``: (n,) those that the asker can read, whose best are wanted too. ``top_k``
    of either, and ``near`` of those under the floor.
    """

    unit: Floats
    given: Signals
    readable: NDArray[np.bool_]
    top_k: int
    near: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of a stream, rising, and the cosine of each with the float query, (k,) both."""

    rows: Rows
    cosines: Floats


class Store(Protocol):
    """What a question is answered from; everything that it gives is of one bundle id.

    What is small is in memory: ``weights``, ``dates``, ``title_norms`` (the lengths of the idf
    vectors of titles) and ``is_history`` have one value for each record, ``passage_records`` (a
    row of the records) one for each passage. ``names`` are titles and file names, ``title_terms``
    the terms of titles. StorageError, from all that is not, where a database is out of reach.
    """

    @property
    def manifest(self) -> Manifest: ...
    @property
    def key(self) -> str:
        """What tells it from other stores of the same bundle; "" for the bundle itself."""

    @property
    def site(self) -> SiteMetadata: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def dates(self) -> Sequence[str | None]: ...
    @property
    def title_norms(self) -> Floats: ...
    @property
    def is_history(self) -> NDArray[np.bool_]: ...
    @property
    def names(self) -> PhraseIndex: ...
    @property
    def aliases(self) -> PhraseIndex: ...
    @property
    def title_terms(self) -> PhraseIndex: ...
    @property
    def label_terms(self) -> PhraseIndex:
        """The terms of labels and locators; what bears one is a row of the hints."""

    @property
    def themes(self) -> PhraseIndex: ...
    @property
    def passage_records(self) -> NDArray[np.uint32]: ...

    @property
    def words(self) -> Sequence[str]:
        """The words that passages hold as they are written, in lower case and sorted."""

    def postings_of(self, terms: Collection[str]) -> Postings:
        """The postings of some terms, and maybe of others; the lengths of all passages."""

    def passage_candidates(self, wanted: PassageQuery) -> Candidates:
        """The passages that are among those wanted, and others."""

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """The cosines of some passages. rows: rising."""

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """The best hints by the best cosine of their windows and what is added to it, (hints,);
        ``count`` of them or more.
        """

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """The passages of some rows."""

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """The hints of some rows."""

    def check(self) -> None:
        """StorageError where no question could be answered now."""


P = ParamSpec("P")
R = TypeVar("R")


def memoize_per_store(
    function: Callable[Concatenate[Store, P], R],
) -> Callable[Concatenate[Store, P], R]:
    """Call a function once for each store and the arguments after it, which are hashable.

    A dev server opens a bundle at every rebuild: what is kept must not keep the bundle.
    """
    kept: WeakKeyDictionary[Store, dict[object, R]] = WeakKeyDictionary()

    @wraps(function)
    def called(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results = kept.setdefault(store, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(store, *args, **kwargs)
        return results[key]

    return called
