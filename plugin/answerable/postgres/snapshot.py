"""Serialize and parse the part of a bundle that a PostgreSQL store holds in memory: no page text.

Its parts are as those of a bundle's files, without what the database is asked for: the columns of
texts, postings and windows are empty.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format import columns
from ..serve.bundle_format.columns import NUMBER_COLUMNS, pack_columns, unpack_columns
from ..serve.bundle_format.compression import inflate
from ..serve.bundle_format.manifest import Manifest
from ..serve.bundle_format.site_metadata import SiteColumns, load_site_columns
from ..serve.bundle_format.text_lines import TextLines, pack_lines, unpack_lines
from ..serve.errors import BundleError
from ..serve.stores.bundle import Bundle

_SITE_PART, _COLUMNS_PART = "site", "columns"
_PHRASES_PART, _DATES_PART, _WORDS_PART = "phrases", "dates", "words"
_ABSENT_COUNTS = dict.fromkeys(("blocks", "terms", "postings", "windows"), 0)


@dataclass(frozen=True, slots=True, eq=False)
class StoreSnapshot(SiteColumns):
    """Extend the columns of a site by its words, and the number of terms of each passage."""

    spellings: TextLines
    lengths: NDArray[np.uint32]


def pack_snapshot(bundle: Bundle) -> dict[str, bytes]:
    """Serialize a bundle's snapshot, each part as bytes."""
    names, counts = bundle.names, {**bundle.manifest.counts, **_ABSENT_COUNTS}
    phrases = (names, bundle.aliases, bundle.themes, bundle.title_terms, bundle.label_terms)
    numbers: dict[str, NDArray[Any]] = {
        column.name: np.zeros(column.length(counts)) for column in NUMBER_COLUMNS
    }
    numbers |= {
        columns.RECORD_WEIGHTS.name: bundle.weights,
        columns.RECORD_TITLE_NORMS.name: bundle.title_norms,
        columns.RECORD_HISTORY.name: bundle.is_history,
        columns.PASSAGE_RECORDS.name: bundle.passage_records,
        columns.PASSAGE_LENGTHS.name: bundle.postings.lengths,
        columns.PHRASE_EDGES.name: names.edges,
        columns.PHRASE_RECORDS.name: names.records,
        columns.PHRASE_FREQUENCIES.name: names.frequencies,
    }
    return {
        _SITE_PART: json.dumps(bundle.site.as_json(), sort_keys=True).encode(),
        _COLUMNS_PART: pack_columns(numbers),
        _PHRASES_PART: pack_lines([list(index.rows) for index in phrases]),
        _DATES_PART: pack_lines([[date or "" for date in bundle.dates]]),
        _WORDS_PART: pack_lines([bundle.words]),
    }


def parse_snapshot(parts: Mapping[str, bytes], manifest: Manifest) -> StoreSnapshot:
    """Parse the parts of a snapshot; BundleError if they are not what the manifest says."""
    counts = manifest.counts

    def lines(part: str, *lengths: int) -> list[TextLines]:
        return unpack_lines(inflate(parts[part], part), part, *lengths)

    try:
        data = inflate(parts[_COLUMNS_PART], _COLUMNS_PART)
        numbers = unpack_columns(data, _COLUMNS_PART, {**counts, **_ABSENT_COUNTS})
        site_columns = load_site_columns(
            json.loads(parts[_SITE_PART]),
            lines(_DATES_PART, counts["records"])[0],
            lines(_PHRASES_PART, *(counts[kind] for kind in columns.PHRASE_KINDS)),
            numbers,
            counts,
        )
        spellings = lines(_WORDS_PART, counts["words"])[0]
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None
    lengths = numbers[columns.PASSAGE_LENGTHS.name]
    return StoreSnapshot(**site_columns.as_fields(), spellings=spellings, lengths=lengths)
