"""The terms of page titles and of hints' labels, and the lengths of the titles' idf vectors."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..serve import scan, terms
from ..serve.types import RoutingHint
from ..serve.vocabulary import Name
from .lexicon import Lexicon
from .records import Record


@dataclass(frozen=True, slots=True)
class Titles:
    """Each distinct term of a title with the records whose title has it; by record, its norm.

    A norm is the length of the vector of the idf of a title's distinct terms, 0 without any.
    """

    terms: tuple[Name, ...]
    norms: tuple[float, ...]


def index(
    records: Sequence[Record], lexicon: Lexicon, languages: Sequence[tuple[str, int, int]]
) -> Titles:
    """Index the titles of records. languages: (language, first, last + 1) of the passages' rows."""
    ranges = {language: (first, end) for language, first, end in languages}
    rows_of = {term: row for row, term in enumerate(lexicon.terms)}
    titles = [dict.fromkeys(terms.read(each.title, each.language)) for each in records]
    norms = []
    for record, own in zip(records, titles, strict=True):
        rows = ranges.get(record.language, (0, 0))
        norms.append(math.sqrt(sum(_idf(lexicon, rows_of.get(term), rows) ** 2 for term in own)))
    return Titles(_names(titles), tuple(norms))


def index_labels(hints: Sequence[RoutingHint], language: str) -> tuple[Name, ...]:
    """Index the terms of labels and locators, which are public, by the rows of hints."""
    return _names(terms.read(f"{hint.label} {hint.locator}", language) for hint in hints)


def _names(texts: Iterable[Iterable[str]]) -> tuple[Name, ...]:
    bearers: dict[str, list[int]] = {}
    for row, listed in enumerate(texts):
        for term in dict.fromkeys(listed):
            bearers.setdefault(term, []).append(row)
    return tuple(Name(term, tuple(rows), len(rows)) for term, rows in sorted(bearers.items()))


def _idf(lexicon: Lexicon, term: int | None, rows: tuple[int, int]) -> float:
    """The inverse document frequency among some rows, as ``serve.scan`` has it."""
    count, frequency = rows[1] - rows[0], 0
    if term is not None:
        held = lexicon.passages[int(lexicon.edges[term]) : int(lexicon.edges[term + 1])]
        first, end = np.searchsorted(held, np.array(rows, dtype=held.dtype))
        frequency = int(end - first)
    return scan.idf(count, frequency)
