"""Write blocks as the Markdown of a passage, whose grammar ``markdown`` documents.

What is written is read as the same blocks, where no text begins or ends with a space, only lines of
paragraphs, items, terms and code have ends, code and links end with their lines, and the label of a
file stands before its code.
"""

from collections.abc import Sequence
from itertools import zip_longest

from ..rules import compile_rule
from .markdown import (
    INDENT,
    Block,
    Span,
    join_code,
    shift_spans,
)

_ESCAPED = compile_rule("markdown", "ESCAPED")
_LINE_START = compile_rule("markdown", "LINE_START")
_NUMBER_START = compile_rule("markdown", "NUMBER_START")
_OWN_CODE = compile_rule("markdown", "OWN_CODE")


def write_blocks(blocks: Sequence[Block]) -> str:
    """Write blocks as Markdown."""
    lines: list[str] = []
    before: Block | None = None
    file = ""
    for block, following in zip_longest(blocks, blocks[1:]):
        if _is_titled(block, following):
            file = block.text
            continue
        indent = INDENT * block.level
        start = indent
        if before and before.detail == "term" and block.level == before.level + 1:
            # Its definition begins.
            start = f"{INDENT * before.level}:   "
        else:
            lines += _divide(before, block)
        first, *others = _write_block(block, before, file)
        lines.append(f"{start}{first}")
        lines += [f"{indent}{line}" if line else "" for line in others]
        before, file = block, ""
    return "\n".join([*lines, *_divide(before, None)])


def escape_markdown(text: str) -> str:
    """Write a text of our own or of a model as one paragraph of words and spans of code."""
    plain = ""
    codes: list[Span] = []
    for n, part in enumerate(_OWN_CODE.split(" ".join(text.split()))):
        if n % 2:
            codes.append(Span("code", len(plain), len(plain) + len(part)))
        plain += part
    return _escape_line_start(write_inline(plain, codes))


def _is_titled(block: Block, following: Block | None) -> bool:
    """True of the name of a file that stands in the fence of the code after it."""
    if following is None or (block.kind, block.detail) != ("label", "file"):
        return False
    return (following.kind, following.level) == ("code", block.level)


def _divide(before: Block | None, block: Block | None) -> list[str]:
    """Return the lines between two blocks, of which the second is None at the end."""
    if before is None:
        return []
    if before.detail == "term":
        if block and (block.detail, block.level) == ("term", before.level):
            return []
        without_definition = f"{INDENT * before.level}:"
        return [without_definition, ""] if block else [without_definition]
    is_next_line = block is not None and (
        before.kind == block.kind == "item" or _continues_table(before, block)
    )
    return [] if is_next_line or block is None else [""]


def _continues_table(before: Block | None, row: Block) -> bool:
    if before is None or row.detail == "header":
        return False
    return before.kind == row.kind == "row" and before.level == row.level


def _write_block(block: Block, before: Block | None, file: str) -> list[str]:
    """Write the lines of a block, of which the later ones are not indented yet."""
    if block.kind == "code":
        fence = _make_fence(block.text, 3)
        name = file.replace('"', "&quot;")
        title = f' title="{name}"' if file else ""
        return [f"{fence}{block.detail}{title}", *block.text.split("\n"), fence]
    if block.kind == "row":
        return _write_row(block, before)
    if block.kind == "label" and block.detail in ("tab", "title"):
        mark = "===" if block.detail == "tab" else "!!!"
        return [f'{mark} "{write_inline(block.text, block.spans)}"']
    marker = (f"{block.detail}. " if block.detail else "- ") if block.kind == "item" else ""
    first, *others = _write_lines(block)
    return [f"{marker}{first}", *(f"{INDENT if marker and line else ''}{line}" for line in others)]


def _write_lines(block: Block) -> list[str]:
    """Write the inline text of a block, each line but the last with a backslash at its end."""
    written: list[str] = []
    start = 0
    for line in block.text.split("\n"):
        end = start + len(line)
        inside = [s for s in block.spans if start <= s.start and s.end <= end]
        content = write_inline(line, shift_spans(inside, -start))
        written.append(_escape_line_start(content))
        start = end + 1
    return [*(f"{line}\\" for line in written[:-1]), written[-1]]


def _write_row(block: Block, before: Block | None) -> list[str]:
    """Write a row, after empty column names where a table begins that has none."""
    cells = [span for span in block.spans if span.kind == "cell"]
    texts: list[str] = []
    for cell in cells or [Span("cell", 0, len(block.text))]:
        inside = [
            s for s in block.spans
            if s.kind != "cell" and cell.start <= s.start and s.end <= cell.end
        ]  # fmt: skip
        content = write_inline(block.text[cell.start : cell.end], shift_spans(inside, -cell.start))
        # Or it would look like the line below column names.
        texts.append("\\---" if content == "---" else content.replace("|", "\\|"))
    row = f"| {' | '.join(texts)} |"
    divider = f"|{' --- |' * len(texts)}"
    if block.detail == "header":
        return [row, divider]
    return [row] if _continues_table(before, block) else [f"|{'  |' * len(texts)}", divider, row]


def write_inline(text: str, spans: Sequence[Span]) -> str:
    """Write the inline text of one line with its code and its links."""
    links = [span for span in spans if span.kind == "link" and span.start < span.end]
    codes = [span for span in join_code(spans) if span.kind == "code"]
    coded = 0
    edges = {edge for span in (*links, *codes) for edge in (span.start, span.end)}
    ends = sorted({len(text), *edges} - {0})
    opened = {span.start: span for span in links}
    closed = {span.end: span for span in links}
    parts: list[str] = []
    start = 0
    for end in ends:
        parts.append("[" if start in opened else "")
        piece = text[start:end]
        while coded < len(codes) and codes[coded].end <= start:
            coded += 1
        if coded < len(codes) and codes[coded].start <= start:
            fence = _make_fence(piece, 1)
            parts.append(f"{fence} {piece} {fence}" if "`" in piece else f"`{piece}`")
        else:
            # What would be markup, here or for another reader of Markdown.
            parts.append(_ESCAPED.sub(r"\\\g<0>", piece))
        parts.append(f"]({closed[end].url})" if end in closed else "")
        start = end
    return "".join(parts)


def _make_fence(text: str, least: int) -> str:
    """Make a run of backticks that is longer than each in the text, of ``least`` or more."""
    fence = "`" * least
    while fence in text:
        fence += "`"
    return fence


def _escape_line_start(content: str) -> str:
    """Escape what would make a line begin another block."""
    if _LINE_START.match(content):
        return f"\\{content}"
    number = _NUMBER_START.match(content)
    return f"{number[1]}\\{content[number.end() :]}" if number else content
