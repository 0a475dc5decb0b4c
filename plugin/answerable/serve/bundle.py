"""The serve-time artifact, opened: what can be read from a bundle."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import candidates, codes, structure
from . import manifest as m
from .codes import Codes
from .columns import Lines
from .errors import AGAIN, BundleError
from .frozen import frozen
from .inflating import inflate
from .manifest import Manifest
from .site import Site
from .store import Candidates, Floats, Rows, Wanted
from .structure import Block, Span
from .types import Passage, RoutingHint
from .vocabulary import Names, Postings

# Texts of passages that are kept between questions, of some 3 KB each.
_KEPT = 512


@frozen
class Hints:
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


@frozen
class Text:
    """What is decompressed of a passage: its text, and offsets of that."""

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


@frozen
class Texts:
    """The texts of passages, in blocks that are decompressed when they are asked for.

    Block ``b`` is ``data[edges[b]:edges[b + 1]]`` of a file that is mapped.
    """

    edges: NDArray[np.uint64]
    data: NDArray[np.uint8]

    def block(self, number: int) -> list[bytes]:
        """Decompress a block to a line of JSON for each of its passages; BundleError if damaged."""
        start, end = int(self.edges[number]), int(self.edges[number + 1])
        data = self.data[start:end].tobytes()
        return inflate(data, m.TEXTS, m.MAX_BLOCK).split(b"\n", m.BLOCK)

    def parse(self, line: bytes) -> Text:
        """Read and check the line of one passage; BundleError if it is malformed."""
        try:
            return _text(json.loads(line))
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise BundleError(f"{m.TEXTS} is malformed ({error!s:.200}): {AGAIN}") from None


def _text(row: Mapping[str, Any]) -> Text:
    text = row["text"]
    sentences = tuple((start, end) for start, end in row["sentences"])
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} is no text")
    last = 0
    for start, end in sentences:
        if type(start) is not int or type(end) is not int or not last <= start <= end <= len(text):
            raise ValueError(f"{start!r:.40} to {end!r:.40} is no sentence")
        last = end
    blocks = structure.unpack_blocks(row["blocks"], len(text))
    return Text(row["id"], text, sentences, blocks, structure.unpack_spans(row["spans"], len(text)))


@frozen(eq=False)
class Bundle:
    """An opened bundle, the store of a folder: vectors are mapped, texts decompressed when asked
    for.

    ``weights``, ``dates``, ``title_norms`` and ``is_history`` have one value for each record,
    ``passage_ids``, ``passage_urls``, ``passage_titles`` and ``passage_records`` (a row of the
    records) one for each passage, and ``hint_owners`` (a row of the hints) one for each row of
    ``hint_codes``.
    """

    manifest: Manifest
    site: Site
    record_ids: Sequence[str]
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    title_norms: Floats
    is_history: NDArray[np.bool_]
    names: Names
    aliases: Names
    themes: Names
    title_terms: Names
    label_terms: Names
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_records: NDArray[np.uint32]
    passage_codes: Codes
    texts: Texts
    postings: Postings
    spellings: Lines
    hints: Hints
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

    def passage_candidates(self, wanted: Wanted) -> Candidates:
        """See Store."""
        return candidates.of_passages(self.passage_codes, self.manifest.profile, wanted)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """See Store."""
        return Candidates(rows, codes.score(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """See Store."""
        return candidates.of_hints(self.hint_codes, self.hint_owners, added, unit, count)

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
    def _text(self) -> Callable[[int], Text]:
        """Reads the text of a row, and keeps some: checking a structure costs more than JSON."""
        return lru_cache(maxsize=_KEPT)(self._read)

    def _read(self, row: int) -> Text:
        block = self._block(row // m.BLOCK)
        text = self.texts.parse(block[row % m.BLOCK]) if row % m.BLOCK < len(block) else None
        if text is None or text.id != self.passage_ids[row]:
            raise BundleError(f"{m.TEXTS} lacks {self.passage_ids[row]!r:.80}: {AGAIN}")
        return text
