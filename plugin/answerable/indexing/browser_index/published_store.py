"""Store of the index that a site publishes for readers' browsers, opened by Python."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...serve.bundle_format.manifest import Manifest
from ...serve.bundle_format.postings import Postings
from ...serve.bundle_format.site_metadata import SiteColumns
from ...serve.retrieval.scoring import find_passage_candidates, score_codes
from ...serve.retrieval.store import Candidates, Floats, PassageQuery, Rows
from ...serve.types import Passage, RoutingHint
from ...serve.vectors.encodings import Codes


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PublishedStore(SiteColumns):
    """Hold a published index in memory: ``passages`` in the order of rows, and no hint at all.

    It gives the answers of the bundle that was built with it.
    """

    manifest: Manifest
    passages: Sequence[Passage]
    passage_codes: Codes
    postings: Postings
    words: Sequence[str]

    @property
    def store_key(self) -> str:
        """Tell it from the bundle of the same id."""
        return "published"

    def postings_of(self, terms: Collection[str]) -> Postings:
        """Return the postings of all terms."""
        del terms
        return self.postings

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score the best passages by the estimates of all."""
        return find_passage_candidates(self.passage_codes, self.manifest.profile, query)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, score_codes(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Find no hint: a site with notes publishes no index."""
        del unit, added, count
        return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Return the passages of some rows."""
        return {row: self.passages[row] for row in rows}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Return no hint."""
        del rows
        return {}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        owners = self.passage_records.tolist()
        records = {
            owner
            for owner, passage in zip(owners, self.passages, strict=True)
            if name in (passage.record, passage.url.partition("#")[0])
        }
        return [row for row, owner in enumerate(owners) if owner in records]

    def check_reachable(self) -> None:
        """Do nothing: everything is in memory."""
