"""A question as it is looked for: its content terms, and what the reader is told of its words."""

import re
from collections.abc import Callable, Iterable, Mapping

from . import near_spelling, question_frame, scan, terms
from .frozen import frozen
from .recipe import name_terms
from .remarks import Remark
from .store import Store

# A word's rank in ordinary language, the commonest first; None for one that has none.
WordRank = Callable[[str], int | None]

# A word that is commoner is ordinary: a site that lacks it lacks no subject.
ORDINARY = 8192


def unranked(word: str) -> int | None:
    """No rank, where no list of ordinary words is at hand."""
    del word
    return None


@frozen
class Reading:
    """``question`` has the site's spellings, and is what an answerer is given.

    ``text`` is without the frame of the question, and is what is embedded; ``terms`` are its
    content terms by the site's languages, none where there is nothing to look for.
    """

    question: str
    text: str
    terms: Mapping[str, list[str]]
    remarks: tuple[Remark, ...] = ()


def content_terms(store: Store, question: str) -> Mapping[str, list[str]]:
    """The terms of a question without its frame, by the languages of the site that it has any in.

    None where there is nothing to look for.
    """
    return _terms_of(store, question)[1]


def read_question(store: Store, question: str, word_rank: WordRank = unranked) -> Reading:
    """Read a cleaned question with the vocabulary of a site.

    Without words in the recipe a question is read as it stands.
    """
    if not store.manifest.profile.hybrid:
        return Reading(question, question, _terms(store, question))
    spelled, corrections = _correct(store, question, word_rank)
    text, listed = _terms_of(store, spelled)
    if question_frame.is_follow_up(spelled, len(_content_words(store, text))):
        return Reading(spelled, text, {}, (Remark("follow-up"),))
    if not listed:
        return Reading(spelled, text, {})
    return Reading(spelled, text, listed, (*corrections, *_unknown(store, text, word_rank)))


def _terms_of(store: Store, question: str) -> tuple[str, Mapping[str, list[str]]]:
    """A question without its frame and its terms; with it where nothing else is left."""
    text = _strip_frame(store, question) if store.manifest.profile.hybrid else question
    listed = _terms(store, text)
    return (text, listed) if listed else (question, _terms(store, question))


def _terms(store: Store, question: str) -> Mapping[str, list[str]]:
    """The question's terms by the languages of the site, without a language that has none.

    A term counts if the site could know it: a stem in a script its pages use. A site of notes
    alone has no pages to tell its scripts by, so every script counts.
    """
    scripts = store.site.scripts
    read = {
        tag: [
            term
            for term in terms.read(question, tag)
            if not scripts or terms.scripts(term) <= scripts
        ]
        for tag in store.site.tags
    }
    return {tag: found for tag, found in read.items() if found}


def _strip_frame(store: Store, question: str) -> str:
    if not any(tag.lower().startswith("en") for tag in store.site.tags):
        return question
    return question_frame.strip_frame(question, store.site.names)


def _correct(store: Store, question: str, word_rank: WordRank) -> tuple[str, tuple[Remark, ...]]:
    """A question with near spellings in place of words that neither site nor language knows."""
    words = terms.tokens(question)
    missing = _missing(store, words)
    remarks: list[Remark] = []
    for place, word in enumerate(words):
        lower = word.lower()
        if lower not in missing or not near_spelling.is_candidate(lower):
            continue
        if word_rank(lower) is not None:
            continue
        near, asked = near_spelling.find(store, lower), word
        for first, second in ((place - 1, place), (place, place + 1)):
            if near is None and first >= 0 and second < len(words):
                pair = words[first].lower(), words[second].lower()
                near = near_spelling.find_joined(store, *pair)
                asked = f"{words[first]} {words[second]}" if near else word
        if near is not None:
            remarks.append(Remark("corrected", asked, near))
    for remark in remarks:
        pattern = r"\b" + r"[\W_]+".join(map(re.escape, remark.word.split())) + r"\b"
        question = re.sub(pattern, remark.replacement, question)
    return question, tuple(dict.fromkeys(remarks))


def _unknown(store: Store, text: str, word_rank: WordRank) -> tuple[Remark, ...]:
    words = _content_words(store, text)
    missing = _missing(store, words)
    return tuple(
        Remark("unknown", word)
        for word in dict.fromkeys(words)
        if word.lower() in missing and (word_rank(word.lower()) or ORDINARY) >= ORDINARY
    )


def _content_words(store: Store, text: str) -> list[str]:
    """The words of a text that have content terms, as they stand."""
    return [
        word for word in terms.tokens(text) if any(terms.read(word, tag) for tag in store.site.tags)
    ]


def _missing(store: Store, words: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, of which no passage holds a term, and which are no names.

    Words of scripts without spaces are no words to tell a reader of.
    """
    read = {
        word: {tag: terms.read(word, tag) for tag in store.site.tags}
        for word in words
        if terms.is_spaced(word)
    }
    wanted = {term for by_tag in read.values() for listed in by_tag.values() for term in listed}
    known = scan.known(store.postings_of(wanted), wanted)
    return frozenset(
        word.lower()
        for word, by_tag in read.items()
        if any(by_tag.values())
        and not any(
            term in known or term in name_terms(store, tag)
            for tag, listed in by_tag.items()
            for term in listed
        )
    )
