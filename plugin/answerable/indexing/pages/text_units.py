"""Cut blocks into units that no passage splits, cluster those that stay together, and join them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile

import sentencex

from ...serve.structure import Block, Span
from ...serve.text.tokenization import count_words
from .records import PageBlock, shift_spans, trim_spans

# A word of an alphabet, or a letter of a script that may have no spaces with its marks: with few,
# since nothing else would bound a passage.
_ATOM = re.compile(r"[^\W\u0e00-\U0010ffff]+\W{0,16}|\w\W{0,16}|\W{1,16}")
# What ends a sentence without a space after it.
_FULL_WIDTH_STOPS = "。！？．｡"
# How a text ends that leads into what follows it.
_LEAD_INS = (":", "：")
# Lead-ins and labels in a row, and units of a list: no page that a person reads has more.
_MAX_BOUND_UNITS = 8
_MAX_LIST_UNITS = 200


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A block, or a sentence or some lines of a long one: the smallest text that is not cut.

    ``source`` numbers the block within its section. ``glue`` stands before the unit when it
    follows another; ``sentences`` and ``spans`` are offsets in ``text``; ``words`` is how many it
    has, in a script without spaces half its characters. ``is_last``: it ends its block.
    """

    source: int
    block: PageBlock
    text: str
    glue: str
    sentences: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    words: int
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class UnitCluster:
    """Units that stay in one window. ``header``: the column names of the table it begins in."""

    units: tuple[TextUnit, ...]
    words: int
    header: TextUnit | None = None


@dataclass(frozen=True, slots=True)
class _BlockRange:
    """A part of a block, and what stands before it; ``is_sentence``: it is a whole one."""

    start: int
    end: int
    glue: str
    is_sentence: bool


def split_sentences(block: PageBlock, language: str = "en") -> list[tuple[int, int]]:
    """List the (start, end) offsets of a block's sentences, without white space; none in code.

    A label has none either: it says nothing alone. A table row is one sentence. No sentence ends
    inside inline code or inside a word.
    """
    text = block.text
    if block.kind in ("code", "label"):
        return []
    if block.kind == "row":
        # Its first or last cell may be empty.
        return [(len(text) - len(text.lstrip()), len(text.rstrip()))]
    # A full stop within code must not look like an end; a letter of the same width cannot.
    masked = list(text)
    for start, end in block.code:
        masked[start:end] = "x" * (end - start)
    edges = [0]
    end = 0
    for segment in sentencex.segment(language, "".join(masked)):
        end += len(segment)
        if end >= len(text):
            break
        if text[end - 1].isspace() or text[end].isspace() or text[end - 1] in _FULL_WIDTH_STOPS:
            edges.append(end)
    sentences = []
    for start, end in pairwise((*edges, len(text))):
        sentence = text[start:end]
        if sentence.strip():
            begin = start + len(sentence) - len(sentence.lstrip())
            sentences.append((begin, begin + len(sentence.strip())))
    return sentences


def cut_blocks(blocks: Sequence[PageBlock], limit: int, language: str) -> Iterator[TextUnit]:
    """Cut the blocks of a section into units of at most ``limit`` words."""
    before: PageBlock | None = None
    for source, block in enumerate(blocks):
        is_line = block.kind in ("item", "row") or block.detail == "term"
        defines = before is not None and before.detail == "term" and block.kind == "text"
        glue = "\n" if is_line or defines else "\n\n"
        yield from _cut_block(source, block, glue, limit, language)
        before = block


def _cut_block(
    source: int, block: PageBlock, glue: str, limit: int, language: str
) -> list[TextUnit]:
    sentences = tuple(split_sentences(block, language))
    words = count_words(block.text)
    if words <= limit:
        return [TextUnit(source, block, block.text, glue, sentences, block.spans, words)]
    if block.kind == "code":
        ranges = _list_line_ranges(block, glue)
    else:
        ranges = _list_sentence_ranges(block, glue, sentences)
    pieces = [piece for whole in ranges for piece in _break_range(block, whole, limit)]
    return [
        _make_unit(source, block, piece, is_last=number == len(pieces))
        for number, piece in enumerate(pieces, 1)
    ]


def _make_unit(source: int, block: PageBlock, piece: _BlockRange, *, is_last: bool) -> TextUnit:
    start, end = piece.start, piece.end
    text = block.text[start:end]
    sentences = ((0, len(text)),) if piece.is_sentence else ()
    inside = (
        s._replace(start=max(s.start, start) - start, end=min(s.end, end) - start)
        for s in block.spans
        if s.start < end and s.end > start
    )
    spans = trim_spans(inside, text)
    return TextUnit(source, block, text, piece.glue, sentences, spans, count_words(text), is_last)


def _list_line_ranges(block: PageBlock, glue: str) -> Iterator[_BlockRange]:
    start = 0
    for line in block.text.split("\n"):
        yield _BlockRange(start, start + len(line), "\n" if start else glue, is_sentence=False)
        start += len(line) + 1


def _list_sentence_ranges(
    block: PageBlock, glue: str, sentences: Sequence[tuple[int, int]]
) -> Iterator[_BlockRange]:
    last = -1
    # A label has no sentences and may be cut as if it were one.
    for start, end in sentences or [(0, len(block.text))]:
        # Japanese has no space between its sentences, and none must be put into a quote.
        between = glue if last < 0 else " " if start > last else ""
        yield _BlockRange(start, end, between, is_sentence=block.kind != "label")
        last = end


def _break_range(block: PageBlock, whole: _BlockRange, limit: int) -> Iterator[_BlockRange]:
    """Break a range into pieces no longer than a window; a broken sentence is none any more."""
    text = block.text[whole.start : whole.end]
    if count_words(text) <= limit:
        yield whole
        return
    edges = _list_break_edges(text, limit)
    glue = whole.glue
    start = used_edges = 0
    while start < len(text):
        used_edges = _count_fitting_edges(text, start, edges, used_edges, limit)
        end = edges[used_edges - 1]
        length = len(text[start:end].rstrip())
        first = whole.start + start
        yield _BlockRange(first, first + length, glue, is_sentence=False)
        glue = " " if text[end - 1].isspace() else ""
        start = end


def _count_fitting_edges(
    text: str, start: int, edges: Sequence[int], used_edges: int, limit: int
) -> int:
    """Count the edges up to the end of the longest piece from ``start`` that fits the window."""
    # Two letters or one word of an alphabet make a word at least: the last edge is not far.
    stop = min(used_edges + 2 * limit + 1, len(edges))
    fitting = bisect_right(
        edges, limit, used_edges, stop, key=lambda end: count_words(text[start:end])
    )
    return max(used_edges + 1, fitting)


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


def cluster_units(units: Sequence[TextUnit], limit: int) -> Iterator[UnitCluster]:
    """Group units that stay together where they fit in ``limit`` words.

    A label stays with what it labels, a lead-in with the code or the whole list that follows it,
    and column names with the first row.
    """
    headers: dict[int, TextUnit] = {}
    start = 0
    while start < len(units):
        first = units[start]
        end = _find_cluster_end(units, start, limit)
        cluster = tuple(units[start:end])
        for unit in cluster:
            if unit.block.detail == "header":
                headers.setdefault(unit.block.group, unit)
        is_body = first.block.kind == "row" and first.block.detail != "header"
        header = headers.get(first.block.group) if is_body else None
        yield UnitCluster(cluster, _count_words(cluster), header)
        start = end


def _find_cluster_end(units: Sequence[TextUnit], start: int, limit: int) -> int:
    end = start
    while end < len(units) and end - start < _MAX_BOUND_UNITS and _leads_into_next(units[end]):
        end += 1
    if end in (start, len(units)):
        return max(end, start + 1) if _count_words(units[start:end]) <= limit else start + 1
    first = units[end]
    if first.block.kind == "item":
        following = units[end : end + _MAX_LIST_UNITS]
        whole = end + sum(1 for _ in takewhile(lambda u: _is_in_list(u, first), following))
        if _count_words(units[start:whole]) <= limit:
            return whole
    return end + 1 if _count_words(units[start : end + 1]) <= limit else start + 1


def _count_words(units: Sequence[TextUnit]) -> int:
    return sum(unit.words for unit in units)


def _leads_into_next(unit: TextUnit) -> bool:
    """Test whether a unit says little without the next one."""
    block = unit.block
    if block.kind == "label" or block.detail == "header":
        return unit.is_last
    return unit.is_last and block.kind in ("text", "item") and unit.text.endswith(_LEAD_INS)


def _is_in_list(unit: TextUnit, first: TextUnit) -> bool:
    block, level = unit.block, first.block.level
    if block.level > level:
        return True
    return block.kind == "item" and block.group == first.block.group and block.level == level


def join_units(
    units: Sequence[TextUnit],
) -> tuple[str, tuple[tuple[int, int], ...], tuple[Block, ...], tuple[Span, ...]]:
    """Join units: return their text, and the sentences, blocks and spans in it."""
    parts: list[str] = []
    sentences: list[tuple[int, int]] = []
    spans: list[Span] = []
    blocks: list[Block] = []
    groups: dict[int, int] = {0: 0}
    length = 0
    for _, pieces in groupby(units, key=lambda unit: unit.source):
        start = -1
        for unit in pieces:
            glue = unit.glue if length else ""
            length += len(glue)
            start = length if start < 0 else start
            sentences += [(length + a, length + b) for a, b in unit.sentences]
            spans += shift_spans(unit.spans, length)
            parts += (glue, unit.text)
            length += len(unit.text)
        block = unit.block
        group = groups.setdefault(block.group, len(groups))
        blocks.append(Block(block.kind, start, length, group, block.level, block.detail))
    return "".join(parts), tuple(sentences), tuple(blocks), tuple(spans)
