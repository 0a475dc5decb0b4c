"""Cut blocks into pieces that no passage splits, and cluster the pieces that stay together."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from ...engine.text.markdown import Block, slice_block
from ...engine.text.sentences import split_sentences
from ...engine.text.tokenization import count_words

# A word of an alphabet, or a letter of a script that may have no spaces with its marks: with few,
# since nothing else would bound a passage.
_ATOM = re.compile(r"[^\W\u0e00-\U0010ffff]+\W{0,16}|\w\W{0,16}|\W{1,16}")
# How a text ends that leads into what follows it.
_LEAD_INS = (":", "：")
# Lead-ins and labels in a row, and pieces of a list: no page that a person reads has more.
_MAX_BOUND_PIECES = 8
_MAX_LIST_PIECES = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or a sentence or some lines of a long one: the smallest text that is not cut.

    It is ``block.text[start:end]``; ``source`` numbers the block within its section. In a script
    without spaces ``words`` is half its characters.
    """

    source: int
    block: Block
    start: int
    end: int
    words: int

    @property
    def is_last(self) -> bool:
        """True if it ends its block."""
        return self.end == len(self.block.text)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Pieces that stay in one window. ``header``: the column names of the table it begins in."""

    pieces: tuple[Piece, ...]
    words: int
    header: Piece | None = None


def cut_blocks(blocks: Sequence[Block], limit: int) -> Iterator[Piece]:
    """Cut the blocks of a section into pieces of at most ``limit`` words."""
    for source, block in enumerate(blocks):
        words = count_words(block.text)
        if words <= limit:
            yield Piece(source, block, 0, len(block.text), words)
            continue
        units = _list_lines(block.text) if block.kind == "code" else split_sentences(block)
        # A label has no sentences and may be cut as if it were one.
        for whole in list(units) or [(0, len(block.text))]:
            for start, end in _break_range(block.text, whole, limit):
                yield Piece(source, block, start, end, count_words(block.text[start:end]))


def _list_lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _break_range(text: str, whole: tuple[int, int], limit: int) -> Iterator[tuple[int, int]]:
    """Break a range into parts no longer than a window."""
    first, last = whole
    if count_words(text[first:last]) <= limit:
        yield whole
        return
    words = text[first:last]
    edges = _list_break_edges(words, limit)
    start = used_edges = 0
    while start < len(words):
        # Two letters or one word of an alphabet make a word at least: the last edge is not far.
        stop = min(used_edges + 2 * limit + 1, len(edges))
        fitting = bisect_right(
            edges, limit, used_edges, stop, key=lambda end: count_words(words[start:end])
        )
        used_edges = max(used_edges + 1, fitting)
        end = edges[used_edges - 1]
        yield first + start, first + start + len(words[start:end].rstrip())
        start = end


def _list_break_edges(text: str, limit: int) -> list[int]:
    """List where a text may be broken: after words, and after letters in a run that is too long."""
    edges: list[int] = []
    for match in re.finditer(r"\S+\s*|\s+", text):
        start, end = match.span()
        if count_words(match.group()) > limit:
            edges += [atom.end() for atom in _ATOM.finditer(text, start, end)]
        else:
            edges.append(end)
    return edges


def cluster_pieces(pieces: Sequence[Piece], limit: int) -> Iterator[Cluster]:
    """Group pieces that stay together where they fit in ``limit`` words.

    A label stays with what it labels, a lead-in with the code or the whole list that follows it,
    and column names with the first row.
    """
    start = 0
    header: Piece | None = None
    while start < len(pieces):
        end = _find_cluster_end(pieces, start, limit)
        cluster = tuple(pieces[start:end])
        first = cluster[0].block
        is_body = first.kind == "row" and first.detail != "header"
        yield Cluster(cluster, _count_words(cluster), header if is_body else None)
        for piece in cluster:
            if piece.block.kind != "row":
                header = None
            elif piece.block.detail == "header":
                header = piece
        start = end


def _find_cluster_end(pieces: Sequence[Piece], start: int, limit: int) -> int:
    end = start
    while end < len(pieces) and end - start < _MAX_BOUND_PIECES and _leads_into_next(pieces[end]):
        end += 1
    if end in (start, len(pieces)):
        return max(end, start + 1) if _count_words(pieces[start:end]) <= limit else start + 1
    first = pieces[end].block
    if first.kind == "item":
        following = pieces[end : end + _MAX_LIST_PIECES]
        whole = end + sum(1 for _ in takewhile(lambda p: _is_in_list(p.block, first), following))
        if _count_words(pieces[start:whole]) <= limit:
            return whole
    return end + 1 if _count_words(pieces[start : end + 1]) <= limit else start + 1


def _count_words(pieces: Sequence[Piece]) -> int:
    return sum(piece.words for piece in pieces)


def _leads_into_next(piece: Piece) -> bool:
    """True if a piece says little without the next one."""
    block = piece.block
    if block.kind == "label" or block.detail == "header":
        return piece.is_last
    return piece.is_last and block.kind in ("text", "item") and block.text.endswith(_LEAD_INS)


def _is_in_list(block: Block, first: Block) -> bool:
    return block.level > first.level or (block.kind == "item" and block.level == first.level)


def join_pieces(pieces: Sequence[Piece]) -> list[Block]:
    """Join pieces in their order: those that follow each other in a block are one block."""
    blocks: list[Block] = []
    for _, run in groupby(pieces, key=lambda piece: piece.source):
        first, *others = run
        last = others[-1] if others else first
        blocks += slice_block(first.block, first.start, last.end)
    return blocks
