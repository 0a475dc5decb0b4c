"""What a reader is told of how the words of a question were read.

A question as it is looked for: its content terms, and what the reader is told of its words.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..text.tokenization import detect_scripts, extract_terms, is_space_delimited, split_words
from .bm25 import compute_idfs, find_indexed_terms
from .question_text import is_follow_up, strip_frame
from .spelling import find_joined_spelling, find_near_spelling, may_be_misspelled
from .store import Store, memoize_per_store

# A near spelling stands in for a word; no passage holds a word; the question needs an earlier one.
RemarkKind = Literal["corrected", "unknown", "follow-up"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark. ``word``: as it was asked; ``replacement``: the site's spelling of it."""

    kind: RemarkKind
    word: str = ""
    replacement: str = ""

    def as_json(self) -> Mapping[str, str]:
        """The remark as an answer's ``notes`` hold it."""
        if self.kind == "corrected":
            return {"kind": self.kind, "from": self.word, "to": self.replacement}
        if self.kind == "unknown":
            return {"kind": self.kind, "word": self.word}
        return {"kind": self.kind}


# A word's rank in ordinary language, the commonest first; None for one that has none.
WordRank = Callable[[str], int | None]

# A word that is commoner is ordinary: a site that lacks it lacks no subject.
ORDINARY_RANK = 8192


def rank_no_word(word: str) -> int | None:
    """No rank, where no list of ordinary words is at hand."""
    del word
    return None


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """Hold a question as a site reads it: its spelling, its terms and their weights.

    ``question`` has the site's spellings, and is what an answerer is given. ``text`` is without
    the frame of the question, and is what is embedded. ``terms`` are its content terms by the
    site's languages, none where there is nothing to look for. ``idfs``: for each language of the
    site, the inverse document frequency of each distinct term.
    """

    question: str
    text: str
    terms: Mapping[str, list[str]]
    remarks: tuple[Remark, ...] = ()
    idfs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


NO_QUESTION = QuestionReading("", "", {})


def read_content_terms(store: Store, question: str) -> Mapping[str, list[str]]:
    """The terms of a question without its frame, by the languages of the site that it has any in.

    None where there is nothing to look for.
    """
    return _read_unframed_terms(store, question)[1]


def read_question(
    store: Store, question: str, word_rank: WordRank = rank_no_word
) -> QuestionReading:
    """Read a cleaned question with the vocabulary of a site.

    Without words in the recipe a question is read as it stands.
    """
    if not store.manifest.profile.hybrid:
        terms = _read_terms(store, question)
        return QuestionReading(question, question, terms, idfs=weigh_terms(store, terms))
    spelled, corrections = _correct_spelling(store, question, word_rank)
    text, listed = _read_unframed_terms(store, spelled)
    if is_follow_up(spelled, len(_list_content_words(store, text))):
        return QuestionReading(spelled, text, {}, (Remark("follow-up"),), weigh_terms(store, {}))
    if not listed:
        return QuestionReading(spelled, text, {}, idfs=weigh_terms(store, {}))
    remarks = (*corrections, *_remark_unknown_words(store, text, word_rank))
    return QuestionReading(spelled, text, listed, remarks, weigh_terms(store, listed))


def weigh_terms(store: Store, words: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Weigh a question's terms by their inverse document frequencies, by language."""
    postings = store.postings_of({term for listed in words.values() for term in listed})
    return {
        each.tag: compute_idfs(
            postings,
            words.get(each.tag, ()),
            (each.first, each.end),
            read_site_name_terms(store, each.tag),
        )
        for each in store.site.languages
    }


@memoize_per_store
def read_site_name_terms(store: Store, language: str) -> frozenset[str]:
    """The terms of what the site and its author are called, which no page need hold."""
    return frozenset(term for name in store.site.names for term in extract_terms(name, language))


def _read_unframed_terms(store: Store, question: str) -> tuple[str, Mapping[str, list[str]]]:
    """A question without its frame and its terms; with it where nothing else is left."""
    text = _strip_frame(store, question) if store.manifest.profile.hybrid else question
    listed = _read_terms(store, text)
    return (text, listed) if listed else (question, _read_terms(store, question))


def _read_terms(store: Store, question: str) -> Mapping[str, list[str]]:
    """The question's terms by the languages of the site, without a language that has none.

    A term counts if the site could know it: a stem in a script its pages use. A site of notes
    alone has no pages to tell its scripts by, so every script counts.
    """
    scripts = store.site.scripts
    read = {
        tag: [
            term
            for term in extract_terms(question, tag)
            if not scripts or detect_scripts(term) <= scripts
        ]
        for tag in store.site.tags
    }
    return {tag: found for tag, found in read.items() if found}


def _strip_frame(store: Store, question: str) -> str:
    if not any(tag.lower().startswith("en") for tag in store.site.tags):
        return question
    return strip_frame(question, store.site.names)


def _correct_spelling(
    store: Store, question: str, word_rank: WordRank
) -> tuple[str, tuple[Remark, ...]]:
    """A question with near spellings in place of words that neither site nor language knows."""
    words = split_words(question)
    missing = _find_unknown_words(store, words)
    remarks: list[Remark] = []
    for place, word in enumerate(words):
        lower = word.lower()
        if lower not in missing or not may_be_misspelled(lower):
            continue
        if word_rank(lower) is not None:
            continue
        near, asked = find_near_spelling(store, lower), word
        for first, second in ((place - 1, place), (place, place + 1)):
            if near is None and first >= 0 and second < len(words):
                pair = words[first].lower(), words[second].lower()
                near = find_joined_spelling(store, *pair)
                asked = f"{words[first]} {words[second]}" if near else word
        if near is not None:
            remarks.append(Remark("corrected", asked, near))
    for remark in remarks:
        pattern = r"\b" + r"[\W_]+".join(map(re.escape, remark.word.split())) + r"\b"
        question = re.sub(pattern, remark.replacement, question)
    return question, tuple(dict.fromkeys(remarks))


def _remark_unknown_words(store: Store, text: str, word_rank: WordRank) -> tuple[Remark, ...]:
    words = _list_content_words(store, text)
    missing = _find_unknown_words(store, words)
    return tuple(
        Remark("unknown", word)
        for word in dict.fromkeys(words)
        if word.lower() in missing and (word_rank(word.lower()) or ORDINARY_RANK) >= ORDINARY_RANK
    )


def _list_content_words(store: Store, text: str) -> list[str]:
    """The words of a text that have content terms, as they stand."""
    return [
        word
        for word in split_words(text)
        if any(extract_terms(word, tag) for tag in store.site.tags)
    ]


def _find_unknown_words(store: Store, words: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, of which no passage holds a term, and which are no names.

    Words of scripts without spaces are no words to tell a reader of.
    """
    read = {
        word: {tag: extract_terms(word, tag) for tag in store.site.tags}
        for word in words
        if is_space_delimited(word)
    }
    wanted = {term for by_tag in read.values() for listed in by_tag.values() for term in listed}
    known = find_indexed_terms(store.postings_of(wanted), wanted)
    return frozenset(
        word.lower()
        for word, by_tag in read.items()
        if any(by_tag.values())
        and not any(
            term in known or term in read_site_name_terms(store, tag)
            for tag, listed in by_tag.items()
            for term in listed
        )
    )
