# ruff: noqa: RUF009
"""Columns of an index, one line each: the file, the type and the length of each."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from ..text.languages import is_language_tag
from ..text.urls import is_safe_url
from ..types import TITLE_SEPARATOR, WINDOW_SUFFIX, Passage, RoutingHint
from ..vectors import Floats, Int8Codes
from .column_types import (
    COLUMN_TYPES,
    ColumnType,
    PhraseIndex,
    Postings,
    SiteMetadata,
    StoredClaims,
)
from .format import MALFORMED, MAX_FILE_BYTES, Container


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of file it lies in, its type, and what it has a value for.

    ``counted``: the count of the manifest that is its length, "" where another column tells it.
    ``points_to``: the count of the rows that its numbers are of, "" for other numbers. ``private``:
    it lies in a file that no site publishes.
    """

    name: str
    file: str
    type: str
    counted: str
    points_to: str
    private: bool

    @property
    def codec(self) -> ColumnType:
        """How its type is written and read."""
        return COLUMN_TYPES[self.type]


def _column(
    file: str, type_name: str, counted: str = "", points_to: str = "", *, private: bool = False
) -> Any:
    metadata = {"column": (file, type_name, counted, points_to, private)}
    return field(default_factory=COLUMN_TYPES[type_name].empty, metadata=metadata)


Numbers = NDArray[np.uint32]
# Unpacks a part of a file.
UnpackPart = Callable[[], Container]


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
    dates: Sequence[str | None] = _column("core", "optional-texts", "records")
    # Titles and file names, authored aliases and themes, and the terms of titles.
    names: PhraseIndex = _column("core", "phrases", "", "records")
    aliases: PhraseIndex = _column("core", "phrases", "", "records")
    themes: PhraseIndex = _column("core", "phrases", "", "records")
    title_terms: PhraseIndex = _column("core", "phrases", "", "records")
    # The lengths of the idf vectors of titles.
    title_norms: Floats = _column("core", "floats", "records")
    # On disk both are without what follows from the page and the title: see ``shorten_places``.
    passage_ids: Sequence[str] = _column("core", "texts", "passages")
    passage_urls: Sequence[str] = _column("core", "optional-texts", "passages")
    passage_titles: Sequence[str] = _column("core", "texts", "passages")
    passage_records: Numbers = _column("core", "rising", "passages", "records")
    # The first passage of each passage's section.
    passage_sections: Numbers = _column("core", "rising", "passages", "passages")
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
    postings: Postings = _column("terms", "postings", "", "passages")
    # The questions that sections are known to answer: the lengths of their idf vectors, hashes of
    # their words (0 for one whose section has changed), the first passage of their sections.
    question_terms: PhraseIndex = _column("questions", "phrases", "", "questions")
    question_norms: Floats = _column("questions", "floats", "questions")
    question_keys: Numbers = _column("questions", "numbers", "questions")
    question_passages: Numbers = _column("questions", "rising", "questions", "passages")
    has_answer: Numbers = _column("questions", "numbers", "questions")
    # Themselves, "" for one that is not suggested.
    questions: Sequence[str] = _column("suggestions", "texts", "questions")
    # Of the questions that have one.
    answers: Sequence[StoredClaims] = _column("answers", "answers", "answers", "passages")
    # What a model is given of a page beside its passages.
    record_summaries: Sequence[str] = _column("contexts", "texts", "records", private=True)
    record_themes: Sequence[Sequence[str]] = _column("contexts", "lists", "records", private=True)
    hint_ids: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_labels: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_locators: Sequence[str] = _column("hints", "texts", "hints", private=True)
    hint_urls: Sequence[str] = _column("hints", "texts", "hints", private=True)
    label_terms: PhraseIndex = _column("hints", "phrases", "", "hints", private=True)
    # The hint of each window of notes.
    hint_owners: Numbers = _column("hints", "rising", "windows", "hints", private=True)
    hint_codes: Int8Codes = _column("vectors", "codes", "windows", private=True)

    def make_passage(
        self, row: int, passage_id: str, url: str, title: str, markdown: str
    ) -> Passage:
        """Make the passage of a row, of whose columns a database may have those that are given."""
        record = int(self.passage_records[row])
        return Passage(
            id=passage_id,
            record=self.record_ids[record],
            url=url,
            title=title,
            markdown=markdown,
            date=self.dates[record],
            language=self.site.language_of(row),
            # Only a model is given them; a site does not publish them.
            summary=self.record_summaries[record] if self.record_summaries else "",
            themes=tuple(self.record_themes[record]) if self.record_themes else (),
        )

    def make_hint(self, row: int) -> RoutingHint:
        """Make the hint of a row."""
        columns = (self.hint_ids, self.hint_labels, self.hint_locators, self.hint_urls)
        return RoutingHint(*(column[row] for column in columns))

    def list_page_rows(self, page_id: str, rows: Sequence[int]) -> list[int]:
        """List the passages of the page that has an id, and of the pages of some passages."""
        records = {row for row, record in enumerate(self.record_ids) if record == page_id}
        records.update(self.passage_records[list(rows)].tolist())
        return np.flatnonzero(np.isin(self.passage_records, list(records))).tolist()


COLUMNS = tuple(Column(each.name, *each.metadata["column"]) for each in fields(Index))
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


class LazyTexts(Sequence[str]):
    """The texts of passages, read from their parts when they are asked for; some stay in memory.

    ``length``: of passages, ``rows`` of which a part holds.
    """

    def __init__(self, length: int, rows: int, parts: Sequence[UnpackPart]) -> None:
        if len(parts) != -(-length // rows):
            raise ValueError("the parts of its texts do not cover its passages")
        self._length, self._rows, self._parts = length, rows, parts
        self._read_part = lru_cache(maxsize=64)(self._read)

    def __len__(self) -> int:
        return self._length

    # A slice is asked for nowhere.
    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < self._length:
            raise IndexError(row)
        return self._read_part(row // self._rows)[row % self._rows]

    def _read(self, number: int) -> Sequence[str]:
        try:
            columns = unpack_columns(list_columns("texts"), [self._parts[number]()])
            texts: Sequence[str] = columns["texts"]
            if len(texts) != min(self._rows, self._length - number * self._rows):
                raise ValueError(f"{len(texts)} texts")
        except MALFORMED as error:
            raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
        return texts


def check_index(index: Index, counts: Mapping[str, int], columns: Iterable[Column]) -> None:
    """Compare columns with each other and the manifest; an error of ``MALFORMED``.

    columns: those that were read, others are empty.
    """
    for column in columns:
        value = getattr(index, column.name)
        if column.counted and len(value) != counts[column.counted]:
            counted = f"{counts[column.counted]} {column.counted} instead of {len(value)}"
            raise ValueError(f"its manifest counts {counted}, see {column.name}")
        rows = column.codec.rows_of(value) if column.points_to else np.zeros(0)
        if len(rows) and int(rows.max()) >= counts[column.points_to]:
            raise ValueError(f"{column.name} points past the last of its {column.points_to}")
    passages = counts["passages"]
    if (terms := len(set(index.terms))) != counts["terms"]:
        raise ValueError(f"its manifest counts {counts['terms']} terms instead of {terms}")
    if len(index.postings.edges) - 1 not in (len(index.terms), 0):
        raise ValueError("its postings do not match its terms")
    if any(len(index.forms[tag]) != len(index.terms) for tag in index.site.tags):
        raise ValueError("its forms do not match its terms")
    if (index.passage_sections > np.arange(passages)).any():
        raise ValueError("passage_sections points past its own row")
    if not index.question_norms.all() or (index.has_answer > 0).sum() != len(index.answers):
        raise ValueError("its questions do not match their norms or answers")
    _check_languages(index.site, passages)
    own = () if index.site.url is None else (index.site.url,)
    for url in chain(own, index.record_urls, index.passage_urls, index.hint_urls):
        if not is_safe_url(url):
            raise ValueError(f"it holds the unsafe url {url!r:.80}")


def _check_languages(site: SiteMetadata, passages: int) -> None:
    """Refuse languages that do not cover each passage once; ValueError."""
    ends = [0, *(language.end for language in site.languages)]
    if [language.first for language in site.languages] != ends[:-1] or ends[-1] != passages:
        raise ValueError("the languages do not cover the passages in order")
    tags = {language.tag for language in site.languages if is_language_tag(language.tag)}
    if len(tags) != len(site.languages) or any(x.first >= x.end for x in site.languages):
        raise ValueError("a language is not a tag, is empty or occurs twice")


_NOT_IN_ANCHOR, _ANCHOR_GAPS = re.compile("[^a-z0-9_ -]+"), re.compile("[ -]+")
# Stands for the anchor that Markdown gives the heading; no id holds white space.
_GUESSED = "# "


def guess_anchor(title: str) -> str:
    """Make the anchor that Markdown gives the last heading of a title, of its letters in ASCII."""
    heading = _NOT_IN_ANCHOR.sub("", title.rpartition(TITLE_SEPARATOR)[2].lower())
    return _ANCHOR_GAPS.sub("-", heading.strip(" "))


def shorten_places(index: Index) -> Index:
    """Leave out of the ids of passages that of their page and a guessed anchor, and urls.

    Written out they would make the file that every question loads twice as long.
    """
    ids: list[str] = []
    # None for a url that follows.
    urls: list[Any] = []
    rows = zip(
        index.passage_ids, index.passage_urls, index.passage_titles, index.passage_records,
        strict=True,
    )  # fmt: skip
    for passage_id, url, title, record in rows:
        tail = passage_id.removeprefix(index.record_ids[record])
        anchor = f"#{guess_anchor(title)}"
        window = tail.removeprefix(anchor)
        is_guessed = window != tail and (not window or WINDOW_SUFFIX.fullmatch(window))
        ids.append(_GUESSED + window if is_guessed else tail)
        urls.append(None if url == index.record_urls[record] + _cut_window(tail) else url)
    return replace(index, passage_ids=ids, passage_urls=urls)


def expand_places(columns: dict[str, Any]) -> None:
    """Restore the ids and urls of passages among columns by name; an error of ``MALFORMED``."""
    ids: list[str] = []
    urls: list[str] = []
    records: Sequence[int] = columns["passage_records"].tolist()
    rows = zip(
        columns["passage_ids"], columns["passage_urls"], columns["passage_titles"], records,
        strict=True,
    )  # fmt: skip
    length = 0
    for tail, url, title, record in rows:
        if tail.startswith(_GUESSED):
            tail = f"#{guess_anchor(title)}{tail.removeprefix(_GUESSED)}"
        ids.append(columns["record_ids"][record] + tail)
        urls.append(columns["record_urls"][record] + _cut_window(tail) if url is None else url)
        length += len(ids[-1]) + len(urls[-1])
        if length > MAX_FILE_BYTES:
            raise ValueError("ids that pages share take too much memory")
    columns |= {"passage_ids": ids, "passage_urls": urls}


def _cut_window(tail: str) -> str:
    return WINDOW_SUFFIX.sub("", tail) if "~" in tail else tail
