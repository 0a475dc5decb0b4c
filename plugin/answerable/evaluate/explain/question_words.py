"""A question's words as the corpus knows them: who holds them and what they count for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.postings import Postings
from ...serve.retrieval.bm25 import RowRange, compute_idfs, score_bm25
from ...serve.retrieval.question import QuestionReading, read_site_name_terms
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import extract_terms, split_lowercase_words


@dataclass(frozen=True, slots=True)
class QuestionWord:
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


def read_question_words(bundle: Bundle, reading: QuestionReading) -> tuple[QuestionWord, ...]:
    """The question's content terms in each language of the site, in the order they are asked."""
    found: list[QuestionWord] = []
    for tag, listed in reading.terms.items():
        rows = _find_language_rows(bundle, tag)
        weights = compute_idfs(bundle.postings, listed, rows, read_site_name_terms(bundle, tag))
        total = sum(weights.values())
        texts = _map_terms_to_words(reading.question, tag)
        for term in dict.fromkeys(listed):
            idf = weights.get(term, 0.0)
            held = len(_list_passages_with(bundle.postings, term, rows))
            share = idf / total if total else 0.0
            found.append(QuestionWord(texts.get(term, term), term, tag, held, idf, share))
    return tuple(found)


def list_unknown_words(words: Sequence[QuestionWord]) -> tuple[str, ...]:
    """The words that count and that no passage of any language holds, as they were asked."""
    known = {word.text for word in words if word.passages or not word.share}
    return tuple(dict.fromkeys(word.text for word in words if word.text not in known))


def list_missing_words(
    bundle: Bundle, words: Sequence[QuestionWord], row: int
) -> tuple[QuestionWord, ...]:
    """The words that count and that a passage does not hold, read in its language."""
    tag = bundle.site.language_of(row)
    rows = _find_language_rows(bundle, tag)
    return tuple(
        word
        for word in words
        if word.language == tag
        and word.share
        and row not in _list_passages_with(bundle.postings, word.term, rows)
    )


def score_with_words_added(
    bundle: Bundle, words: Sequence[QuestionWord], row: int, said: Sequence[QuestionWord]
) -> float:
    """The lexical score of a passage if it also said some words that it lacks, once each."""
    tag = bundle.site.language_of(row)
    postings = bundle.postings
    for word in said:
        postings = _add_posting(postings, word.term, row)
    first, end = _find_language_rows(bundle, tag)
    terms = [word.term for word in words if word.language == tag]
    idfs = compute_idfs(postings, terms, (first, end), read_site_name_terms(bundle, tag))
    scores = score_bm25(postings, idfs, (first, end))
    return float(scores[row - first])


def _find_language_rows(bundle: Bundle, tag: str) -> RowRange:
    """The (first, last + 1) rows of a language; none if no page is written in it."""
    found = ((each.first, each.end) for each in bundle.site.languages if each.tag == tag)
    return next(found, (0, 0))


def _map_terms_to_words(question: str, tag: str) -> dict[str, str]:
    """By term, the first word that it alone was read from."""
    found: dict[str, str] = {}
    for word in split_lowercase_words(question):
        own = extract_terms(word, tag)
        if len(own) == 1:
            found.setdefault(own[0], word)
    return found


def _list_passages_with(postings: Postings, term: str, rows: RowRange) -> NDArray[np.uint32]:
    """The passages among some rows that hold a term, in their order."""
    index = postings.terms.get(term)
    if index is None:
        return postings.passages[:0]
    held = postings.passages[int(postings.edges[index]) : int(postings.edges[index + 1])]
    return held[(held >= rows[0]) & (held < rows[1])]


def _add_posting(postings: Postings, term: str, row: int) -> Postings:
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
