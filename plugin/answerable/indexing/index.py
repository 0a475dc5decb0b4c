"""Records and notes to a full-precision index."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..serve.answers.routes import find_route_template
from ..serve.bundle_format.postings import PhraseEntry
from ..serve.embedders.embedder import Embedder, Vectors
from ..serve.errors import SiteError
from ..serve.text.normalization import normalize_phrase
from ..serve.types import RoutingHint
from .embedding_cache import ReportProgress
from .lexicon import Lexicon, TitleIndex, index_labels, index_passage_terms, index_titles
from .notes.note import Note
from .notes.routing_hints import embed_passages_and_notes
from .pages.page_index import PageIndex
from .pages.passages import IndexedPassage
from .pages.records import Record
from .record_weights import mark_history_pages, weigh_records

# The words of `normalise`, which reads a character at a time and is too slow for whole pages.
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """What is known of the site as a whole. ``route`` is the template of what a route says.

    ``names`` are what the site and its author are called: no question's word is unknown for being
    one of theirs.
    """

    name: str
    url: str | None
    language: str
    route: str = find_route_template("en")
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """All that a bundle is made from. Of notes it has their hints and vectors only.

    ``passage_records`` gives each cut's record, ``hint_owners`` each note window's hint, as rows.
    ``names`` are titles and file names. ``languages`` holds (language, first, last + 1) of the
    passages' rows, which stand language by language; ``weights`` is what each record's scores are
    multiplied by, ``is_history`` whether its scores weigh less unless history is asked for.
    ``embedded`` counts the texts that were not in the cache.
    """

    site: SiteInfo
    scripts: frozenset[str]
    records: tuple[Record, ...]
    names: tuple[PhraseEntry, ...]
    aliases: tuple[PhraseEntry, ...]
    themes: tuple[PhraseEntry, ...]
    cuts: tuple[IndexedPassage, ...]
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
    kept = [page for page in pages if not page.record.metadata.excluded]
    _reject_duplicate_ids(kept)
    kept.sort(key=_language_sort_key(site, kept))
    cuts = tuple(cut for page in kept for cut in page.cuts)
    vectors, crossed, embedded = embed_passages_and_notes(
        cuts, notes, resolve, site.language, embedder, cache_folder, progress
    )
    records = tuple(page.record for page in kept)
    names = _map_phrases_to_rows((record.title, record.slug) for record in records)
    aliases = _map_phrases_to_rows(record.metadata.aliases for record in records)
    themes = _map_phrases_to_rows(record.metadata.themes for record in records)
    texts = (" ".join(cut.retrieval_text for cut in page.cuts) for page in kept)
    frequencies = count_pages_with_phrases({*names, *aliases, *themes}, texts)
    languages = _list_language_ranges(kept)
    counted = index_passage_terms(counts for page in kept for counts in page.terms)
    return SiteIndex(
        site=site,
        scripts=frozenset().union(*(page.scripts for page in kept)),
        records=records,
        names=_make_names(names, frequencies),
        aliases=_make_names(aliases, frequencies),
        themes=_make_names(themes, frequencies),
        cuts=cuts,
        passage_records=tuple(row for row, page in enumerate(kept) for _ in page.cuts),
        passage_vectors=vectors,
        lexicon=counted,
        hints=crossed.hints,
        hint_vectors=crossed.vectors,
        hint_owners=crossed.owners,
        embedded=embedded,
        languages=languages,
        weights=weigh_records([record.id for record in records], weights or {}),
        label_terms=index_labels(crossed.hints, site.language),
        words=tuple(sorted(frozenset().union(*(page.words for page in kept)))),
        titles=index_titles(records, counted, languages),
        is_history=mark_history_pages(records, site.name, weights or {}),
    )


def _reject_duplicate_ids(pages: Iterable[PageIndex]) -> None:
    owners: dict[str, str] = {}
    for record in (page.record for page in pages):
        other = owners.setdefault(record.id, record.url)
        if other != record.url:
            raise SiteError(
                f"{record.id}: {other} and {record.url} are two pages of one name; rename one"
            )


def _language_sort_key(site: SiteInfo, pages: Iterable[PageIndex]) -> Callable[[PageIndex], int]:
    """A sort key that brings the pages of a language together, the site's own first."""
    order = dict.fromkeys([site.language, *(page.record.language for page in pages)])
    places = {language: place for place, language in enumerate(order)}
    return lambda page: places[page.record.language]


def _list_language_ranges(pages: Iterable[PageIndex]) -> tuple[tuple[str, int, int], ...]:
    ranges: list[tuple[str, int, int]] = []
    end = 0
    for language, group in groupby(pages, key=lambda page: page.record.language):
        start, end = end, end + sum(len(page.cuts) for page in group)
        if end > start:
            ranges.append((language, start, end))
    return tuple(ranges)


def _map_phrases_to_rows(phrases: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Each distinct phrase, normalised, and the rows of the records that bear it."""
    bearers: dict[str, list[int]] = {}
    for row, texts in enumerate(phrases):
        for phrase in {normalize_phrase(text) for text in texts} - {"", "index", "readme"}:
            bearers.setdefault(phrase, []).append(row)
    return bearers


def _make_names(
    bearers: Mapping[str, Sequence[int]], frequencies: Mapping[str, int]
) -> tuple[PhraseEntry, ...]:
    return tuple(
        PhraseEntry(phrase, tuple(rows), frequencies[phrase])
        for phrase, rows in sorted(bearers.items())
    )


def count_pages_with_phrases(phrases: Collection[str], pages: Iterable[str]) -> Counter[str]:
    """In how many pages each normalised phrase occurs, as whole words."""
    wanted = frozenset(phrases)
    lengths: dict[str, set[int]] = {}
    for phrase in wanted:
        words = phrase.split()
        lengths.setdefault(words[0], set()).add(len(words))
    counts: Counter[str] = Counter()
    for page in pages:
        words = _WORD.findall(page.lower())
        runs = {
            " ".join(words[start : start + length])
            for start, word in enumerate(words)
            for length in lengths.get(word, ())
        }
        counts.update(runs & wanted)
    return counts
