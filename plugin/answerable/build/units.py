"""What is not cut when a page is cut in windows: units of text, and units that stay together."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from ..serve.structure import Block, Span
from ..serve.terms import count_words
from .inline_text import trim
from .records import PageBlock
from .sentences import split

# A word of an alphabet, or a letter of a script that may have no spaces with its marks: with few,
# since nothing else would bound a passage.
_ATOM = re.compile(r"[^\W\u0e00-\U0010ffff]+\W{0,16}|\w\W{0,16}|\W{1,16}")
# How a text ends that leads into what follows it.
_LEAD_INS = (":", "：")
# Lead-ins and labels in a row, and units of a list: no page that a person reads has more.
_MOST_BINDING = 8
_MOST_IN_LIST = 200


@dataclass(frozen=True, slots=True)
class Unit:
    """The least that is not cut: a block, or a sentence or some lines of a long one.

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
class Cluster:
    """Units that stay in one window. ``header``: the column names of the table it begins in."""

    units: tuple[Unit, ...]
    words: int
    header: Unit | None = None


@dataclass(frozen=True, slots=True)
class _Range:
    """A part of a block, and what stands before it; ``is_sentence``: it is a whole one."""

    start: int
    end: int
    glue: str
    is_sentence: bool


def cut_blocks(blocks: Sequence[PageBlock], limit: int, language: str) -> Iterator[Unit]:
    """Cut the blocks of a section in units of at most ``limit`` words."""
    before: PageBlock | None = None
    for source, block in enumerate(blocks):
        yield from _cut(source, block, _glue(block, before), limit, language)
        before = block


def _glue(block: PageBlock, before: PageBlock | None) -> str:
    is_line = block.kind in ("item", "row") or block.detail == "term"
    defines = before is not None and before.detail == "term" and block.kind == "text"
    return "\n" if is_line or defines else "\n\n"


def _cut(source: int, block: PageBlock, glue: str, limit: int, language: str) -> list[Unit]:
    sentences = tuple(split(block, language))
    words = count_words(block.text)
    if words <= limit:
        return [Unit(source, block, block.text, glue, sentences, block.spans, words)]
    ranges = _lines(block, glue) if block.kind == "code" else _sentences(block, glue, sentences)
    pieces = [piece for whole in ranges for piece in _pieces(block, whole, limit)]
    return [
        _unit(source, block, piece, is_last=number == len(pieces))
        for number, piece in enumerate(pieces, 1)
    ]


def _unit(source: int, block: PageBlock, piece: _Range, *, is_last: bool) -> Unit:
    text = block.text[piece.start : piece.end]
    sentences = ((0, len(text)),) if piece.is_sentence else ()
    inside = (
        s._replace(start=max(s.start, piece.start) - piece.start, end=s.end - piece.start)
        for s in block.spans
        if s.start < piece.end and s.end > piece.start
    )
    spans = trim((s._replace(end=min(s.end, len(text))) for s in inside), text)
    return Unit(source, block, text, piece.glue, sentences, spans, count_words(text), is_last)


def _lines(block: PageBlock, glue: str) -> Iterator[_Range]:
    start = 0
    for line in block.text.split("\n"):
        yield _Range(start, start + len(line), "\n" if start else glue, False)
        start += len(line) + 1


def _sentences(
    block: PageBlock, glue: str, sentences: Sequence[tuple[int, int]]
) -> Iterator[_Range]:
    last = -1
    # A label has no sentences and may be cut as if it were one.
    for start, end in sentences or [(0, len(block.text))]:
        # Japanese has no space between its sentences, and none must be put into a quote.
        between = glue if last < 0 else " " if start > last else ""
        yield _Range(start, end, between, block.kind != "label")
        last = end


def _pieces(block: PageBlock, whole: _Range, limit: int) -> Iterator[_Range]:
    """A range as pieces no longer than a window; one that has to be broken is no sentence."""
    text = block.text[whole.start : whole.end]
    if count_words(text) <= limit:
        yield whole
        return
    edges = _edges(text, limit)
    glue = whole.glue
    start = at = 0
    while start < len(text):
        at = _fitting(text, start, edges, at, limit)
        end = edges[at - 1]
        length = len(text[start:end].rstrip())
        yield _Range(whole.start + start, whole.start + start + length, glue, False)
        glue = " " if text[end - 1].isspace() else ""
        start = end


def _fitting(text: str, start: int, edges: Sequence[int], at: int, limit: int) -> int:
    """How many of the edges, more than ``at``, end a piece from ``start`` within the window."""

    def words(end: int) -> int:
        return count_words(text[start:end])

    # Two letters or one word of an alphabet make a word at least: the last edge is not far.
    stop = min(at + 2 * limit + 1, len(edges))
    return max(at + 1, bisect_right(edges, limit, at, stop, key=words))


def _edges(text: str, limit: int) -> list[int]:
    """Where a text may be broken: after its words, and in a run that is too long after letters."""
    edges: list[int] = []
    for match in re.finditer(r"\S+\s*|\s+", text):
        start, end = match.span()
        if count_words(match.group()) > limit:
            edges += [atom.end() for atom in _ATOM.finditer(text, start, end)]
        else:
            edges.append(end)
    return edges


def gather(units: Sequence[Unit], limit: int) -> Iterator[Cluster]:
    """Group units that stay together where they fit in ``limit`` words.

    A label stays with what it labels, a lead-in with the code or the whole list that follows it,
    and column names with the first row.
    """
    headers: dict[int, Unit] = {}
    start = 0
    while start < len(units):
        first = units[start]
        end = _end_of_cluster(units, start, limit)
        for unit in units[start:end]:
            if unit.block.detail == "header":
                headers.setdefault(unit.block.group, unit)
        is_body = first.block.kind == "row" and first.block.detail != "header"
        words = sum(unit.words for unit in units[start:end])
        header = headers.get(first.block.group) if is_body else None
        yield Cluster(tuple(units[start:end]), words, header)
        start = end


def _end_of_cluster(units: Sequence[Unit], start: int, limit: int) -> int:
    end = start
    while end < len(units) and end - start < _MOST_BINDING and _binds(units[end]):
        end += 1
    if end in (start, len(units)):
        return max(end, start + 1) if _fits(units[start:end], limit) else start + 1
    first = units[end]
    following = units[end : end + _MOST_IN_LIST]
    if first.block.kind == "item":
        whole = end + sum(1 for _ in takewhile(lambda u: _is_of_list(u, first), following))
        if _fits(units[start:whole], limit):
            return whole
    return end + 1 if _fits(units[start : end + 1], limit) else start + 1


def _fits(units: Sequence[Unit], limit: int) -> bool:
    return sum(unit.words for unit in units) <= limit


def _binds(unit: Unit) -> bool:
    """Test whether a unit says little without the next one."""
    block = unit.block
    if block.kind == "label" or block.detail == "header":
        return unit.is_last
    return unit.is_last and block.kind in ("text", "item") and unit.text.endswith(_LEAD_INS)


def _is_of_list(unit: Unit, first: Unit) -> bool:
    block, level = unit.block, first.block.level
    if block.level > level:
        return True
    return block.kind == "item" and block.group == first.block.group and block.level == level


def join(
    units: Sequence[Unit],
) -> tuple[str, tuple[tuple[int, int], ...], tuple[Block, ...], tuple[Span, ...]]:
    """Put units together: their text, and the sentences, blocks and spans in it."""
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
            spans += [s._replace(start=length + s.start, end=length + s.end) for s in unit.spans]
            parts += (glue, unit.text)
            length += len(unit.text)
        block = unit.block
        group = groups.setdefault(block.group, len(groups))
        blocks.append(Block(block.kind, start, length, group, block.level, block.detail))
    return "".join(parts), tuple(sentences), tuple(blocks), tuple(spans)
