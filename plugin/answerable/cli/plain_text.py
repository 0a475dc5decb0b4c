"""Somebody else's text on a terminal."""

import unicodedata

from rich.text import Text


def plain(text: str) -> Text:
    """Make a text that is printed as it is: no markup, no control characters, plain spaces."""
    spaced = "".join(" " if c.isspace() and c != "\n" else c for c in text)
    return Text("".join(c for c in spaced if c == "\n" or unicodedata.category(c)[0] != "C"))
