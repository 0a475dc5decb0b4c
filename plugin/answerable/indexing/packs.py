"""Division of an index into parts, and of these into files."""

from collections.abc import Iterable, Iterator

import numpy as np

from ..engine.index.columns import Index
from ..engine.index.manifest import Part
from ..engine.retrieval.terms import MIN_SHARED_LETTERS

# A question reads a part for each of its words: one with this many postings has some 3 kB.
_POSTINGS_PER_PART = 1_500
# A file this large holds more than one question needs, and an edit of a page renews it.
_PACK_BYTES = 192_000


def divide_terms(index: Index) -> dict[str, list[int]]:
    """Divide the terms among parts: the rows of each, by the beginning of its first words.

    Words that begin alike are in one part, in the order of a browser's texts. A term is in each
    part that one of its forms belongs to, so that a question finds all that it reads of a word by
    the word alone.
    """
    rows_by_beginning: dict[str, list[int]] = {}
    for row, forms in enumerate(zip(index.terms, *index.forms.values(), strict=True)):
        words = (word for text in forms for word in text.split())
        for beginning in {word[:MIN_SHARED_LETTERS] for word in words}:
            rows_by_beginning.setdefault(beginning, []).append(row)
    sizes = np.diff(index.postings.edges.astype(np.int64))
    parts: dict[str, list[int]] = {"": []}
    filled, first = 0, ""
    for beginning in sorted(rows_by_beginning, key=_order_as_browsers):
        if filled >= _POSTINGS_PER_PART:
            filled, first = 0, beginning
        rows = rows_by_beginning[beginning]
        parts.setdefault(first, []).extend(rows)
        filled += int(sizes[rows].sum())
    return {first: sorted(set(rows)) for first, rows in parts.items()}


def _order_as_browsers(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def cut_packs(
    parts: Iterable[tuple[Part, bytes]], *, is_whole: bool
) -> Iterator[tuple[tuple[Part, ...], bytes]]:
    """Join parts to files of about one size, in order, or all of them to one."""
    joined: list[Part] = []
    content = bytearray()
    for part, data in parts:
        if len(content) >= _PACK_BYTES and not is_whole:
            yield tuple(joined), bytes(content)
            joined, content = [], bytearray()
        joined.append(part)
        content += data
    if joined:
        yield tuple(joined), bytes(content)
