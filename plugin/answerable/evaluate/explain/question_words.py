"""Count the passages with each word of a question; rescore a passage as if it held more of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.postings import Postings
from ...serve.embedders.embedder import Embedder
from ...serve.provider_registry import embeds_in_process
from ...serve.retrieval.bm25 import RowRange, compute_idfs, score_bm25
from ...serve.retrieval.misspellings import (
    TWO_EDITS_FROM_LETTERS,
    edit_distance,
    may_be_misspelled,
)
from ...serve.retrieval.question import QuestionReading, read_site_name_terms
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import extract_terms, split_lowercase_words

# A longer list of words for an unknown one is no help.
MAX_NEAREST_WORDS = 3
# Of the unknown words of 97 questions about a site, those related from here on made sense.
MIN_RELATED_COSINE = 0.45


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
    """Read the question's content terms in each language of the site, in the question's order."""
    words: list[QuestionWord] = []
    for tag, terms in reading.terms.items():
        rows = find_language_rows(bundle, tag)
        idfs = compute_idfs(bundle.postings, terms, rows, read_site_name_terms(bundle, tag))
        total = sum(idfs.values())
        texts = _map_terms_to_words(reading.question, tag)
        for term in dict.fromkeys(terms):
            idf = idfs.get(term, 0.0)
            passages = len(_list_passages_with(bundle.postings, term, rows))
            share = idf / total if total else 0.0
            words.append(QuestionWord(texts.get(term, term), term, tag, passages, idf, share))
    return tuple(words)


def list_unknown_words(words: Sequence[QuestionWord]) -> tuple[str, ...]:
    """List the words that count and that no passage of any language holds, as they were typed."""
    known_texts = {word.text for word in words if word.passages or not word.share}
    return tuple(dict.fromkeys(word.text for word in words if word.text not in known_texts))


def find_nearest_words(
    bundle: Bundle, embedder: Embedder, unknown: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Find words of the site near unknown ones, by meaning first; words without any are left out.

    Meaning is looked at where embedding costs nothing, and between words of ordinary language: the
    vector of another one is that of the pieces that it happens to have.
    """
    nearest = {}
    related = _find_related_words(bundle, embedder, unknown)
    for word in unknown:
        words = dict.fromkeys((*related.get(word, ()), *list_near_spellings(bundle, word)))
        if words:
            nearest[word] = tuple(words)[:MAX_NEAREST_WORDS]
    return nearest


def _find_related_words(
    bundle: Bundle, embedder: Embedder, unknown: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Find the word of the site with the highest cosine for each unknown word, if it is high."""
    ordinary = [word for word in unknown if embedder.word_rank(word) is not None]
    if not ordinary or not embeds_in_process(embedder.identity.provider):
        return {}
    candidates = [word for word in bundle.words if embedder.word_rank(word) is not None]
    if not candidates:
        return {}
    cosines = embedder.embed(ordinary) @ embedder.embed(candidates).T
    return {
        word: (candidates[int(row.argmax())],)
        for word, row in zip(ordinary, cosines, strict=True)
        if row.max() >= MIN_RELATED_COSINE
    }


def list_near_spellings(bundle: Bundle, word: str) -> tuple[str, ...]:
    """List words of the site that an unknown one may stand for, the fewest edits first.

    By the distance that corrects a question: one edit of 4 to 7 letters, two of more. Unlike there,
    several words may be near, and a word of ordinary language has near ones too.
    """
    if not may_be_misspelled(word):
        return ()
    max_edits = 1 if len(word) < TWO_EDITS_FROM_LETTERS else 2
    distances = {
        other: edit_distance(word, other, max_edits)
        for other in bundle.words
        if abs(len(other) - len(word)) <= max_edits
    }
    near = [other for other, edits in distances.items() if edits <= max_edits]
    return tuple(sorted(near, key=lambda other: (distances[other], other))[:MAX_NEAREST_WORDS])


def list_missing_words(
    bundle: Bundle, words: Sequence[QuestionWord], row: int
) -> tuple[QuestionWord, ...]:
    """List the words that count and that a passage does not hold, read in its language."""
    tag = bundle.site.language_of(row)
    rows = find_language_rows(bundle, tag)
    return tuple(
        word
        for word in words
        if word.language == tag
        and word.share
        and row not in _list_passages_with(bundle.postings, word.term, rows)
    )


def score_with_words_added(
    bundle: Bundle, words: Sequence[QuestionWord], row: int, added: Sequence[QuestionWord]
) -> float:
    """Compute the lexical score that a passage would have if it also held some words, once each."""
    tag = bundle.site.language_of(row)
    postings = bundle.postings
    for word in added:
        postings = _add_posting(postings, word.term, row)
    first, end = find_language_rows(bundle, tag)
    terms = [word.term for word in words if word.language == tag]
    idfs = compute_idfs(postings, terms, (first, end), read_site_name_terms(bundle, tag))
    return float(score_bm25(postings, idfs, (first, end))[row - first])


def find_language_rows(bundle: Bundle, tag: str) -> RowRange:
    """Find the (first, last + 1) rows of a language; (0, 0) if no page is written in it."""
    ranges = ((each.first, each.end) for each in bundle.site.languages if each.tag == tag)
    return next(ranges, (0, 0))


def _map_terms_to_words(question: str, tag: str) -> dict[str, str]:
    """Map each term to the first word that it alone was read from."""
    words_by_term: dict[str, str] = {}
    for word in split_lowercase_words(question):
        terms = extract_terms(word, tag)
        if len(terms) == 1:
            words_by_term.setdefault(terms[0], word)
    return words_by_term


def _list_passages_with(postings: Postings, term: str, rows: RowRange) -> NDArray[np.uint32]:
    """List the passages among some rows that hold a term, in their order."""
    index = postings.terms.get(term)
    if index is None:
        return postings.passages[:0]
    passages = postings.passages[int(postings.edges[index]) : int(postings.edges[index + 1])]
    return passages[(passages >= rows[0]) & (passages < rows[1])]


def _add_posting(postings: Postings, term: str, row: int) -> Postings:
    """Copy postings as of a corpus in which one passage holds a term once more."""
    index = postings.terms.get(term, len(postings.edges) - 1)
    edges = postings.edges.astype(np.int64)
    if index == len(edges) - 1:
        edges = np.append(edges, edges[-1])
    passages = postings.passages[int(edges[index]) : int(edges[index + 1])]
    place = int(edges[index]) + int(np.searchsorted(passages, np.uint32(row)))
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
