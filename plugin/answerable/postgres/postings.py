"""Pack one term's postings as bytes for the database, and cache fetched ones in memory."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..serve.bundle_format.columns import from_byte_planes, to_byte_planes
from ..serve.bundle_format.compression import deflate, inflate
from ..serve.errors import BundleError

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
