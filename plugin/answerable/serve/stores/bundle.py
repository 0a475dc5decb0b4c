"""A bundle as a store: an index that is in memory but for the texts of its passages."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BUILD_AGAIN, BundleError
from ..index.columns import Index
from ..index.format import MALFORMED
from ..index.manifest import Manifest
from ..index.read import read_index
from ..retrieval.rank import max_cosine_per_hint
from ..retrieval.store import (
    Candidates,
    Floats,
    PassageQuery,
    Rows,
    Store,
    TermPostings,
    memoize_per_store,
)
from ..structure import Block, Span, unpack_blocks, unpack_spans
from ..types import Passage, RoutingHint

_PAIR = 2
_LAST_OF_ONE_UNIT = "\uffff"


@dataclass(frozen=True, slots=True)
class PassageText:
    """Hold the text of a passage, and offsets of it."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


def make_unit_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text from UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = (place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT)
    # Each of them has one unit more, which the places of all later ones count.
    units = [place + before for before, place in enumerate(wide)]
    return lambda offset: offset - bisect_left(units, offset)


def _read_text(bundle: "Bundle", row: int) -> PassageText:
    """Read the text of a passage; BundleError if it is malformed."""
    try:
        return _parse_text(*bundle.index.texts[row])
    except MALFORMED as error:
        raise BundleError(
            f"the index is malformed (texts: {error!s:.200}): {BUILD_AGAIN}"
        ) from None


def _parse_text(
    text: str,
    gaps: Sequence[int],
    block_rows: Sequence[Any],
    spans: Sequence[Any],
) -> PassageText:
    """Parse a text and its structure; offsets become code points, which Python counts."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.80} is not a text")
    convert = make_unit_converter(text)
    return PassageText(
        text,
        tuple(_expand_gaps(gaps, convert, len(text))),
        unpack_blocks(_expand_ranges(block_rows, convert), len(text)),
        unpack_spans(_expand_ranges(spans, convert), len(text)),
    )


def _expand_gaps(
    gaps: Sequence[int], convert: Callable[[int], int], size: int
) -> Iterator[tuple[int, int]]:
    """Yield sentences: each gives how far it starts after the last one's end, and its length."""
    last = 0
    for place in range(0, len(gaps), _PAIR):
        gap, length = gaps[place : place + _PAIR]
        start, end = last + gap, last + gap + length
        # A bool is an int to isinstance.
        is_whole = type(gap) is int and type(length) is int and gap >= 0 and length >= 0
        if not is_whole or convert(end) > size:
            raise ValueError(f"{start!r:.40} to {end!r:.40} is not a sentence")
        yield convert(start), convert(end)
        last = end


def _expand_ranges(
    rows: Iterable[Sequence[Any]], convert: Callable[[int], int]
) -> Iterator[list[Any]]:
    """Yield blocks and the like: each gives how far it starts after the last one's start."""
    last = 0
    for kind, gap, length, *values in rows:
        if type(gap) is not int or type(length) is not int:
            raise TypeError(f"{gap!r:.40}, {length!r:.40} is not a range of the text")
        start = last + gap
        yield [kind, convert(start), convert(start + length), *values]
        last = start


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Bundle:
    """An index whose every row can be looked at, and its manifest."""

    manifest: Manifest
    index: Index

    @property
    def hints(self) -> list[RoutingHint]:
        """All hints, in the order of rows."""
        return list(self.hints_at(range(len(self.index.hint_ids))).values())

    def passage(self, row: int) -> Passage:
        """Build the passage of a row."""
        index = self.index
        record = int(index.passage_records[row])
        text = _read_text(self, row)
        return Passage(
            id=index.passage_ids[row],
            record=index.record_ids[record],
            url=index.passage_urls[row],
            title=index.passage_titles[row],
            text=text.text,
            sentences=text.sentences,
            date=index.dates[record],
            language=index.site.language_of(row),
            blocks=text.blocks,
            spans=text.spans,
            # Only a model is given them; a site does not publish them.
            summary=index.record_summaries[record] if index.record_summaries else "",
            themes=tuple(index.record_themes[record]) if index.record_themes else (),
        )

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

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Score all hints."""
        del count
        windows = self.index.hint_codes.score(unit)
        cosines = max_cosine_per_hint(self.index.hint_owners, windows, len(added))
        return Candidates(np.arange(len(added)), cosines)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Build the passages of some rows."""
        # In the order of rows, so that each shard is decompressed once.
        return {row: self.passage(row) for row in sorted(rows)}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Build the hints of some rows."""
        index = self.index
        return {
            row: RoutingHint(
                index.hint_ids[row],
                index.hint_labels[row],
                index.hint_locators[row],
                index.hint_urls[row],
            )
            for row in rows
        }

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        index = self.index
        owners = index.passage_records.tolist()
        records = {row for row, record in enumerate(index.record_ids) if record == name}
        records |= {
            owner
            for owner, url in zip(owners, index.passage_urls, strict=True)
            if url.partition("#")[0] == name
        }
        return [row for row, owner in enumerate(owners) if owner in records]


@memoize_per_store
def _index_postings(store: Store, /) -> TermPostings:
    index, postings = store.index, store.index.postings
    rows = {term: row for row, term in enumerate(index.terms)}
    return TermPostings(
        rows, postings.edges, postings.passages, postings.counts, index.passage_lengths
    )


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the hash of every file and of the manifest; sizes are always compared.
    """
    return Bundle(*read_index(folder, verify=verify))
