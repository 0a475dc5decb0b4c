"""Build inverted indexes of terms of passages, page titles and hint labels, never of note texts."""

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
    """Sorted terms of passages and their postings, as the bundle stores them."""

    terms: tuple[str, ...]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class TitleIndex:
    """The distinct terms of titles with the records that have them; by record, its title's norm.

    A norm is the length of the vector of the idf of a title's distinct terms, 0 without any.
    """

    terms: tuple[PhraseEntry, ...]
    norms: tuple[float, ...]


def index_passage_terms(passages: Iterable[TermCounts]) -> Lexicon:
    """Index the terms of all passages, in the order of their rows."""
    numbers: dict[str, int] = {}
    # Parallel: a term's number and its count, passage after passage.
    occurrences, counts = array("I"), array("I")
    distinct, lengths = array("I"), array("I")
    for passage in passages:
        occurrences.extend(numbers.setdefault(term, len(numbers)) for term in passage.terms)
        counts.extend(passage.counts)
        distinct.append(len(passage.terms))
        lengths.append(sum(passage.counts))
    terms = sorted(numbers)
    ranks = np.empty(len(terms), dtype=np.int64)
    ranks[np.array([numbers[term] for term in terms], dtype=np.int64)] = np.arange(len(terms))
    ranked = ranks[np.array(occurrences, dtype=np.int64)]
    # Stable, so that a term's passages stay in their order.
    order = np.argsort(ranked, kind="stable")
    sizes = np.bincount(ranked, minlength=len(terms))
    rows = np.repeat(np.arange(len(distinct)), np.array(distinct, dtype=np.int64))
    return Lexicon(
        terms=tuple(terms),
        edges=np.concatenate(([0], np.cumsum(sizes))).astype("<u4"),
        passages=rows[order].astype("<u4"),
        counts=np.minimum(np.array(counts, dtype=np.int64), 65_535)[order].astype("<u2"),
        lengths=np.array(lengths, dtype="<u4"),
    )


def index_titles(
    records: Sequence[Record], lexicon: Lexicon, languages: Sequence[tuple[str, int, int]]
) -> TitleIndex:
    """Index the titles of records. languages: (language, first, last + 1) of the passages' rows."""
    ranges = {language: (first, end) for language, first, end in languages}
    term_rows = {term: row for row, term in enumerate(lexicon.terms)}
    titles = [dict.fromkeys(extract_terms(each.title, each.language)) for each in records]
    norms = []
    for record, terms in zip(records, titles, strict=True):
        rows = ranges.get(record.language, (0, 0))
        squares = (_idf(lexicon, term_rows.get(term), rows) ** 2 for term in terms)
        norms.append(math.sqrt(sum(squares)))
    return TitleIndex(_list_term_entries(titles), tuple(norms))


def index_labels(hints: Sequence[RoutingHint], language: str) -> tuple[PhraseEntry, ...]:
    """Index the terms of labels and locators, which are public, by the rows of hints."""
    texts = (f"{hint.label} {hint.locator}" for hint in hints)
    return _list_term_entries(extract_terms(text, language) for text in texts)


def invert_phrases(lists: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Map each distinct phrase to the rows of the lists that hold it."""
    rows: dict[str, list[int]] = {}
    for row, phrases in enumerate(lists):
        for phrase in dict.fromkeys(phrases):
            rows.setdefault(phrase, []).append(row)
    return rows


def _list_term_entries(texts: Iterable[Iterable[str]]) -> tuple[PhraseEntry, ...]:
    entries = sorted(invert_phrases(texts).items())
    return tuple(PhraseEntry(term, tuple(rows), len(rows)) for term, rows in entries)


def _idf(lexicon: Lexicon, term: int | None, rows: tuple[int, int]) -> float:
    """Compute the inverse document frequency of a term among a range of passages."""
    count, frequency = rows[1] - rows[0], 0
    if term is not None:
        postings = lexicon.passages[int(lexicon.edges[term]) : int(lexicon.edges[term + 1])]
        first, end = np.searchsorted(postings, np.array(rows, dtype=postings.dtype))
        frequency = int(end - first)
    return compute_idf(count, frequency)
