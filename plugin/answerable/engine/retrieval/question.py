"""Reading of a question: its terms, near spellings, and words that the site does not have."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.tokenization import (
    detect_scripts,
    extract_terms,
    extract_words,
    is_space_delimited,
    normalize_phrase,
    split_ngrams,
    split_words,
)
from .store import Store, compute_idfs, has_form, memoize_per_store, read_forms

MAX_QUESTION_CHARACTERS: int = RULES["question"]["MAX_QUESTION_CHARACTERS"]


def clean_question(question: str) -> str:
    """Normalize a question to NFKC, without control characters, with single spaces."""
    text = unicodedata.normalize("NFKC", question)
    printable = (" " if unicodedata.category(c).startswith("C") else c for c in text)
    return " ".join("".join(printable).split())


def find_question_problem(cleaned: str) -> str | None:
    """Say in one sentence why a cleaned question cannot be answered; None if it can."""
    if not cleaned:
        return "The question is empty."
    if len(cleaned) > MAX_QUESTION_CHARACTERS:
        return f"A question has at most {MAX_QUESTION_CHARACTERS} characters."
    return None


# Words by which people ask, such as "what does the author say about": of the question alone.
FRAMING_WORDS = frozenset(RULES["framing"].split())
_HISTORY_PHRASES: Sequence[str] = RULES["history"]


def drop_framing(words: list[str]) -> list[str]:
    """Drop the words by which people ask, unless there are no others."""
    return [word for word in words if word not in FRAMING_WORDS] or words


def asks_for_history(question: str) -> bool:
    """True if a question has a word for what was released or changed, not only a version."""
    words = f" {normalize_phrase(question)} "
    return any(f" {phrase} " in words for phrase in _HISTORY_PHRASES)


# A shorter word has too many neighbors.
MIN_WORD_LETTERS: int = RULES["question"]["MIN_WORD_LETTERS"]
# From so many letters on two edits are tried.
TWO_EDITS_FROM_LETTERS: int = RULES["question"]["TWO_EDITS_FROM_LETTERS"]
# A spelling is clearly more frequent than another one if so many times as many passages have it.
CLEARLY_MORE: int = RULES["question"]["CLEARLY_MORE"]


def find_near_spelling(store: Store, word: str) -> str | None:
    """Find the site's spelling near a lower-case word; None if there is none.

    Of spellings of several terms the clearly most frequent one counts, so that a site's own typo
    stands for nothing. A word is never split in two: "downtime" is not "down time".
    """
    for max_edits in range(1, 2 if len(word) < TWO_EDITS_FROM_LETTERS else 3):
        if near := list(_find_within_edits(store, word, max_edits)):
            frequencies = _count_passages(store, near)
            terms = sorted(frequencies, key=lambda term: -frequencies[term][0])
            most, second = (*(frequencies[term][0] for term in terms), 0)[:2]
            return frequencies[terms[0]][1] if most >= CLEARLY_MORE * second else None
    return None


def _count_passages(
    store: Store, words: Sequence[str]
) -> Mapping[tuple[str, ...], tuple[int, str]]:
    """Count the passages with each term of some words, beside the first spelling of the term."""
    forms = [read_forms(store, words, tag) for tag in store.index.site.tags]
    terms_by_word = {word: tuple(own[word] for own in forms) for word in words}
    postings = store.postings_of({term for terms in terms_by_word.values() for term in terms})
    counts: dict[tuple[str, ...], tuple[int, str]] = {}
    for word, terms in terms_by_word.items():
        counts.setdefault(terms, (max(map(postings.count, terms)), word))
    return counts


def _find_within_edits(store: Store, word: str, max_edits: int) -> Iterator[str]:
    """Yield the words at a distance of at most so many edits.

    Of two edits neither may replace a letter, and the first letter has to be right, as in a word of
    four letters: words that differ otherwise are different words, such as "earn" and "warn", more
    often than misspelled ones.
    """
    # An edit puts at most one letter in and takes one out.
    differing = np.bitwise_xor(_index_letters(store), np.uint32(_letter_bits(word)))
    for row in np.flatnonzero(np.bitwise_count(differing) <= 2 * max_edits).tolist():
        other = store.index.words[row]
        if other[0] != word[0] and (max_edits > 1 or len(word) <= MIN_WORD_LETTERS):
            continue
        if edit_distance(word, other, max_edits) <= max_edits:
            yield other


def edit_distance(first: str, second: str, max_edits: int) -> int:
    """Count the edits between two words; ``max_edits + 1`` where there are more than that.

    A replaced letter counts for all the edits that there may be.
    """
    if abs(len(first) - len(second)) > max_edits:
        return max_edits + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        above, row = row, [i]
        for j, other in enumerate(second, 1):
            edits = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + max_edits * (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                edits = min(edits, before[j - 2] + 1)
            row.append(edits)
        if min(row) > max_edits:
            return max_edits + 1
        before = above
    return row[-1]


@memoize_per_store
def _index_letters(store: Store) -> NDArray[np.uint32]:
    """Mark which letters each of the site's words has, by bits."""
    return np.array([_letter_bits(word) for word in store.index.words], dtype=np.uint32)


def _letter_bits(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 32)
    return bits


# By language, the inverse document frequency of each distinct term of a question.
Idfs = Mapping[str, Mapping[str, float]]
# By language, the term of each word of a question and of each other form of these terms.
Forms = Mapping[str, Mapping[str, str]]

# A near spelling replaces a word; no passage has a word.
RemarkKind = Literal["corrected", "unknown"]

# Returns a word's rank in ordinary language, the most common first; None for a word without one.
WordRank = Callable[[str], int | None]

# The absence of a word that is more common than this does not make a question unanswerable.
ORDINARY_RANK: int = RULES["question"]["ORDINARY_RANK"]


@dataclass(frozen=True, slots=True)
class Remark:
    """Hold what a reader is told of a word of the question.

    ``word``: as it was written; ``replacement``: the site's spelling of it.
    """

    kind: RemarkKind
    word: str = ""
    replacement: str = ""

    def to_json(self) -> Mapping[str, str]:
        """Format the remark as the wire's ``notes`` have it."""
        fields = {"from": self.word, "to": self.replacement} if self.replacement else {}
        return {"kind": self.kind, **({"word": self.word} if self.kind == "unknown" else fields)}


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """All that a site reads in a question, once: its spelling, terms and phrases.

    ``question`` has the site's spellings, and is what is embedded; ``asked`` is in the reader's own
    words, for a model. ``terms`` are its content terms by the site's languages, none where there is
    nothing to search for. ``idfs``: by the languages of the site's passages, as ``forms``.
    ``phrases``: its normalized n-grams of the lengths of names. ``unknown``: the words, in lower
    case, that neither a passage nor a name has.
    """

    question: str
    terms: Mapping[str, list[str]]
    remarks: tuple[Remark, ...] = ()
    idfs: Idfs = field(default_factory=dict)
    forms: Forms = field(default_factory=dict)
    phrases: frozenset[str] = frozenset()
    asks_for_history: bool = False
    asked: str = ""
    unknown: frozenset[str] = frozenset()


def read_question(
    store: Store, question: str, word_rank: WordRank = lambda _: None
) -> QuestionReading:
    """Read a cleaned question with the vocabulary of a site.

    word_rank: by default no word is an ordinary one.
    """
    spelled, remarks = _correct_spelling(store, question, word_rank)
    terms = _extract_question_terms(store, spelled)
    words = split_words(spelled)
    unknown = _find_unknown_words(store, words)
    missed = tuple(
        Remark("unknown", word)
        for word in dict.fromkeys(words)
        if word.lower() in unknown and (word_rank(word.lower()) or ORDINARY_RANK) >= ORDINARY_RANK
    )
    return QuestionReading(
        spelled,
        terms,
        (*remarks, *missed) if terms else (),
        _weigh_terms(store, terms),
        {tag: read_forms(store, extract_words(spelled, tag), tag) for tag in store.index.site.tags},
        frozenset(split_ngrams(spelled, _measure_name_lengths(store))),
        asks_for_history(spelled),
        question,
        unknown,
    )


def drop_unknown_words(store: Store, reading: QuestionReading) -> QuestionReading:
    """Drop the weights of words that the site does not have, so that the others weigh all.

    Of a reading to search by: an answer has to be of the whole question.
    """
    terms = {term for weights in reading.idfs.values() for term in weights}
    indexed = set(filter(store.postings_of(terms).count, terms))
    words = split_words(reading.question)
    text = " ".join(word for word in words if word.lower() not in reading.unknown)
    idfs: dict[str, dict[str, float]] = {}
    for tag, weights in reading.idfs.items():
        # A word that pages of another language have still counts against one without it.
        terms_of_site = indexed.union(extract_terms(text, tag, reading.forms[tag]))
        idfs[tag] = {term: idf for term, idf in weights.items() if term in terms_of_site}
    return replace(reading, idfs=idfs)


@memoize_per_store
def _measure_name_lengths(store: Store) -> frozenset[int]:
    """List how many words the phrases have that a question is searched for, 1 among them."""
    groups = (store.index.names, store.index.aliases, store.index.themes)
    return frozenset({1, *(name.count(" ") + 1 for names in groups for name in names.rows)})


def _weigh_terms(store: Store, terms: Mapping[str, Sequence[str]]) -> Idfs:
    """Compute the idf of a question's terms in each language of the site's passages."""
    postings = store.postings_of({term for own in terms.values() for term in own})
    return {
        each.tag: compute_idfs(
            postings,
            terms.get(each.tag, ()),
            (each.first, each.end),
            list_site_name_words(store, each.tag),
        )
        for each in store.index.site.languages
    }


@memoize_per_store
def list_site_name_words(store: Store, language: str) -> frozenset[str]:
    """List the words of the names of the site and its author, which pages need not contain."""
    return frozenset(
        word for name in store.index.site.names for word in extract_words(name, language)
    )


def _extract_question_terms(store: Store, question: str) -> Mapping[str, list[str]]:
    """Extract a question's terms by the languages of the site, leaving out a language without any.

    A term counts if the site could contain it: one in a script that its pages use. A site of
    notes alone has no pages to tell its scripts by, so there every script counts. Framing words
    count only where there are no others.
    """
    scripts = store.index.site.scripts
    terms: dict[str, list[str]] = {}
    for tag in store.index.site.tags:
        words = drop_framing(extract_words(question, tag))
        forms = read_forms(store, words, tag)
        known = [forms[word] for word in words]
        terms[tag] = [t for t in known if not scripts or detect_scripts(t) <= scripts]
    return {tag: listed for tag, listed in terms.items() if listed}


def _correct_spelling(
    store: Store, question: str, word_rank: WordRank
) -> tuple[str, tuple[Remark, ...]]:
    """Replace the words that neither site nor language has by near spellings of the site's."""
    words = split_words(question)
    missing = _find_unknown_words(store, words)
    remarks: list[Remark] = []
    for word in words:
        lower = word.lower()
        is_unlike_all = lower in missing
        if word[1:] != lower[1:] or lower in FRAMING_WORDS:
            # Capitals inside a word make a name, such as gRPC, which no near word stands for.
            continue
        if len(lower) < MIN_WORD_LETTERS or not lower.isalpha():
            continue
        if not (is_unlike_all or _is_new_form(store, lower)):
            continue
        if word_rank(lower) is not None:
            continue
        near = find_near_spelling(store, lower)
        # Another ending makes another form of a word, and stands for it already.
        if near is not None and (is_unlike_all or near[-1] == lower[-1]):
            remarks.append(Remark("corrected", word, near))
    for remark in remarks:
        question = re.sub(rf"\b{re.escape(remark.word)}\b", remark.replacement, question)
    return question, tuple(dict.fromkeys(remarks))


def _is_new_form(store: Store, word: str) -> bool:
    """True if a content word is written as no page has it, nor a name of the site."""
    return not any(
        not extract_words(word, tag)
        or has_form(store, word, tag)
        or word in list_site_name_words(store, tag)
        for tag in store.index.site.tags
    )


def _find_unknown_words(store: Store, words: Iterable[str]) -> frozenset[str]:
    """Find the words, in lower case, that no passage or known question has and no name.

    A word in camel case counts as a whole, whatever its parts are. A script without spaces has no
    words that a remark could name, and framing words are not what a question is about.
    """
    tags = store.index.site.tags
    terms_by_word: dict[str, list[tuple[str, str]]] = {}
    asked_about = (word.lower() for word in words if is_space_delimited(word))
    for word in (word for word in asked_about if word not in FRAMING_WORDS):
        own = [(tag, read_forms(store, extract_words(word, tag), tag)) for tag in tags]
        terms_by_word[word] = [(tag, term) for tag, forms in own for term in forms.values()]
    terms = {term for own in terms_by_word.values() for _, term in own}
    indexed = set(filter(store.postings_of(terms).count, terms))
    return frozenset(
        word
        for word, own in terms_by_word.items()
        if own
        and not any(
            term in indexed
            or term in store.index.question_terms.rows
            or term in list_site_name_words(store, tag)
            for tag, term in own
        )
    )
