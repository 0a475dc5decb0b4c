"""Parse one page and index it: its passages, their term counts, and words to match misspellings."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain

from ...serve.retrieval import misspellings
from ...serve.text.tokenization import (
    detect_scripts,
    extract_terms,
    is_space_delimited,
    split_words,
)
from .html_parser import parse_article
from .passages import IndexedPassage, PassageWindow, add_page_context, cut_passages
from .records import PageSource, Record
from .transcript_passages import cut_transcript


@dataclass(frozen=True, slots=True)
class CuttingRules:
    """Options that decide how pages are cut.

    ``abbreviations`` are the site's own, ``enrichment`` is extra retrieval text by record id.
    """

    window: PassageWindow = field(default_factory=PassageWindow)
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    enrichment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The distinct terms of a passage's retrieval text and, parallel, how often each occurs."""

    terms: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageIndex:
    """A record without its text, its passages in reading order and, parallel, their terms.

    ``scripts`` are those that the passages are written in, ``words`` those that a question's words
    are compared with (see ``serve.retrieval.misspellings``).
    """

    record: Record
    passages: tuple[IndexedPassage, ...]
    term_counts: tuple[TermCounts, ...]
    scripts: frozenset[str]
    words: frozenset[str]


def parse_record(source: PageSource) -> Record:
    """Parse the article of a page into a record."""
    article = parse_article(source.html or "", source.title, source.url)
    return Record(
        id=source.id,
        url=source.url,
        title=source.title,
        metadata=source.metadata,
        sections=article.sections,
        anchors=article.anchors,
        abbreviations=article.abbreviations,
        language=source.language,
        transcript=source.transcript,
    )


def index_record(record: Record, rules: CuttingRules | None = None) -> PageIndex:
    """Cut and count a record; an excluded one keeps its anchors and has no passages."""
    rules = rules or CuttingRules()
    passages: list[IndexedPassage] = []
    if not record.metadata.excluded:
        abbreviations = {**rules.abbreviations, **record.abbreviations}
        extra = rules.enrichment.get(record.id, "")
        passages = cut_passages(record, rules.window, abbreviations, extra)
        ids = {each.passage.id for each in passages}
        spoken = cut_transcript(record, rules.window, ids)
        passages += add_page_context(record, spoken, abbreviations, extra)
    texts = [passage.retrieval_text for passage in passages]
    return PageIndex(
        record=replace(record, sections=(), transcript=None),
        passages=tuple(passages),
        term_counts=tuple(count_terms(text, record.language) for text in texts),
        scripts=frozenset().union(*map(detect_scripts, texts)),
        words=frozenset().union(*map(list_words, texts)),
    )


def list_words(text: str) -> Iterator[str]:
    """List the words of letters only, in lower case, that a near spelling may stand for."""
    for token in split_words(text):
        word = token.lower()
        if (
            # An edit may take a letter away from the shortest word that is corrected.
            len(word) >= misspellings.MIN_WORD_LETTERS - 1
            and word.isalpha()
            and is_space_delimited(word)
        ):
            yield word


def count_terms(text: str, language: str) -> TermCounts:
    """Count the content terms of a text, in order of first use."""
    # No term reaches over white space, and a site repeats its words.
    counts = Counter(chain.from_iterable(map(_cached_term_reader(language), text.split())))
    return TermCounts(tuple(map(sys.intern, counts)), tuple(counts.values()))


@cache
def _cached_term_reader(language: str) -> Callable[[str], list[str]]:
    return cache(partial(extract_terms, language=language))
