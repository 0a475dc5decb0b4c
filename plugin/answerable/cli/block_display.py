"""The blocks of a claim on a terminal: code as code, lists as lists, tables as tables."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ..serve import wire
from .plain_text import plain

Json = dict[str, Any]

_INDENT = 4
_LABEL_STYLES = {"file": "dim", "caption": "italic"}


def mark(blocks: Sequence[Json], numbers: Sequence[int]) -> list[Json]:
    """Put the markers of citations into the paragraph that ends a claim, else after its end."""
    *before, last = blocks
    if last["kind"] == "text":
        *pieces, piece = last["spans"]
        piece = piece | {"text": wire.marked(piece["text"], numbers)}
        return [*before, last | {"spans": [*pieces, piece]}]
    return [*blocks, {"kind": "text", "spans": [{"text": wire.markers(numbers)}]}]


def show(console: Console, blocks: Sequence[Json]) -> None:
    """Print blocks, an empty line between them but for a label and what it labels."""
    is_open = True
    for block in blocks:
        if not is_open:
            console.print()
        for part in _parts(block):
            # A line of code that the terminal breaks is another line when it is copied.
            console.print(part, soft_wrap=block["kind"] == "code")
        is_open = block["kind"] == "label"


def _parts(block: Json) -> Iterator[RenderableType]:
    kind = block["kind"]
    if kind == "text":
        yield _text(block["spans"])
    elif kind == "label":
        label = _text(block["spans"])
        label.stylize(_LABEL_STYLES.get(block["label"], "bold"))
        yield label
    elif kind == "code":
        yield from _code(block)
    elif kind == "list":
        for item in block["items"]:
            yield _item(item)
    elif kind == "table":
        yield _table(block)
    else:
        yield Text("…", "dim")


def _text(spans: Sequence[Json]) -> Text:
    """Pieces as one text: code colored, links underlined."""
    text = Text()
    for span in spans:
        piece = plain(span["text"])
        if span.get("code"):
            piece.stylize("cyan")
        if span.get("href"):
            piece.stylize("underline")
        text.append_text(piece)
    return text


def _code(block: Json) -> Iterator[RenderableType]:
    """The lines of a block of code, indented and colored as the language has it."""
    code = plain(block["text"]).plain
    syntax = Syntax("", block["language"] or "text", theme="ansi_dark", background_color="default")
    for line in syntax.highlight(code).split("\n", allow_blank=True)[: code.count("\n") + 1]:
        yield Text(" " * _INDENT) + line


def _item(item: Json) -> RenderableType:
    marker = f"{item['number']}." if item["number"] else "•"
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(no_wrap=True)
    row.add_column()
    row.add_row(marker, _text(item["spans"]))
    return Padding(row, (0, 0, 0, 2 * item["level"]), expand=False)


def _table(block: Json) -> Table:
    rows: list[list[list[Json]]] = block["rows"]
    table = Table(show_header=bool(block["columns"]), show_lines=False)
    width = max(map(len, [block["columns"], *rows]))
    for number in range(width):
        header = block["columns"][number] if number < len(block["columns"]) else []
        table.add_column(_text(header), overflow="fold")
    for cells in rows:
        table.add_row(*(_text(cell) for cell in cells))
    return table
