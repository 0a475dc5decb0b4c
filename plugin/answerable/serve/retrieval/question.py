"""Read a question: spell it as the site does, weigh its terms, name corrected or unknown words."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..text.normalization import split_ngrams
from ..text.tokenization import detect_scripts, extract_terms, is_space_delimited, split_words
from .bm25 import compute_idfs, find_indexed_terms
from .misspellings import find_joined_spelling, find_near_spelling, may_be_misspelled
from .question_text import (
    asks_about_now,
    asks_for_definition,
    asks_for_history,
    collect_now_words,
    find_identifiers,
    points_back,
    strip_continuation,
    strip_frame,
)
from .store import Store, memoize_per_store

# By language, the inverse document frequency of each distinct term of a question.
Idfs = Mapping[str, Mapping[str, float]]

# A near spelling replaces a word; no passage has a word; the question may need an earlier one.
RemarkKind = Literal["corrected", "unknown", "follow-up"]

# Returns a word's rank in ordinary language, the most common first; None for a word without one.
WordRank = Callable[[str], int | None]

# Between the words of a correction in the question.
_BOUNDARY = re.compile(r"\b")
_WORD_GAP = re.compile(r"[\W_]+")

# The absence of a word that is more common than this does not make a question unanswerable.
ORDINARY_RANK = 8192


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
    """Hold all that a site reads in a question, once: its spelling, terms, phrases and flags.

    ``question`` has the site's spellings and no words that continue an earlier one, and is what an
    answerer receives. ``text`` is without
    the frame of the question, and is what is embedded. ``terms`` are its content terms by the
    site's languages, none where there is nothing to search for. ``idfs``: by the languages of the
    site's passages. ``phrases``: its normalized n-grams of the lengths of names.
    ``identifiers``: the names of code in it, as they are written.
    """

    question: str
    text: str
    terms: Mapping[str, list[str]]
    remarks: tuple[Remark, ...] = ()
    idfs: Idfs = field(default_factory=dict)
    phrases: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    asks_for_definition: bool = False
    asks_for_history: bool = False
    asks_about_now: bool = False


NO_QUESTION = QuestionReading("", "", {})


def read_question(
    store: Store, question: str, word_rank: WordRank = lambda _: None
) -> QuestionReading:
    """Read a cleaned question with the vocabulary of a site.

    Without words in the recipe a question is read as it stands. word_rank: by default no word is
    an ordinary one.
    """
    if not store.manifest.profile.hybrid:
        return _make_reading(store, question, question, _extract_known_scripts(store, question))
    spelled, corrections = _correct_spelling(store, question, word_rank)
    subject = strip_continuation(spelled) if _reads_english(store) else spelled
    text, terms = _extract_unframed_terms(store, subject)
    remarks: tuple[Remark, ...] = ()
    if terms:
        remarks = (*corrections, *_remark_unknown_words(store, text, word_rank))
    if subject != spelled or (not terms and points_back(subject)):
        remarks = (*remarks, Remark("follow-up"))
    return _make_reading(store, subject, text, terms, remarks)


def _make_reading(
    store: Store,
    question: str,
    text: str,
    terms: Mapping[str, list[str]],
    remarks: tuple[Remark, ...] = (),
) -> QuestionReading:
    phrases = frozenset(split_ngrams(question, _measure_name_lengths(store)))
    return QuestionReading(
        question,
        text,
        terms,
        remarks,
        _weigh_terms(store, terms),
        phrases,
        find_identifiers(question),
        asks_for_definition(question),
        asks_for_history(question, phrases),
        asks_about_now(question, phrases, store.site.tags),
    )


@memoize_per_store
def _measure_name_lengths(store: Store) -> frozenset[int]:
    """List how many words the phrases have that a question is searched for, 1 among them."""
    now_phrases, _ = collect_now_words(tuple(store.site.tags))
    groups = (store.names.rows, store.aliases.rows, store.themes.rows, now_phrases)
    return frozenset({1, *(name.count(" ") + 1 for names in groups for name in names)})


def _weigh_terms(store: Store, terms: Mapping[str, Sequence[str]]) -> Idfs:
    """Compute the idf of a question's terms in each language of the site's passages."""
    postings = store.postings_of({term for own in terms.values() for term in own})
    return {
        each.tag: compute_idfs(
            postings,
            terms.get(each.tag, ()),
            (each.first, each.end),
            read_site_name_terms(store, each.tag),
        )
        for each in store.site.languages
    }


@memoize_per_store
def read_site_name_terms(store: Store, language: str) -> frozenset[str]:
    """Extract the terms of the names of the site and its author, which pages need not contain."""
    return frozenset(term for name in store.site.names for term in extract_terms(name, language))


@memoize_per_store
def read_site_names(store: Store, language: str) -> frozenset[frozenset[str]]:
    """Extract the terms of each name of the site, without that of its author."""
    names = (name for name in store.site.names if name != store.site.author)
    return frozenset(frozenset(extract_terms(name, language)) for name in names)


def _extract_unframed_terms(store: Store, question: str) -> tuple[str, Mapping[str, list[str]]]:
    """Strip the frame of a question and extract its terms; keep the frame if no term is left."""
    text = question
    if store.manifest.profile.hybrid and _reads_english(store):
        text = strip_frame(question, store.site.names)
    terms = _extract_known_scripts(store, text)
    return (text, terms) if terms else (question, _extract_known_scripts(store, question))


def _reads_english(store: Store) -> bool:
    return any(tag.lower().startswith("en") for tag in store.site.tags)


def _extract_known_scripts(store: Store, question: str) -> Mapping[str, list[str]]:
    """Extract a question's terms by the languages of the site, leaving out a language without any.

    A term counts if the site could contain it: a stem in a script that its pages use. A site of
    notes alone has no pages to tell its scripts by, so there every script counts.
    """
    scripts = store.site.scripts
    terms = {
        tag: [
            term
            for term in extract_terms(question, tag)
            if not scripts or detect_scripts(term) <= scripts
        ]
        for tag in store.site.tags
    }
    return {tag: own for tag, own in terms.items() if own}


def _correct_spelling(
    store: Store, question: str, word_rank: WordRank
) -> tuple[str, tuple[Remark, ...]]:
    """Replace the words that neither site nor language has by near spellings of the site's."""
    words = split_words(question)
    missing = _find_unknown_words(store, words)
    remarks: list[Remark] = []
    for place, word in enumerate(words):
        lower = word.lower()
        if lower not in missing or not may_be_misspelled(lower):
            continue
        if word_rank(lower) is not None:
            continue
        near, misspelled = find_near_spelling(store, lower), word
        for first, second in ((place - 1, place), (place, place + 1)):
            if near is None and first >= 0 and second < len(words):
                pair = words[first].lower(), words[second].lower()
                near = find_joined_spelling(store, *pair)
                misspelled = f"{words[first]} {words[second]}" if near else word
        if near is not None:
            remarks.append(Remark("corrected", misspelled, near))
    for remark in remarks:
        words_in_order = _WORD_GAP.pattern.join(map(re.escape, remark.word.split()))
        pattern = f"{_BOUNDARY.pattern}{words_in_order}{_BOUNDARY.pattern}"
        question = re.sub(pattern, remark.replacement, question)
    return question, tuple(dict.fromkeys(remarks))


def _remark_unknown_words(store: Store, text: str, word_rank: WordRank) -> tuple[Remark, ...]:
    """Remark each content word that no passage has, unless it is an ordinary word."""
    words = split_words(text)
    missing = _find_unknown_words(store, words)
    return tuple(
        Remark("unknown", word)
        for word in dict.fromkeys(words)
        if word.lower() in missing and (word_rank(word.lower()) or ORDINARY_RANK) >= ORDINARY_RANK
    )


def _find_unknown_words(store: Store, words: Iterable[str]) -> frozenset[str]:
    """Find the words, in lower case, that no passage has and which are not names.

    A word in camel case counts as a whole, whatever its parts are. A script without spaces has no
    words that a remark could name.
    """
    tags = store.site.tags
    terms_by_word = {
        word: [(tag, term) for tag in tags for term in extract_terms(word, tag)]
        for word in map(str.lower, filter(is_space_delimited, words))
    }
    terms = {term for own in terms_by_word.values() for _, term in own}
    indexed = find_indexed_terms(store.postings_of(terms), terms)
    return frozenset(
        word
        for word, own in terms_by_word.items()
        if own
        and not any(
            term in indexed or term in read_site_name_terms(store, tag) for tag, term in own
        )
    )
