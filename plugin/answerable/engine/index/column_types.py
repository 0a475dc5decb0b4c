"""Types of an index's columns: what each is in memory, and how a container holds it."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ..text.languages import get_translation
from ..types import Answer, Passage
from ..vectors import Int8Codes
from .format import Container, shrink_array

# No weight, and no length of the vector of a title's or a question's terms, is greater.
_MAX_FLOAT = 1e4
# Counts of a term in one passage above it make no difference.
_MAX_TERM_COUNT = 65_535


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Phrases in columns: ``rows`` by phrase.

    Row ``r`` belongs to the records ``records[edges[r]:edges[r + 1]]``, and ``frequencies[r]`` is
    in how many records its phrase occurs.
    """

    rows: Mapping[str, int]
    edges: NDArray[np.uint32]
    records: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]

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

    edges: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    counts: NDArray[np.uint16]


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


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How columns of a type are written and read.

    ``pack`` and ``unpack`` get the column's name, under which a container has its values. A column
    of a file that is split into parts also has ``select``, which takes some rows out of it, and
    ``join``, which puts parts together. ``rows_of`` lists the rows that a column points to.
    """

    empty: Callable[[], Any]
    pack: Callable[[str, Any], Container]
    unpack: Callable[[str, Container], Any]
    select: Callable[[Any, Sequence[int]], Any] = lambda values, rows: [values[row] for row in rows]
    join: Callable[[Sequence[Any]], Any] = lambda parts: list(chain(*parts))
    rows_of: Callable[[Any], NDArray[Any]] = lambda values: values


def _pack_json(name: str, value: Any) -> Container:
    return Container({name: msgspec.to_builtins(value, order="deterministic")})


def _json_type(kind: Any, empty: Callable[[], Any] = list, **others: Any) -> ColumnType:
    """Make the type of a column of JSON. kind: the type that it has in memory."""

    def unpack(name: str, container: Container) -> Any:
        return msgspec.convert(container.values[name], kind)

    return ColumnType(empty, _pack_json, unpack, **others)


def _pack_numbers(name: str, values: Any) -> Container:
    """Pack whole numbers from 0 in the smallest type that holds all of them."""
    return Container({}, {name: shrink_array(np.asarray(values, np.int64))})


def _unpack_numbers(name: str, container: Container) -> NDArray[np.uint32]:
    values = container.arrays[name]
    if values.dtype.kind != "u":
        raise TypeError(f"{name} has numbers of the type {values.dtype}")
    return values.astype("<u4", copy=False)


def _pack_rising(name: str, values: Any) -> Container:
    return _pack_numbers(name, np.diff(np.asarray(values, np.int64), prepend=0))


def _unpack_rising(name: str, container: Container) -> NDArray[np.uint32]:
    rows = np.cumsum(_unpack_numbers(name, container), dtype=np.int64)
    if rows.max(initial=0) >= 2**32:
        raise ValueError(f"{name} rises too far")
    return rows.astype("<u4")


def _unpack_floats(name: str, container: Container) -> NDArray[np.float32]:
    values = container.arrays[name]
    if values.dtype != np.dtype("<f4"):
        raise TypeError(f"{name} has numbers of the type {values.dtype}")
    if not ((values >= 0) & (values <= _MAX_FLOAT)).all():
        raise ValueError(f"{name} holds a number that is not in [0, {_MAX_FLOAT:g}]")
    return values


def _pack_phrases(name: str, phrases: PhraseIndex) -> Container:
    parts: dict[str, NDArray[Any]] = {
        "sizes": np.diff(phrases.edges),
        "rows": phrases.records,
        "frequencies": phrases.frequencies,
    }
    arrays = {f"{name}.{key}": shrink_array(value) for key, value in parts.items()}
    return Container({name: list(phrases.rows)}, arrays)


def _unpack_phrases(name: str, container: Container) -> PhraseIndex:
    sizes, rows, frequencies = (
        _unpack_numbers(f"{name}.{key}", container) for key in ("sizes", "rows", "frequencies")
    )
    phrases = msgspec.convert(container.values[name], list[str])
    edges = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if not len(phrases) == len(sizes) == len(frequencies) or int(edges[-1]) != len(rows):
        raise ValueError(f"the phrases of {name} do not match their columns")
    by_phrase = {phrase: row for row, phrase in enumerate(phrases)}
    return PhraseIndex(by_phrase, edges.astype("<u4"), rows, frequencies)


def _pack_postings(name: str, postings: Postings) -> Container:
    sizes = np.diff(postings.edges.astype(np.int64))
    # The first number of a term is a passage, each other one the distance to the next.
    gaps = np.diff(postings.passages.astype(np.int64), prepend=0)
    firsts = postings.edges[:-1][sizes > 0]
    gaps[firsts] = postings.passages[firsts]
    parts: dict[str, NDArray[Any]] = {"sizes": sizes, "gaps": gaps, "counts": postings.counts}
    return Container({}, {f"{name}.{key}": shrink_array(part) for key, part in parts.items()})


def _unpack_postings(name: str, container: Container) -> Postings:
    sizes, gaps, counts = (
        _unpack_numbers(f"{name}.{key}", container).astype(np.int64)
        for key in ("sizes", "gaps", "counts")
    )
    edges = np.concatenate(([0], np.cumsum(sizes)))
    if not sizes.all() or not int(edges[-1]) == len(gaps) == len(counts):
        raise ValueError("its postings do not match their columns")
    sums, firsts = np.cumsum(gaps), edges[:-1]
    passages = sums - np.repeat(sums[firsts] - gaps[firsts], sizes)
    gaps[firsts] = 1
    if not gaps.all() or passages.max(initial=0) >= 2**32:
        raise ValueError("its postings have rows out of order")
    return Postings(
        edges.astype("<u4"),
        passages.astype("<u4"),
        np.minimum(counts, _MAX_TERM_COUNT).astype("<u2"),
    )


def _select_postings(postings: Postings, rows: Sequence[int]) -> Postings:
    edges = postings.edges.astype(np.int64)
    spans = [np.arange(edges[row], edges[row + 1]) for row in rows]
    places = np.concatenate([*spans, np.zeros(0, np.int64)])
    sizes = np.cumsum([0, *map(len, spans)])
    return Postings(sizes.astype("<u4"), postings.passages[places], postings.counts[places])


def _join_postings(parts: Sequence[Postings]) -> Postings:
    sizes = np.concatenate([np.diff(part.edges) for part in parts])
    return Postings(
        np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype("<u4"),
        np.concatenate([part.passages for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def _pack_codes(name: str, codes: Int8Codes) -> Container:
    return Container(
        {}, {name: codes.codes.reshape(-1), f"{name}.norms": codes.inverse_norms.astype("<f4")}
    )


def _unpack_codes(name: str, container: Container) -> Int8Codes:
    codes, norms = container.arrays[name], _unpack_floats(f"{name}.norms", container)
    if codes.dtype != np.int8 or codes.size % max(len(norms), 1):
        raise ValueError(f"{name} does not match its norms")
    return Int8Codes(codes.reshape(len(norms), codes.size // max(len(norms), 1)), norms)


def _join_codes(parts: Sequence[Int8Codes]) -> Int8Codes:
    if len(parts) == 1:
        return parts[0]
    return Int8Codes(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.inverse_norms for part in parts]),
    )


NO_PHRASES = PhraseIndex({}, np.zeros(1, "<u4"), np.zeros(0, "<u4"), np.zeros(0, "<u4"))
NO_CODES = Int8Codes(np.zeros((0, 0), np.int8), np.zeros(0, np.float32))
_NO_POSTINGS = Postings(np.zeros(1, "<u4"), np.zeros(0, "<u4"), np.zeros(0, "<u2"))

# The types of columns, by the names that the manifest tells a browser.
COLUMN_TYPES: Mapping[str, ColumnType] = {
    "texts": _json_type(list[str]),
    # None for a page without a date, and for a url that follows: see ``shorten_places``.
    "optional-texts": _json_type(list[str | None]),
    "lists": _json_type(list[list[str]]),
    "site": _json_type(SiteMetadata, SiteMetadata),
    "answers": _json_type(
        list[StoredClaims],
        rows_of=lambda answers: np.array([row for claims in answers for row in list_rows(claims)]),
    ),
    "forms": _json_type(
        dict[str, list[str]],
        dict,
        select=lambda forms, rows: {tag: [own[row] for row in rows] for tag, own in forms.items()},
        join=lambda parts: {tag: [*chain(*(part[tag] for part in parts))] for tag in parts[0]},
    ),
    "numbers": ColumnType(lambda: np.zeros(0, "<u4"), _pack_numbers, _unpack_numbers),
    "rising": ColumnType(lambda: np.zeros(0, "<u4"), _pack_rising, _unpack_rising),
    "floats": ColumnType(
        lambda: np.zeros(0, "<f4"),
        lambda name, value: Container({}, {name: np.asarray(value, "<f4")}),
        _unpack_floats,
    ),
    "phrases": ColumnType(
        lambda: NO_PHRASES, _pack_phrases, _unpack_phrases, rows_of=lambda phrases: phrases.records
    ),
    "postings": ColumnType(
        lambda: _NO_POSTINGS,
        _pack_postings,
        _unpack_postings,
        _select_postings,
        _join_postings,
        lambda postings: postings.passages,
    ),
    "codes": ColumnType(
        lambda: NO_CODES,
        _pack_codes,
        _unpack_codes,
        lambda codes, rows: codes.select_rows(rows),
        _join_codes,
    ),
}
