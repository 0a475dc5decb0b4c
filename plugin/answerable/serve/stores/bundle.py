"""The serve-time artifact, opened: what can be read from a bundle."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format import manifest as manifest_module
from ..bundle_format.columns import Lines
from ..bundle_format.compression import inflate
from ..bundle_format.manifest import Manifest
from ..bundle_format.postings import PhraseIndex, Postings
from ..bundle_format.site_metadata import SiteMetadata
from ..errors import BUILD_AGAIN, BundleError
from ..retrieval.scoring import find_hint_candidates, find_passage_candidates
from ..retrieval.store import Candidates, Floats, PassageQuery, Rows
from ..structure import Block, Span, unpack_blocks, unpack_spans
from ..types import Passage, RoutingHint
from ..vectors.encodings import Codes, score_codes

# Texts of passages that are kept between questions, of some 3 KB each.
_CACHED_TEXTS = 512


@dataclass(frozen=True, slots=True)
class HintColumns:
    """The hints as columns: one is made when it is asked for."""

    ids: Lines
    labels: Lines
    locators: Lines
    urls: Lines

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RoutingHint]:
        return map(self.row, range(len(self)))

    def row(self, row: int) -> RoutingHint:
        """The hint of a row."""
        return RoutingHint(self.ids[row], self.labels[row], self.locators[row], self.urls[row])


@dataclass(frozen=True, slots=True)
class PassageText:
    """What is decompressed of a passage: its text, and offsets of that."""

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageTexts:
    """The texts of passages, in blocks that are decompressed when they are asked for.

    Block ``b`` is ``data[edges[b]:edges[b + 1]]`` of a file that is mapped.
    """

    edges: NDArray[np.uint64]
    data: NDArray[np.uint8]

    def block(self, number: int) -> list[bytes]:
        """Decompress a block to a line of JSON for each of its passages; BundleError if damaged."""
        start, end = int(self.edges[number]), int(self.edges[number + 1])
        data = self.data[start:end].tobytes()
        return inflate(data, manifest_module.TEXTS_FILE, manifest_module.MAX_BLOCK_BYTES).split(
            b"\n", manifest_module.PASSAGES_PER_BLOCK
        )

    def parse(self, line: bytes) -> PassageText:
        """Read and check the line of one passage; BundleError if it is malformed."""
        try:
            return _parse_passage_text(json.loads(line))
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise BundleError(
                f"{manifest_module.TEXTS_FILE} is malformed ({error!s:.200}): {BUILD_AGAIN}"
            ) from None


def _parse_passage_text(row: Mapping[str, Any]) -> PassageText:
    text = row["text"]
    sentences = tuple((start, end) for start, end in row["sentences"])
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} is no text")
    last = 0
    for start, end in sentences:
        if type(start) is not int or type(end) is not int or not last <= start <= end <= len(text):
            raise ValueError(f"{start!r:.40} to {end!r:.40} is no sentence")
        last = end
    blocks = unpack_blocks(row["blocks"], len(text))
    return PassageText(row["id"], text, sentences, blocks, unpack_spans(row["spans"], len(text)))


# No slots: cached_property keeps what it has computed in the instance.
@dataclass(frozen=True, eq=False)
class Bundle:
    """An opened bundle, the store of a folder: vectors are mapped, texts decompressed when asked
    for.

    ``weights``, ``dates``, ``title_norms`` and ``is_history`` have one value for each record,
    ``passage_ids``, ``passage_urls``, ``passage_titles`` and ``passage_records`` (a row of the
    records) one for each passage, and ``hint_owners`` (a row of the hints) one for each row of
    ``hint_codes``.
    """

    manifest: Manifest
    site: SiteMetadata
    record_ids: Sequence[str]
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    title_norms: Floats
    is_history: NDArray[np.bool_]
    names: PhraseIndex
    aliases: PhraseIndex
    themes: PhraseIndex
    title_terms: PhraseIndex
    label_terms: PhraseIndex
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_records: NDArray[np.uint32]
    passage_codes: Codes
    texts: PassageTexts
    postings: Postings
    spellings: Lines
    hints: HintColumns
    hint_codes: Codes
    hint_owners: NDArray[np.uint32]

    @property
    def key(self) -> str:
        """See Store."""
        return ""

    @property
    def words(self) -> Sequence[str]:
        """See Store: they are decoded when a question has a word that no passage holds."""
        return self.spellings.texts()

    def passage(self, row: int) -> Passage:
        """The passage of a row."""
        record = int(self.passage_records[row])
        found = self._text(row)
        return Passage(
            id=found.id,
            record=self.record_ids[record],
            url=self.passage_urls[row],
            title=self.passage_titles[row],
            text=found.text,
            sentences=found.sentences,
            date=self.dates[record],
            language=self.site.language_of(row),
            blocks=found.blocks,
            spans=found.spans,
        )

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order of rows."""
        return map(self.passage, range(len(self.passage_ids)))

    def postings_of(self, terms: Collection[str]) -> Postings:
        """See Store: all of them are in memory."""
        del terms
        return self.postings

    def passage_candidates(self, wanted: PassageQuery) -> Candidates:
        """See Store."""
        return find_passage_candidates(self.passage_codes, self.manifest.profile, wanted)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """See Store."""
        return Candidates(rows, score_codes(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """See Store."""
        return find_hint_candidates(self.hint_codes, self.hint_owners, added, unit, count)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """See Store."""
        # In the order of rows, so that each block is decompressed once, however many are asked for.
        return {row: self.passage(row) for row in sorted(rows)}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """See Store."""
        return {row: self.hints.row(row) for row in rows}

    def check(self) -> None:
        """See Store: it was checked when it was opened."""

    @cached_property
    def _block(self) -> Callable[[int], list[bytes]]:
        """Reads a block by its number, and keeps some."""
        return lru_cache(maxsize=64)(self.texts.block)

    @cached_property
    def _text(self) -> Callable[[int], PassageText]:
        """Reads the text of a row, and keeps some: checking a structure costs more than JSON."""
        return lru_cache(maxsize=_CACHED_TEXTS)(self._read)

    def _read(self, row: int) -> PassageText:
        block = self._block(row // manifest_module.PASSAGES_PER_BLOCK)
        text = (
            self.texts.parse(block[row % manifest_module.PASSAGES_PER_BLOCK])
            if row % manifest_module.PASSAGES_PER_BLOCK < len(block)
            else None
        )
        if text is None or text.id != self.passage_ids[row]:
            raise BundleError(
                f"{manifest_module.TEXTS_FILE} lacks {self.passage_ids[row]!r:.80}: {BUILD_AGAIN}"
            )
        return text
