"""Pack a bundle's columns of texts, one a line; decode a text when read; check dates and urls."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import BUILD_AGAIN, BundleError
from ..structure import UNSAFE_IN_URL, is_safe_url
from .compression import deflate

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
