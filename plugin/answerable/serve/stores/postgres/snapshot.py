"""Serialize and parse the part of a bundle that a PostgreSQL store holds in memory: no page text.

A part for each, as a bundle's files hold them: some bytes for each passage.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bundle_format import columns
from ...bundle_format.columns import Column
from ...bundle_format.compression import deflate, inflate
from ...bundle_format.manifest import Manifest
from ...bundle_format.site_metadata import SiteColumns, load_site_columns
from ...bundle_format.text_lines import TextLines, pack_lines, unpack_lines
from ...errors import BundleError
from ..bundle import Bundle

_SITE_PART, _PHRASES_PART, _DATES_PART, _WORDS_PART = "site", "phrases", "dates", "words"
_SNAPSHOT_COLUMNS = (
    columns.RECORD_WEIGHTS, columns.RECORD_TITLE_NORMS, columns.RECORD_HISTORY,
    columns.PASSAGE_RECORDS, columns.PASSAGE_LENGTHS,
    columns.PHRASE_EDGES, columns.PHRASE_RECORDS, columns.PHRASE_FREQUENCIES,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class StoreSnapshot(SiteColumns):
    """Extend the columns of a site by its words, and the number of terms of each passage."""

    spellings: TextLines
    lengths: NDArray[np.uint32]


def pack_snapshot(bundle: Bundle) -> dict[str, bytes]:
    """Serialize a bundle's snapshot, each part as bytes."""
    names = bundle.names
    phrases = (names, bundle.aliases, bundle.themes, bundle.title_terms, bundle.label_terms)
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
        _PHRASES_PART: pack_lines([list(index.rows) for index in phrases]),
        _WORDS_PART: pack_lines([bundle.words]),
        _DATES_PART: pack_lines([[date or "" for date in bundle.dates]]),
        **{c.name: deflate(values.astype(c.dtype).tobytes()) for c, values in numbers.items()},
    }


def parse_snapshot(parts: Mapping[str, bytes], manifest: Manifest) -> StoreSnapshot:
    """Parse the parts of a snapshot; BundleError if they are not what the manifest says."""
    try:
        return _parse_parts(parts, manifest.counts)
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None


def _parse_parts(parts: Mapping[str, bytes], counts: Mapping[str, int]) -> StoreSnapshot:
    def lines(part: str, *lengths: int) -> list[TextLines]:
        return unpack_lines(inflate(parts[part], part), part, *lengths)

    numbers = {column.name: _parse_column(parts, column, counts) for column in _SNAPSHOT_COLUMNS}
    site_columns = load_site_columns(
        json.loads(parts[_SITE_PART]),
        lines(_DATES_PART, counts["records"])[0],
        lines(_PHRASES_PART, *(counts[kind] for kind in columns.PHRASE_KINDS)),
        numbers,
        counts,
    )
    return StoreSnapshot(
        **site_columns.as_fields(),
        spellings=lines(_WORDS_PART, counts["words"])[0],
        lengths=numbers[columns.PASSAGE_LENGTHS.name],
    )


def _parse_column(
    parts: Mapping[str, bytes], column: Column, counts: Mapping[str, int]
) -> NDArray[Any]:
    values = np.frombuffer(inflate(parts[column.name], column.name), column.dtype)
    if len(values) != column.length(counts):
        raise ValueError(f"{column.name} has {len(values)} numbers")
    return values
