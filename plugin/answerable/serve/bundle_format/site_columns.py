"""Small columns of a site that every store keeps in memory: weights, dates, phrases, languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import columns
from .columns import check_row_bounds, check_title_norms, check_weights
from .postings import PhraseIndex, load_phrase_indexes
from .site_metadata import SiteMetadata, parse_site_metadata
from .text_lines import TextLines, parse_dates


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
