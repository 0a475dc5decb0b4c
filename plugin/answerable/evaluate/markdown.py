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


def format_block(text: str) -> str:
    """Format a text of several lines as it is; it ends where HTML says so, not by its content."""
    return f"<pre>{_escape_preformatted(text)}</pre>"


def format_word_diff(before: str, after: str) -> tuple[str, str]:
    """Format two texts as blocks; the words that only one of them has are marked."""
    pieces = diff_words(before, after)
    return _format_side(pieces, "added"), _format_side(pieces, "removed")


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table. The cells are Markdown of one line each, their texts escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _format_side(pieces: Iterable[TextPiece], hidden: str) -> str:
    parts = []
    for piece in pieces:
        if piece.change != hidden:
            word, space = _escape_preformatted(piece.word), _escape_preformatted(piece.space)
            mark = _MARKS.get(piece.change)
            parts.append(f"<{mark}>{word}</{mark}>{space}" if mark else f"{word}{space}")
    return f"<pre>{''.join(parts)}</pre>"


def _escape_preformatted(text: str) -> str:
    """Escape a text within `pre`, where an empty line would end a block of HTML within a list."""
    return html.escape(_CONTROL.sub("", text)).replace("\n", "&#10;")
