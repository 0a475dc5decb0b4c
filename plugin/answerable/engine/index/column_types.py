"""Types of columns: how each is packed into a container, and unpacked and checked."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..types import TITLE_SEPARATOR, WINDOW_SUFFIX
from ..vectors import Int8Codes
from .columns import (
    Column,
    Index,
    Numbers,
    PhraseIndex,
    Postings,
    SiteMetadata,
    StoredClaims,
    list_rows,
)
from .format import MAX_FILE_BYTES, Container

# No weight, and no length of the vector of a title's or a question's terms, is greater.
_MAX_FLOAT = 1e4
# Counts of a term in one passage above it make no difference.
_MAX_TERM_COUNT = 65_535


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How columns of a type are put into a container under their name, and read from it.

    ``rows_of`` lists the rows that a column points to.
    """

    pack: Callable[[Container, str, Any], None]
    unpack: Callable[[Container, str], Any]
    rows_of: Callable[[Any], NDArray[Any]] = lambda values: values


def _pack_json(container: Container, name: str, value: Any) -> None:
    container.values[name] = msgspec.to_builtins(value, order="deterministic")


def _json_type(kind: Any, **others: Any) -> ColumnType:
    """Make the type of a column of JSON. kind: the type that it has in memory."""

    def unpack(container: Container, name: str) -> Any:
        return msgspec.convert(container.values[name], kind)

    return ColumnType(_pack_json, unpack, **others)


def _pack_numbers(container: Container, name: str, values: Any) -> None:
    """Pack whole numbers from 0 in the smallest type that holds all of them."""
    numbers = np.asarray(values, np.int64)
    container.arrays[name] = numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def _unpack_numbers(container: Container, name: str) -> Numbers:
    values = container.arrays[name]
    if values.dtype.kind != "u":
        raise TypeError(f"{name} has numbers of the type {values.dtype}")
    return values.astype("<u4", copy=False)


def _pack_rising(container: Container, name: str, values: Any) -> None:
    _pack_numbers(container, name, np.diff(np.asarray(values, np.int64), prepend=0))


def _unpack_rising(container: Container, name: str) -> Numbers:
    rows = np.cumsum(_unpack_numbers(container, name), dtype=np.int64)
    if rows.max(initial=0) >= 2**32:
        raise ValueError(f"{name} rises too far")
    return rows.astype("<u4")


def _pack_floats(container: Container, name: str, values: Any) -> None:
    container.arrays[name] = np.asarray(values, "<f4")


def _unpack_floats(container: Container, name: str) -> NDArray[np.float32]:
    values = container.arrays[name]
    if values.dtype != np.dtype("<f4"):
        raise TypeError(f"{name} has numbers of the type {values.dtype}")
    if not ((values >= 0) & (values <= _MAX_FLOAT)).all():
        raise ValueError(f"{name} holds a number that is not in [0, {_MAX_FLOAT:g}]")
    return values


def _pack_phrases(container: Container, name: str, phrases: PhraseIndex) -> None:
    container.values[name] = list(phrases.rows)
    _pack_numbers(container, f"{name}.sizes", np.diff(phrases.edges))
    _pack_numbers(container, f"{name}.rows", phrases.records)
    _pack_numbers(container, f"{name}.frequencies", phrases.frequencies)


def _unpack_phrases(container: Container, name: str) -> PhraseIndex:
    sizes = _unpack_numbers(container, f"{name}.sizes")
    rows = _unpack_numbers(container, f"{name}.rows")
    frequencies = _unpack_numbers(container, f"{name}.frequencies")
    phrases = msgspec.convert(container.values[name], list[str])
    edges = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if not len(phrases) == len(sizes) == len(frequencies) or int(edges[-1]) != len(rows):
        raise ValueError(f"the phrases of {name} do not match their columns")
    by_phrase = {phrase: row for row, phrase in enumerate(phrases)}
    return PhraseIndex(by_phrase, edges.astype("<u4"), rows, frequencies)


def _pack_postings(container: Container, name: str, postings: Postings) -> None:
    sizes = np.diff(postings.edges.astype(np.int64))
    # The first number of a term is a passage, each other one the distance to the next.
    gaps = np.diff(postings.passages.astype(np.int64), prepend=0)
    firsts = postings.edges[:-1][sizes > 0]
    gaps[firsts] = postings.passages[firsts]
    _pack_numbers(container, f"{name}.sizes", sizes)
    _pack_numbers(container, f"{name}.gaps", gaps)
    _pack_numbers(container, f"{name}.counts", postings.counts)


def _unpack_postings(container: Container, name: str) -> Postings:
    sizes, gaps, counts = (
        _unpack_numbers(container, f"{name}.{key}").astype(np.int64)
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


def _pack_codes(container: Container, name: str, codes: Int8Codes) -> None:
    container.arrays[name] = codes.codes.reshape(-1)
    _pack_floats(container, f"{name}.norms", codes.inverse_norms)


def _unpack_codes(container: Container, name: str) -> Int8Codes:
    codes, norms = container.arrays[name], _unpack_floats(container, f"{name}.norms")
    if codes.dtype != np.int8 or codes.size % max(len(norms), 1):
        raise ValueError(f"{name} does not match its norms")
    return Int8Codes(codes.reshape(len(norms), codes.size // max(len(norms), 1)), norms)


COLUMN_TYPES: Mapping[str, ColumnType] = {
    "texts": _json_type(list[str]),
    "optional-texts": _json_type(list[str | None]),
    "lists": _json_type(list[list[str]]),
    "site": _json_type(SiteMetadata),
    "answers": _json_type(
        list[StoredClaims],
        rows_of=lambda answers: np.array([row for claims in answers for row in list_rows(claims)]),
    ),
    "forms": _json_type(dict[str, list[str]]),
    "numbers": ColumnType(_pack_numbers, _unpack_numbers),
    "rising": ColumnType(_pack_rising, _unpack_rising),
    "floats": ColumnType(_pack_floats, _unpack_floats),
    "phrases": ColumnType(_pack_phrases, _unpack_phrases, lambda phrases: phrases.records),
    "postings": ColumnType(_pack_postings, _unpack_postings, lambda postings: postings.passages),
    "codes": ColumnType(_pack_codes, _unpack_codes),
}


def pack_columns(columns: Iterable[Column], index: Index) -> Container:
    """Put columns of an index into a container."""
    container = Container({}, {})
    for column in columns:
        COLUMN_TYPES[column.type].pack(container, column.name, getattr(index, column.name))
    return container


def unpack_columns(columns: Iterable[Column], container: Container) -> dict[str, Any]:
    """Read columns by name from the container of their file; an error of ``MALFORMED``."""
    return {
        column.name: COLUMN_TYPES[column.type].unpack(container, column.name) for column in columns
    }


def select_rows(columns: Iterable[Column], index: Index, rows: Sequence[int]) -> dict[str, Any]:
    """Select some rows of columns, by name, of files that are divided into parts."""

    def select(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: select(inner) for key, inner in value.items()}
        if isinstance(value, Postings | Int8Codes):
            return value.select_rows(rows)
        return [value[row] for row in rows]

    return {column.name: select(getattr(index, column.name)) for column in columns}


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
