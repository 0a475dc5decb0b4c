"""What is kept in memory of a site that a database holds: its names, dates and numbers.

A part for each, as a bundle's files hold them: some bytes for each passage, and none of its text.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bundle_format import columns
from ...bundle_format.columns import (
    Column,
    Lines,
    check_bearers,
    check_offsets,
    check_row_bounds,
    check_title_norms,
    check_weights,
    pack_lines,
    parse_dates,
    unpack_lines,
)
from ...bundle_format.compression import deflate, inflate
from ...bundle_format.manifest import Manifest
from ...bundle_format.postings import PhraseIndex, split_phrase_indexes
from ...bundle_format.site_metadata import SiteMetadata, parse_site_metadata
from ...errors import BundleError
from ..bundle import Bundle

_SITE_PART, _PHRASES_PART, _DATES_PART, _WORDS_PART = "site", "phrases", "dates", "words"
_SNAPSHOT_COLUMNS = (
    columns.RECORD_WEIGHTS, columns.RECORD_TITLE_NORMS, columns.RECORD_HISTORY,
    columns.PASSAGE_RECORDS, columns.PASSAGE_LENGTHS,
    columns.PHRASE_EDGES, columns.PHRASE_RECORDS, columns.PHRASE_FREQUENCIES,
)  # fmt: skip
_POSTING_BYTES = 6


@dataclass(frozen=True, slots=True, eq=False)
class StoreSnapshot:
    """See Store for its fields; ``lengths`` counts the terms of each passage."""

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
    words: Lines
    passage_records: NDArray[np.uint32]
    lengths: NDArray[np.uint32]


def pack_snapshot(bundle: Bundle) -> dict[str, bytes]:
    """A bundle's frame, each part as bytes."""
    names = bundle.names
    listed = (names, bundle.aliases, bundle.themes, bundle.title_terms, bundle.label_terms)
    numbers = {
        columns.RECORD_WEIGHTS: bundle.weights,
        columns.RECORD_TITLE_NORMS: bundle.title_norms,
        columns.RECORD_HISTORY: bundle.is_history,
        columns.PASSAGE_RECORDS: bundle.passage_records,
        columns.PASSAGE_LENGTHS: bundle.postings.lengths,
        columns.PHRASE_EDGES: names.edges,
        columns.PHRASE_RECORDS: names.records,
        columns.PHRASE_FREQUENCIES: names.frequencies,
    }
    return {
        _SITE_PART: json.dumps(bundle.site.as_json(), sort_keys=True).encode(),
        _PHRASES_PART: pack_lines([list(each.rows) for each in listed]),
        _WORDS_PART: pack_lines([bundle.words]),
        _DATES_PART: pack_lines([[date or "" for date in bundle.dates]]),
        **{c.name: deflate(values.astype(c.dtype).tobytes()) for c, values in numbers.items()},
    }


def parse_snapshot(found: Mapping[str, bytes], manifest: Manifest) -> StoreSnapshot:
    """A frame from its parts; BundleError if they are not what the manifest says."""
    try:
        return _parse_parts(found, manifest)
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None


def _parse_parts(found: Mapping[str, bytes], manifest: Manifest) -> StoreSnapshot:
    counts = manifest.counts
    numbers = {column.name: _parse_column(found, column, counts) for column in _SNAPSHOT_COLUMNS}
    check_weights(numbers[columns.RECORD_WEIGHTS.name])
    records = numbers[columns.PASSAGE_RECORDS.name]
    check_row_bounds(columns.PASSAGE_RECORDS, records, counts["records"])
    bearers = numbers[columns.PHRASE_RECORDS.name]
    edges = numbers[columns.PHRASE_EDGES.name]
    check_offsets(columns.PHRASE_EDGES, edges, counts["bearers"])
    check_bearers(bearers, edges, counts)
    frequencies = numbers[columns.PHRASE_FREQUENCIES.name]
    phrases = unpack_lines(
        inflate(found[_PHRASES_PART], _PHRASES_PART),
        _PHRASES_PART,
        *(counts[kind] for kind in columns.PHRASE_KINDS),
    )
    names, aliases, themes, title_terms, label_terms = split_phrase_indexes(
        [listed.texts() for listed in phrases], edges, bearers, frequencies
    )
    norms = numbers[columns.RECORD_TITLE_NORMS.name]
    check_title_norms(norms)
    (dates,) = unpack_lines(
        inflate(found[_DATES_PART], _DATES_PART), _DATES_PART, counts["records"]
    )
    return StoreSnapshot(
        site=parse_site_metadata(json.loads(found[_SITE_PART]), counts["passages"]),
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=parse_dates(dates.texts()),
        title_norms=norms,
        is_history=numbers[columns.RECORD_HISTORY.name].astype(np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        label_terms=label_terms,
        words=unpack_lines(inflate(found[_WORDS_PART], _WORDS_PART), _WORDS_PART, counts["words"])[
            0
        ],
        passage_records=records,
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _parse_column(
    found: Mapping[str, bytes], column: Column, counts: Mapping[str, int]
) -> NDArray[Any]:
    values = np.frombuffer(inflate(found[column.name], column.name), column.dtype)
    if len(values) != column.length(counts):
        raise ValueError(f"{column.name} has {len(values)} numbers")
    return values


def pack_postings(rows: NDArray[np.uint32], counts: NDArray[np.uint16]) -> bytes:
    """The postings of one term: the differences of its rows and its counts, compressed."""
    steps = np.diff(rows, prepend=np.uint32(0)).astype("<u4")
    planes = steps.view(np.uint8).reshape(len(steps), 4).T.tobytes()
    return deflate(planes + counts.astype("<u2").view(np.uint8).reshape(-1, 2).T.tobytes())


def unpack_postings(data: bytes, passages: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """What ``pack_postings`` was given; BundleError if it is not that."""
    raw = np.frombuffer(inflate(data, "postings"), np.uint8)
    length, rest = divmod(len(raw), _POSTING_BYTES)
    if rest:
        raise BundleError("the database's postings are malformed: publish the bundle again")
    steps = np.ascontiguousarray(raw[: 4 * length].reshape(4, -1).T).view("<u4").reshape(-1)
    counts = np.ascontiguousarray(raw[4 * length :].reshape(2, -1).T).view("<u2").reshape(-1)
    rows = np.cumsum(steps, dtype=np.uint32)
    if length and int(rows.max()) >= passages:
        raise BundleError("the database's postings point past the last passage: publish again")
    return rows, counts
