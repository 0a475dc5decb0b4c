"""Rows of a bundle in a database: passages, postings and what the site knows of itself."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ..serve.errors import BundleError, SiteError
from ..serve.index.columns import COLUMNS, Index, check_index, pack_columns, unpack_columns
from ..serve.index.format import MALFORMED, deflate, inflate, pack_container, unpack_container
from ..serve.index.manifest import Manifest
from ..serve.stores.bundle import Bundle
from ..serve.types import Passage
from ..serve.vectors import Int8Codes

# What is small of a site, as a bundle's files have it, in one container.
_SNAPSHOT_PART = "snapshot"
# The tables have texts, vectors and hints, and the rest of what is said of passages.
_IN_TABLES = frozenset((
    "record_ids", "record_urls", "passage_ids", "passage_urls", "passage_titles", "has_code",
    "texts", "codes", "postings", "record_summaries", "record_themes", "hint_ids", "hint_labels",
    "hint_locators", "hint_urls", "hint_owners", "hint_codes",
))  # fmt: skip
_COLUMNS = tuple(column for column in COLUMNS if column.name not in _IN_TABLES)


def pack_snapshot(bundle: Bundle) -> dict[str, bytes]:
    """Serialize a bundle's snapshot, each part as bytes."""
    return {_SNAPSHOT_PART: pack_container(pack_columns(_COLUMNS, bundle.index))}


def parse_snapshot(parts: Mapping[str, bytes], manifest: Manifest) -> Index:
    """Parse the parts of a snapshot; BundleError if they are not what the manifest says."""
    try:
        container = unpack_container(parts[_SNAPSHOT_PART], _SNAPSHOT_PART)
        index = Index(**unpack_columns(_COLUMNS, [container]))
        check_index(index, manifest.counts, _COLUMNS)
    except MALFORMED as error:
        raise BundleError(
            f"the database's bundle is malformed ({error!s:.200}): publish it again"
        ) from None
    return index


# The rows of the passages that hold a term, and how often each does.
PassagePostings = tuple[NDArray[np.uint32], NDArray[np.uint16]]
FetchPostings = Callable[[list[str]], dict[str, PassagePostings]]

CACHE_BYTES = 32 * 1024 * 1024
# The size of an entry beside its numbers.
_ENTRY_BYTES = 500
_ROW_TYPE, _COUNT_TYPE = np.dtype("<u4"), np.dtype("<u2")
_NO_POSTINGS: PassagePostings = (np.zeros(0, np.uint32), np.zeros(0, np.uint16))


def pack_postings(rows: NDArray[np.uint32], counts: NDArray[np.uint16]) -> bytes:
    """Compress the postings of one term: the differences of its rows, then its counts."""
    steps = np.diff(rows, prepend=np.uint32(0)).astype(_ROW_TYPE)
    return deflate(_to_byte_planes(steps) + _to_byte_planes(counts.astype(_COUNT_TYPE)))


def _to_byte_planes(values: NDArray[Any]) -> bytes:
    """Lay out the lowest byte of all numbers, then the next: those of small numbers compress."""
    return values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()


def unpack_postings(data: bytes, passages: int) -> PassagePostings:
    """Reverse ``pack_postings``; BundleError for malformed data or rows from ``passages`` on."""
    planes = np.frombuffer(inflate(data, "postings"), np.uint8)
    length, remainder = divmod(len(planes), _ROW_TYPE.itemsize + _COUNT_TYPE.itemsize)
    if remainder:
        raise BundleError("the database's postings are malformed: publish the bundle again")
    middle = _ROW_TYPE.itemsize * length
    rows = np.cumsum(_from_byte_planes(planes[:middle], _ROW_TYPE), dtype=np.uint32)
    if length and int(rows.max()) >= passages:
        raise BundleError("the database's postings point past the last passage: publish again")
    return rows, _from_byte_planes(planes[middle:], _COUNT_TYPE)


def _from_byte_planes(planes: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(planes.reshape(dtype.itemsize, -1).T).view(dtype).reshape(-1)


class PostingsCache:
    """Cache the postings of terms up to a size, and begin anew above it."""

    def __init__(self, capacity: int = CACHE_BYTES) -> None:
        self._capacity = self._free_bytes = capacity
        self._postings: dict[str, PassagePostings] = {}

    def get(self, terms: Sequence[str], fetch: FetchPostings) -> list[PassagePostings]:
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


def register_vectors(connection: Connection[Any]) -> None:
    """Teach a connection to send vectors whose bytes are made here."""
    info = TypeInfo.fetch(connection, "halfvec")
    # Roles are made together with the extension that has the type.
    assert info is not None, "pgvector is not there"
    info.register(connection)
    dumper = type("CodesDumper", (_CodesDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(None, dumper)


class _CodesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def make_rows(bundle: Bundle, kind: str) -> Iterator[Row]:
    """Make the rows of one kind of table; SiteError for a text that PostgreSQL cannot hold."""
    if kind == "snapshot":
        yield from pack_snapshot(bundle).items()
    elif kind == "passages":
        for number, passage in enumerate(bundle.passages()):
            yield (number, *_list_fields(passage))
    elif kind == "vectors":
        yield from _make_vector_rows(bundle.index.codes)
    elif kind == "postings":
        yield from make_posting_rows(bundle)
    elif kind == "hints":
        for number, hint in enumerate(bundle.hints):
            texts = (hint.id, hint.label, hint.locator, hint.url)
            yield (number, *(check_text(text, hint.id) for text in texts))
    else:
        windows = _make_vector_rows(bundle.index.hint_codes)
        for owner, (number, norm, codes) in zip(
            bundle.index.hint_owners.tolist(), windows, strict=True
        ):
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
    postings = bundle.postings_of(())
    for term, place in postings.terms.items():
        span = slice(int(postings.edges[place]), int(postings.edges[place + 1]))
        rows, counts = postings.passages[span], postings.counts[span]
        order = np.argsort(rows, kind="stable")
        yield check_text(term, "the word index"), pack_postings(rows[order], counts[order])


def _list_fields(passage: Passage) -> Row:
    """List the fields of a passage in the order of the table's columns."""
    texts = (passage.id, passage.record, passage.url, passage.title, passage.markdown)
    return (
        *(check_text(text, passage.record) for text in texts),
        passage.date,
        check_text(passage.summary, passage.record),
        [check_text(theme, passage.record) for theme in passage.themes],
    )


def _make_vector_rows(codes: Int8Codes) -> Iterator[tuple[int, float, bytes]]:
    """Make a row for each vector: its number, its inverse norm and its codes."""
    for start in range(0, len(codes), _BATCH_ROWS):
        span = slice(start, min(start + _BATCH_ROWS, len(codes)))
        norms = codes.inverse_norms[span].tolist()
        vectors = _encode_vectors(codes.codes[span])
        yield from zip(range(span.start, span.stop), norms, vectors, strict=True)


def _encode_vectors(rows: NDArray[np.int8]) -> list[bytes]:
    """Encode vectors (n, d) in half precision, which holds whole numbers exactly."""
    header = struct.pack(">hh", rows.shape[1], 0)
    return [header + encoded.tobytes() for encoded in rows.astype(">f2")]
