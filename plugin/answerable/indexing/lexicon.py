"""The lexical index of passages; it is never built from a note.

The terms of page titles and of hints' labels, and the lengths of the titles' idf vectors.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.postings import PhraseEntry
from ..serve.retrieval.bm25 import compute_idf
from ..serve.text.tokenization import extract_terms
from ..serve.types import RoutingHint
from .pages.page_index import TermCounts
from .pages.records import Record


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Sorted terms and their postings, as the bundle stores them."""

    terms: tuple[str, ...]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


def index_passage_terms(passages: Iterable[TermCounts]) -> Lexicon:
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


@dataclass(frozen=True, slots=True)
class TitleIndex:
    """Each distinct term of a title with the records whose title has it; by record, its norm.

    A norm is the length of the vector of the idf of a title's distinct terms, 0 without any.
    """

    terms: tuple[PhraseEntry, ...]
    norms: tuple[float, ...]


def index_titles(
    records: Sequence[Record], lexicon: Lexicon, languages: Sequence[tuple[str, int, int]]
) -> TitleIndex:
    """Index the titles of records. languages: (language, first, last + 1) of the passages' rows."""
    ranges = {language: (first, end) for language, first, end in languages}
    rows_of = {term: row for row, term in enumerate(lexicon.terms)}
    titles = [dict.fromkeys(extract_terms(each.title, each.language)) for each in records]
    norms = []
    for record, own in zip(records, titles, strict=True):
        rows = ranges.get(record.language, (0, 0))
        norms.append(math.sqrt(sum(_idf(lexicon, rows_of.get(term), rows) ** 2 for term in own)))
    return TitleIndex(_invert_terms(titles), tuple(norms))


def index_labels(hints: Sequence[RoutingHint], language: str) -> tuple[PhraseEntry, ...]:
    """Index the terms of labels and locators, which are public, by the rows of hints."""
    return _invert_terms(extract_terms(f"{hint.label} {hint.locator}", language) for hint in hints)


def _invert_terms(texts: Iterable[Iterable[str]]) -> tuple[PhraseEntry, ...]:
    bearers: dict[str, list[int]] = {}
    for row, listed in enumerate(texts):
        for term in dict.fromkeys(listed):
            bearers.setdefault(term, []).append(row)
    return tuple(
        PhraseEntry(term, tuple(rows), len(rows)) for term, rows in sorted(bearers.items())
    )


def _idf(lexicon: Lexicon, term: int | None, rows: tuple[int, int]) -> float:
    """The inverse document frequency among some rows, as ``serve.scan`` has it."""
    count, frequency = rows[1] - rows[0], 0
    if term is not None:
        held = lexicon.passages[int(lexicon.edges[term]) : int(lexicon.edges[term + 1])]
        first, end = np.searchsorted(held, np.array(rows, dtype=held.dtype))
        frequency = int(end - first)
    return compute_idf(count, frequency)
