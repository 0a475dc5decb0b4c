"""Store of an opened bundle folder: scores memory-mapped vectors, decompresses texts on demand."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format.compression import inflate
from ..bundle_format.manifest import MAX_BLOCK_BYTES, PASSAGES_PER_BLOCK, TEXTS_FILE, Manifest
from ..bundle_format.postings import Postings
from ..bundle_format.site_metadata import SiteColumns
from ..bundle_format.text_lines import THEME_SEPARATOR, TextLines
from ..errors import BUILD_AGAIN, BundleError
from ..retrieval.scoring import find_hint_candidates, find_passage_candidates, score_codes
from ..retrieval.store import Candidates, Floats, PassageQuery, Rows
from ..structure import Block, Span, unpack_blocks, unpack_spans
from ..types import Passage, RoutingHint
from ..vectors.encodings import Codes

# Texts of passages that are cached between questions, of some 3 KB each: to check their structure
# costs more than to parse their JSON.
_CACHED_TEXTS = 512
_CACHED_BLOCKS = 64


@dataclass(frozen=True, slots=True)
class HintColumns:
    """Hold the hints as columns; each is built on demand."""

    ids: TextLines
    labels: TextLines
    locators: TextLines
    urls: TextLines

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RoutingHint]:
        return map(self.row, range(len(self)))

    def row(self, row: int) -> RoutingHint:
        """Build the hint of a row."""
        return RoutingHint(self.ids[row], self.labels[row], self.locators[row], self.urls[row])


@dataclass(frozen=True, slots=True)
class PassageText:
    """Hold the decompressed text of a passage, and offsets of it."""

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


class PassageTexts:
    """Decompress the texts of passages on demand, in blocks, and cache some.

    Block ``b`` is ``data[edges[b]:edges[b + 1]]`` of a mapped file.
    """

    def __init__(self, edges: NDArray[np.uint64], data: NDArray[np.uint8]) -> None:
        self.edges = edges
        self.data = data
        self._read_block = lru_cache(maxsize=_CACHED_BLOCKS)(self.block)
        self._parse_cached = lru_cache(maxsize=_CACHED_TEXTS)(self._parse)

    def read_text(self, row: int, passage_id: str) -> PassageText:
        """Return the text of a row; BundleError if it is malformed or not that passage's."""
        return self._parse_cached(row, passage_id)

    def block(self, number: int) -> list[bytes]:
        """Decompress a block to a line of JSON for each of its passages; BundleError if damaged."""
        start, end = int(self.edges[number]), int(self.edges[number + 1])
        data = self.data[start:end].tobytes()
        text = inflate(data, TEXTS_FILE, MAX_BLOCK_BYTES)
        return text.split(b"\n", PASSAGES_PER_BLOCK)

    def _parse(self, row: int, passage_id: str) -> PassageText:
        block = self._read_block(row // PASSAGES_PER_BLOCK)
        place = row % PASSAGES_PER_BLOCK
        try:
            text = _parse_passage_text(json.loads(block[place])) if place < len(block) else None
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise BundleError(
                f"{TEXTS_FILE} is malformed ({error!s:.200}): {BUILD_AGAIN}"
            ) from None
        if text is None or text.id != passage_id:
            raise BundleError(f"{TEXTS_FILE} lacks {passage_id!r:.80}: {BUILD_AGAIN}")
        return text


def _parse_passage_text(row: Mapping[str, Any]) -> PassageText:
    text = row["text"]
    sentences = tuple((start, end) for start, end in row["sentences"])
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} is not a text")
    last = 0
    for start, end in sentences:
        if type(start) is not int or type(end) is not int or not last <= start <= end <= len(text):
            raise ValueError(f"{start!r:.40} to {end!r:.40} is not a sentence")
        last = end
    blocks = unpack_blocks(row["blocks"], len(text))
    return PassageText(row["id"], text, sentences, blocks, unpack_spans(row["spans"], len(text)))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Bundle(SiteColumns):
    """Hold an opened bundle, the store of a folder, whose every row can be looked at.

    ``passage_ids``, ``passage_urls`` and ``passage_titles`` have one value for each passage,
    ``record_ids``, ``record_summaries`` and ``record_themes`` (divided by ``THEME_SEPARATOR``) one
    for each record, ``hint_owners`` (a row of the hints) one for each row of ``hint_codes``.
    """

    manifest: Manifest
    record_ids: Sequence[str]
    record_summaries: TextLines
    record_themes: TextLines
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_codes: Codes
    texts: PassageTexts
    postings: Postings
    spellings: TextLines
    hints: HintColumns
    hint_codes: Codes
    hint_owners: NDArray[np.uint32]

    @property
    def store_key(self) -> str:
        """Return "": the bundle itself, and no other store of it."""
        return ""

    @property
    def words(self) -> Sequence[str]:
        """Decode the site's words, for a question with a word that no passage holds."""
        return self.spellings.texts()

    def passage(self, row: int) -> Passage:
        """Build the passage of a row."""
        record = int(self.passage_records[row])
        text = self.texts.read_text(row, self.passage_ids[row])
        return Passage(
            id=text.id,
            record=self.record_ids[record],
            url=self.passage_urls[row],
            title=self.passage_titles[row],
            text=text.text,
            sentences=text.sentences,
            date=self.dates[record],
            language=self.site.language_of(row),
            blocks=text.blocks,
            spans=text.spans,
            summary=self.record_summaries[record],
            themes=tuple(filter(None, self.record_themes[record].split(THEME_SEPARATOR))),
        )

    def passages(self) -> Iterator[Passage]:
        """Build every passage, in the order of rows."""
        return map(self.passage, range(len(self.passage_ids)))

    def postings_of(self, terms: Collection[str]) -> Postings:
        """Return the postings of all terms, which are in memory."""
        del terms
        return self.postings

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score the best passages by the estimates of all."""
        return find_passage_candidates(self.passage_codes, self.manifest.profile, query)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, score_codes(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Score the best hints by the estimates of all."""
        return find_hint_candidates(self.hint_codes, self.hint_owners, added, unit, count)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Build the passages of some rows."""
        # In the order of rows, so that each block is decompressed once.
        return {row: self.passage(row) for row in sorted(rows)}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Build the hints of some rows."""
        return {row: self.hints.row(row) for row in rows}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        owners = self.passage_records.tolist()
        records = {row for row, record in enumerate(self.record_ids) if record == name}
        records |= {
            owner
            for owner, url in zip(owners, self.passage_urls, strict=True)
            if url.partition("#")[0] == name
        }
        return [row for row, owner in enumerate(owners) if owner in records]

    def check_reachable(self) -> None:
        """Do nothing: everything was checked when it was opened."""
