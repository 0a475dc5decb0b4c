"""The index of a site at full precision, its lexicon and weights, and its quantized form."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.manifest import Profile, scale_note_floor
from ..serve.bundle_format.site_data import PhraseEntry
from ..serve.embedders.embedder import Embedder, Vectors
from ..serve.errors import SiteError
from ..serve.providers import find_provider
from ..serve.retrieval.bm25 import compute_idf
from ..serve.text.languages import get_translation
from ..serve.text.normalization import normalize_phrase
from ..serve.text.tokenization import extract_words
from ..serve.types import RoutingHint
from ..serve.vectors import Int8Codes, divide_rows, quantize_int8
from .answers import CheckedAnswers
from .caches import ReportProgress
from .notes.notebook import Note
from .notes.routing_hints import embed_passages_and_notes
from .pages.page_index import PageIndex, TermCounts
from .pages.passages import IndexedPassage
from .pages.records import Record
from .questions import (
    NO_QUESTIONS,
    QuestionIndex,
    ReadingRules,
    SectionQuestions,
    index_questions,
    list_sections,
)
from .stems import extract_stems, list_forms


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Sorted terms of passages and their postings, as the bundle stores them."""

    terms: tuple[str, ...]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class TitleIndex:
    """The distinct terms of titles with the records that have them; by record, its title's norm.

    A norm is the length of the vector of the idf of a title's distinct terms, 0 without any.
    """

    terms: tuple[PhraseEntry, ...]
    norms: tuple[float, ...]


def index_passage_terms(passages: Iterable[TermCounts]) -> Lexicon:
    """Index the terms of all passages, in the order of their rows."""
    numbers: dict[str, int] = {}
    # Parallel: a term's number and its count, passage after passage.
    occurrences, counts = array("I"), array("I")
    distinct, lengths = array("I"), array("I")
    for passage in passages:
        occurrences.extend(numbers.setdefault(term, len(numbers)) for term in passage.terms)
        counts.extend(passage.counts)
        distinct.append(len(passage.terms))
        lengths.append(sum(passage.counts))
    terms = sorted(numbers)
    ranks = np.empty(len(terms), dtype=np.int64)
    ranks[np.array([numbers[term] for term in terms], dtype=np.int64)] = np.arange(len(terms))
    ranked = ranks[np.array(occurrences, dtype=np.int64)]
    # Stable, so that a term's passages stay in their order.
    order = np.argsort(ranked, kind="stable")
    sizes = np.bincount(ranked, minlength=len(terms))
    rows = np.repeat(np.arange(len(distinct)), np.array(distinct, dtype=np.int64))
    return Lexicon(
        terms=tuple(terms),
        edges=np.concatenate(([0], np.cumsum(sizes))).astype("<u4"),
        passages=rows[order].astype("<u4"),
        counts=np.minimum(np.array(counts, dtype=np.int64), 65_535)[order].astype("<u2"),
        lengths=np.array(lengths, dtype="<u4"),
    )


def index_titles(
    records: Sequence[Record], lexicon: Lexicon, languages: Sequence[tuple[str, int, int]]
) -> TitleIndex:
    """Index the titles of records. languages: (language, first, last + 1) of the passages' rows."""
    ranges = {language: (first, end) for language, first, end in languages}
    term_rows = {term: row for row, term in enumerate(lexicon.terms)}
    titles = [dict.fromkeys(extract_stems(each.title, each.language)) for each in records]
    norms = []
    for record, terms in zip(records, titles, strict=True):
        rows = ranges.get(record.language, (0, 0))
        squares = (_idf(lexicon, term_rows.get(term), rows) ** 2 for term in terms)
        norms.append(math.sqrt(sum(squares)))
    return TitleIndex(_list_term_entries(titles), tuple(norms))


def index_labels(hints: Sequence[RoutingHint], language: str) -> tuple[PhraseEntry, ...]:
    """Index the terms of labels and locators, which are public, by the rows of hints.

    Their words are terms too: a question has no other one for a word that no page holds.
    """
    texts = [f"{hint.label} {hint.locator}" for hint in hints]
    return _list_term_entries(
        extract_stems(text, language) + extract_words(text, language) for text in texts
    )


def invert_phrases(lists: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Map each distinct phrase to the rows of the lists that hold it."""
    rows: dict[str, list[int]] = {}
    for row, phrases in enumerate(lists):
        for phrase in dict.fromkeys(phrases):
            rows.setdefault(phrase, []).append(row)
    return rows


def _list_term_entries(texts: Iterable[Iterable[str]]) -> tuple[PhraseEntry, ...]:
    entries = sorted(invert_phrases(texts).items())
    return tuple(PhraseEntry(term, tuple(rows), len(rows)) for term, rows in entries)


def _idf(lexicon: Lexicon, term: int | None, rows: tuple[int, int]) -> float:
    """Compute the inverse document frequency of a term among a range of passages."""
    count, frequency = rows[1] - rows[0], 0
    if term is not None:
        postings = lexicon.passages[int(lexicon.edges[term]) : int(lexicon.edges[term + 1])]
        first, end = np.searchsorted(postings, np.array(rows, dtype=postings.dtype))
        frequency = int(end - first)
    return compute_idf(count, frequency)


# As whole words anywhere in a title or in a part of a path.
_HISTORY_PHRASES = (
    "changelog", "change log", "release notes", "release history", "version history",
    "upgrade notes", "what s new", "whats new",
)  # fmt: skip
# What a site's readers seldom want: a page for those who work on the project weighs less.
_CONTRIBUTING_WEIGHT = 0.8
_CONTRIBUTING_NAMES = frozenset(("contributing", "contribute", "contributing guide", "development"))
# As the whole of a title or of a part of a path, but for the site's name.
_HISTORY_NAMES = frozenset(("changes", "releases", "proposals", "rfcs", "blog", "people"))
_HISTORY_PATTERN = re.compile(rf"\b({'|'.join(_HISTORY_PHRASES)})\b")


def check_weight_patterns(patterns: Iterable[str], ids: Sequence[str]) -> None:
    """Refuse a pattern that matches none of the site's records; SiteError names it."""
    for pattern in patterns:
        if not any(_matches_pattern(name, pattern) for name in ids):
            raise SiteError(
                f"retrieval.weights: {pattern!r} matches no page; give a page's path without its "
                "suffix, a folder, or a pattern such as `blog/*`"
            )


def weigh_records(ids: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """Return the weight of each record: that of the first pattern that its id matches, else 1.

    A pattern without wildcards names a page or a folder. Pages on contributing weigh .8.
    """

    def weigh(name: str) -> float:
        is_for_others = not _CONTRIBUTING_NAMES.isdisjoint(map(normalize_phrase, name.split("/")))
        usual = _CONTRIBUTING_WEIGHT if is_for_others else 1.0
        matching = (float(w) for pattern, w in weights.items() if _matches_pattern(name, pattern))
        return next(matching, usual)

    return tuple(map(weigh, ids))


def mark_history_pages(
    records: Sequence[Record], site: str, weights: Mapping[str, float]
) -> tuple[bool, ...]:
    """Mark the records that tell what a project was, announces or has decided.

    site: its name. weights: section weights by pattern; a page that one matches is not marked. A
    site that consists of such pages for the most part, such as a blog, has none.
    """
    site_words = frozenset(normalize_phrase(site).split())
    marks = [
        any(_names_history(part, site_words) for part in (record.title, *record.id.split("/")))
        for record in records
    ]
    if 2 * sum(marks) > len(marks):
        return (False,) * len(marks)
    return tuple(
        is_marked and not any(_matches_pattern(record.id, pattern) for pattern in weights)
        for record, is_marked in zip(records, marks, strict=True)
    )


def _matches_pattern(name: str, pattern: str) -> bool:
    """Test a record's id against a pattern: a page, a folder or a glob."""
    plain = pattern.rstrip("/")
    return name == plain or name.startswith(f"{plain}/") or fnmatchcase(name, pattern)


def _names_history(text: str, site_words: frozenset[str]) -> bool:
    words = normalize_phrase(text).split()
    name = " ".join(word for word in words if word not in site_words)
    return name in _HISTORY_NAMES or _HISTORY_PATTERN.search(" ".join(words)) is not None


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

    @property
    def claim_names(self) -> tuple[str, ...]:
        """List the names that a claim may use though it does not quote them."""
        return (self.name, *self.names, *([self.author] if self.author else []))


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """All that a bundle is made from. Of notes it has their hints and vectors only.

    ``passage_records`` gives each passage's record, ``hint_owners`` each note window's hint, as
    rows. ``names`` are titles and file names. ``languages`` holds (language, first, last + 1) of
    the passages' rows, which stand language by language; ``weights`` is what each record's scores
    are multiplied by, ``is_history`` whether its scores weigh less unless history is asked for.
    ``forms`` are those of each term of the lexicon but itself, by language, with spaces between
    them. ``embedded`` counts the texts that were not in the cache.
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
    forms: Mapping[str, tuple[str, ...]]
    label_terms: tuple[PhraseEntry, ...]
    is_history: tuple[bool, ...]
    questions: QuestionIndex = NO_QUESTIONS


def build_index(
    site: SiteInfo,
    pages: Iterable[PageIndex],
    notes: Sequence[Note],
    resolve: Callable[[str], str],
    embedder: Embedder,
    cache_folder: Path,
    weights: Mapping[str, float] | None = None,
    progress: ReportProgress | None = None,
    questions: Mapping[str, SectionQuestions] | None = None,
    answers: CheckedAnswers | None = None,
) -> SiteIndex:
    """Embed and index a site.

    resolve: from a note's ``about`` to a url; it raises NotebookError. weights: by pattern of
    record ids, the first that matches counts. questions: by section. answers: that
    are stored for some of them. Vectors that the cache has are not embedded again.
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
    scripts = frozenset().union(*(page.scripts for page in public))
    lexicon = index_passage_terms(counts for page in public for counts in page.term_counts)
    forms = list_forms(lexicon.terms, ((page.record.language, page.stems) for page in public))
    return SiteIndex(
        site=site,
        scripts=scripts,
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
        forms=forms,
        label_terms=index_labels(hints.hints, site.language),
        is_history=mark_history_pages(records, site.name, weights or {}),
        questions=_index_questions(
            questions or {}, answers or {}, passages, lexicon, forms, languages, site, scripts
        ),
    )


def _index_questions(
    questions: Mapping[str, SectionQuestions],
    answers: CheckedAnswers,
    passages: Sequence[IndexedPassage],
    lexicon: Lexicon,
    forms: Mapping[str, Sequence[str]],
    languages: Sequence[tuple[str, int, int]],
    site: SiteInfo,
    scripts: frozenset[str],
) -> QuestionIndex:
    if not questions:
        return NO_QUESTIONS
    ranges = {language: (first, end) for language, first, end in languages}
    rows = {term: row for row, term in enumerate(lexicon.terms)}
    terms_by_form: dict[str, dict[str, str]] = {}
    for language, others in forms.items():
        terms_by_form[language] = dict(zip(lexicon.terms, lexicon.terms, strict=True))
        for term, own in zip(lexicon.terms, others, strict=True):
            terms_by_form[language].update(dict.fromkeys(own.split(), term))
    return index_questions(
        questions,
        answers,
        list_sections(entry.passage for entry in passages),
        terms_by_form,
        lambda term, language: _idf(lexicon, rows.get(term), ranges[language]),
        ReadingRules(
            site.names,
            frozenset(
                word for tag in ranges for name in site.names for word in extract_words(name, tag)
            ),
            scripts,
        ),
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


def choose_embedder_profile(provider: str, windows: int) -> Profile:
    """Return the profile of an embedder; the note floor of the local one follows the notebook.

    windows: of notes, that the index holds.
    """
    profile = find_provider("embedder", provider).profile
    # How the floor grows was measured for the local embedder alone.
    if provider == "local":
        return replace(profile, note_floor=scale_note_floor(windows))
    return profile


def encode_vectors(vectors: Vectors, dimensions: int) -> Int8Codes:
    """Encode the leading dimensions of vectors (n, d), of which a row is of length 1 again.

    Codes are symmetric per row: the scale cancels in a cosine and is not stored. A row of zeros
    stays one, with the inverse norm 0.
    """
    rows = vectors[:, :dimensions]
    return quantize_int8(divide_rows(rows, np.linalg.norm(rows, axis=1, keepdims=True)))
