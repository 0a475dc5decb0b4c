"""Builder of an index: the terms, phrases, weights and vectors of a site's pages and notes."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import accumulate, groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..serve.embedders.embedder import Embedder, Vectors
from ..serve.errors import SiteError
from ..serve.index.column_types import (
    LanguageRows,
    PhraseEntry,
    PhraseIndex,
    Postings,
    SiteMetadata,
    index_entries,
)
from ..serve.index.columns import Index
from ..serve.index.manifest import Profile, scale_note_floor
from ..serve.providers import find_provider
from ..serve.retrieval.bm25 import compute_idf
from ..serve.retrieval.sections import has_code
from ..serve.retrieval.store import TermPostings
from ..serve.text.languages import is_language_tag
from ..serve.text.normalization import normalize_phrase
from ..serve.text.tokenization import extract_words
from ..serve.text.urls import is_safe_url
from ..serve.types import Passage, RoutingHint
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
class TitleIndex:
    """The distinct terms of titles with the records that have them; by record, its title's norm.

    A norm is the length of the vector of the idf of a title's distinct terms, 0 without any.
    """

    terms: tuple[PhraseEntry, ...]
    norms: tuple[float, ...]


def index_passage_terms(passages: Iterable[TermCounts]) -> TermPostings:
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
    return TermPostings(
        terms={term: row for row, term in enumerate(terms)},
        edges=np.concatenate(([0], np.cumsum(sizes))).astype("<u4"),
        passages=rows[order].astype("<u4"),
        counts=np.minimum(np.array(counts, dtype=np.int64), 65_535)[order].astype("<u2"),
        lengths=np.array(lengths, dtype="<u4"),
    )


def index_titles(
    records: Sequence[Record], lexicon: TermPostings, languages: Sequence[tuple[str, int, int]]
) -> TitleIndex:
    """Index the titles of records. languages: (language, first, last + 1) of the passages' rows."""
    ranges = {language: (first, end) for language, first, end in languages}
    titles = [dict.fromkeys(extract_stems(each.title, each.language)) for each in records]
    norms = []
    for record, terms in zip(records, titles, strict=True):
        rows = ranges.get(record.language, (0, 0))
        squares = (_idf(lexicon, lexicon.terms.get(term), rows) ** 2 for term in terms)
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


def _idf(lexicon: TermPostings, term: int | None, rows: tuple[int, int]) -> float:
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


# Of a page's summary, and of all its themes, that a model reads beside the passages.
MAX_SUMMARY_CHARACTERS = 400


def clip_summary(text: str) -> str:
    """Cut a text between words where it is longer than a model that answers has to read."""
    if len(text) <= MAX_SUMMARY_CHARACTERS:
        return text
    cut = text[:MAX_SUMMARY_CHARACTERS]
    return f"{cut.rpartition(' ')[0] or cut} …"


def clip_themes(themes: Sequence[str]) -> list[str]:
    """Keep the first themes of a page, as many as are no longer than a summary."""
    ends = accumulate(len(theme) for theme in themes)
    pairs = zip(themes, ends, strict=True)
    return [theme for theme, end in pairs if end <= MAX_SUMMARY_CHARACTERS]


def build_index(
    site: SiteMetadata,
    pages: Iterable[PageIndex],
    notes: Sequence[Note],
    resolve: Callable[[str], str],
    embedder: Embedder,
    cache_folder: Path,
    weights: Mapping[str, float] | None = None,
    progress: ReportProgress | None = None,
    questions: Mapping[str, SectionQuestions] | None = None,
    answers: CheckedAnswers | None = None,
    dimensions: int | None = None,
) -> tuple[Index, int]:
    """Embed and index a site. Returns its index, and how many texts the cache did not have.

    site: its languages and scripts follow from the pages. resolve: from a note's ``about`` to a
    url; it raises NotebookError. weights: by pattern of record ids, the first that matches counts.
    questions: by section. answers: that are stored for some of them. dimensions: the leading
    numbers of each vector that are kept, all by default. SiteError for what no page can have.
    """
    public = [page for page in pages if not page.record.metadata.excluded]
    _reject_duplicate_ids(public)
    public.sort(key=_language_sort_key(site, public))
    entries = tuple(passage for page in public for passage in page.passages)
    vectors, hints, embedded = embed_passages_and_notes(
        entries, notes, resolve, site.language, embedder, cache_folder, progress
    )
    records = tuple(page.record for page in public)
    passages = [entry.passage for entry in entries]
    _check_texts(records, passages, hints.hints)
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
    site = replace(
        site,
        languages=tuple(LanguageRows(*each) for each in languages),
        scripts=frozenset().union(*(page.scripts for page in public)),
    )
    lexicon = index_passage_terms(counts for page in public for counts in page.term_counts)
    terms = tuple(lexicon.terms)
    forms = list_forms(terms, ((page.record.language, page.stems) for page in public))
    titles = index_titles(records, lexicon, languages)
    known = _index_questions(
        questions or {}, answers or {}, entries, lexicon, forms, languages, site, site.scripts
    )
    index = Index(
        site=site,
        record_ids=[record.id for record in records],
        record_urls=[record.url for record in records],
        weights=np.array(weigh_records([record.id for record in records], weights or {}), "<f4"),
        is_history=np.array(mark_history_pages(records, site.name, weights or {}), "<u4"),
        dates=[record.metadata.date for record in records],
        names=_index_phrases(names, frequencies),
        aliases=_index_phrases(aliases, frequencies),
        themes=_index_phrases(themes, frequencies),
        title_terms=index_entries(titles.terms),
        title_norms=np.array(titles.norms, "<f4"),
        passage_ids=[passage.id for passage in passages],
        passage_urls=[passage.url for passage in passages],
        passage_titles=[passage.title for passage in passages],
        passage_records=_repeat_rows(range(len(public)), [len(p.passages) for p in public]),
        passage_sections=_find_sections(passages),
        passage_lengths=lexicon.lengths,
        has_code=np.array([has_code(passage) for passage in passages], "<u4"),
        texts=[passage.markdown for passage in passages],
        codes=encode_vectors(vectors, dimensions or embedder.identity.dimensions),
        words=sorted(frozenset().union(*(page.words for page in public))),
        terms=terms,
        # A site without pages has a language, and no forms in it.
        forms={tag: list(forms.get(tag, ())) for tag in site.tags},
        postings=Postings(lexicon.edges, lexicon.passages, lexicon.counts),
        question_terms=index_entries(known.terms),
        question_norms=np.array(known.norms, "<f4"),
        question_keys=np.array(known.keys, "<u4"),
        question_passages=np.array(known.passages, "<u4"),
        has_answer=np.array([row in known.answers for row in range(len(known.texts))], "<u4"),
        questions=list(known.texts),
        answers=[known.answers[row].claims for row in sorted(known.answers)],
        record_summaries=[clip_summary(record.metadata.summary) for record in records],
        record_themes=[clip_themes(record.metadata.themes) for record in records],
        hint_ids=[hint.id for hint in hints.hints],
        hint_labels=[hint.label for hint in hints.hints],
        hint_locators=[hint.locator for hint in hints.hints],
        hint_urls=[hint.url for hint in hints.hints],
        label_terms=index_entries(index_labels(hints.hints, site.language)),
        hint_owners=np.array(hints.owners, "<u4"),
        hint_codes=encode_vectors(hints.vectors, dimensions or embedder.identity.dimensions),
    )
    return index, embedded


def withhold_questions(index: Index, is_answered: Sequence[bool]) -> Index:
    """Blank the questions that their own sections do not answer, so that none is suggested.

    The answer that is stored for one is left out, since no reader is shown it.
    """
    marks = zip(index.questions, is_answered, strict=True)
    rows = np.flatnonzero(index.has_answer).tolist()
    answers = zip(rows, index.answers, strict=True)
    return replace(
        index,
        questions=[text if is_shown else "" for text, is_shown in marks],
        has_answer=index.has_answer * np.array(is_answered, "<u4"),
        answers=[answer for row, answer in answers if is_answered[row]],
    )


def _check_texts(
    records: Iterable[Record], passages: Sequence[Passage], hints: Sequence[RoutingHint]
) -> None:
    """Refuse a url, a language or a line break that the engine does not read; SiteError."""
    named = [(passage.id, passage.url) for passage in passages]
    for name, url in named + [(hint.id, hint.url) for hint in hints]:
        if not is_safe_url(url):
            raise SiteError(
                f"{name}: its url {url!r} is neither root-relative nor http(s), or holds white "
                "space; correct it"
            )
    lines = [record.id for record in records] + [passage.title for passage in passages]
    lines += [text for hint in hints for text in (hint.label, hint.locator)]
    for text in lines:
        if "\n" in text:
            raise SiteError(f"{text!r} has a line break: rename its file, or write it on one line")
    for tag in {record.language for record in records}:
        if not is_language_tag(tag):
            raise SiteError(
                f"language: {tag!r} is not a language tag such as en or pt-BR; correct it"
            )


def _find_sections(passages: Sequence[Passage]) -> NDArray[np.uint32]:
    """Find the first passage of each passage's section, (n,)."""
    sections = list_sections(passages)
    firsts = [section.first for section in sections]
    return _repeat_rows(firsts, [len(section.windows) for section in sections])


def _repeat_rows(rows: Sequence[int], sizes: Sequence[int]) -> NDArray[np.uint32]:
    return np.repeat(np.array(rows, "<u4"), np.array(sizes, np.int64))


def _index_questions(
    questions: Mapping[str, SectionQuestions],
    answers: CheckedAnswers,
    passages: Sequence[IndexedPassage],
    lexicon: TermPostings,
    forms: Mapping[str, Sequence[str]],
    languages: Sequence[tuple[str, int, int]],
    site: SiteMetadata,
    scripts: frozenset[str],
) -> QuestionIndex:
    if not questions:
        return NO_QUESTIONS
    ranges = {language: (first, end) for language, first, end in languages}
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
        lambda term, language: _idf(lexicon, lexicon.terms.get(term), ranges[language]),
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


def _language_sort_key(
    site: SiteMetadata, pages: Iterable[PageIndex]
) -> Callable[[PageIndex], int]:
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


def _index_phrases(
    rows: Mapping[str, Sequence[int]], frequencies: Mapping[str, int]
) -> PhraseIndex:
    return index_entries(
        [PhraseEntry(phrase, tuple(rows[phrase]), frequencies[phrase]) for phrase in sorted(rows)]
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
