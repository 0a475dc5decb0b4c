"""Terms of the words of a question: by the site's forms of each term, else by the nearest form."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..rules import RULES
from .store import Store, memoize_per_store

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
