"""Build a site's index in memory: passages, full-precision vectors, lexicon, names, note hints."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..serve.bundle_format.postings import PhraseEntry
from ..serve.embedders.embedder import Embedder, Vectors
from ..serve.errors import SiteError
from ..serve.text.languages import get_translation
from ..serve.text.normalization import normalize_phrase
from ..serve.types import RoutingHint
from .embedding_cache import ReportProgress
from .lexicon import (
    Lexicon,
    TitleIndex,
    index_labels,
    index_passage_terms,
    index_titles,
    invert_phrases,
)
from .notes.note import Note
from .notes.routing_hints import embed_passages_and_notes
from .pages.page_index import PageIndex
from .pages.passages import IndexedPassage
from .pages.records import Record
from .record_weights import mark_history_pages, weigh_records

# The words of `normalize_phrase`, which reads characters one by one: too slow for whole pages.
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """Metadata of the site as a whole. ``route`` is the template of what a route says.

    ``names`` are what the site and its author are called: no question's word is unknown for being
    one of theirs. ``author`` is whose opinions its pages state.
    """

    name: str
    url: str | None
    language: str
    route: str = get_translation("en").route
    names: tuple[str, ...] = ()
    author: str | None = None


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """All that a bundle is made from. Of notes it has their hints and vectors only.

    ``passage_records`` gives each passage's record, ``hint_owners`` each note window's hint, as
    rows. ``names`` are titles and file names. ``languages`` holds (language, first, last + 1) of
    the passages' rows, which stand language by language; ``weights`` is what each record's scores
    are multiplied by, ``is_history`` whether its scores weigh less unless history is asked for.
    ``embedded`` counts the texts that were not in the cache.
    """

    site: SiteInfo
    scripts: frozenset[str]
    records: tuple[Record, ...]
    names: tuple[PhraseEntry, ...]
    aliases: tuple[PhraseEntry, ...]
    themes: tuple[PhraseEntry, ...]
    passages: tuple[IndexedPassage, ...]
    passage_records: tuple[int, ...]
    passage_vectors: Vectors
    lexicon: Lexicon
    hints: tuple[RoutingHint, ...]
    hint_vectors: Vectors
    hint_owners: tuple[int, ...]
    embedded: int
    languages: tuple[tuple[str, int, int], ...]
    weights: tuple[float, ...]
    titles: TitleIndex
    words: tuple[str, ...]
    label_terms: tuple[PhraseEntry, ...]
    is_history: tuple[bool, ...]


def build_index(
    site: SiteInfo,
    pages: Iterable[PageIndex],
    notes: Sequence[Note],
    resolve: Callable[[str], str],
    embedder: Embedder,
    cache_folder: Path,
    weights: Mapping[str, float] | None = None,
    progress: ReportProgress | None = None,
) -> SiteIndex:
    """Embed and index a site.

    resolve: from a note's ``about`` to a url; it raises NotebookError. weights: by pattern of
    record ids, the first that matches counts. Vectors that the cache has are not embedded again.
    """
    public = [page for page in pages if not page.record.metadata.excluded]
    _reject_duplicate_ids(public)
    public.sort(key=_language_sort_key(site, public))
    passages = tuple(passage for page in public for passage in page.passages)
    vectors, hints, embedded = embed_passages_and_notes(
        passages, notes, resolve, site.language, embedder, cache_folder, progress
    )
    records = tuple(page.record for page in public)
    names, aliases, themes = (
        invert_phrases({*map(normalize_phrase, texts)} - {"", "index", "readme"} for texts in lists)
        for lists in (
            [(record.title, record.slug) for record in records],
            [record.metadata.aliases for record in records],
            [record.metadata.themes for record in records],
        )
    )
    texts = (" ".join(each.retrieval_text for each in page.passages) for page in public)
    frequencies = count_pages_with_phrases({*names, *aliases, *themes}, texts)
    languages = _list_language_ranges(public)
    lexicon = index_passage_terms(counts for page in public for counts in page.term_counts)
    return SiteIndex(
        site=site,
        scripts=frozenset().union(*(page.scripts for page in public)),
        records=records,
        names=_list_entries(names, frequencies),
        aliases=_list_entries(aliases, frequencies),
        themes=_list_entries(themes, frequencies),
        passages=passages,
        passage_records=tuple(row for row, page in enumerate(public) for _ in page.passages),
        passage_vectors=vectors,
        lexicon=lexicon,
        hints=hints.hints,
        hint_vectors=hints.vectors,
        hint_owners=hints.owners,
        embedded=embedded,
        languages=languages,
        weights=weigh_records([record.id for record in records], weights or {}),
        titles=index_titles(records, lexicon, languages),
        words=tuple(sorted(frozenset().union(*(page.words for page in public)))),
        label_terms=index_labels(hints.hints, site.language),
        is_history=mark_history_pages(records, site.name, weights or {}),
    )


def _reject_duplicate_ids(pages: Iterable[PageIndex]) -> None:
    urls: dict[str, str] = {}
    for record in (page.record for page in pages):
        other = urls.setdefault(record.id, record.url)
        if other != record.url:
            raise SiteError(
                f"{record.id}: {other} and {record.url} are two pages of one name; rename one"
            )


def _language_sort_key(site: SiteInfo, pages: Iterable[PageIndex]) -> Callable[[PageIndex], int]:
    """Return a sort key that groups the pages by language, the site's own first."""
    languages = dict.fromkeys([site.language, *(page.record.language for page in pages)])
    places = {language: place for place, language in enumerate(languages)}
    return lambda page: places[page.record.language]


def _list_language_ranges(pages: Iterable[PageIndex]) -> tuple[tuple[str, int, int], ...]:
    ranges: list[tuple[str, int, int]] = []
    end = 0
    for language, group in groupby(pages, key=lambda page: page.record.language):
        start, end = end, end + sum(len(page.passages) for page in group)
        if end > start:
            ranges.append((language, start, end))
    return tuple(ranges)


def _list_entries(
    rows: Mapping[str, Sequence[int]], frequencies: Mapping[str, int]
) -> tuple[PhraseEntry, ...]:
    return tuple(
        PhraseEntry(phrase, tuple(rows[phrase]), frequencies[phrase]) for phrase in sorted(rows)
    )


def count_pages_with_phrases(phrases: Collection[str], pages: Iterable[str]) -> Counter[str]:
    """Count the pages in which each normalized phrase occurs, as whole words."""
    unique = frozenset(phrases)
    lengths: dict[str, set[int]] = {}
    for phrase in unique:
        words = phrase.split()
        lengths.setdefault(words[0], set()).add(len(words))
    counts: Counter[str] = Counter()
    for page in pages:
        words = _WORD.findall(page.lower())
        ngrams = {
            " ".join(words[start : start + length])
            for start, word in enumerate(words)
            for length in lengths.get(word, ())
        }
        counts.update(ngrams & unique)
    return counts
