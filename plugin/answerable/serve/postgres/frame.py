"""What is kept in memory of a site that a database holds: its names, dates and numbers.

A part for each, as a bundle's files hold them: some bytes for each passage, and none of its text.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import columns, site
from ..bundle import Bundle
from ..columns import Column, Lines
from ..errors import BundleError
from ..frozen import frozen
from ..inflating import deflate, inflate
from ..manifest import Manifest
from ..site import Site
from ..vocabulary import Names, split_names

_SITE, _PHRASES, _DATES, _WORDS = "site", "phrases", "dates", "words"
_NUMBERS = (
    columns.RECORD_WEIGHTS, columns.RECORD_TITLE_NORMS, columns.RECORD_HISTORY,
    columns.PASSAGE_RECORDS, columns.PASSAGE_LENGTHS,
    columns.PHRASE_EDGES, columns.PHRASE_RECORDS, columns.PHRASE_FREQUENCIES,
)  # fmt: skip
_POSTING = 6


@frozen(eq=False)
class Frame:
    """See Store for its fields; ``lengths`` counts the terms of each passage."""

    site: Site
    weights: NDArray[np.float32]
    dates: tuple[str | None, ...]
    title_norms: NDArray[np.float32]
    is_history: NDArray[np.bool_]
    names: Names
    aliases: Names
    themes: Names
    title_terms: Names
    label_terms: Names
    words: Lines
    passage_records: NDArray[np.uint32]
    lengths: NDArray[np.uint32]


def parts(bundle: Bundle) -> dict[str, bytes]:
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
        _SITE: json.dumps(bundle.site.as_json(), sort_keys=True).encode(),
        _PHRASES: columns.pack_lines([list(each.rows) for each in listed]),
        _WORDS: columns.pack_lines([bundle.words]),
        _DATES: columns.pack_lines([[date or "" for date in bundle.dates]]),
        **{c.name: deflate(values.astype(c.dtype).tobytes()) for c, values in numbers.items()},
    }


def parse(found: Mapping[str, bytes], manifest: Manifest) -> Frame:
    """A frame from its parts; BundleError if they are not what the manifest says."""
    try:
        return _parse(found, manifest)
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None


def _parse(found: Mapping[str, bytes], manifest: Manifest) -> Frame:
    counts = manifest.counts
    numbers = {column.name: _column(found, column, counts) for column in _NUMBERS}
    columns.check_weights(numbers[columns.RECORD_WEIGHTS.name])
    records = numbers[columns.PASSAGE_RECORDS.name]
    columns.check_rows(columns.PASSAGE_RECORDS, records, counts["records"])
    bearers = numbers[columns.PHRASE_RECORDS.name]
    edges = numbers[columns.PHRASE_EDGES.name]
    columns.check_edges(columns.PHRASE_EDGES, edges, counts["bearers"])
    columns.check_bearers(bearers, edges, counts)
    frequencies = numbers[columns.PHRASE_FREQUENCIES.name]
    phrases = columns.unpack_lines(
        inflate(found[_PHRASES], _PHRASES), _PHRASES, *(counts[kind] for kind in columns.PHRASES)
    )
    names, aliases, themes, title_terms, label_terms = split_names(
        [listed.texts() for listed in phrases], edges, bearers, frequencies
    )
    norms = numbers[columns.RECORD_TITLE_NORMS.name]
    columns.check_title_norms(norms)
    (dates,) = columns.unpack_lines(inflate(found[_DATES], _DATES), _DATES, counts["records"])
    return Frame(
        site=site.parse(json.loads(found[_SITE]), counts["passages"]),
        weights=numbers[columns.RECORD_WEIGHTS.name],
        dates=columns.dates(dates.texts()),
        title_norms=norms,
        is_history=numbers[columns.RECORD_HISTORY.name].astype(np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        label_terms=label_terms,
        words=columns.unpack_lines(inflate(found[_WORDS], _WORDS), _WORDS, counts["words"])[0],
        passage_records=records,
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _column(found: Mapping[str, bytes], column: Column, counts: Mapping[str, int]) -> NDArray[Any]:
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
    length, rest = divmod(len(raw), _POSTING)
    if rest:
        raise BundleError("the database's postings are malformed: publish the bundle again")
    steps = np.ascontiguousarray(raw[: 4 * length].reshape(4, -1).T).view("<u4").reshape(-1)
    counts = np.ascontiguousarray(raw[4 * length :].reshape(2, -1).T).view("<u2").reshape(-1)
    rows = np.cumsum(steps, dtype=np.uint32)
    if length and int(rows.max()) >= passages:
        raise BundleError("the database's postings point past the last passage: publish again")
    return rows, counts
