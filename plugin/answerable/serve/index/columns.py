# ruff: noqa: RUF009
"""Columns of an index, one line each: the file, the type and the length of each."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..text.languages import is_language_tag
from ..text.urls import is_safe_url
from ..vectors import Int8Codes
from .column_types import (
    COLUMN_TYPES,
    ColumnType,
    PhraseIndex,
    Postings,
    SiteMetadata,
    check_texts,
)
from .format import Container, check_urls
from .stored_answers import parse_stored_answers

# A greater weight is not a preference: a weight orders matches and does not replace their scores.
MAX_WEIGHT = 10.0
# No title or question is longer: a term weighs 35 at the most.
MAX_NORM = 1e4


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of file it lies in, its type, and what it has a value for.

    ``counted``: the count of the manifest that is its length, "" where another column tells it.
    ``private``: it lies in a file that no site publishes.
    """

    name: str
    file: str
    type: str
    counted: str
    private: bool

    @property
    def codec(self) -> ColumnType:
        """How its type is written and read."""
        return COLUMN_TYPES[self.type]


def _column(file: str, type_name: str, counted: str = "", *, private: bool = False) -> Any:
    return field(
        default_factory=COLUMN_TYPES[type_name].empty,
        metadata={"file": file, "type": type_name, "counted": counted, "private": private},
    )


Numbers = NDArray[np.uint32]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Index:
    """The columns of an index, in memory as they are on disk. Of notes it has hints and vectors.

    A new column is one line here; what makes an index gives it its value, and both engines read
    it under its name. Rows are those of records, passages, questions or hints.
    """

    site: SiteMetadata = _column("core", "site")
    record_ids: Sequence[str] = _column("core", "texts", "records")
    record_urls: Sequence[str] = _column("core", "texts", "records")
    weights: Floats = _column("core", "floats", "records")
    is_history: Numbers = _column("core", "numbers", "records")
    # The day of each page, or null.
    dates: Sequence[str | None] = _column("core", "list", "records")
    # Titles and file names, authored aliases and themes, and the terms of titles.
    names: PhraseIndex = _column("core", "phrases")
    aliases: PhraseIndex = _column("core", "phrases")
    themes: PhraseIndex = _column("core", "phrases")
    title_terms: PhraseIndex = _column("core", "phrases")
    # The lengths of the idf vectors of titles.
    title_norms: Floats = _column("core", "floats", "records")
    # Both without what follows from the page and the title: see ``places``.
    passage_ids: Sequence[str] = _column("core", "texts", "passages")
    passage_urls: Sequence[str] = _column("core", "list", "passages")
    passage_titles: Sequence[str] = _column("core", "texts", "passages")
    passage_records: Numbers = _column("core", "rising", "passages")
    # The first passage of each passage's section.
    passage_sections: Numbers = _column("core", "rising", "passages")
    # How many terms a passage has, and whether it has code, for a browser without its text.
    passage_lengths: Numbers = _column("core", "numbers", "passages")
    has_code: Numbers = _column("core", "numbers", "passages")
    # The Markdown of passages.
    texts: Sequence[str] = _column("texts", "texts", "passages")
    codes: Int8Codes = _column("codes", "codes", "passages")
    # The words of passages as they are written, in lower case and sorted.
    words: Sequence[str] = _column("words", "texts", "words")
    # The terms of passages; by language the other forms of each, with spaces between them.
    terms: Sequence[str] = _column("terms", "texts")
    forms: Mapping[str, Sequence[str]] = _column("terms", "forms")
    postings: Postings = _column("terms", "postings")
    # The questions that sections are known to answer: the lengths of their idf vectors, hashes of
    # their words (0 for one whose section has changed), the first passage of their sections.
    question_terms: PhraseIndex = _column("questions", "phrases")
    question_norms: Floats = _column("questions", "floats", "questions")
    question_keys: Numbers = _column("questions", "numbers", "questions")
    question_passages: Numbers = _column("questions", "rising", "questions")
    has_answer: Numbers = _column("questions", "numbers", "questions")
    # Themselves, "" for one that is not suggested.
    questions: Sequence[str] = _column("suggestions", "texts", "questions")
    # Of the questions that have one, as ``StoredAnswer`` writes it.
    answers: Sequence[Any] = _column("answers", "list", "answers")
    # What a model is given of a page beside its passages.
    record_summaries: Sequence[str] = _column("contexts", "texts", "records", private=True)
    record_themes: Sequence[Sequence[str]] = _column("contexts", "list", "records", private=True)
    hint_ids: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_labels: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_locators: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_urls: Sequence[str] = _column("hints", "texts", "hints", private=True)
    label_terms: PhraseIndex = _column("hints", "phrases", private=True)
    # The hint of each window of notes.
    hint_owners: Numbers = _column("hints", "rising", "windows", private=True)
    hint_codes: Int8Codes = _column("vectors", "codes", "windows", private=True)


COLUMNS = tuple(Column(each.name, **each.metadata) for each in fields(Index))
PRIVATE_KINDS = frozenset(column.file for column in COLUMNS if column.private)


def list_columns(file: str) -> tuple[Column, ...]:
    """List the columns of one kind of file."""
    return tuple(column for column in COLUMNS if column.file == file)


def count_rows(index: Index) -> dict[str, int]:
    """Count what an index has, as its manifest does."""
    return {
        "records": len(index.record_ids),
        "passages": len(index.passage_ids),
        "terms": len(set(index.terms)),
        "words": len(index.words),
        "questions": len(index.questions),
        "answers": len(index.answers),
        "hints": len(index.hint_ids),
        "windows": len(index.hint_owners),
    }


def pack_columns(columns: Iterable[Column], index: Index) -> Container:
    """Put columns of an index into a container."""
    packed = [column.codec.pack(column.name, getattr(index, column.name)) for column in columns]
    return Container(
        {name: value for part in packed for name, value in part.values.items()},
        {name: array for part in packed for name, array in part.arrays.items()},
    )


def unpack_columns(columns: Iterable[Column], parts: Sequence[Container]) -> dict[str, Any]:
    """Read columns by name from the parts of their file; an error of ``MALFORMED``."""
    values: dict[str, Any] = {}
    for column in columns:
        read = [column.codec.unpack(column.name, part) for part in parts]
        values[column.name] = read[0] if len(read) == 1 else column.codec.join(read)
    return values


def check_index(index: Index, counts: Mapping[str, int], columns: Iterable[Column]) -> None:
    """Compare columns with each other and the manifest; BundleError or one of ``MALFORMED``.

    columns: those that were read, others are empty.
    """
    present = {column.name for column in columns}
    for column in COLUMNS:
        length = len(getattr(index, column.name)) if column.counted else 0
        if column.counted and column.name in present and length != counts[column.counted]:
            counted = f"{counts[column.counted]!r:.20} {column.counted}"
            raise ValueError(
                f"its manifest counts {counted} instead of {length}, see {column.name}"
            )
    if "terms" in present and len(set(index.terms)) != counts["terms"]:
        counted = f"{counts['terms']!r:.20} terms instead of {len(set(index.terms))}"
        raise ValueError(f"its manifest counts {counted}")
    if "postings" in present and len(index.postings.edges) != len(index.terms) + 1:
        raise ValueError("its postings do not match its terms")
    for tag in index.site.tags:
        if len(index.forms[tag]) != len(index.terms):
            raise ValueError(f"its forms of {tag} do not match its terms")
    bounds = {
        "records": (
            index.passage_records,
            *(p.records for p in (index.names, index.aliases, index.themes, index.title_terms)),
        ),
        "passages": (index.question_passages, index.postings.passages),
        "questions": (index.question_terms.records,),
        "hints": (index.label_terms.records, index.hint_owners),
    }
    for counted, all_rows in bounds.items():
        for rows in all_rows:
            if len(rows) and int(rows.max()) >= counts[counted]:
                raise ValueError(f"it points past the last of its {counted}")
    passages = counts["passages"]
    if (index.passage_sections > np.arange(passages)).any():
        raise ValueError("passage_sections points past its own row")
    if not index.question_norms.all():
        raise ValueError("question_norms holds 0")
    ranges = {
        "weights": MAX_WEIGHT,
        "title_norms": MAX_NORM,
        "question_norms": MAX_NORM,
    }
    for name, most in ranges.items():
        values = getattr(index, name)
        if not ((values >= 0) & (values <= most)).all():
            raise ValueError(f"{name} holds a number that is not in [0, {most:g}]")
    for date in index.dates:
        if date is not None and dt.date.fromisoformat(date).isoformat() != date:
            raise ValueError(f"{date!r:.80} is not a date")
    for themes in index.record_themes:
        check_texts(themes)
    _check_site(index.site, passages)
    for urls in (index.passage_urls, index.record_urls, index.hint_urls):
        check_urls(urls, "the index")
    parse_stored_answers(index.has_answer > 0, index.questions, index.answers, passages)


def _check_site(site: SiteMetadata, passages: int) -> None:
    """Refuse an unsafe url, and languages that do not cover each passage once; ValueError."""
    if site.url is not None and not is_safe_url(site.url):
        raise ValueError(f"its url {site.url!r:.80} is not safe")
    ends = [0, *(language.end for language in site.languages)]
    if [language.first for language in site.languages] != ends[:-1] or ends[-1] != passages:
        raise ValueError("the languages do not cover the passages in order")
    tags = {language.tag for language in site.languages if is_language_tag(language.tag)}
    if len(tags) != len(site.languages) or any(x.first >= x.end for x in site.languages):
        raise ValueError("a language is not a tag, is empty or occurs twice")
