"""The lexical index of passages; it is never built from a note."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cutting import TermCounts


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Sorted terms and their postings, as the bundle stores them."""

    terms: tuple[str, ...]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


def index(passages: Iterable[TermCounts]) -> Lexicon:
    """Index the terms of all passages, in the order of their rows."""
    numbers: dict[str, int] = {}
    # Parallel: a term's number and its count, passage after passage.
    found, counts = array("I"), array("I")
    distinct, lengths = array("I"), array("I")
    for passage in passages:
        found.extend(numbers.setdefault(term, len(numbers)) for term in passage.terms)
        counts.extend(passage.counts)
        distinct.append(len(passage.terms))
        lengths.append(sum(passage.counts))
    ordered = sorted(numbers)
    ranks = np.empty(len(ordered), dtype=np.int64)
    ranks[np.array([numbers[term] for term in ordered], dtype=np.int64)] = np.arange(len(ordered))
    terms_found = ranks[np.array(found, dtype=np.int64)]
    # Stable, so that a term's passages stay in their order.
    order = np.argsort(terms_found, kind="stable")
    sizes = np.bincount(terms_found, minlength=len(ordered))
    rows = np.repeat(np.arange(len(distinct)), np.array(distinct, dtype=np.int64))
    return Lexicon(
        terms=tuple(ordered),
        edges=np.concatenate(([0], np.cumsum(sizes))).astype("<u4"),
        passages=rows[order].astype("<u4"),
        counts=np.minimum(np.array(counts, dtype=np.int64), 65_535)[order].astype("<u2"),
        lengths=np.array(lengths, dtype="<u4"),
    )
