"""A bundle as a store: an index that is in memory but for the texts of its passages."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .index.columns import Index
from .index.manifest import Manifest
from .index.read import read_index
from .retrieval.store import Candidates, PassageQuery, Store, TermPostings, memoize_per_store
from .types import Passage, RoutingHint
from .vectors import Floats, Rows


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
