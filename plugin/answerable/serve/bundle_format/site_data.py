"""Site of a bundle beside its passages: metadata, postings and vocabulary."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structure import is_safe_url
from ..text.languages import is_language_tag
from . import columns
from .columns import (
    TextLines,
    check_offsets,
    check_phrase_owners,
    check_row_bounds,
    check_title_norms,
    check_weights,
    parse_dates,
)


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


def load_phrase_indexes(
    phrases: Sequence[TextLines], numbers: Mapping[str, NDArray[Any]], counts: Mapping[str, int]
) -> tuple[PhraseIndex, ...]:
    """Build the index of each of ``PHRASE_KINDS``, whose rows share their columns; ValueError."""
    edges = numbers[columns.PHRASE_EDGES.name]
    owners = numbers[columns.PHRASE_RECORDS.name]
    frequencies = numbers[columns.PHRASE_FREQUENCIES.name]
    check_offsets(columns.PHRASE_EDGES, edges, counts["bearers"])
    check_phrase_owners(owners, edges, counts)
    indexes = []
    first = 0
    for lines in phrases:
        rows = dict(zip(lines.texts(), range(first, first + len(lines)), strict=True))
        indexes.append(PhraseIndex(rows, edges, owners, frequencies))
        first += len(lines)
    return tuple(indexes)


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
    if url is not None and not is_safe_url(_check_text(url)):
        raise ValueError(f"its url {url!r:.80} is not safe")
    return SiteMetadata(
        _check_text(data["name"]),
        url,
        _check_text(data["language"]),
        frozenset(map(_check_text, data["scripts"])),
        _check_text(data["route"]),
        _parse_language_rows(data["languages"], passages),
        tuple(map(_check_text, data["names"])),
        None if author is None else _check_text(author),
    )


def _parse_language_rows(rows: Sequence[Sequence[Any]], passages: int) -> tuple[LanguageRows, ...]:
    """Parse the languages of the passages' rows; ValueError unless each row has exactly one."""
    languages = tuple(
        LanguageRows(_check_text(tag), _check_row(first), _check_row(end))
        for tag, first, end in rows
    )
    ends = [0, *(language.end for language in languages)]
    if [language.first for language in languages] != ends[:-1] or ends[-1] != passages:
        raise ValueError("the languages do not cover the passages in order")
    tags = {language.tag for language in languages if is_language_tag(language.tag)}
    if len(tags) != len(languages) or any(each.first >= each.end for each in languages):
        raise ValueError("a language is not a tag, is empty or occurs twice")
    return languages


def _check_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is not a text")
    return value


def _check_row(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.80} is not a row")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class SiteColumns:
    """Hold what is small of a site in memory.

    ``weights``, ``dates``, ``title_norms`` (the lengths of the idf vectors of titles) and
    ``is_history`` have one value for each record, ``passage_records`` (a row of the records) one
    for each passage. ``names`` are titles and file names, ``title_terms`` the terms of titles,
    ``label_terms`` those of labels and locators: what bears one is a row of the hints.
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
    label_terms: PhraseIndex
    passage_records: NDArray[np.uint32]

    def as_fields(self) -> dict[str, Any]:
        """Return the columns by name, for a store that extends them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def load_site_columns(
    site: Mapping[str, Any],
    dates: TextLines,
    phrases: Sequence[TextLines],
    numbers: Mapping[str, NDArray[Any]],
    counts: Mapping[str, int],
) -> SiteColumns:
    """Check and assemble the columns; LookupError, TypeError or ValueError for bad ones.

    site: JSON. numbers: by the names of columns.
    """
    check_weights(numbers[columns.RECORD_WEIGHTS.name])
    check_title_norms(numbers[columns.RECORD_TITLE_NORMS.name])
    passage_records = numbers[columns.PASSAGE_RECORDS.name]
    check_row_bounds(columns.PASSAGE_RECORDS, passage_records, counts["records"])
    names, aliases, themes, title_terms, label_terms = load_phrase_indexes(phrases, numbers, counts)
    return SiteColumns(
        site=parse_site_metadata(site, counts["passages"]),
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=parse_dates(dates.texts()),
        title_norms=numbers[columns.RECORD_TITLE_NORMS.name],
        is_history=numbers[columns.RECORD_HISTORY.name].astype(np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        label_terms=label_terms,
        passage_records=passage_records,
    )
