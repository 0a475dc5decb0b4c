"""In-memory indexes of a bundle: terms to passages with counts, and authored phrases to records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import columns
from .columns import check_offsets, check_phrase_owners
from .text_lines import TextLines


@dataclass(frozen=True, slots=True)
class Postings:
    """Index passages by term: which of them hold it, and how often.

    ``passages`` and ``counts`` are parallel; term ``t`` owns ``edges[t]:edges[t + 1]``.
    ``lengths`` (n,) counts the terms of each passage.
    """

    terms: Mapping[str, int]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class PhraseEntry:
    """Hold an authored phrase, the records that bear it and in how many records it occurs."""

    phrase: str
    records: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Index authored phrases in columns: ``rows`` by phrase.

    Row ``r`` belongs to the records ``records[edges[r]:edges[r + 1]]``.
    """

    rows: Mapping[str, int]
    edges: NDArray[np.uint32]
    records: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]

    def __iter__(self) -> Iterator[PhraseEntry]:
        return map(self.entry, self.rows)

    def entry(self, phrase: str) -> PhraseEntry:
        """Look up a phrase; KeyError."""
        row = self.rows[phrase]
        owners = self.records[int(self.edges[row]) : int(self.edges[row + 1])]
        return PhraseEntry(phrase, tuple(owners.tolist()), int(self.frequencies[row]))


def load_phrase_indexes(
    phrases: Sequence[TextLines], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> tuple[PhraseIndex, ...]:
    """Build the index of each of ``PHRASE_KINDS``, whose rows share their columns; ValueError."""
    edges = numbers[columns.PHRASE_EDGES.name]
    owners = numbers[columns.PHRASE_RECORDS.name]
    frequencies = numbers[columns.PHRASE_FREQUENCIES.name]
    check_offsets(columns.PHRASE_EDGES, edges, counts["bearers"])
    check_phrase_owners(owners, edges, counts)
    indexes = []
    first = 0
    for lines in phrases:
        rows = dict(zip(lines.texts(), range(first, first + len(lines)), strict=True))
        indexes.append(PhraseIndex(rows, edges, owners, frequencies))
        first += len(lines)
    return tuple(indexes)
