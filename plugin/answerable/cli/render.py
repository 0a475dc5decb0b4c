"""Print replies and reports on the terminal: claims, code, tables, citations, sections.

Text of pages, notes and readers is printed without markup and control characters.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ..serve.answers.wire import (
    IN_PART,
    MAX_PLACES,
    build_claim_blocks,
    format_answer,
    format_markers,
    format_routes,
    insert_markers,
    name_grade,
    select_remarks,
)
from ..serve.retrieval.question import Remark
from ..serve.text.languages import match_languages
from ..serve.text.markdown import escape_markdown
from ..serve.types import HintCitation, Place, RecordCitation, Reply

Json = dict[str, Any]

_LABEL_STYLES = {"file": "dim", "caption": "italic"}
_REFUSAL_SENTENCES = {
    "no-evidence": "Nothing here says this directly.",
    "declined": "Not found: the pages that come close do not answer that question.",
    "contract": "Not found: the answer could not be tied to its sources.",
}


def to_plain_text(text: str) -> Text:
    """Make a text that is printed verbatim: no markup, no control characters, plain spaces."""
    spaced = "".join(" " if c.isspace() and c != "\n" else c for c in text)
    return Text("".join(c for c in spaced if c == "\n" or unicodedata.category(c)[0] != "C"))


def add_citation_markers(blocks: Sequence[Json], numbers: Sequence[int]) -> list[Json]:
    """Put the markers of citations into the paragraph that ends a claim, else after its end."""
    *before, last = blocks
    if last["kind"] == "text":
        *pieces, piece = last["spans"]
        piece = piece | {"text": insert_markers(piece["text"], numbers)}
        return [*before, last | {"spans": [*pieces, piece]}]
    return [*blocks, {"kind": "text", "spans": [{"text": format_markers(numbers)}]}]


def print_blocks(console: Console, blocks: Sequence[Json]) -> None:
    """Print blocks, an empty line between them but for a label and what it labels."""
    is_open = True
    for block in blocks:
        if not is_open:
            console.print()
        for part in _render_block(block):
            # A line of code that the terminal breaks is another line when it is copied.
            console.print(part, soft_wrap=block["kind"] == "code")
        is_open = block["kind"] == "label"


def _render_block(block: Json) -> Iterator[RenderableType]:
    kind = block["kind"]
    if kind == "text":
        yield _render_spans(block["spans"])
    elif kind == "label":
        label = _render_spans(block["spans"])
        label.stylize(_LABEL_STYLES.get(block["label"], "bold"))
        yield label
    elif kind == "code":
        # Indented and colored by its language.
        code, language = to_plain_text(block["text"]).plain, block["language"] or "text"
        syntax = Syntax("", language, theme="ansi_dark", background_color="default")
        lines = syntax.highlight(code).split("\n", allow_blank=True)
        yield from (Text("    ") + line for line in lines[: code.count("\n") + 1])
    elif kind == "list":
        for item in block["items"]:
            marker = f"{item['number']}." if item["number"] else "•"
            row = Table.grid(padding=(0, 1, 0, 0))
            row.add_column(no_wrap=True)
            row.add_column()
            row.add_row(marker, _render_spans(item["spans"]))
            yield Padding(row, (0, 0, 0, 2 * item["level"]), expand=False)
    elif kind == "table":
        yield _render_table(block)
    else:
        yield Text("…", "dim")


def _render_spans(spans: Sequence[Json]) -> Text:
    """Render spans as one text: code colored, links underlined."""
    text = Text()
    for span in spans:
        piece = to_plain_text(span["text"])
        if span.get("code"):
            piece.stylize("cyan")
        if span.get("href"):
            piece.stylize("underline")
        text.append_text(piece)
    return text


def _render_table(block: Json) -> Table:
    rows: list[list[list[Json]]] = block["rows"]
    table = Table(show_header=bool(block["columns"]), show_lines=False)
    width = max(map(len, [block["columns"], *rows]))
    for number in range(width):
        header = block["columns"][number] if number < len(block["columns"]) else []
        table.add_column(_render_spans(header), overflow="fold")
    for cells in rows:
        table.add_row(*(_render_spans(cell) for cell in cells))
    return table


def print_reply(
    console: Console,
    reply: Reply,
    route: str,
    language: str | None = None,
    remarks: Sequence[Remark] = (),
    places: Sequence[Place] = (),
) -> None:
    """Print how sure an answer is, the answer and its numbered citations, or the refusal.

    route: the template of a route's sentence. language: of the question, if that is known.
    remarks: on the words of the question. places: of its search, of which five are printed.
    """
    shown = select_remarks(reply, remarks)
    for remark in shown:
        if remark.kind == "corrected":
            line = f"Showing results for “{remark.replacement}” instead of “{remark.word}”."
            console.print(to_plain_text(line), style="dim")
    if reply.reason:
        console.print(Text(_REFUSAL_SENTENCES[reply.reason], style="yellow"))
    else:
        structures = [build_claim_blocks(claim, reply.passages) for claim in reply.answer.claims]
        if structures:
            grade = name_grade(reply.confidence, written=reply.written, stored=reply.stored)
            console.print(Text(grade, style="bold"))
            if reply.written and not reply.answer.complete:
                console.print(Text(IN_PART, style="dim"))
            console.print()
        _print_answer(console, reply, route, structures)
        _print_sources(console, reply, language)
    if reply.excerpts:
        console.print()
        print_reply(console, reply.excerpts, route, language)
    if words := [f"“{remark.word}”" for remark in shown if remark.kind == "unknown"]:
        console.print(to_plain_text(f"This site does not mention {', '.join(words)}."), style="dim")
    parts = (reply, reply.excerpts) if reply.excerpts else (reply,)
    cited = {citation.url for part in parts for citation in part.answer.citations}
    others = [place for place in places if place.passage.url not in cited][:MAX_PLACES]
    if others:
        console.print(Text("\nMore on this site", style="bold"))
    for place in others:
        print_place(console, place)


def print_place(console: Console, place: Place) -> None:
    """Print a place: its title, its address and its line."""
    print_link(console, Text(), place.passage.title, place.passage.url)
    print_hanging(console, Text("  "), to_plain_text(" ".join(place.line.split())))


def _print_sources(console: Console, reply: Reply, language: str | None) -> None:
    """Print the numbered citations of an answer."""
    console.print()
    cited = {c.language: None for c in reply.answer.citations if isinstance(c, RecordCitation)}
    if cited and language is not None and not match_languages(language, cited):
        console.print(Text(f"No source is in {language}; language: {', '.join(cited)}", "dim"))
    for number, citation in enumerate(reply.answer.citations, 1):
        name = citation.title if isinstance(citation, RecordCitation) else citation.label
        if isinstance(citation, HintCitation) and citation.locator:
            name += f" ({citation.locator})"
        print_link(console, Text(f"[{number}] ", style="bold"), name, citation.url)


def _print_answer(
    console: Console, reply: Reply, route: str, structures: Sequence[list[Json] | None]
) -> None:
    """Print an answer as one text, or claim by claim where they have the structure of a page.

    An agent may read the terminal as Markdown, of which a claim in own words has nothing but code.
    """
    claims = [replace(claim, text=escape_markdown(claim.text)) for claim in reply.answer.claims]
    if not any(structures):
        escaped = replace(reply.answer, claims=tuple(claims))
        console.print(to_plain_text(format_answer(escaped, route)))
        return
    numbers = {citation: n for n, citation in enumerate(reply.answer.citations, 1)}
    for place, (claim, blocks) in enumerate(zip(claims, structures, strict=True)):
        if place:
            console.print()
        whole = blocks or [{"kind": "text", "spans": [{"text": claim.text}]}]
        cited = [numbers[citation] for citation in claim.citations]
        print_blocks(console, add_citation_markers(whole, cited))
    if reply.answer.routes:
        console.print()
        console.print(to_plain_text(format_routes(reply.answer, route)))


def print_link(console: Console, start: Text, name: str, url: str) -> None:
    """Print a name and the address behind it, whose further lines stand below the name."""
    print_hanging(console, start, to_plain_text(name).append(f"  {url}", style="blue"))


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a report, which a log may not break.

    A runner reads `::name::` at the start of a line, and `##[name]` anywhere in it, as commands:
    what a page or a reader has written may be none.
    """
    console = Console()
    for line in "\n".join(lines).split("\n"):
        marked = f"| {line}" if line.lstrip().startswith("::") else line
        console.print(to_plain_text(marked.replace("##[", "# #[")), soft_wrap=True)


def print_hanging(console: Console, start: Text, text: Text) -> None:
    """Print a text after the start of its first line, and its other lines below the text."""
    indent = start.cell_len
    for part in text.wrap(console, max(console.width - indent, 1)):
        part.rstrip()
        console.print(start.append_text(part), soft_wrap=True)
        start = Text(" " * indent)
