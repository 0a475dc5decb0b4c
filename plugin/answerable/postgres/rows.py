"""Rows of a bundle in a database: passages, postings and what the site knows of itself."""

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ..serve.bundle_format import columns
from ..serve.bundle_format.columns import (
    NUMBER_COLUMNS,
    TextLines,
    deflate,
    from_byte_planes,
    inflate,
    pack_columns,
    pack_lines,
    to_byte_planes,
    unpack_columns,
    unpack_lines,
)
from ..serve.bundle_format.manifest import Manifest
from ..serve.bundle_format.site_data import SiteColumns, load_site_columns
from ..serve.errors import BundleError, SiteError
from ..serve.stores.bundle import Bundle
from ..serve.structure import pack_structure
from ..serve.types import Passage
from ..serve.vectors import Codes
from .tables import VectorColumn

_SITE_PART, _COLUMNS_PART = "site", "columns"
_PHRASES_PART, _DATES_PART, _WORDS_PART = "phrases", "dates", "words"
_FORMS_PART = "forms"
_ABSENT_COUNTS = dict.fromkeys(("blocks", "terms", "postings", "windows"), 0)


@dataclass(frozen=True, slots=True, eq=False)
class StoreSnapshot(SiteColumns):
    """Extend the columns of a site by its words, and the number of terms of each passage.

    ``lexicon`` are its terms, ``forms`` the others of each in each language.
    """

    spellings: TextLines
    lexicon: TextLines
    forms: Mapping[str, TextLines]
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
        _FORMS_PART: pack_lines(
            [list(bundle.postings.terms), *(lines.texts() for lines in bundle.forms.values())]
        ),
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
        tags = site_columns.site.tags
        lexicon, *forms = lines(_FORMS_PART, *[counts["terms"]] * (1 + len(tags)))
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None
    lengths = numbers[columns.PASSAGE_LENGTHS.name]
    return StoreSnapshot(
        **site_columns.as_fields(),
        spellings=spellings,
        lexicon=lexicon,
        forms=dict(zip(tags, forms, strict=True)),
        lengths=lengths,
    )


# The rows of the passages that hold a term, and how often each does.
TermPostings = tuple[NDArray[np.uint32], NDArray[np.uint16]]
FetchPostings = Callable[[list[str]], dict[str, TermPostings]]

CACHE_BYTES = 32 * 1024 * 1024
# The size of an entry beside its numbers.
_ENTRY_BYTES = 500
_ROW_TYPE, _COUNT_TYPE = np.dtype("<u4"), np.dtype("<u2")
_NO_POSTINGS: TermPostings = (np.zeros(0, np.uint32), np.zeros(0, np.uint16))


def pack_postings(rows: NDArray[np.uint32], counts: NDArray[np.uint16]) -> bytes:
    """Compress the postings of one term: the differences of its rows, then its counts."""
    steps = np.diff(rows, prepend=np.uint32(0)).astype(_ROW_TYPE)
    return deflate(to_byte_planes(steps) + to_byte_planes(counts.astype(_COUNT_TYPE)))


def unpack_postings(data: bytes, passages: int) -> TermPostings:
    """Reverse ``pack_postings``; BundleError for malformed data or rows from ``passages`` on."""
    planes = np.frombuffer(inflate(data, "postings"), np.uint8)
    length, remainder = divmod(len(planes), _ROW_TYPE.itemsize + _COUNT_TYPE.itemsize)
    if remainder:
        raise BundleError("the database's postings are malformed: publish the bundle again")
    middle = _ROW_TYPE.itemsize * length
    rows = np.cumsum(from_byte_planes(planes[:middle], _ROW_TYPE), dtype=np.uint32)
    if length and int(rows.max()) >= passages:
        raise BundleError("the database's postings point past the last passage: publish again")
    return rows, from_byte_planes(planes[middle:], _COUNT_TYPE)


class PostingsCache:
    """Cache the postings of terms up to a size, and begin anew above it."""

    def __init__(self, capacity: int = CACHE_BYTES) -> None:
        self._capacity = self._free_bytes = capacity
        self._postings: dict[str, TermPostings] = {}

    def get(self, terms: Sequence[str], fetch: FetchPostings) -> list[TermPostings]:
        """Return the postings of terms, empty for an unknown one; fetch those not cached."""
        # Another thread may begin anew meanwhile.
        cache = self._postings
        postings = {term: cache[term] for term in terms if term in cache}
        if missing := [term for term in terms if term not in postings]:
            fetched = fetch(missing)
            added = {term: fetched.get(term, _NO_POSTINGS) for term in missing}
            self._free_bytes -= sum(
                _ENTRY_BYTES + rows.nbytes + counts.nbytes for rows, counts in added.values()
            )
            cache |= added
            postings |= added
            if self._free_bytes < 0:
                self._postings, self._free_bytes = {}, self._capacity
        return [postings[term] for term in terms]


# Vectors that are made at a time.
_BATCH_ROWS = 1024

Row = tuple[Any, ...]


def register_vectors(connection: Connection[Any], column: VectorColumn) -> None:
    """Teach a connection to send vectors whose bytes are made here."""
    info = TypeInfo.fetch(connection, column.name)
    # Roles are made together with the extension that has the type.
    assert info is not None, "pgvector is not there"
    info.register(connection)
    dumper = type("CodesDumper", (_CodesDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(None, dumper)


class _CodesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def make_rows(bundle: Bundle, kind: str, column: VectorColumn) -> Iterator[Row]:
    """Make the rows of one kind of table; SiteError for a text that PostgreSQL cannot hold."""
    if kind == "snapshot":
        yield from pack_snapshot(bundle).items()
    elif kind == "passages":
        for number, passage in enumerate(bundle.passages()):
            yield (number, *_list_fields(passage))
    elif kind == "vectors":
        yield from _make_vector_rows(bundle.passage_codes, len(bundle.passage_ids), column)
    elif kind == "postings":
        yield from make_posting_rows(bundle)
    elif kind == "hints":
        for number, hint in enumerate(bundle.hints):
            texts = (hint.id, hint.label, hint.locator, hint.url)
            yield (number, *(check_text(text, hint.id) for text in texts))
    else:
        windows = _make_vector_rows(bundle.hint_codes, len(bundle.hint_owners), column)
        for owner, (number, norm, codes) in zip(bundle.hint_owners.tolist(), windows, strict=True):
            yield (number, owner, norm, codes)


def check_text(text: str, where: str) -> str:
    """Return a text; SiteError for one that PostgreSQL cannot hold. where: its place, for it."""
    try:
        if b"\0" not in text.encode():
            return text
    except UnicodeEncodeError:
        pass
    raise SiteError(
        f"{where}: it holds U+0000 or half of a surrogate pair, which PostgreSQL cannot store; "
        "take that out"
    )


def make_posting_rows(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """Make a row for the postings of each term."""
    postings = bundle.postings
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        yield check_text(term, "the word index"), pack_postings(rows[order], counts[order])


def _list_fields(passage: Passage) -> Row:
    """List the fields of a passage in the order of the table's columns."""
    texts = (passage.id, passage.record, passage.url, passage.title, passage.text)
    structure = json.dumps([pack_structure(passage.blocks), pack_structure(passage.spans)])
    return (
        *(check_text(text, passage.record) for text in texts),
        [edge for sentence in passage.sentences for edge in sentence],
        check_text(structure, passage.record),
        passage.date,
        check_text(passage.summary, passage.record),
        [check_text(theme, passage.record) for theme in passage.themes],
    )


def _make_vector_rows(
    codes: Codes, count: int, column: VectorColumn
) -> Iterator[tuple[int, float, bytes]]:
    """Make a row for each vector: its number, its inverse norm and its codes."""
    for start in range(0, count, _BATCH_ROWS):
        span = slice(start, min(start + _BATCH_ROWS, count))
        values = codes.decode_rows(span).astype(np.int8 if column.is_whole else np.float32)
        norms = codes.inverse_norms[span].tolist()
        vectors = _encode_vectors(values)
        yield from zip(range(span.start, span.stop), norms, vectors, strict=True)


def _encode_vectors(rows: NDArray[Any]) -> list[bytes]:
    """Encode vectors (n, d): whole numbers in half precision, others in single precision."""
    dtype = ">f4" if rows.dtype.kind == "f" else ">f2"
    header = struct.pack(">hh", rows.shape[1], 0)
    return [header + encoded.tobytes() for encoded in rows.astype(dtype)]
