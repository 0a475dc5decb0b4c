"""The serve-time artifact, opened: what can be read from a bundle."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import columns
from . import manifest as m
from .codes import Codes
from .manifest import Manifest
from .site import Site
from .types import Passage, RoutingHint


@dataclass(frozen=True, slots=True)
class Postings:
    """The lexical index of passages: for each term, which passages hold it and how often.

    ``passages`` and ``counts`` are parallel; term ``t`` owns ``offsets[t]:offsets[t + 1]``.
    ``lengths`` (n,) counts the terms of each passage.
    """

    terms: Mapping[str, int]
    offsets: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Name:
    """An authored phrase, the records it belongs to and in how many records it occurs."""

    phrase: str
    records: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints as columns: one is made when it is asked for."""

    ids: Sequence[str]
    labels: Sequence[str]
    locators: Sequence[str]
    urls: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RoutingHint]:
        return map(self.row, range(len(self)))

    def row(self, row: int) -> RoutingHint:
        """The hint of a row."""
        return RoutingHint(self.ids[row], self.labels[row], self.locators[row], self.urls[row])


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of passages, in blocks that are decompressed when they are asked for.

    Block ``b`` is ``data[edges[b]:edges[b + 1]]`` of a file that is mapped.
    """

    edges: NDArray[np.uint64]
    data: NDArray[np.uint8]

    def block(self, number: int) -> list[Mapping[str, Any]]:
        """The passages of one block: the text of each and the offsets of its sentences."""
        start, end = int(self.edges[number]), int(self.edges[number + 1])
        lines = columns.inflate(self.data[start:end].tobytes(), m.TEXTS).splitlines()
        return [json.loads(line) for line in lines]


@dataclass(frozen=True, eq=False)
class Bundle:
    """An opened bundle; vectors are mapped, texts are decompressed when asked for.

    ``weights`` and ``dates`` have one value for each record, ``passage_ids``, ``passage_urls``,
    ``passage_titles`` and ``passage_records`` (a row of the records) one for each passage, and
    ``hint_owners`` (a row of the hints) one for each row of ``hint_codes``.
    """

    manifest: Manifest
    site: Site
    record_ids: Sequence[str]
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    names: tuple[Name, ...]
    themes: tuple[Name, ...]
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_records: NDArray[np.uint32]
    passage_codes: Codes
    texts: Texts
    postings: Postings
    hints: Hints
    hint_codes: Codes
    hint_owners: NDArray[np.uint32]

    def passage(self, row: int) -> Passage:
        """The passage of a row."""
        record = int(self.passage_records[row])
        data = self._block(row // m.BLOCK)[row % m.BLOCK]
        return Passage(
            id=self.passage_ids[row],
            record=self.record_ids[record],
            url=self.passage_urls[row],
            title=self.passage_titles[row],
            text=data["text"],
            sentences=tuple((start, end) for start, end in data["sentences"]),
            date=self.dates[record],
            language=self.site.language_of(row),
        )

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order of rows."""
        return map(self.passage, range(len(self.passage_ids)))

    @cached_property
    def _block(self) -> Callable[[int], list[Mapping[str, Any]]]:
        """Reads a block by its number, and keeps some."""
        return lru_cache(maxsize=64)(self.texts.block)
