"""The terms of page titles, and the lengths of their idf vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..serve import scan, terms
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
    bearers: dict[str, list[int]] = {}
    norms = []
    for row, record in enumerate(records):
        own = dict.fromkeys(terms.read(record.title, record.language))
        for term in own:
            bearers.setdefault(term, []).append(row)
        rows = ranges.get(record.language, (0, 0))
        norms.append(math.sqrt(sum(_idf(lexicon, rows_of.get(term), rows) ** 2 for term in own)))
    listed = tuple(Name(term, tuple(rows), len(rows)) for term, rows in sorted(bearers.items()))
    return Titles(listed, tuple(norms))


def _idf(lexicon: Lexicon, term: int | None, rows: tuple[int, int]) -> float:
    """The inverse document frequency among some rows, as ``serve.scan`` has it."""
    count, frequency = rows[1] - rows[0], 0
    if term is not None:
        held = lexicon.passages[int(lexicon.edges[term]) : int(lexicon.edges[term + 1])]
        first, end = np.searchsorted(held, np.array(rows, dtype=held.dtype))
        frequency = int(end - first)
    return scan.idf(count, frequency)
