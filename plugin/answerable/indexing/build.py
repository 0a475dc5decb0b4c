"""Builder of an index: the terms, phrases, weights and vectors of a site's pages and notes."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import Path
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from ..engine.bundle import Bundle
from ..engine.errors import SiteError
from ..engine.index.columns import Index, LanguageRows, PhraseIndex, Postings, SiteMetadata
from ..engine.index.manifest import Profile, scale_note_floor
from ..engine.providers import find_provider
from ..engine.retrieval.store import TermPostings, compute_idfs
from ..engine.text.markdown import read_markdown
from ..engine.text.tokenization import extract_words, is_language_tag, normalize_phrase
from ..engine.text.urls import is_safe_url
from ..engine.types import Passage, RoutingHint
from ..engine.vectors import Embedder, Floats, Int8Codes, normalize_rows, quantize_int8
from .answers import CheckedAnswers
from .notes.notebook import Note
from .notes.routing_hints import embed_passages_and_notes
from .page_weights import mark_history_pages, weigh_records
from .pages.page_index import PageIndex, TermCounts
from .pages.records import Record
from .questions import SectionQuestions, list_known_questions, list_sections
from .stems import extract_stems, list_forms


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


def index_phrases(
    lists: Iterable[Iterable[str]], frequencies: Mapping[str, int] | None = None
) -> PhraseIndex:
    """Index the distinct phrases of lists by the rows of the lists that hold them.

    frequencies: in how many records each phrase occurs; by default, in how many lists.
    """
    rows: dict[str, list[int]] = {}
    for row, phrases in enumerate(lists):
        for phrase in dict.fromkeys(phrases):
            rows.setdefault(phrase, []).append(row)
    phrases = sorted(rows)
    counts = [len(rows[p]) if frequencies is None else frequencies[p] for p in phrases]
    return PhraseIndex(
        {phrase: place for place, phrase in enumerate(phrases)},
        np.cumsum([0, *(len(rows[phrase]) for phrase in phrases)]).astype("<u4"),
        np.array([row for phrase in phrases for row in rows[phrase]], "<u4"),
        np.array(counts, "<u4"),
    )


def measure_terms(postings: TermPostings, terms: Iterable[str], rows: tuple[int, int]) -> float:
    """Measure the length of the vector of the idfs of distinct terms among a range of passages."""
    return math.sqrt(sum(idf**2 for idf in compute_idfs(postings, terms, rows).values()))


# The words of `normalize_phrase`, which reads characters one by one: too slow for whole pages.
_WORD = re.compile(r"[^\W_]+")


# Of a page's summary, and of all its themes, that a model reads beside the passages.
MAX_SUMMARY_CHARACTERS = 400


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
    dimensions: int | None = None,
) -> tuple[Index, int]:
    """Embed and index a site. Returns its index, and how many texts the cache did not have.

    site: its languages and scripts follow from the pages. resolve: from a note's ``about`` to a
    url; it raises NotebookError. weights: by pattern of record ids, the first that matches counts.
    dimensions: the leading numbers of each vector that are kept, all by default. SiteError for what
    no page can have.
    """
    public = [page for page in pages if not page.record.metadata.excluded]
    _reject_duplicate_ids(public)
    # By language, the site's own first.
    tags = list(dict.fromkeys([site.language, *(page.record.language for page in public)]))
    public.sort(key=lambda page: tags.index(page.record.language))
    entries = tuple(passage for page in public for passage in page.passages)
    vectors, hints, embedded = embed_passages_and_notes(
        entries, notes, resolve, site.language, embedder, cache_folder
    )
    records = tuple(page.record for page in public)
    passages = [entry.passage for entry in entries]
    _check_texts(records, passages, hints.hints)
    names, aliases, themes = (
        [{*map(normalize_phrase, texts)} - {"", "index", "readme"} for texts in lists]
        for lists in (
            [(record.title, record.slug) for record in records],
            [record.metadata.aliases for record in records],
            [record.metadata.themes for record in records],
        )
    )
    texts = (" ".join(each.retrieval_text for each in page.passages) for page in public)
    frequencies = count_pages_with_phrases(set().union(*names, *aliases, *themes), texts)
    site = replace(
        site,
        languages=_list_language_rows(public),
        scripts=frozenset().union(*(page.scripts for page in public)),
    )
    ranges = {each.tag: (each.first, each.end) for each in site.languages}
    lexicon = index_passage_terms(counts for page in public for counts in page.term_counts)
    terms = tuple(lexicon.terms)
    forms = list_forms(terms, ((page.record.language, page.stems) for page in public))
    titles = [extract_stems(record.title, record.language) for record in records]
    title_norms = [
        measure_terms(lexicon, title, ranges.get(record.language, (0, 0)))
        for record, title in zip(records, titles, strict=True)
    ]
    # Words of labels are terms too: a question has no other one for a word that no page holds.
    labels = [f"{hint.label} {hint.locator}" for hint in hints.hints]
    label_terms = [
        extract_stems(label, site.language) + extract_words(label, site.language)
        for label in labels
    ]
    index = Index(
        site=site,
        record_ids=[record.id for record in records],
        record_urls=[record.url for record in records],
        weights=np.array(weigh_records([record.id for record in records], weights or {}), "<f4"),
        is_history=np.array(mark_history_pages(records, site.name, weights or {}), "<u4"),
        dates=[record.metadata.date for record in records],
        names=index_phrases(names, frequencies),
        aliases=index_phrases(aliases, frequencies),
        themes=index_phrases(themes, frequencies),
        title_terms=index_phrases(titles),
        title_norms=np.array(title_norms, "<f4"),
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
        record_summaries=[
            shorten(record.metadata.summary, MAX_SUMMARY_CHARACTERS, placeholder=" …")
            for record in records
        ],
        record_themes=[clip_themes(record.metadata.themes) for record in records],
        hint_ids=[hint.id for hint in hints.hints],
        hint_labels=[hint.label for hint in hints.hints],
        hint_locators=[hint.locator for hint in hints.hints],
        hint_urls=[hint.url for hint in hints.hints],
        label_terms=index_phrases(label_terms),
        hint_owners=np.array(hints.owners, "<u4"),
        hint_codes=encode_vectors(hints.vectors, dimensions or embedder.identity.dimensions),
    )
    return index, embedded


def index_questions(
    bundle: Bundle, questions: Mapping[str, SectionQuestions], answers: CheckedAnswers
) -> Index:
    """Index the questions of sections beside all else of a bundle that has none.

    questions: by section. answers: that are stored for some of them.
    """
    known = list_known_questions(bundle, questions, answers)
    postings = bundle.postings_of(())
    ranges = {rows.tag: (rows.first, rows.end) for rows in bundle.index.site.languages}
    norms = [
        measure_terms(postings, question.terms, ranges[question.language]) for question in known
    ]
    return replace(
        bundle.index,
        question_terms=index_phrases(question.terms for question in known),
        question_norms=np.array(norms, "<f4"),
        question_keys=np.array([question.key for question in known], "<u4"),
        question_passages=np.array([question.passage for question in known], "<u4"),
        has_answer=np.array([question.answer is not None for question in known], "<u4"),
        questions=[question.text for question in known],
        answers=[question.answer for question in known if question.answer is not None],
    )


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


def has_code(passage: Passage) -> bool:
    """True if a passage has a block of code."""
    return any(placed.block.kind == "code" for placed in read_markdown(passage.markdown).blocks)


def _find_sections(passages: Sequence[Passage]) -> NDArray[np.uint32]:
    """Find the first passage of each passage's section, (n,)."""
    sections = list_sections(passages)
    firsts = [section.first for section in sections]
    return _repeat_rows(firsts, [len(section.windows) for section in sections])


def _repeat_rows(rows: Sequence[int], sizes: Sequence[int]) -> NDArray[np.uint32]:
    return np.repeat(np.array(rows, "<u4"), np.array(sizes, np.int64))


def _reject_duplicate_ids(pages: Iterable[PageIndex]) -> None:
    urls: dict[str, str] = {}
    for record in (page.record for page in pages):
        other = urls.setdefault(record.id, record.url)
        if other != record.url:
            raise SiteError(
                f"{record.id}: {other} and {record.url} are two pages of one name; rename one"
            )


def _list_language_rows(pages: Iterable[PageIndex]) -> tuple[LanguageRows, ...]:
    languages: list[LanguageRows] = []
    end = 0
    for language, group in groupby(pages, key=lambda page: page.record.language):
        first, end = end, end + sum(len(page.passages) for page in group)
        if end > first:
            languages.append(LanguageRows(language, first, end))
    return tuple(languages)


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


def encode_vectors(vectors: Floats, dimensions: int) -> Int8Codes:
    """Encode the leading dimensions of vectors (n, d), of which a row is of length 1 again.

    Codes are symmetric per row: the scale cancels in a cosine and is not stored. A row of zeros
    stays one, with the inverse norm 0.
    """
    return quantize_int8(normalize_rows(vectors[:, :dimensions].copy()))
