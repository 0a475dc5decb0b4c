"""A report as one page of rows and plots, which a terminal, HTML and Markdown show alike."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

Tone = Literal["", "good", "bad", "warn"]
Change = Literal["same", "removed", "added"]

# GitHub refuses a comment of more than 65,536 characters.
MAX_CHARACTERS = 60_000
# Of these for the table of verdicts, and of one text in it.
_MAX_TABLE = 20_000
_MAX_CELL = 600

# A word with the white space after it, so that the pieces of a text join to the text itself.
_WORD = re.compile(r"\S+\s*|\s+")
# In scripts without spaces between words each letter is compared alone.
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
# All that CommonMark and GitHub's additions give a meaning to. A reference to a character is never
# markup (CommonMark 2.5), and GitHub links neither names nor numbers in an element `code`.
_MEANINGFUL = re.compile(r"[&<>\"`*_\[\](){}#+!|~:/@$\\=^.]")
_WHITE_SPACE = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Link:
    """A place that an answer cites. ``href``: its absolute address, None where that is not known.

    ``quote``: what is quoted of it, "" where the answer itself holds the words.
    """

    title: str
    url: str
    href: str | None = None
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One answer: a ``label`` that says of what and in which mode, its text and its links."""

    label: str
    text: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One row of a page: a verdict, a changed answer or a group of questions.

    ``name``: the id of a query. ``outcome``: what is wrong, or how often something was asked.
    ``remark``: what is new about it. ``cells``: its columns in a terminal's table. ``details``:
    what only a page shows. ``sides``: one answer, or that of before and of now. ``marks``: by what
    the page can filter it.
    """

    title: str
    name: str = ""
    label: str = ""
    tone: Tone = ""
    outcome: str = ""
    remark: str = ""
    note: str = ""
    lines: tuple[str, ...] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    details: tuple[tuple[str, str], ...] = ()
    sides: tuple[Side, ...] = ()
    tags: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def pieces(self) -> "tuple[TextPiece, ...]":
        """The words of both answers, marked where only one of them has them."""
        before, after = self.sides
        return diff_words(before.text, after.text)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Shares over the numbers from 0 to 1, each a line; a ``mark`` stands at one number.

    ``shares``: of each line by its name, in [0, 1], at even distances.
    """

    title: str
    shares: Mapping[str, Sequence[float]]
    mark: float
    mark_label: str

    @property
    def lines(self) -> list[str]:
        """The points of each line in SVG units, on a field of 100 by 100."""
        return [
            " ".join(
                f"{round(100 * place / (len(shares) - 1), 1)},{round(100 - 100 * share, 1)}"
                for place, share in enumerate(shares)
            )
            for shares in self.shares.values()
        ]


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of a page. ``limit``: so many of its rows a terminal shows. ``code``: to be copied."""

    title: str = ""
    lines: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    table: Table | None = None
    plot: Plot | None = None
    code: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. ``summary``: its outcome, the last lines of a terminal's output."""

    title: str
    tone: Tone = ""
    summary: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[ReportSection, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A run of words that both texts have, or only the first or only the second."""

    text: str
    change: Change

    @property
    def word(self) -> str:
        """The text without the white space after it, which is not marked."""
        return self.text.rstrip()

    @property
    def space(self) -> str:
        """The white space after the text."""
        return self.text[len(self.word) :]


def diff_words(before: str, after: str) -> tuple[TextPiece, ...]:
    """Compare two texts; the pieces that are not removed join to ``after``.

    White space that is laid out anew is no change.
    """
    first, second = _split_words(before), _split_words(after)
    keys = [[word.strip() for word in words] for words in (first, second)]
    pieces = []
    for operation, i, j, k, m in SequenceMatcher(
        None, keys[0], keys[1], autojunk=False
    ).get_opcodes():
        if operation == "equal":
            pieces.append(TextPiece("".join(second[k:m]), "same"))
        else:
            pieces += [TextPiece("".join(words), "removed") for words in (first[i:j],) if words]
            pieces += [TextPiece("".join(words), "added") for words in (second[k:m],) if words]
    return tuple(pieces)


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    for word in _WORD.findall(text):
        words += list(word) if _SPACELESS.search(word) else [word]
    return words


def render_html_page(page: Page) -> str:
    """Render a page as one HTML file that fetches nothing."""
    tags = {tag: None for section in page.sections for card in section.cards for tag in card.tags}
    marks = {
        mark: None for section in page.sections for card in section.cards for mark in card.marks
    }
    return _load_template().render(page=page, tags=list(tags), marks=list(marks))


@cache
def _load_template() -> Template:
    """Load the template, which escapes every value and refuses a name that it was not given."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")


def format_cards_table(cards: Iterable[Card]) -> str:
    """Format cards as a table in Markdown: verdict, id, question and what is wrong."""
    rows = []
    for card in cards:
        texts = [
            t if len(t) <= _MAX_CELL else f"{t[:_MAX_CELL]}…" for t in (card.title, card.outcome)
        ]
        label = f"**{card.label}**" if card.tone == "bad" else card.label
        cells = [label, *(format_inline(text) if text else "" for text in (card.name, *texts))]
        rows.append(f"| {' | '.join(cells)} |\n")
    head = "| verdict | id | question | why |\n| --- | --- | --- | --- |\n"
    fitting = _select_fitting(rows, _MAX_TABLE)
    left_out = len(rows) - len(fitting)
    table = "".join([head, *fitting]) if fitting else ""
    return table + (f"\n{left_out} more are in the report, and not here.\n" if left_out else "")


def format_changed_cards(cards: Sequence[Card], room: int) -> str:
    """Format changed answers in Markdown, each behind its question, within a number of characters.

    One that is too long leaves its room to those after it.
    """
    blocks = [_format_changed_card(card) for card in cards]
    fitting = _select_fitting(blocks, room)
    if left_out := len(blocks) - len(fitting):
        fitting.append(f"{left_out} more changed answers are in the report, and not here.\n")
    return "\n".join(fitting)


def format_inline(text: str) -> str:
    """Format a text as one line of code that no Markdown can start or end."""
    line = _WHITE_SPACE.sub(" ", _CONTROL.sub("", text)).strip()
    return f"<code>{_MEANINGFUL.sub(lambda match: f'&#{ord(match[0])};', line)}</code>"


def format_word_diff(before: str, after: str) -> tuple[str, str]:
    """Format two texts as HTML; the words that only one of them has are marked.

    The HTML has no empty line, which would end a block of HTML in Markdown.
    """
    pieces = diff_words(before, after)
    return _format_side(pieces, "added"), _format_side(pieces, "removed")


def _select_fitting(texts: Iterable[str], room: int) -> list[str]:
    """Select the texts that fit into so many characters, each if those before leave it room."""
    fitting = []
    for text in texts:
        if len(text) <= room:
            fitting.append(text)
            room -= len(text)
    return fitting


def _format_changed_card(card: Card) -> str:
    before, after = card.sides
    rows = [
        (f"<b>before</b>: {before.label}", f"<b>after</b>: {after.label}"),
        format_word_diff(before.text, after.text),
        tuple(
            "<br>".join(
                f"[{number}] {format_inline(link.title)} {format_inline(link.url)}"
                for number, link in enumerate(side.links, 1)
            )
            or "no citation"
            for side in card.sides
        ),
    ]
    cells = "".join(
        f'<tr valign="top">{"".join(f"<td>{cell}</td>" for cell in row)}</tr>' for row in rows
    )
    summary = f"{format_inline(card.title)} ({card.remark})"
    return f"<details><summary>{summary}</summary><table>{cells}</table></details>\n"


def _format_side(pieces: Iterable[TextPiece], hidden: Change) -> str:
    """Format the pieces of one text; GitHub wraps the lines of `code`, and not those of `pre`."""
    text = ""
    for piece in pieces:
        tag = {"same": "", "removed": "del", "added": "ins"}[piece.change]
        if piece.change != hidden:
            lines = html.escape(_CONTROL.sub("", piece.word)).split("\n")
            text += "\n".join(
                f"<{tag}>{line}</{tag}>" if tag and line.strip() else line for line in lines
            )
            text += piece.space
    return "<br>".join(f"<code>{line}</code>" if line.strip() else "" for line in text.split("\n"))


def format_annotation(
    level: Literal["error", "warning", "notice"],
    message: str,
    *,
    file: str | None = None,
    line: int | None = None,
    title: str = "",
) -> str:
    """Format an annotation of GitHub Actions as a line of output, whatever its texts hold.

    file: relative to the repository's folder. line: from 1. The escapes are those of GitHub's
    toolkit (actions/toolkit, packages/core/src/command.ts).
    """
    fields = {"file": file, "line": line, "title": title}
    properties = ",".join(
        f"{name}={_escape(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in fields.items()
        if value
    )
    return f"::{level}{' ' if properties else ''}{properties}::{_escape(message)}"


def defuse_commands(text: str) -> str:
    """Change a text that is printed in a workflow so that no line of it is read as a command.

    A runner reads `::name::` at the start of a line, and `##[name]` anywhere in it.
    """
    lines = (f"| {line}" if line.lstrip().startswith("::") else line for line in text.splitlines())
    return "\n".join(lines).replace("##[", "# #[")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
