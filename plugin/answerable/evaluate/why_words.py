"""A question's words as the corpus knows them: who holds them and what they count for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..serve import recipe, scan, terms
from ..serve.bundle import Bundle
from ..serve.question_reading import Reading
from ..serve.vocabulary import Postings


@dataclass(frozen=True, slots=True)
class Word:
    """A content term of a question, read in one language of the site.

    ``text`` is the word that it was read from, the term itself where that is a part of a word.
    ``passages``: how many of the language hold it. ``share``: of the sum of idf, in [0, 1]; 0 for
    a name of the site that no passage holds.
    """

    text: str
    term: str
    language: str
    passages: int
    idf: float
    share: float


def read(bundle: Bundle, reading: Reading) -> tuple[Word, ...]:
    """The question's content terms in each language of the site, in the order they are asked."""
    found: list[Word] = []
    for tag, listed in reading.terms.items():
        rows = _rows(bundle, tag)
        weights = scan.idfs(bundle.postings, listed, rows, recipe.name_terms(bundle, tag))
        total = sum(weights.values())
        texts = _texts(reading.question, tag)
        for term in dict.fromkeys(listed):
            idf = weights.get(term, 0.0)
            held = len(_holders(bundle.postings, term, rows))
            share = idf / total if total else 0.0
            found.append(Word(texts.get(term, term), term, tag, held, idf, share))
    return tuple(found)


def unknown(words: Sequence[Word]) -> tuple[str, ...]:
    """The words that count and that no passage of any language holds, as they were asked."""
    known = {word.text for word in words if word.passages or not word.share}
    return tuple(dict.fromkeys(word.text for word in words if word.text not in known))


def missing(bundle: Bundle, words: Sequence[Word], row: int) -> tuple[Word, ...]:
    """The words that count and that a passage does not hold, read in its language."""
    tag = bundle.site.language_of(row)
    rows = _rows(bundle, tag)
    return tuple(
        word
        for word in words
        if word.language == tag
        and word.share
        and row not in _holders(bundle.postings, word.term, rows)
    )


def lexical_if_said(bundle: Bundle, words: Sequence[Word], row: int, said: Sequence[Word]) -> float:
    """The lexical score of a passage if it also said some words that it lacks, once each."""
    tag = bundle.site.language_of(row)
    postings = bundle.postings
    for word in said:
        postings = _with(postings, word.term, row)
    first, end = _rows(bundle, tag)
    asked = [word.term for word in words if word.language == tag]
    scores = scan.lexical(postings, asked, (first, end), recipe.name_terms(bundle, tag))
    return float(scores[row - first])


def _rows(bundle: Bundle, tag: str) -> scan.Rows:
    """The (first, last + 1) rows of a language; none if no page is written in it."""
    found = ((each.first, each.end) for each in bundle.site.languages if each.tag == tag)
    return next(found, (0, 0))


def _texts(question: str, tag: str) -> dict[str, str]:
    """By term, the first word that it alone was read from."""
    found: dict[str, str] = {}
    for word in terms.words(question):
        own = terms.read(word, tag)
        if len(own) == 1:
            found.setdefault(own[0], word)
    return found


def _holders(postings: Postings, term: str, rows: scan.Rows) -> NDArray[np.uint32]:
    """The passages among some rows that hold a term, in their order."""
    index = postings.terms.get(term)
    if index is None:
        return postings.passages[:0]
    held = postings.passages[int(postings.edges[index]) : int(postings.edges[index + 1])]
    return held[(held >= rows[0]) & (held < rows[1])]


def _with(postings: Postings, term: str, row: int) -> Postings:
    """The postings of a corpus in which one passage says a term once more."""
    index = postings.terms.get(term, len(postings.edges) - 1)
    edges = postings.edges.astype(np.int64)
    if index == len(edges) - 1:
        edges = np.append(edges, edges[-1])
    held = postings.passages[int(edges[index]) : int(edges[index + 1])]
    place = int(edges[index]) + int(np.searchsorted(held, np.uint32(row)))
    edges[index + 1 :] += 1
    lengths = postings.lengths.copy()
    lengths[row] += 1
    return replace(
        postings,
        terms={**postings.terms, term: index},
        edges=edges.astype(np.uint32),
        passages=np.insert(postings.passages, place, row),
        counts=np.insert(postings.counts, place, 1),
        lengths=lengths,
    )
