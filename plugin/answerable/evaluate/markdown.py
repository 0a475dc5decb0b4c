"""Write texts of pages and readers into Markdown so that they stay text: no markup, no mention."""

import html
import re
from collections.abc import Iterable, Sequence

from .word_diff import TextPiece, diff_words

# All that CommonMark and GitHub's additions give a meaning to. A reference to a character is never
# markup (CommonMark 2.5), and GitHub links neither names nor numbers in an element `code`.
_MEANINGFUL = re.compile(r"[&<>\"`*_\[\](){}#+!|~:/@$\\=^.]")
_WHITE_SPACE = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_MARKS = {"removed": "del", "added": "ins"}


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


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table. The cells are Markdown of one line each, their texts escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _format_side(pieces: Iterable[TextPiece], hidden: str) -> str:
    """Format the pieces of one text; GitHub wraps the lines of `code`, and not those of `pre`."""
    lines = [""]
    for piece in pieces:
        if piece.change != hidden:
            mark = _MARKS.get(piece.change)
            first, *others = piece.word.split("\n")
            lines[-1] += _format_run(first, mark)
            lines += [_format_run(line, mark) for line in others]
            spaces, *breaks = piece.space.split("\n")
            lines[-1] += spaces
            lines += breaks
    return "<br>".join(f"<code>{line}</code>" if line.strip() else "" for line in lines)


def _format_run(text: str, mark: str | None) -> str:
    escaped = html.escape(_CONTROL.sub("", text))
    return f"<{mark}>{escaped}</{mark}>" if mark and escaped.strip() else escaped
