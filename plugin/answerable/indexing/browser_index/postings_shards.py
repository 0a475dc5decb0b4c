"""Write the postings of terms in shards by a hash of the term, which JavaScript computes too."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ...serve.retrieval.section_scores import read_passage_terms
from ..lexicon import Lexicon
from .container import Container, pack_container, shrink_array
from .public_index import PublicIndex

# A question reads a shard for each of its terms: one of so many postings has some 3 kB. A small
# site has smaller ones, of so many terms.
POSTINGS_PER_SHARD = 1_500
TERMS_PER_SHARD = 40
FEW_SHARDS, MAX_SHARDS = 32, 512

# FNV-1a of 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def hash_term(term: str) -> int:
    """Compute the FNV-1a hash of a term's UTF-8, of 32 bits."""
    value = _FNV_OFFSET
    for byte in term.encode("utf-8", "replace"):
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return value


def count_shards(lexicon: Lexicon) -> int:
    """Count the shards of a site's postings, at least one."""
    few = min(max(1, len(lexicon.terms) // TERMS_PER_SHARD), FEW_SHARDS)
    return min(max(few, round(len(lexicon.passages) / POSTINGS_PER_SHARD)), MAX_SHARDS)


def serialize_postings(index: PublicIndex) -> Mapping[int, bytes]:
    """Serialize the postings of all terms, by the number of their shard."""
    lexicon = index.lexicon
    count = count_shards(lexicon)
    rows: list[list[int]] = [[] for _ in range(count)]
    for row, term in enumerate(lexicon.terms):
        rows[hash_term(term) % count].append(row)
    in_text = _mark_terms_in_text(index)
    return {
        number: pack_container(_make_shard(lexicon, in_text, shard))
        for number, shard in enumerate(rows)
    }


def _make_shard(lexicon: Lexicon, in_text: NDArray[np.uint8], rows: list[int]) -> Container:
    """Make a shard. rows: of its terms, rising."""
    edges = lexicon.edges.astype(np.int64)
    sizes = edges[np.array(rows, dtype=np.int64) + 1] - edges[rows] if rows else np.zeros(0, int)
    places = np.concatenate([np.arange(edges[row], edges[row + 1]) for row in rows] or [sizes])
    return Container(
        {"terms": [lexicon.terms[row] for row in rows]},
        {
            "sizes": shrink_array(sizes),
            "gaps": shrink_array(_difference_rows(lexicon.passages[places], sizes)),
            "counts": shrink_array(lexicon.counts[places]),
            "inText": in_text[places],
        },
    )


def _difference_rows(passages: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract from each passage the one before it of the same term; the first stays."""
    rows = passages.astype(np.int64)
    gaps = rows - np.concatenate(([0], rows[:-1]))[: len(rows)]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))[: len(sizes)]
    gaps[starts] = rows[starts]
    return gaps


def _mark_terms_in_text(index: PublicIndex) -> NDArray[np.uint8]:
    """Mark each posting whose term stands in its passage or the headings above it."""
    terms = [read_passage_terms(passage) for passage in index.passages]
    return np.fromiter(
        (term in terms[passage] for term, passage in _iterate_postings(index.lexicon)),
        dtype=np.uint8,
        count=len(index.lexicon.passages),
    )


def _iterate_postings(lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Yield (term, passage) of every posting, in their order."""
    passages, edges = lexicon.passages.tolist(), lexicon.edges.tolist()
    for row, term in enumerate(lexicon.terms):
        for passage in passages[edges[row] : edges[row + 1]]:
            yield term, passage
