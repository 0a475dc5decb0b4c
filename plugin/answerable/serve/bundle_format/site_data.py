"""Columns of an index, in one table, and what is read of them: metadata, phrases and postings."""

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..text.languages import is_language_tag
from ..text.urls import is_safe_url
from .container import Container, shrink_array
from .manifest import (
    ANSWERS_FILE,
    COLUMNS_FILE,
    CONTEXTS_FILE,
    CORE_FILE,
    HINTS_FILE,
    QUESTIONS_FILE,
    SUGGESTIONS_FILE,
    TERMS_FILE,
    WORDS_FILE,
)
from .stored_answers import StoredAnswer, parse_stored_answers

# A greater weight is not a preference: a weight orders matches and does not replace their scores.
MAX_WEIGHT = 10.0
# No title is longer: a term weighs 35 at the most.
MAX_TITLE_NORM = 1e4
# Norms of questions are whole numbers on disk, so that both engines read the same ones.
QUESTION_NORM_UNITS: int = RULES["site_data"]["QUESTION_NORM_UNITS"]


@dataclass(frozen=True, slots=True)
class Column:
    """Describe one column of an index: its name, the file that holds it, and what has its values.

    ``counted``: the count of the manifest that is its length, "" where another column tells it.
    ``dtype``: of numbers as they are read, None for a list of JSON values, "json" for another
    value. Whole numbers are written in the smallest unsigned type that holds all of them.
    """

    name: str
    file: str
    counted: str = ""
    dtype: str | None = None

    @property
    def has_numbers(self) -> bool:
        """Test for a column of numbers, which is an array of its container."""
        return self.dtype not in (None, "json")


# What every store has in memory. See ``SiteColumns``.
SITE_COLUMNS = (
    Column("site", CORE_FILE, dtype="json"),
    # Lists by ``PHRASE_TABLES``.
    Column("phrases", CORE_FILE, dtype="json"),
    Column("weights", CORE_FILE, "records", "<f4"),
    Column("isHistory", CORE_FILE, "records", "|u1"),
    Column("passagesPerRecord", CORE_FILE, "records", "<u4"),
    # Of the phrases of all tables, one table after another: how many records bear each.
    Column("phraseSizes", CORE_FILE, "", "<u4"),
    Column("phraseRecords", CORE_FILE, "", "<u4"),
    Column("dates", COLUMNS_FILE, "records"),
    Column("titleNorms", COLUMNS_FILE, "records", "<f4"),
    Column("phraseFrequencies", COLUMNS_FILE, "", "<u4"),
    Column("passageLengths", COLUMNS_FILE, "passages", "<u4"),
    Column("words", WORDS_FILE, "words"),
    # The terms of the questions that sections are known to answer, as phrases of records are
    # written; by passage how many questions its section has, where it begins one, and whether it
    # goes on with the section before it.
    Column("questionTerms", QUESTIONS_FILE, ""),
    Column("questionSizes", QUESTIONS_FILE, "", "<u4"),
    Column("questionOwners", QUESTIONS_FILE, "", "<u4"),
    Column("questionKeys", QUESTIONS_FILE, "questions", "<u4"),
    Column("hasAnswer", QUESTIONS_FILE, "questions", "|u1"),
    # Of the questions that have one, as ``StoredAnswer`` writes it.
    Column("answers", ANSWERS_FILE, "answers"),
    Column("questionsPerPassage", QUESTIONS_FILE, "passages", "<u4"),
    Column("continuesSection", QUESTIONS_FILE, "passages", "|u1"),
    # In thousandths.
    Column("questionNorms", COLUMNS_FILE, "questions", "<u4"),
    # Those that are suggested, "" for another one.
    Column("questions", SUGGESTIONS_FILE, "questions"),
)
# The terms of passages, and by language the other forms of each term, between spaces.
FORM_COLUMNS = (
    Column("terms", TERMS_FILE, ""),
    Column("forms", TERMS_FILE, dtype="json"),
)
# An edit of a few words changes no column of the core, which is most of what a question loads.
COLUMNS = (
    *SITE_COLUMNS,
    Column("recordIds", CORE_FILE, "records"),
    Column("recordUrls", CORE_FILE, "records"),
    # Without what follows from the page's: see ``restore_passages``.
    Column("passageIds", CORE_FILE, "passages"),
    Column("passageUrls", CORE_FILE, "passages"),
    Column("titles", CORE_FILE, "passages"),
    Column("sharedTitles", CORE_FILE, "passages", "<u4"),
    # For a browser, which has not read the texts yet.
    Column("hasCode", COLUMNS_FILE, "passages", "|u1"),
    # The first passage of each container of texts.
    Column("textsStarts", COLUMNS_FILE, "", "<u4"),
    *FORM_COLUMNS,
    # Of each term how many passages hold it, then for each of these the distance from the one
    # before it, and how often.
    Column("sizes", TERMS_FILE, "", "<u4"),
    Column("gaps", TERMS_FILE, "", "<u4"),
    Column("counts", TERMS_FILE, "", "<u4"),
)
# The terms of labels and locators, as phrases of records are written.
LABEL_COLUMNS = (
    Column("labelTerms", HINTS_FILE, ""),
    Column("labelSizes", HINTS_FILE, "", "<u4"),
    Column("labelHints", HINTS_FILE, "", "<u4"),
)
# What no site publishes: the words of summaries and themes, which a model is given beside the
# passages, where the texts lie in their file, and what is left of notes.
UNPUBLISHED_COLUMNS = (
    Column("summaries", CONTEXTS_FILE, "records"),
    Column("themes", CONTEXTS_FILE, "records"),
    # Bytes of each container of texts.
    Column("textsSizes", CONTEXTS_FILE, "", "<u4"),
    Column("ids", HINTS_FILE, "hints"),
    Column("labels", HINTS_FILE, "hints"),
    Column("locators", HINTS_FILE, "hints"),
    Column("urls", HINTS_FILE, "hints"),
    Column("windowsPerHint", HINTS_FILE, "hints", "<u4"),
    *LABEL_COLUMNS,
)
# The tables of phrases in their order.
PHRASE_TABLES = ("names", "aliases", "themes", "titleTerms")


def list_columns(file: str) -> tuple[Column, ...]:
    """List the columns of one file."""
    return tuple(column for column in (*COLUMNS, *UNPUBLISHED_COLUMNS) if column.file == file)


def pack_columns(listed: Iterable[Column], data: Mapping[str, Any]) -> Container:
    """Put columns into a container. data: by the names of columns."""
    values: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for column in listed:
        value = data[column.name]
        if not column.has_numbers:
            values[column.name] = value if column.dtype else list(value)
        elif column.dtype == "<u4":
            arrays[column.name] = shrink_array(np.asarray(value, np.int64))
        else:
            arrays[column.name] = np.asarray(value, column.dtype)
    return Container(values, arrays)


def read_columns(
    listed: Iterable[Column], container: Container, counts: Mapping[str, int]
) -> dict[str, Any]:
    """Read columns by name; LookupError, TypeError or ValueError for bad ones."""
    data: dict[str, Any] = {}
    for column in listed:
        name = column.name
        values = (container.arrays if column.has_numbers else container.values)[name]
        if column.has_numbers:
            if values.dtype.kind != np.dtype(column.dtype).kind:
                raise TypeError(f"{name} has numbers of the type {values.dtype}")
            values = values.astype(column.dtype, copy=False)
        elif column.dtype is None and not isinstance(values, list):
            raise TypeError(f"{name} is not a list")
        if column.counted and counts[column.counted] != len(values):
            counted = f"{counts[column.counted]!r:.20} {column.counted}"
            raise ValueError(f"its manifest counts {counted} instead of {len(values)}, see {name}")
        data[name] = values
    return data


@dataclass(frozen=True, slots=True)
class Postings:
    """Index passages by term: which of them hold it, and how often.

    ``passages`` and ``counts`` are parallel; term ``t`` owns ``edges[t]:edges[t + 1]``.
    ``lengths`` (n,) counts the terms of each passage.
    """

    terms: Mapping[str, int]
    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class PhraseEntry:
    """Hold an authored phrase, the records that bear it and in how many records it occurs."""

    phrase: str
    records: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Index authored phrases in columns: ``rows`` by phrase.

    Row ``r`` belongs to the records ``records[edges[r]:edges[r + 1]]``.
    """

    rows: Mapping[str, int]
    edges: NDArray[np.uint32]
    records: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]

    def __iter__(self) -> Iterator[PhraseEntry]:
        return map(self.entry, self.rows)

    def entry(self, phrase: str) -> PhraseEntry:
        """Look up a phrase; KeyError."""
        row = self.rows[phrase]
        owners = self.records[int(self.edges[row]) : int(self.edges[row + 1])]
        return PhraseEntry(phrase, tuple(owners.tolist()), int(self.frequencies[row]))


def make_phrase_indexes(
    tables: Sequence[Sequence[str]],
    sizes: NDArray[np.uint32],
    owners: NDArray[np.uint32],
    frequencies: NDArray[np.uint32],
    bound: int,
) -> tuple[PhraseIndex, ...]:
    """Build the index of each table, whose rows share their columns; TypeError or ValueError.

    sizes: of each phrase, how many of the owners are its own. bound: above the owners' rows.
    """
    count = sum(map(len, tables))
    edges = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if not count == len(sizes) == len(frequencies) or int(edges[-1]) != len(owners):
        raise ValueError(f"its {count} phrases do not match their columns")
    if len(owners) and int(owners.max()) >= bound:
        raise ValueError("a phrase points past the last row")
    indexes = []
    first = 0
    for phrases in tables:
        check_texts(phrases)
        rows = dict(zip(phrases, range(first, first + len(phrases)), strict=True))
        indexes.append(PhraseIndex(rows, edges.astype(np.uint32), owners, frequencies))
        first += len(phrases)
    return tuple(indexes)


def index_entries(tables: Sequence[Sequence[PhraseEntry]], bound: int) -> tuple[PhraseIndex, ...]:
    """Index the entries of each table. bound: above the rows of what bears a phrase."""
    entries = [entry for table in tables for entry in table]
    return make_phrase_indexes(
        [[entry.phrase for entry in table] for table in tables],
        np.array([len(entry.records) for entry in entries], "<u4"),
        np.array([row for entry in entries for row in entry.records], "<u4"),
        np.array([entry.frequency for entry in entries], "<u4"),
        bound,
    )


def join_postings(
    shards: Iterable[Mapping[str, Any]], lengths: NDArray[np.uint32], count: int
) -> Postings:
    """Join the postings of shards, (passages,) lengths and ``count`` of terms; ValueError.

    A term may be in several shards.
    """
    listed = list(shards)
    terms = [term for shard in listed for term in shard["terms"]]
    rows = dict(zip(terms, range(len(terms)), strict=True))
    if len(rows) != count:
        raise ValueError(f"its manifest counts {count!r:.20} terms instead of {len(rows)}")
    none: NDArray[np.uint32] = np.zeros(0, np.uint32)
    sizes, gaps, counts = (
        np.concatenate([*(shard[name] for shard in listed), none]).astype(np.int64)
        for name in ("sizes", "gaps", "counts")
    )
    edges = np.concatenate(([0], np.cumsum(sizes)))
    if (
        len(sizes) != len(terms)
        or not int(edges[-1]) == len(gaps) == len(counts)
        or not sizes.all()
    ):
        raise ValueError("its postings do not match its terms")
    # The first number of a term is a passage, each other one the distance to the next.
    sums, firsts = np.cumsum(gaps), edges[:-1]
    passages = sums - np.repeat(sums[firsts] - gaps[firsts], sizes)
    if len(passages) and int(passages.max()) >= len(lengths):
        raise ValueError("a posting points past the last passage")
    gaps[firsts] = 1
    if not gaps.all():
        raise ValueError("its postings have rows out of order")
    return Postings(
        terms=rows,
        edges=edges.astype(np.uint32),
        passages=passages.astype(np.uint32),
        counts=np.minimum(counts, 65_535).astype(np.uint16),
        lengths=lengths,
    )


def join_forms(
    shards: Iterable[Mapping[str, Any]], tags: Iterable[str]
) -> dict[str, dict[str, str]]:
    """Join the terms of shards: by language the other forms of each, between spaces.

    LookupError, TypeError or ValueError for bad ones.
    """
    forms_by_tag: dict[str, dict[str, str]] = {tag: {} for tag in tags}
    for shard in shards:
        check_texts(shard["terms"])
        for tag, forms in forms_by_tag.items():
            check_texts(shard["forms"][tag])
            forms.update(zip(shard["terms"], shard["forms"][tag], strict=True))
    return forms_by_tag


def collect_label_columns(label_terms: PhraseIndex) -> dict[str, Any]:
    """Collect the columns of the terms of labels and locators."""
    return {
        "labelTerms": label_terms.rows,
        "labelSizes": np.diff(label_terms.edges),
        "labelHints": label_terms.records,
    }


def load_label_terms(columns: Mapping[str, Any], hints: int) -> PhraseIndex:
    """Build the index of the terms of labels and locators; TypeError or ValueError."""
    sizes = columns["labelSizes"]
    tables = [columns["labelTerms"]]
    return make_phrase_indexes(tables, sizes, columns["labelHints"], sizes, hints)[0]


@dataclass(frozen=True, slots=True)
class LanguageRows:
    """Assign a language to the (first, last + 1) rows of the passages written in it."""

    tag: str
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class SiteMetadata:
    """Describe a site as its bundle does.

    ``language`` is the site's own, ``languages`` are those of its passages in the order of rows.
    ``scripts`` are those its passages are written in, ``names`` what the site and its author are
    called, ``author`` who writes it, ``route`` is the template of a route's sentence.
    """

    name: str
    url: str | None
    language: str
    scripts: frozenset[str]
    route: str
    languages: tuple[LanguageRows, ...]
    names: tuple[str, ...]
    author: str | None

    @property
    def tags(self) -> tuple[str, ...]:
        """List the languages to read a question in: the site's own where there is no page."""
        return tuple(language.tag for language in self.languages) or (self.language,)

    @property
    def claim_names(self) -> tuple[str, ...]:
        """List the names that a claim may use though it does not quote them."""
        return (self.name, *self.names, *([self.author] if self.author else []))

    def as_json(self) -> dict[str, Any]:
        """Return the metadata as ``parse_site_metadata`` reads it."""
        return {
            "name": self.name,
            "url": self.url,
            "language": self.language,
            "route": self.route,
            "scripts": sorted(self.scripts),
            "languages": [[each.tag, each.first, each.end] for each in self.languages],
            "names": list(self.names),
            "author": self.author,
        }

    def language_of(self, row: int) -> str:
        """Look up the language of a passage by its row."""
        place = bisect_right(self.languages, row, key=lambda language: language.first)
        return self.languages[place - 1].tag


def parse_site_metadata(data: Mapping[str, Any], passages: int) -> SiteMetadata:
    """Parse a site's JSON; LookupError, TypeError or ValueError if it is malformed."""
    url, author = data["url"], data["author"]
    if url is not None and not is_safe_url(check_text(url)):
        raise ValueError(f"its url {url!r:.80} is not safe")
    return SiteMetadata(
        check_text(data["name"]),
        url,
        check_text(data["language"]),
        frozenset(map(check_text, data["scripts"])),
        check_text(data["route"]),
        _parse_language_rows(data["languages"], passages),
        tuple(map(check_text, data["names"])),
        None if author is None else check_text(author),
    )


def _parse_language_rows(rows: Sequence[Sequence[Any]], passages: int) -> tuple[LanguageRows, ...]:
    """Parse the languages of the passages' rows; ValueError unless each row has exactly one."""
    languages = tuple(
        LanguageRows(check_text(tag), _check_row(first), _check_row(end))
        for tag, first, end in rows
    )
    ends = [0, *(language.end for language in languages)]
    if [language.first for language in languages] != ends[:-1] or ends[-1] != passages:
        raise ValueError("the languages do not cover the passages in order")
    tags = {language.tag for language in languages if is_language_tag(language.tag)}
    if len(tags) != len(languages) or any(each.first >= each.end for each in languages):
        raise ValueError("a language is not a tag, is empty or occurs twice")
    return languages


def check_texts(values: Sequence[str]) -> None:
    """Refuse what is not a list of texts; TypeError."""
    if not isinstance(values, list):
        raise TypeError(f"{values!r:.80} is not a list")
    # It raises an error for anything but texts.
    "".join(values)


def check_text(value: object) -> str:
    """Return a text; TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is not a text")
    return value


def _check_row(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.80} is not a row")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class SiteColumns:
    """Hold what is small of a site in memory, all of it public.

    ``weights``, ``dates``, ``title_norms`` (the lengths of the idf vectors of titles) and
    ``is_history`` have one value for each record, ``passage_records`` (a row of the records) and
    ``lengths`` (how many terms it has) one for each passage. ``names`` are titles and file names,
    ``title_terms`` the terms of titles, ``words`` those of passages as they are written, in lower
    case and sorted. ``question_terms`` are the terms of the questions that sections are known to
    answer; ``question_norms`` (the lengths of their idf vectors), ``question_keys`` (hashes of
    their words, 0 for one whose section has changed), ``question_passages`` (the first passage
    of their sections) and ``questions`` (themselves) have one value for each of these questions.
    ``answers`` are those that are stored, by the rows of their questions.
    ``passage_sections`` is the first passage of each passage's section.
    """

    site: SiteMetadata
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    title_norms: NDArray[np.float32]
    is_history: NDArray[np.bool_]
    names: PhraseIndex
    aliases: PhraseIndex
    themes: PhraseIndex
    title_terms: PhraseIndex
    passage_records: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    words: Sequence[str]
    question_terms: PhraseIndex
    question_norms: NDArray[np.float64]
    question_keys: NDArray[np.uint32]
    question_passages: NDArray[np.uint32]
    answers: Mapping[int, StoredAnswer]
    questions: Sequence[str]
    passage_sections: NDArray[np.uint32]

    def as_fields(self) -> dict[str, Any]:
        """Return the columns by name, for a store that extends them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def collect_site_columns(site: SiteColumns) -> dict[str, Any]:
    """Collect ``SITE_COLUMNS`` by name, as ``load_site_columns`` reads them."""
    phrases = site.names
    tables = (site.names, site.aliases, site.themes, site.title_terms)
    return {
        "site": {**site.site.as_json(), "tags": list(site.site.tags)},
        "phrases": dict(zip(PHRASE_TABLES, (list(table.rows) for table in tables), strict=True)),
        "weights": site.weights,
        "isHistory": site.is_history,
        "passagesPerRecord": np.bincount(site.passage_records, minlength=len(site.weights)),
        "phraseSizes": np.diff(phrases.edges),
        "phraseRecords": phrases.records,
        "dates": site.dates,
        "titleNorms": site.title_norms,
        "phraseFrequencies": phrases.frequencies,
        "passageLengths": site.lengths,
        "words": site.words,
        "questionTerms": site.question_terms.rows,
        "questionSizes": np.diff(site.question_terms.edges),
        "questionOwners": site.question_terms.records,
        "questionKeys": site.question_keys,
        "hasAnswer": [row in site.answers for row in range(len(site.question_keys))],
        "answers": [site.answers[row].as_json() for row in sorted(site.answers)],
        "questionsPerPassage": np.bincount(site.question_passages, minlength=len(site.lengths)),
        "continuesSection": site.passage_sections != np.arange(len(site.lengths)),
        "questionNorms": np.round(QUESTION_NORM_UNITS * site.question_norms),
        "questions": site.questions,
    }


def load_site_columns(columns: Mapping[str, Any]) -> SiteColumns:
    """Check and assemble ``SITE_COLUMNS``; LookupError, TypeError or ValueError for bad ones."""
    weights, title_norms = columns["weights"], columns["titleNorms"]
    if not ((weights >= 0) & (weights <= MAX_WEIGHT)).all():
        raise ValueError(f"weights holds one that is not in [0, {MAX_WEIGHT:g}]")
    if not ((title_norms >= 0) & (title_norms <= MAX_TITLE_NORM)).all():
        raise ValueError(f"titleNorms holds one that is not in [0, {MAX_TITLE_NORM:g}]")
    per_record, passages = columns["passagesPerRecord"], len(columns["passageLengths"])
    # Before memory is allocated for so many.
    if int(per_record.sum(dtype=np.int64)) != passages:
        raise ValueError("its records do not cover the passages")
    names, aliases, themes, title_terms = make_phrase_indexes(
        [columns["phrases"][name] for name in PHRASE_TABLES],
        columns["phraseSizes"],
        columns["phraseRecords"],
        columns["phraseFrequencies"],
        len(per_record),
    )
    check_texts(columns["words"])
    for date in columns["dates"]:
        if date is not None and not (isinstance(date, str) and _is_iso_date(date)):
            raise ValueError(f"{date!r:.80} is not a date")
    return SiteColumns(
        site=parse_site_metadata(columns["site"], passages),
        weights=weights,
        dates=tuple(columns["dates"]),
        title_norms=title_norms,
        is_history=columns["isHistory"].astype(np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        passage_records=np.repeat(np.arange(len(per_record), dtype=np.uint32), per_record),
        lengths=columns["passageLengths"],
        words=columns["words"],
        **_load_question_columns(columns),
    )


def _load_question_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Check what is known of questions: the fields of a site's columns by name."""
    norms, per_passage = columns["questionNorms"], columns["questionsPerPassage"]
    if int(per_passage.sum(dtype=np.int64)) != len(norms) or not norms.all():
        raise ValueError("its questions do not match their columns")
    check_texts(columns["questions"])
    sizes, rows = columns["questionSizes"], np.arange(len(per_passage), dtype=np.uint32)
    tables, owners = [columns["questionTerms"]], columns["questionOwners"]
    begins = np.where(columns["continuesSection"].astype(np.bool_), np.uint32(0), rows)
    return {
        "question_terms": make_phrase_indexes(tables, sizes, owners, sizes, len(norms))[0],
        "question_norms": norms / QUESTION_NORM_UNITS,
        "question_keys": columns["questionKeys"],
        "question_passages": np.repeat(rows, per_passage),
        "answers": parse_stored_answers(
            columns["hasAnswer"].astype(np.bool_),
            columns["questions"],
            columns["answers"],
            len(rows),
        ),
        "questions": columns["questions"],
        "passage_sections": np.maximum.accumulate(begins) if len(begins) else begins,
    }


def _is_iso_date(value: str) -> bool:
    try:
        return dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
