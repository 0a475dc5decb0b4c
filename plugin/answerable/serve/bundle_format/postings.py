"""What passages and pages are found by: the word index, and authored names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Postings:
    """The lexical index of passages: for each term, which passages hold it and how often.

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
    """An authored phrase, the records it belongs to and in how many records it occurs."""

    phrase: str
    records: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Authored phrases as columns: ``rows`` by phrase; row ``r`` belongs to the records
    ``records[edges[r]:edges[r + 1]]``.
    """

    rows: Mapping[str, int]
    edges: NDArray[np.uint32]
    records: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]

    def __iter__(self) -> Iterator[PhraseEntry]:
        return map(self.named, self.rows)

    def named(self, phrase: str) -> PhraseEntry:
        """The name that is a phrase."""
        row = self.rows[phrase]
        bearers = self.records[int(self.edges[row]) : int(self.edges[row + 1])]
        return PhraseEntry(phrase, tuple(bearers.tolist()), int(self.frequencies[row]))


def list_phrase_lengths(names: PhraseIndex) -> frozenset[int]:
    """How many words the phrases have, which single spaces divide."""
    return frozenset(phrase.count(" ") + 1 for phrase in names.rows if phrase)


def split_phrase_indexes(
    phrases: Sequence[Sequence[str]],
    edges: NDArray[np.uint32],
    records: NDArray[np.uint32],
    frequencies: NDArray[np.uint32],
) -> tuple[PhraseIndex, ...]:
    """Build one Names for each list of phrases, whose rows follow each other in shared columns."""
    names = []
    first = 0
    for listed in phrases:
        rows = dict(zip(listed, range(first, first + len(listed)), strict=True))
        names.append(PhraseIndex(rows, edges, records, frequencies))
        first += len(listed)
    return tuple(names)
