r"""The Markdown of a passage: its grammar, and the blocks and the plain text in it.

Every line is read alone. Four spaces indent it by one level, of which 32 are counted. A blank line
divides blocks, but for items of a list, rows of a table, and a term and its definition.

=============  ================================================================================
paragraph      inline text on one line; a backslash at the end of a line is a line break
item           ``- inline`` or ``3. inline``; what belongs to it stands one level deeper
table          ``| a | b |`` for each row, after a first one ``| --- | --- |``; a table without
               column names has empty ones; a bar in a cell is ``\|``
code           between two lines of backticks, more of them than any run in it has; after the
               first ones the language and ``title="…"``, the name of its file, where ``"`` is
               ``&quot;``. Diagrams have the language ``mermaid``, terminals ``recording``
tab            ``=== "inline"``; its content stands one level deeper
admonition     ``!!! "inline"``; its content stands one level deeper
definition     lines of terms, then ``:`` and three spaces in place of the level that the
               definition stands deeper; a term without one has a line ``:`` below it
=============  ================================================================================

Inline text has code between backticks (in longer runs with a space on both sides, where it holds
backticks), links as ``[text](url)`` whose url is root-relative or http(s), and a backslash before
ASCII punctuation that is no markup. Pieces of code that touch are one. There is no emphasis, no
image and no HTML. What is no known form is a paragraph, so nothing fails, and any text is read in
linear time. ``markdown_writer`` writes it.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ..rules import RULES, compile_rule

BlockKind = Literal["text", "item", "row", "code", "label"]
SpanKind = Literal["code", "link", "cell"]

# Languages of code that draws a diagram or replays a terminal: nobody copies it.
DIAGRAM_LANGUAGE, RECORDING_LANGUAGE = "mermaid", "recording"
# A client indents by the level, so a hostile text could make it fill its memory.
MAX_LEVEL: int = RULES["markdown"]["MAX_LEVEL"]
# Between the cells of a row in its plain text.
CELL_SEPARATOR: str = RULES["markdown"]["CELL_SEPARATOR"]
INDENT = "    "

_FENCE = compile_rule("markdown", "FENCE")
_LABEL = compile_rule("markdown", "LABEL")
_ITEM = compile_rule("markdown", "ITEM")
_ROW = compile_rule("markdown", "ROW")
_SEPARATOR_ROW = compile_rule("markdown", "SEPARATOR_ROW")
_CELL_EDGE = compile_rule("markdown", "CELL_EDGE")
_DEFINITION = compile_rule("markdown", "DEFINITION")
_LINE_BREAK = compile_rule("markdown", "LINE_BREAK")
_TOKEN = compile_rule("markdown", "TOKEN")


class Span(NamedTuple):
    """The place of inline code, of a link or of the cell of a row: ``text[start:end]`` of a block.

    A cell may be empty. ``url`` is that of a link, root-relative or absolute.
    """

    kind: SpanKind
    start: int
    end: int
    url: str = ""


class Block(NamedTuple):
    """A paragraph, list item, table row, block of code or label, with its plain text.

    ``level`` counts the items, definitions, tabs and admonitions that it stands in. ``detail`` is
    the language of code, the number of an item, "header" for a row of column names, and "file",
    "tab", "title" or "term" for a label; "" for none.
    """

    kind: BlockKind
    text: str
    level: int = 0
    detail: str = ""
    spans: tuple[Span, ...] = ()


class PlacedBlock(NamedTuple):
    """A block and where it stands in the plain text of its passage."""

    block: Block
    start: int
    end: int


class MarkdownText(NamedTuple):
    """The plain text of a Markdown text, and its blocks in it."""

    text: str
    blocks: tuple[PlacedBlock, ...]


@lru_cache(maxsize=2048)
def read_markdown(markdown: str) -> MarkdownText:
    """Read a Markdown text; what was read lately is kept."""
    return place_blocks(parse_blocks(markdown))


def plain_text(markdown: str) -> str:
    """Return the plain text of a Markdown text: what a reader sees, without its markup."""
    return read_markdown(markdown).text


def place_blocks(blocks: Iterable[Block]) -> MarkdownText:
    """Join the plain text of blocks: by a blank line, or by a line's end within a list or table."""
    parts: list[str] = []
    placed: list[PlacedBlock] = []
    length = 0
    before: Block | None = None
    for block in blocks:
        glue = choose_glue(before, block)
        start = length + len(glue)
        length = start + len(block.text)
        parts += (glue, block.text)
        placed.append(PlacedBlock(block, start, length))
        before = block
    return MarkdownText("".join(parts), tuple(placed))


def choose_glue(before: Block | None, block: Block) -> str:
    """Return what stands in the plain text between two blocks."""
    if before is None:
        return ""
    is_line = block.kind in ("item", "row") or block.detail == "term"
    return "\n" if is_line or (before.detail == "term" and block.kind == "text") else "\n\n"


def parse_blocks(markdown: str) -> tuple[Block, ...]:
    """Parse a Markdown text into its blocks; those without any text are left out."""
    blocks: list[Block] = []
    lines = deque(markdown.split("\n"))
    # Where the blocks begin between which there is no blank line.
    run = 0
    while lines:
        line = lines.popleft()
        content = line.strip(" ")
        indent = len(line) - len(line.lstrip(" "))
        if not content:
            run = len(blocks)
            continue
        definition = _DEFINITION.fullmatch(content)
        if definition and _mark_terms(blocks, run, indent // len(INDENT)):
            indent += len(INDENT)
            content = (definition[1] or "").strip(" ")
        level = min(indent // len(INDENT), MAX_LEVEL)
        if fence := _FENCE.fullmatch(content):
            if fence[3]:
                blocks.append(Block("label", fence[3].replace("&quot;", '"'), level, "file"))
            if code := _take_code(lines, fence[1], indent):
                blocks.append(Block("code", code, level, fence[2]))
        elif _ROW.fullmatch(content):
            is_header = bool(lines and _SEPARATOR_ROW.fullmatch(lines[0].strip(" ")))
            if is_header:
                lines.popleft()
            row = _parse_row(content, level, "header" if is_header else "")
            if row.text.strip(CELL_SEPARATOR):
                blocks.append(row)
        elif label := _LABEL.fullmatch(content):
            text, spans = parse_inline(label[2].strip(" "))
            detail = "tab" if label[1] == "===" else "title"
            blocks += [Block("label", text, level, detail, spans)] if text else []
        else:
            item = _ITEM.match(content)
            text, spans = _take_paragraph(lines, content[item.end() :] if item else content)
            kind: BlockKind = "item" if item else "text"
            detail = (item[1] or "") if item else ""
            blocks += [Block(kind, text, level, detail, spans)] if text else []
    return tuple(blocks)


def _mark_terms(blocks: list[Block], run: int, level: int) -> bool:
    """Make terms of the paragraphs before a definition; False if there is none."""
    first = len(blocks)
    while first > run and blocks[first - 1].kind == "text" and blocks[first - 1].level == level:
        first -= 1
        blocks[first] = blocks[first]._replace(kind="label", detail="term")
    return first < len(blocks)


def _take_code(lines: deque[str], fence: str, indent: int) -> str:
    """Take the lines up to a fence, or to the end, without the spaces that indent the fence."""
    code: list[str] = []
    while lines and (line := lines.popleft()).strip(" ") != fence:
        code.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
    return "\n".join(code)


def _take_paragraph(lines: deque[str], content: str) -> tuple[str, tuple[Span, ...]]:
    """Take the lines that a line continues in; return their text, and its spans."""
    text, spans = "", list[Span]()
    while True:
        is_broken = _LINE_BREAK.search(content) is not None
        line, line_spans = parse_inline(content[:-1].rstrip(" ") if is_broken else content)
        spans += shift_spans(line_spans, len(text))
        text += line
        if not (is_broken and lines):
            return text.rstrip("\n"), tuple(spans)
        text += "\n"
        content = lines.popleft().strip(" ")


def _parse_row(content: str, level: int, detail: str) -> Block:
    text, spans = "", list[Span]()
    for n, cell in enumerate(_CELL_EDGE.split(content[1:-1])):
        text += CELL_SEPARATOR if n else ""
        cell_text, inner = parse_inline(cell.strip(" ").replace("\\|", "|"))
        start = len(text)
        text += cell_text
        spans += (Span("cell", start, len(text)), *shift_spans(inner, start))
    return Block("row", text, level, detail, sort_spans(spans))


def parse_inline(content: str) -> tuple[str, tuple[Span, ...]]:
    """Parse the inline text of one line; return its plain text, and its code and links."""
    if not _TOKEN.search(content):
        return content, ()
    runs = _list_backticks(content)
    parts: list[str] = []
    spans: list[Span] = []
    place = length = 0
    # Of the bracket that may begin a link: its part, its place in the text, the spans before it.
    bracket: tuple[int, int, int] | None = None
    while token := _TOKEN.search(content, place):
        escaped, backticks, url = token[1], token[2], token[3]
        parts.append(content[place : token.start()])
        length += len(parts[-1])
        place = token.end()
        if escaped:
            parts.append(escaped)
        elif backticks:
            close = _find_backticks(runs, len(backticks), place)
            code = content[place:close] if close else backticks
            if close:
                is_padded = len(backticks) > 1 and code[:1] == code[-1:] == " " and len(code) > 2
                code = code[1:-1] if is_padded else code
                spans.append(Span("code", length, length + len(code)))
                place = close + len(backticks)
            parts.append(code)
        elif url and bracket and length > bracket[1] + 1:
            number, start, count = bracket
            parts[number] = ""
            length -= 1
            spans[count:] = shift_spans(spans[count:], -1)
            spans.append(Span("link", start, length, url))
            bracket = None
            continue
        else:
            bracket = (len(parts), length, len(spans)) if token[0] == "[" else None
            parts.append(token[0])
        length += len(parts[-1])
    return "".join([*parts, content[place:]]), sort_spans(join_code(spans))


def _list_backticks(content: str) -> dict[int, deque[int]]:
    """List by their length where runs of backticks begin, in order."""
    runs: dict[int, deque[int]] = defaultdict(deque)
    for run in re.finditer("`+", content):
        runs[len(run[0])].append(run.start())
    return runs


def _find_backticks(runs: dict[int, deque[int]], count: int, place: int) -> int:
    """Find the next run of so many backticks; 0 if there is none."""
    starts = runs[count]
    while starts and starts[0] < place:
        starts.popleft()
    return starts[0] if starts else 0


def join_code(spans: Iterable[Span]) -> list[Span]:
    """Join spans of code that touch each other."""
    joined: list[Span] = []
    code: Span | None = None
    for span in sort_spans(spans):
        if span.kind != "code":
            joined.append(span)
        elif code and span.start <= code.end:
            code = code._replace(end=max(code.end, span.end))
        else:
            joined += [code] if code else []
            code = span
    return [*joined, code] if code else joined


def sort_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Sort spans by their starts, an outer one before what it holds."""
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.kind)))


def shift_spans(spans: Iterable[Span], offset: int) -> list[Span]:
    """Move spans to where their text stands in a longer one."""
    return [s._replace(start=s.start + offset, end=s.end + offset) for s in spans]


def slice_blocks(blocks: Sequence[PlacedBlock], start: int, end: int) -> list[Block]:
    """Cut the blocks of ``text[start:end]`` out of a passage's blocks; of code, whole lines."""
    sliced: list[Block] = []
    for block, first, last in blocks:
        if first < end and last > start:
            stop = min(end - first, len(block.text))
            begin, stop = strip_range(block.text, max(start - first, 0), stop)
            if block.kind == "code" and begin < stop:
                begin = block.text.rfind("\n", 0, begin) + 1
                line_end = block.text.find("\n", stop)
                stop = line_end if line_end >= 0 else len(block.text)
            sliced += slice_block(block, begin, stop)
    return sliced


def strip_range(text: str, start: int, end: int) -> tuple[int, int]:
    """Strip white space from the ends of a range; an empty one where there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), max(start, end - len(part) + len(part.rstrip()))


def slice_block(block: Block, start: int, end: int) -> list[Block]:
    """Cut a block to a range of its text, without white space at its edges; none if empty."""
    words = block.text[start:end]
    if words == block.text:
        return [block]
    start += len(words) - len(words.lstrip("\n" if block.kind == "code" else None))
    end = start + len(block.text[start:end].rstrip())
    if not words.strip():
        return []
    # Code that is cut is no code, so that nobody takes it for a whole command.
    inside = [
        span._replace(
            start=min(max(span.start, start), end) - start,
            end=min(max(span.end, start), end) - start,
        )
        for span in block.spans
        if span.kind != "code" or start <= span.start <= span.end <= end
    ]
    kept = tuple(span for span in inside if span.start < span.end or span.kind == "cell")
    return [block._replace(text=block.text[start:end], spans=kept)]
