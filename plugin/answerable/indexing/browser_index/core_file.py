"""Write what a question reads of a whole site: its metadata, columns, phrases and sign bits."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.postings import PhraseEntry
from ...serve.retrieval.section_scores import has_code, is_short
from ...serve.structure import TITLE_SEPARATOR
from .container import Container, pack_container, shrink_array
from .public_index import PublicIndex
from .recipe import collect_recipe

WINDOW_SUFFIX = re.compile(r"~[0-9]+$")


def serialize_core(index: PublicIndex) -> bytes:
    """Serialize the recipe, the site's metadata and the columns of records and passages."""
    titles = _share_prefixes([passage.title for passage in index.passages])
    values = {
        "recipe": collect_recipe(index.site),
        "site": {**index.site.as_json(), "tags": list(index.site.tags)},
        "recordIds": [record.id for record in index.records],
        "recordUrls": [record.url for record in index.records],
        "dates": [record.date for record in index.records],
        "passageIds": _shorten_ids(index),
        "passageUrls": _shorten_urls(index),
        "titles": [headings for _, headings in titles],
        "phrases": {
            name: [entry.phrase for entry in entries]
            for name, entries in _list_phrases(index).items()
        },
    }
    arrays = {
        "weights": np.array([record.weight for record in index.records], "<f4"),
        "titleNorms": np.array([record.title_norm for record in index.records], "<f4"),
        "isHistory": np.array([record.is_history for record in index.records], "|u1"),
        "contextLengths": shrink_array(
            np.array([record.context_length for record in index.records], int)
        ),
        "passagesPerRecord": shrink_array(
            np.bincount(index.passage_records, minlength=len(index.records))
        ),
        "passageLengths": shrink_array(index.lexicon.lengths),
        "isShort": np.array([is_short(passage) for passage in index.passages], "|u1"),
        "hasCode": np.array([has_code(passage) for passage in index.passages], "|u1"),
        "sharedTitles": shrink_array(np.array([shared for shared, _ in titles], int)),
        **_collect_phrase_columns(index),
    }
    return pack_container(Container(values, arrays))


def serialize_signs(codes: NDArray[np.int8]) -> bytes:
    """Serialize a bit for each dimension of each passage, set for a code above 0."""
    return pack_container(Container({}, {"signs": np.packbits(codes > 0, axis=1).reshape(-1)}))


def serialize_words(index: PublicIndex) -> bytes:
    """Serialize the words that passages hold as they are written."""
    return pack_container(Container({"words": index.words}))


def _shorten_ids(index: PublicIndex) -> list[str | list[str]]:
    """List the ids of passages without the record's, or the whole id in a list."""
    pairs = zip(index.passages, index.passage_records, strict=True)
    return [
        passage.id.removeprefix(own)
        if passage.id.startswith(own := index.records[row].id)
        else [passage.id]
        for passage, row in pairs
    ]


def _shorten_urls(index: PublicIndex) -> list[str | None]:
    """List the urls of passages, None where it follows from the record's url and the id."""
    pairs = zip(index.passages, index.passage_records, strict=True)
    return [
        None if passage.url == _guess_url(passage.id, index, row) else passage.url
        for passage, row in pairs
    ]


def _guess_url(passage_id: str, index: PublicIndex, row: int) -> str:
    record = index.records[row]
    return record.url + WINDOW_SUFFIX.sub("", passage_id.removeprefix(record.id))


def _share_prefixes(titles: Sequence[str]) -> list[tuple[int, str]]:
    """Return how many headings each title shares with the one before it, and its other headings.

    A title that is equal to the one before it shares all its headings.
    """
    shared: list[tuple[int, str]] = []
    before: list[str] = []
    for title in titles:
        headings = title.split(TITLE_SEPARATOR)
        count = 0
        while count < min(len(before), len(headings)) and before[count] == headings[count]:
            count += 1
        shared.append((count, TITLE_SEPARATOR.join(headings[count:])))
        before = headings
    return shared


def _list_phrases(index: PublicIndex) -> Mapping[str, tuple[PhraseEntry, ...]]:
    phrases = index.phrases
    return {
        "names": phrases.names,
        "aliases": phrases.aliases,
        "themes": phrases.themes,
        "titleTerms": phrases.title_terms,
    }


def _collect_phrase_columns(index: PublicIndex) -> dict[str, NDArray[Any]]:
    """Collect the records of all phrases, how many each has, and in how many it occurs."""
    entries = [entry for table in _list_phrases(index).values() for entry in table]
    return {
        "phraseSizes": shrink_array(np.array([len(entry.records) for entry in entries], int)),
        "phraseRecords": shrink_array(np.array([r for e in entries for r in e.records], int)),
        "phraseFrequencies": shrink_array(np.array([entry.frequency for entry in entries], int)),
    }
