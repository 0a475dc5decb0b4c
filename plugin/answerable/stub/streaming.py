"""Server-sent events, as OpenAI sends them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

DONE = b"data: [DONE]\n\n"

# A long text comes in about this many pieces, a short one in pieces of a token or two.
_PIECES = 100
_LEAST = 8


def named(kind: str, number: int, fields: Mapping[str, Any]) -> bytes:
    """An event of the Responses API: its type as its name, and its sequence number."""
    return event({"type": kind, "sequence_number": number, **fields}, kind)


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One event. Escaped to ASCII, so that no text can end a line of it."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode("ascii")


def pieces(text: str) -> Iterator[str]:
    """A text in the pieces that deltas bring; together they are the text."""
    size = max(_LEAST, len(text) // _PIECES)
    return (text[at : at + size] for at in range(0, len(text), size))
