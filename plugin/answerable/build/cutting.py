"""A page as its passages and their terms: what can be kept while the page stays as it is."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain

from ..serve import near_spelling, terms
from . import pages, passages
from .passages import Cut, Window
from .records import Record, Source


@dataclass(frozen=True, slots=True)
class Rules:
    """How pages are cut, beside what is on them.

    ``abbreviations`` are the site's own, ``enrichment`` is extra retrieval text by record id.
    """

    window: Window = field(default_factory=Window)
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    enrichment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The distinct terms of a passage's retrieval text and, parallel, how often each occurs."""

    terms: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A record without its sections, its passages in reading order and, parallel, their terms.

    ``scripts`` are those that the passages are written in, ``words`` those that a question's words
    are compared with (see ``near_spelling``).
    """

    record: Record
    cuts: tuple[Cut, ...]
    terms: tuple[TermCounts, ...]
    scripts: frozenset[str]
    words: frozenset[str]


def read(source: Source) -> Record:
    """The record of a page."""
    article = pages.read(source.html or "", source.title, source.url)
    return Record(
        id=source.id,
        url=source.url,
        title=source.title,
        metadata=source.metadata,
        sections=article.sections,
        anchors=article.anchors,
        abbreviations=article.abbreviations,
        language=source.language,
    )


def cut(record: Record, rules: Rules | None = None) -> CutRecord:
    """Cut a record; one that its author has excluded keeps its anchors and has no passages."""
    rules = rules or Rules()
    cuts: list[Cut] = []
    if not record.metadata.excluded:
        abbreviations = {**rules.abbreviations, **record.abbreviations}
        extra = rules.enrichment.get(record.id, "")
        cuts = passages.cut(record, rules.window, abbreviations, extra)
    return CutRecord(
        record=replace(record, sections=()),
        cuts=tuple(cuts),
        terms=tuple(count_terms(cut.retrieval_text, record.language) for cut in cuts),
        scripts=frozenset().union(*(terms.scripts(cut.retrieval_text) for cut in cuts)),
        words=frozenset().union(*(list_words(cut.retrieval_text) for cut in cuts)),
    )


def list_words(text: str) -> Iterator[str]:
    """The words of a text in lower case that a near spelling may stand for: letters only."""
    for token in terms.tokens(text):
        word = token.lower()
        if len(word) >= near_spelling.HALF and word.isalpha() and terms.is_spaced(word):
            yield word


def count_terms(text: str, language: str) -> TermCounts:
    """The content terms of a text, counted, in order of first use."""
    # No term reaches over white space, and a site repeats its words.
    counts = Counter(chain.from_iterable(map(_reader(language), text.split())))
    return TermCounts(tuple(map(sys.intern, counts)), tuple(counts.values()))


@cache
def _reader(language: str) -> Callable[[str], list[str]]:
    return cache(partial(terms.read, language=language))
