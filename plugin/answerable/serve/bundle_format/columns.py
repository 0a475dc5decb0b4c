"""Columns of a bundle's data: typed arrays and lines of text, compressed in blocks."""

import datetime as dt
import math
import mmap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from ..structure import UNSAFE_IN_URL, is_safe_url
from ..vectors import INVERSE_NORMS, MAX_UNIT_VALUE

# No file of a bundle is larger once it is decompressed.
MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
# Bound of the decompressed size by the size on disk: deflate makes up to 1,032 bytes of one, a
# site's own files 7 at most, so a file that inflates to much more was made for that.
RATIO_FREE_BYTES = 256 * 1024
MAX_COMPRESSION_RATIO = 32


def deflate(data: bytes) -> bytes:
    """Compress as small as ``inflate`` accepts; BundleError for more than it gives back."""
    if len(data) > MAX_DECOMPRESSED_BYTES:
        raise BundleError(
            f"The site needs a file of {len(data)} bytes, and a bundle's holds "
            f"{MAX_DECOMPRESSED_BYTES} at most: leave pages or notes out"
        )
    packed = zlib.compress(data, 9)
    if len(data) <= bound_inflated_size(len(packed)):
        return packed
    # Without repetitions deflate makes 8 bytes of one at most.
    plain = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    return plain.compress(data) + plain.flush()


def inflate(data: bytes, name: str, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Decompress a file; BundleError if it is damaged or has more than ``max_bytes``."""
    # Allocated by the size on disk, never by what the data claims.
    limit = min(max_bytes, bound_inflated_size(len(data))) + 1
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, limit)
    except zlib.error:
        text = b""
    if not inflater.eof or inflater.unused_data or len(text) == limit:
        raise BundleError(f"{name} does not decompress: {BUILD_AGAIN}")
    return text


def bound_inflated_size(packed_bytes: int) -> int:
    """Bound what so many compressed bytes may become."""
    return min(MAX_DECOMPRESSED_BYTES, RATIO_FREE_BYTES + MAX_COMPRESSION_RATIO * packed_bytes)


def hash_file(path: Path) -> str:
    """Compute a file's SHA-256 in hexadecimal digits; OSError."""
    # OpenSSL's library takes a while to load: only where something is verified.
    import hashlib

    with path.open("rb") as file:
        if not path.stat().st_size:
            return hashlib.sha256(b"").hexdigest()
        # In one call: every other one waits for the interpreter again.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return hashlib.sha256(data).hexdigest()


def hash_files(files: Mapping[str, bytes]) -> str:
    """Hash the names and contents of files to 16 hexadecimal digits."""
    import hashlib

    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        digest.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


# A greater weight is not a preference: a weight orders matches and does not replace their scores.
MAX_WEIGHT = 10.0
# No title is longer: a term weighs 35 at the most.
MAX_TITLE_NORM = 1e4

_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_NPY_HEADER = 1024


@dataclass(frozen=True, slots=True)
class Column:
    """Describe one column of numbers: its name, and its type as numpy writes it.

    Its length is the sum of the counts of ``counted_names``, plus ``extra``. ``rising`` numbers are
    packed as differences.
    """

    name: str
    dtype: str
    counted_names: tuple[str, ...]
    extra: int = 0
    rising: bool = False

    def length(self, counts: Mapping[str, int]) -> int:
        """Count its numbers."""
        return sum(counts[name] for name in self.counted_names) + self.extra


# Phrases that are looked for in a question, and the terms of titles, in this order.
PHRASE_KINDS = ("names", "aliases", "themes", "title_terms", "label_terms")

RECORD_WEIGHTS = Column("record-weights", "<f4", ("records",))
RECORD_TITLE_NORMS = Column("record-title-norms", "<f4", ("records",))
RECORD_HISTORY = Column("record-history", "<u1", ("records",))
PASSAGE_RECORDS = Column("passage-records", "<u4", ("passages",), rising=True)
PASSAGE_LENGTHS = Column("passage-lengths", "<u4", ("passages",))
TEXT_BLOCKS = Column("text-blocks", "<u8", ("blocks",), extra=1, rising=True)
PHRASE_EDGES = Column("phrase-edges", "<u4", PHRASE_KINDS, extra=1, rising=True)
PHRASE_RECORDS = Column("phrase-records", "<u4", ("bearers",))
PHRASE_FREQUENCIES = Column("phrase-frequencies", "<u4", PHRASE_KINDS)
POSTING_EDGES = Column("posting-edges", "<u4", ("terms",), extra=1, rising=True)
POSTING_PASSAGES = Column("posting-passages", "<u4", ("postings",), rising=True)
POSTING_COUNTS = Column("posting-counts", "<u2", ("postings",))
HINT_OWNERS = Column("hint-owners", "<u4", ("windows",), rising=True)

# In the order of the file.
NUMBER_COLUMNS = (
    RECORD_WEIGHTS, RECORD_TITLE_NORMS, RECORD_HISTORY, PASSAGE_RECORDS, PASSAGE_LENGTHS,
    TEXT_BLOCKS, PHRASE_EDGES, PHRASE_RECORDS, PHRASE_FREQUENCIES, POSTING_EDGES, POSTING_PASSAGES,
    POSTING_COUNTS, HINT_OWNERS,
)  # fmt: skip


def to_byte_planes(values: NDArray[Any]) -> bytes:
    """Lay out the lowest byte of all numbers, then the next: those of small numbers compress."""
    return values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()


def from_byte_planes(planes: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Reverse ``to_byte_planes``."""
    planes = planes.reshape(dtype.itemsize, -1)
    numbers = np.empty(planes.shape[::-1], np.uint8)
    # A plane at a time: numpy transposes narrow columns four times slower.
    for place, plane in enumerate(planes):
        numbers[:, place] = plane
    return numbers.view(dtype).reshape(-1)


def pack_columns(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Compress columns by name as one file: the byte planes of one column after another."""
    planes = bytearray()
    for column in NUMBER_COLUMNS:
        values = np.ascontiguousarray(arrays[column.name], dtype=column.dtype)
        if column.rising:
            # Where a list begins anew the difference wraps, and wraps back when it is added.
            values = np.diff(values, prepend=values.dtype.type(0))
        planes += to_byte_planes(values)
    return deflate(bytes(planes))


def unpack_columns(planes: bytes, name: str, counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """Split the decompressed bytes of ``pack_columns`` by name; ValueError for another length."""
    sizes = [np.dtype(column.dtype).itemsize * column.length(counts) for column in NUMBER_COLUMNS]
    if len(planes) != sum(sizes):
        raise ValueError(f"{name} has {len(planes)} bytes of columns, not {sum(sizes)}")
    numbers: dict[str, NDArray[Any]] = {}
    start = 0
    for column, size in zip(NUMBER_COLUMNS, sizes, strict=True):
        dtype = np.dtype(column.dtype)
        values = from_byte_planes(np.frombuffer(planes, np.uint8, size, start), dtype)
        numbers[column.name] = np.cumsum(values, dtype=dtype) if column.rising else values
        start += size
    return numbers


def map_array(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map the array of a .npy file; ValueError unless it has exactly this type and shape.

    numpy evaluates a header as Python and allocates what it claims. Our own is known to the letter:
    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
    """
    expected = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    with path.open("rb") as file:
        magic, length = file.read(8), int.from_bytes(file.read(2), "little")
        header = file.read(min(length, _MAX_NPY_HEADER))
        start = file.tell()
    count = math.prod(shape)
    size = start + np.dtype(dtype).itemsize * count
    has_expected_size = length <= _MAX_NPY_HEADER and path.stat().st_size == size
    if magic != _NPY_MAGIC or header.rstrip() != expected.encode() or not has_expected_size:
        raise ValueError(f"{path.name} is not an array of {shape} {dtype}")
    if not count:
        return np.empty(shape, dtype)
    return np.memmap(path, np.dtype(dtype), "r", start, shape)


def check_vectors(arrays: Mapping[str, NDArray[Any]], stream: str) -> None:
    """Refuse numbers that are not finite, and norms that no row of codes has."""
    norms = arrays[INVERSE_NORMS]
    if not ((norms >= 0) & (norms <= MAX_UNIT_VALUE)).all():
        raise ValueError(f"{stream}-{INVERSE_NORMS} holds a number that is not in [0, 1]")
    codes = arrays.get("codes", norms)
    is_float = len(codes) and codes.dtype.kind == "f"
    # A NaN is neither the least nor the most of anything.
    if is_float and not -MAX_UNIT_VALUE <= codes.min() <= codes.max() <= MAX_UNIT_VALUE:
        raise ValueError(f"{stream}-codes holds a number that is not in [-1, 1]")


def check_row_bounds(column: Column, values: NDArray[Any], bound: int) -> None:
    """Refuse row numbers from ``bound`` on."""
    if len(values) and int(values.max()) >= bound:
        raise ValueError(f"{column.name} points past the last row")


def check_phrase_owners(
    owners: NDArray[Any], edges: NDArray[Any], counts: Mapping[str, int]
) -> None:
    """Refuse phrases of records, and terms of labels, that point past the last record or hint."""
    labels = int(edges[sum(counts[kind] for kind in PHRASE_KINDS[:-1])])
    check_row_bounds(PHRASE_RECORDS, owners[:labels], counts["records"])
    check_row_bounds(PHRASE_RECORDS, owners[labels:], counts["hints"])


def check_offsets(column: Column, edges: NDArray[Any], size: int) -> None:
    """Refuse offsets that do not rise from 0 to a size."""
    if edges[0] != 0 or edges[-1] != size or (edges[1:] < edges[:-1]).any():
        raise ValueError(f"{column.name} is not a list of offsets")


def check_row_order(column: Column, rows: NDArray[Any], edges: NDArray[Any]) -> None:
    """Refuse rows that do not rise between one offset and the next."""
    falls = np.flatnonzero(np.diff(rows.astype(np.int64)) <= 0) + 1
    begins = np.zeros(len(rows) + 1, dtype=np.bool_)
    begins[edges] = True
    if not begins[falls].all():
        raise ValueError(f"{column.name} has rows out of order")


def check_weights(values: NDArray[np.float32]) -> None:
    """Refuse a weight that is not in [0, 10]."""
    if not ((values >= 0) & (values <= MAX_WEIGHT)).all():
        raise ValueError(f"{RECORD_WEIGHTS.name} holds one that is not in [0, {MAX_WEIGHT:g}]")


def check_title_norms(values: NDArray[np.float32]) -> None:
    """Refuse the length of a title's idf vector that no title has."""
    if not ((values >= 0) & (values <= MAX_TITLE_NORM)).all():
        raise ValueError(f"{RECORD_TITLE_NORMS.name} holds one not in [0, {MAX_TITLE_NORM:g}]")


# Divides the themes of a page, none of which has white space but single spaces.
THEME_SEPARATOR = "\t"

_LINE_FEED = ord("\n")
_UNSAFE_BYTES = bytes(byte for byte in range(128) if UNSAFE_IN_URL.match(chr(byte)))


@dataclass(frozen=True, slots=True, eq=False)
class TextLines:
    """Decode lines of UTF-8 on demand: line ``i`` is ``data[edges[i]:edges[i + 1] - 1]``.

    ``edges``: (n + 1,).
    """

    data: bytes
    edges: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, row: int) -> str:
        start, end = int(self.edges[row]), int(self.edges[row + 1]) - 1
        return self.data[start:end].decode("utf-8", "surrogatepass")

    @property
    def joined(self) -> bytes:
        """Return all lines, with line breaks between them."""
        return self.data[int(self.edges[0]) : max(int(self.edges[-1]) - 1, 0)]

    def texts(self) -> list[str]:
        """Decode all lines."""
        return self.joined.decode("utf-8", "surrogatepass").split("\n") if len(self) else []


def pack_lines(columns: Sequence[Sequence[str]]) -> bytes:
    """Compress columns of texts as one file, a line each; ValueError for a text of two lines."""
    lines = [text for column in columns for text in column]
    whole = "\n".join(lines)
    if lines and whole.count("\n") != len(lines) - 1:
        broken = next(line for line in lines if "\n" in line)
        raise ValueError(f"{broken!r} has a line break")
    return deflate(whole.encode("utf-8", "surrogatepass"))


def unpack_lines(whole: bytes, name: str, *lengths: int) -> list[TextLines]:
    """Split the decompressed bytes of ``pack_lines`` into columns; ValueError for other lengths."""
    expected = sum(lengths)
    # Counted before an offset is stored for each: that takes eight times the bytes.
    line_breaks = whole.count(b"\n")
    if line_breaks != max(expected - 1, 0) or (whole and not expected):
        raise ValueError(f"{name} has {line_breaks + 1} lines, not {expected}")
    breaks = np.flatnonzero(np.frombuffer(whole, np.uint8) == _LINE_FEED)
    # Invalid UTF-8 fails here, and not when a question reaches it.
    whole.decode("utf-8", "surrogatepass")
    edges = np.concatenate([[0], breaks + 1, [len(whole) + 1] if expected else []]).astype(np.intp)
    starts = [0, *accumulate(lengths)]
    return [TextLines(whole, edges[start : end + 1]) for start, end in pairwise(starts)]


def parse_dates(values: Sequence[str]) -> tuple[str | None, ...]:
    """Check ISO dates, "" for none; ValueError."""
    for value in values:
        if value and not _is_iso_date(value):
            raise ValueError(f"{value!r:.80} is not a date")
    return tuple(value or None for value in values)


def _is_iso_date(value: str) -> bool:
    try:
        return dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def check_urls(urls: TextLines, name: str) -> None:
    """Refuse an unsafe url in a bundle's file; BundleError names both."""
    # All of them at once: a large notebook has ten thousand, and a cold start waits for this.
    lines = b"\n" + urls.joined if len(urls) else b""
    rooted = lines.count(b"\n/") - lines.count(b"\n//")
    absolute = lines.count(b"\nhttps://") + lines.count(b"\nhttp://")
    visible = lines.translate(None, _UNSAFE_BYTES)
    is_safe = rooted + absolute == len(urls) == len(lines) - len(visible)
    if not is_safe or not (visible.isascii() or all(map(is_safe_url, urls.texts()))):
        url = next((url for url in urls.texts() if not is_safe_url(url)), "")
        raise BundleError(f"{name} holds the unsafe url {url!r:.80}: {BUILD_AGAIN}")
