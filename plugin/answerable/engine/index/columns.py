# ruff: noqa: RUF009
"""Columns of an index as they are in memory, one line each: the file, type and length of each."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ..text.languages import get_translation
from ..types import Answer, Passage, RoutingHint
from ..vectors import Floats, Int8Codes

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Phrases in columns: ``rows`` by phrase.

    Row ``r`` belongs to the records ``records[edges[r]:edges[r + 1]]``, and ``frequencies[r]`` is
    in how many records its phrase occurs.
    """

    rows: Mapping[str, int]
    edges: Numbers
    records: Numbers
    frequencies: Numbers

    def find_records(self, phrase: str) -> list[int]:
        """Find the rows of what bears a phrase."""
        row = self.rows.get(phrase)
        return [] if row is None else self.records[self.edges[row] : self.edges[row + 1]].tolist()

    def count_records(self, phrase: str) -> int:
        """Count the records that a phrase occurs in; KeyError."""
        return int(self.frequencies[self.rows[phrase]])


@dataclass(frozen=True, slots=True)
class Postings:
    """The passages that hold each term, and how often.

    ``passages`` and ``counts`` are parallel; term ``t`` owns ``edges[t]:edges[t + 1]``.
    """

    edges: Numbers
    passages: Numbers
    counts: NDArray[np.uint16]

    def select_rows(self, rows: Sequence[int]) -> "Postings":
        """Select the postings of some terms."""
        edges = self.edges.astype(np.int64)
        spans = [np.arange(edges[row], edges[row + 1]) for row in rows]
        places = np.concatenate([*spans, np.zeros(0, np.int64)])
        sizes = np.cumsum([0, *map(len, spans)])
        return Postings(sizes.astype("<u4"), self.passages[places], self.counts[places])


@dataclass(frozen=True, slots=True)
class LanguageRows:
    """A language and the (first, last + 1) rows of the passages written in it."""

    tag: str
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class SiteMetadata:
    """What an index says of its site as a whole.

    ``language`` is the site's own, ``languages`` are those of its passages in the order of rows.
    ``scripts`` are those its passages are written in, ``names`` what the site and its author are
    called, ``author`` who writes it, ``route`` is the template of a route's sentence.
    """

    name: str = ""
    url: str | None = None
    language: str = "en"
    route: str = get_translation("en").route
    names: tuple[str, ...] = ()
    author: str | None = None
    scripts: frozenset[str] = frozenset()
    languages: tuple[LanguageRows, ...] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        """The languages to read a question in: the site's own where there is no page."""
        return tuple(language.tag for language in self.languages) or (self.language,)

    @property
    def claim_names(self) -> tuple[str, ...]:
        """The names that a claim may use though it does not quote them."""
        return (self.name, *self.names, *([self.author] if self.author else []))

    def language_of(self, row: int) -> str:
        """Look up the language of a passage by its row."""
        place = bisect_right(self.languages, row, key=lambda language: language.first)
        return self.languages[place - 1].tag


# The row of a passage, and words of it.
PassageQuote = tuple[Annotated[int, Meta(ge=0)], str]


class StoredClaim(msgspec.Struct, frozen=True, array_like=True):
    """A claim as text and as Markdown, and the words that it cites."""

    text: str
    markdown: str
    quotes: Annotated[tuple[PassageQuote, ...], Meta(min_length=1)]


StoredClaims = tuple[StoredClaim, ...]


def list_rows(claims: StoredClaims) -> list[int]:
    """List the rows of the passages that claims cite, in order of first use."""
    return list(dict.fromkeys(row for claim in claims for row, _ in claim.quotes))


def make_draft(claims: StoredClaims, passages: Mapping[int, Passage]) -> dict[str, Any]:
    """Make the draft of a stored answer, which the contract judges as it judges a model's.

    passages: by row, the evidence in this order.
    """
    places = {row: place for place, row in enumerate(passages, 1)}
    return {
        "complete": True,
        "claims": [
            {
                "text": claim.text,
                "evidence": [
                    {"source": f"s{places[row]}", "quote": quote} for row, quote in claim.quotes
                ],
            }
            for claim in claims
        ],
    }


def locate_claims(answer: Answer, rows: Mapping[str, int]) -> StoredClaims:
    """Name the passages of a grounded answer by their rows, so that it stores no url and no title.

    rows: of passages, by id. KeyError for a passage without one.
    """
    return tuple(
        StoredClaim(
            claim.text, claim.markdown, tuple((rows[c.id], c.quote) for c in claim.citations)
        )
        for claim in answer.claims
    )


_NO_PHRASES = PhraseIndex({}, np.zeros(1, "<u4"), np.zeros(0, "<u4"), np.zeros(0, "<u4"))
NO_CODES = Int8Codes(np.zeros((0, 0), np.int8), np.zeros(0, np.float32))
_NO_POSTINGS = Postings(np.zeros(1, "<u4"), np.zeros(0, "<u4"), np.zeros(0, "<u2"))


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


# What a column is that an index does not have, by the names of types that a browser is told.
_EMPTY: Mapping[str, Callable[[], Any]] = {
    "texts": list,
    # None for a page without a date, and for a url that follows: see ``shorten_places``.
    "optional-texts": list,
    "lists": list,
    "site": SiteMetadata,
    "answers": list,
    "forms": dict,
    "numbers": lambda: np.zeros(0, "<u4"),
    "rising": lambda: np.zeros(0, "<u4"),
    "floats": lambda: np.zeros(0, "<f4"),
    "phrases": lambda: _NO_PHRASES,
    "postings": lambda: _NO_POSTINGS,
    "codes": lambda: NO_CODES,
}


def _column(
    file: str, type_name: str, counted: str = "", points_to: str = "", *, private: bool = False
) -> Any:
    metadata = {"column": (file, type_name, counted, points_to, private)}
    return field(default_factory=_EMPTY[type_name], metadata=metadata)


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
    # How many terms a passage has, and whether it has code.
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
