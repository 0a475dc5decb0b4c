"""The lexical index of passages; it is never built from a note."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..serve import terms
from .passages import Cut


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Sorted terms and their postings, as the bundle stores them."""

    terms: tuple[str, ...]
    offsets: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


def index(cuts: Sequence[Cut], language: str) -> Lexicon:
    """Index the retrieval text of passages."""
    postings: dict[str, list[tuple[int, int]]] = {}
    lengths = []
    for row, cut in enumerate(cuts):
        words = Counter(terms.read(cut.retrieval_text, language))
        lengths.append(words.total())
        for term, count in words.items():
            postings.setdefault(term, []).append((row, min(count, 65_535)))
    ordered = sorted(postings)
    pairs = [pair for term in ordered for pair in postings[term]]
    sizes = [len(postings[term]) for term in ordered]
    return Lexicon(
        terms=tuple(ordered),
        offsets=np.cumsum([0, *sizes]).astype("<u4"),
        passages=np.array([row for row, _ in pairs], dtype="<u4"),
        counts=np.array([count for _, count in pairs], dtype="<u2"),
        lengths=np.array(lengths, dtype="<u4"),
    )
