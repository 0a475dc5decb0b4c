"""The store of a site that a database holds: what is small in memory, all else asked for."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import candidates, codes, rounded, structure
from .. import manifest as manifests
from ..codes import Codes
from ..errors import BundleError, StorageError
from ..manifest import Manifest
from ..site import Site
from ..store import Candidates, Floats, Rows, Wanted
from ..types import Passage, RoutingHint
from ..vocabulary import Names, Postings
from . import frame, schema, threshold
from . import search as searches
from .connections import OPENING, Reader, Row
from .frame import Frame
from .kept import Kept
from .schema import Tables, Vectors
from .search import Search

# The nearest passages of an exact search that are fetched before any others.
NEAREST = 256
# Others that are looked at beside those that an index gives.
_OTHERS = 2 * threshold.BATCH
# Others that are looked at to prove that an exact search leaves nothing out.
_PROOF = 50 * threshold.BATCH
# So many passages of a language are searched exactly, whatever the search.
_SMALL = 20_000
# What adding up single-precision numbers in another order can do.
_ADDING = 1e-5
# Before the numbers of a vector: how many there are.
_HEAD = 4


class PostgresStore:
    """See Store. Every table that it reads is of one bundle, which nothing changes."""

    def __init__(
        self, reader: Reader, tables: Tables, manifest: Manifest, search: Search, held: Frame
    ) -> None:
        self.manifest = manifest
        self.key = tables.key
        self.search = search
        self._reader = reader
        self._tables = tables
        self._vectors = Vectors(manifest.encoding)
        self._frame = held
        self._kept = Kept()

    @property
    def site(self) -> Site:
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
    def names(self) -> Names:
        return self._frame.names

    @property
    def words(self) -> list[str]:
        return self._frame.words.texts()

    @property
    def aliases(self) -> Names:
        return self._frame.aliases

    @property
    def title_terms(self) -> Names:
        return self._frame.title_terms

    @property
    def label_terms(self) -> Names:
        return self._frame.label_terms

    @property
    def themes(self) -> Names:
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

    def passage_candidates(self, wanted: Wanted) -> Candidates:
        """See Store.

        An exact search proves that nothing is left out, as long as the proof is affordable. One
        by the index looks at what the index gives and at the passages that their words and names
        bring up.
        """
        count = len(self.passage_records)
        if not count:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        unit, is_exact = wanted.unit, self.search.how == "exact"
        first = max(NEAREST if is_exact else self.search.ef_search, wanted.top_k)
        found = self._nearest(unit, first)
        if len(found.rows) == count:
            return found
        ceilings = np.full(count, self._ceiling(unit, found), np.float32)
        # Of a language with few pages: others are nearer, and say little of how near these are.
        if wanted.readable.any() and 4 * wanted.readable[found.rows].sum() < first:
            low, high = np.flatnonzero(wanted.readable)[[0, -1]].tolist()
            own = self._nearest(unit, first, (low, high))
            ceilings[low : high + 1] = min(ceilings[0], self._ceiling(unit, own))
            found = threshold.joined(found, own)
        return threshold.complete(
            self.manifest.profile,
            wanted,
            found,
            ceilings,
            lambda rows: self.passage_cosines(unit, rows),
            _PROOF if is_exact else _OTHERS,
        )

    def _ceiling(self, unit: Floats, found: Candidates) -> float:
        """The cosine that no passage surpasses that is not among the nearest."""
        return min(1.0, float(found.cosines.min(initial=1.0)) + 2 * self._slack(unit))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """See Store. Always exact: hints with something added are looked at where they matter."""
        if not self.manifest.counts["hints"]:
            return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))
        statement = self._vectors.nearest_hints(self._tables)
        most = max(rounded.POOL, count)
        nearest = self._best_windows(unit, self._reader.read(statement, (_text(unit), most)))
        # No other hint is nearer than the last of these.
        scores = np.sort(nearest.cosines + added[nearest.rows])[::-1]
        least = float(scores[most - 1]) if len(scores) >= most else -1.0
        reach = self._ceiling(unit, nearest) + added >= least
        reach[nearest.rows] = False
        others = np.flatnonzero(reach & (added > 0))
        if not len(others):
            return nearest
        found = self._reader.read(schema.hint_windows(self._tables), (others.tolist(),))
        return threshold.joined(nearest, self._best_windows(unit, found))

    def _best_windows(self, unit: Floats, rows: list[Row]) -> Candidates:
        """The hints of some windows, all of each, by the best cosine of theirs."""
        owners, cosines = self._scored(unit, rows)
        hints, places = np.unique(owners, return_inverse=True)
        best = candidates.best_of(places.astype(np.uint32), cosines, len(hints))
        return Candidates(hints, best)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """See Store."""
        found = self._at(schema.passages(self._tables), rows)
        return {row[0]: _passage(row, self.site.language_of(row[0])) for row in found}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """See Store."""
        found = self._at(schema.hints(self._tables), rows)
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
        rows = self._reader.read(schema.postings(self._tables), (terms,))
        count = len(self.passage_records)
        return {term: frame.unpack_postings(data, count) for term, data in rows}

    def _nearest(
        self, unit: Floats, count: int, within: tuple[int, int] | None = None
    ) -> Candidates:
        """The nearest passages. within: of these rows only, from the first to the last."""
        parameters = (*(within or ()), _text(unit), count)
        is_small = within is not None and within[1] - within[0] < _SMALL
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
        found = self._at(schema.vectors(self._tables), rows.tolist())
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
        size = _HEAD + width * dimensions
        joined = np.frombuffer(b"".join(data for _, _, data in rows), np.uint8)
        if joined.size != size * len(rows):
            raise BundleError("the database's vectors have other dimensions: publish again")
        numerals = np.ascontiguousarray(joined.reshape(-1, size)[:, _HEAD:]).view(kind)
        stream: Codes
        if self._vectors.is_whole:
            stream = rounded.Int8(numerals.astype(np.int8), norms)
        else:
            stream = rounded.Float32(numerals.astype(np.float32), norms)
        return numbers, codes.score(stream, unit, np.arange(len(rows)))

    def _slack(self, unit: Floats) -> float:
        """By how much a cosine of the database may differ: it reads the question's numbers in half
        precision, and by Cauchy and Schwarz no cosine is off by more than what that takes away.
        """
        if not self._vectors.is_whole:
            return _ADDING
        lost = unit - unit.astype(np.float16).astype(np.float32)
        return float(np.linalg.norm(lost)) + _ADDING


def served(reader: Reader, name: str) -> str:
    """The key of the bundle that is served under a name; BundleError if there is none."""
    rows = reader.read(schema.SERVED, (name,))
    if not rows:
        raise BundleError(
            f"the database serves nothing called {name!r:.80}: run `mkdocs build` with `store` set"
        )
    return str(rows[0][0])


def open_store(reader: Reader, key: str) -> PostgresStore:
    """The store of a bundle by its key; BundleError if it is not what it should be."""
    rows = reader.read(schema.BUNDLE, (key,))
    if not rows:
        raise StorageError("this bundle is no longer in the database: ask again")
    version, name, text, search = rows[0]
    if version != schema.FORMAT:
        raise BundleError(
            f"the database's tables are of format {version}, and this version reads "
            f"{schema.FORMAT}: publish again with the version that serves"
        )
    try:
        told, tables = json.loads(text), Tables(key)
    except ValueError as error:
        raise BundleError(
            f"the database's manifest is malformed ({error!s:.200}): publish again"
        ) from None
    manifest = manifests.parse(told, "the database's bundle")
    if manifest.id != name:
        raise BundleError("the database's bundle has another id than its manifest: publish again")
    parts: dict[str, bytes] = dict(reader.read(schema.frame(tables), (), None, OPENING))
    held = frame.parse(parts, manifest)
    return PostgresStore(reader, tables, manifest, searches.parse(search), held)


def _passage(row: Row, language: str) -> Passage:
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
            blocks=structure.unpack_blocks(blocks, len(text)),
            spans=structure.unpack_spans(spans, len(text)),
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise BundleError(
            f"the database's passage {name!r:.80} is malformed ({error!s:.200}): publish again"
        ) from None


def _text(unit: Floats) -> str:
    """A question as pgvector reads it."""
    return "[" + ",".join(map(repr, unit.tolist())) + "]"
