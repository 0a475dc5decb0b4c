"""The protocol of a store, a bundle or a database, and what its terms are worth.

A question's words become terms by their forms, and terms have idfs, by which BM25 scores passages.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..index.columns import Index, Postings
from ..index.manifest import Manifest
from ..rules import RULES
from ..text.tokenization import extract_terms
from ..types import Passage
from ..vectors import Floats, Rows

RowRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Signals:
    """All but the cosine that counts for a passage, (n,) each.

    ``question``: how near the best question is that its section is known to answer, in [0, 1].
    """

    lexical: Floats
    boost: Floats
    page: Floats
    weight: Floats
    question: Floats

    def select(self, rows: Rows) -> "Signals":
        """Select the signals of some rows."""
        return Signals(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A query for the passages of a store with the best scores.

    ``unit``: (d,) the question, of length 1. ``signals``: all but the cosine that counts for each
    passage. ``readable``: (n,) those that the asker can read, whose best are included too.
    ``top_k`` of either, and ``near`` of those under the floor whose score before boosts is at least
    ``near_floor``.
    """

    unit: Floats
    signals: Signals
    readable: NDArray[np.bool_]
    top_k: int
    near: int
    near_floor: float = -math.inf


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of passages, rising, and the cosine of each with the float query, (k,) both."""

    rows: Rows
    cosines: Floats


@dataclass(frozen=True, slots=True)
class TermPostings(Postings):
    """The postings of some terms, by the row of each; ``lengths`` (n,) counts a passage's terms."""

    terms: Mapping[str, int]
    lengths: NDArray[np.uint32]

    def find(self, term: str, rows: RowRange | None = None) -> slice:
        """Find the postings of a term, all of them or those in a range of passages."""
        index = self.terms.get(term)
        if index is None:
            return slice(0, 0)
        # A term's passages are in the order of rows.
        start, stop = int(self.edges[index]), int(self.edges[index + 1])
        if rows is None or rows == (0, len(self.lengths)):
            return slice(start, stop)
        # Of the column's own type: searching for another one converts the whole column first.
        edges = np.array(rows, dtype=np.uint32)
        inside = np.searchsorted(self.passages[start:stop], edges)
        return slice(start + int(inside[0]), start + int(inside[1]))

    def count(self, term: str, rows: RowRange | None = None) -> int:
        """Count the passages that hold a term, all of them or those in a range."""
        span = self.find(term, rows)
        return int(span.stop) - int(span.start)


class Store(Protocol):
    """All that a question reads of a site, everything of one bundle id.

    StorageError, from all but the first two, where a database is out of reach.
    """

    @property
    def manifest(self) -> Manifest: ...

    @property
    def index(self) -> Index:
        """The columns that are in memory; those that a database holds are empty then."""

    def postings_of(self, terms: Collection[str]) -> TermPostings:
        """Return the postings of some terms, and maybe of others; the lengths of all passages."""

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Find the passages of a query, and maybe others."""

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages. rows: rising."""

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Return the passages of some rows."""

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""


P = ParamSpec("P")
R = TypeVar("R")


def memoize_per_store(
    function: Callable[Concatenate[Store, P], R],
) -> Callable[Concatenate[Store, P], R]:
    """Memoize a function per store, by weak reference, and its hashable arguments.

    A dev server opens a bundle at every rebuild: a cached result must not keep the bundle.
    """
    cache: WeakKeyDictionary[Store, dict[object, R]] = WeakKeyDictionary()

    @wraps(function)
    def memoized(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results = cache.setdefault(store, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(store, *args, **kwargs)
        return results[key]

    return memoized


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
    """True if a page, or a known question, has a word in the form in which it is written."""
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
        span = postings.find(term, rows)
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
        frequency = postings.count(term, rows)
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
