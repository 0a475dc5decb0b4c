"""Terms: the forms of the site's words, their idfs, and the BM25 scores of passages."""

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.tokenization import extract_terms
from .store import Store, TermPostings, memoize_per_store

# A word that the site does not have stands for the form that begins most like it: with so many
# letters at least, and with all of the word's but so many.
MIN_SHARED_LETTERS: int = RULES["word_forms"]["MIN_SHARED_LETTERS"]
MAX_OTHER_LETTERS: int = RULES["word_forms"]["MAX_OTHER_LETTERS"]
# How many letters of the term itself may be others, such as the last one of "queri" for "query".
MAX_OTHER_TERM_LETTERS: int = RULES["word_forms"]["MAX_OTHER_TERM_LETTERS"]


@dataclass(frozen=True, slots=True, eq=False)
class _FormIndex:
    """Index the forms of a site's words in one language.

    ``terms_by_form`` has the terms themselves too. ``forms`` are the others of each term, between
    spaces. ``words`` are all forms of letters only, sorted.
    """

    terms_by_form: Mapping[str, str]
    forms: Mapping[str, str]
    words: Sequence[str]


@memoize_per_store
def _index_forms(store: Store, language: str) -> _FormIndex:
    index = store.index
    forms = dict(zip(index.terms, index.forms[language], strict=True))
    # A word of a hint's label is no form of another one that a page happens to have.
    terms_by_form = {term: term for term in (*store.index.label_terms.rows, *forms)}
    # A word may be a term and a form of another one, such as "univers" of "univer".
    terms_by_form |= {form: term for term, others in forms.items() for form in others.split()}
    words = sorted(filter(str.isalpha, terms_by_form))
    return _FormIndex(terms_by_form, forms, words)


def read_forms(store: Store, words: Iterable[str], language: str) -> dict[str, str]:
    """Map words, as an index has them, and all forms of the same terms to their terms.

    A word that is like none of the site's is a term of its own, as one is that a known question
    has and no page.
    """
    index = _index_forms(store, language)
    by_form, question_terms = index.terms_by_form, store.index.question_terms.rows
    terms = {
        word: by_form.get(word)
        or (word if word in question_terms else find_nearest_term(by_form, index.words, word))
        for word in words
    }
    others = {form: term for term in terms.values() for form in index.forms.get(term, "").split()}
    return others | terms


def has_form(store: Store, word: str, language: str) -> bool:
    """Test whether a page, or a known question, has a word in the form in which it is written."""
    by_form = _index_forms(store, language).terms_by_form
    return word in by_form or word in store.index.question_terms.rows


def find_nearest_term(terms_by_form: Mapping[str, str], words: Sequence[str], word: str) -> str:
    """Find the term of the form with the longest beginning in common with a word; else the word.

    words: the forms of letters only, sorted. Of equally long beginnings the shortest form counts,
    then the first.
    """
    least = max(MIN_SHARED_LETTERS, len(word) - MAX_OTHER_LETTERS) if word.isalpha() else len(word)
    for shared in range(len(word), least - 1, -1):
        first = end = bisect_left(words, word[:shared])
        while end < len(words) and words[end].startswith(word[:shared]):
            end += 1
        longest_term = shared + MAX_OTHER_TERM_LETTERS
        near = [form for form in words[first:end] if len(terms_by_form[form]) <= longest_term]
        if near:
            return terms_by_form[min(near, key=lambda form: (len(form), form))]
    return word


# BM25's usual constants, without the (k1 + 1) factor, so that a term adds at most its idf.
K1: float = RULES["bm25"]["K1"]
B: float = RULES["bm25"]["B"]

# Passages of ordinary language, without the question's words, that a corpus is counted together
# with: on a site of few passages a word that it lacks would else outweigh all that it has.
BACKGROUND_PASSAGES: int = RULES["bm25"]["BACKGROUND_PASSAGES"]

RowRange = tuple[int, int]


def select_top_rows(
    scores: NDArray[np.float32], count: int, among: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Select the best ``count`` rows, best first; equal scores keep the order of rows.

    among: (n,) the rows to select from.
    """
    rows = np.flatnonzero(among)
    if 0 < count < len(rows):
        lowest = np.partition(scores[rows], -count)[-count]
        rows = rows[scores[rows] >= lowest]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]


def score_bm25(
    postings: TermPostings, idfs: Mapping[str, float], rows: RowRange
) -> NDArray[np.float32]:
    """Score passages by BM25, divided by the sum of the idfs. Returns (n,) in [0, 1].

    idfs: of the query's terms, by ``compute_idfs``. A term that no passage holds counts in the
    sum, so that unknown words lower every score. rows: the (first, last + 1) passages that are
    the corpus. Source: Robertson & Zaragoza 2009.
    """
    first, end = rows
    scores = np.zeros(end - first, dtype=np.float64)
    total = sum(idfs.values())
    if not len(scores) or not total:
        return scores.astype(np.float32)
    lengths = postings.lengths[first:end].astype(np.float64)
    penalty = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
    for term, idf in idfs.items():
        span = _find_postings_slice(postings, term, rows)
        holders = postings.passages[span] - np.uint32(first)
        counts = postings.counts[span].astype(np.float64)
        scores[holders] += idf * counts / (counts + penalty[holders])
    return (scores / total).astype(np.float32)


def compute_idfs(
    postings: TermPostings,
    terms: Iterable[str],
    rows: RowRange,
    names: Collection[str] = (),
) -> dict[str, float]:
    """Compute the inverse document frequency of each distinct term; an unknown one has the highest.

    rows: see ``score_bm25``. A term of ``names`` that no passage of the corpus holds is left out.
    """
    count = rows[1] - rows[0]
    idfs = {}
    for term in dict.fromkeys(terms):
        span = _find_postings_slice(postings, term, rows)
        frequency = span.stop - span.start
        if frequency or term not in names:
            idfs[term] = compute_idf(count, frequency)
    return idfs


def compute_idf(passages: int, frequency: int) -> float:
    """Compute ln(1 + (N - df + .5) / (df + .5)), with the background passages in N."""
    return math.log(1 + (passages + BACKGROUND_PASSAGES - frequency + 0.5) / (frequency + 0.5))


def compute_idf_share(
    weights: Mapping[str, float], forms: Mapping[str, str], text: str, language: str
) -> float:
    """Compute the share of the idf of a question's terms that a text holds, 0 without terms.

    forms: the term of each form of these terms.
    """
    terms = frozenset(extract_terms(text, language, forms))
    shared = sum(weight for term, weight in weights.items() if term in terms)
    return shared / (sum(weights.values()) or 1.0)


def find_indexed_terms(postings: TermPostings, terms: Collection[str]) -> frozenset[str]:
    """Find the terms that a passage holds."""
    return frozenset(term for term in terms if count_passages(postings, term))


def count_passages(postings: TermPostings, term: str) -> int:
    """Count the passages that hold a term."""
    span = _find_postings_slice(postings, term)
    return int(span.stop) - int(span.start)


def match_terms(postings: TermPostings, terms: Collection[str], row: int) -> frozenset[str]:
    """Find the terms that a passage holds."""
    return frozenset(
        term for term in terms if row in postings.passages[_find_postings_slice(postings, term)]
    )


def _find_postings_slice(postings: TermPostings, term: str, rows: RowRange | None = None) -> slice:
    """Locate a term's postings of a corpus: a term's passages are in the order of rows."""
    index = postings.terms.get(term)
    if index is None:
        return slice(0, 0)
    start, stop = int(postings.edges[index]), int(postings.edges[index + 1])
    if rows is None or rows == (0, len(postings.lengths)):
        return slice(start, stop)
    # Of the column's own type: searching for another one converts the whole column first.
    edges = np.array(rows, dtype=np.uint32)
    inside = np.searchsorted(postings.passages[start:stop], edges)
    return slice(start + int(inside[0]), start + int(inside[1]))
