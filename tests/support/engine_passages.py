"""Passages as the engine in the browser reads them: offsets are in units of UTF-16."""

from typing import Any

from answerable.serve.structure import (
    BARE,
    DANGLING,
    ENDLESS,
    LEADS_IN,
    NUMBERED,
    POINTER,
    UNLINKED,
)
from answerable.serve.types import Passage

# The names of a statement's flags in JavaScript.
_FLAGS = {
    "isBare": BARE, "isDangling": DANGLING, "isEndless": ENDLESS, "leadsIn": LEADS_IN,
    "isNumbered": NUMBERED, "isPointer": POINTER, "isUnlinked": UNLINKED,
}  # fmt: skip


def units_of(text: str) -> list[int]:
    """Return the offset in units of UTF-16 of each character, and of the end."""
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + 1 + (ord(character) > 0xFFFF))
    return offsets


def engine_passage(passage: Passage) -> dict[str, Any]:
    """Convert a passage, without the vectors of its statements."""
    units = units_of(passage.text)

    def convert(row: Any) -> dict[str, Any]:
        values: dict[str, Any] = row._asdict()
        return values | {"start": units[row.start], "end": units[row.end]}

    def expand(values: dict[str, Any]) -> dict[str, Any]:
        flags = values.pop("flags")
        return values | {name: bool(flags & flag) for name, flag in _FLAGS.items()}

    return {
        "id": passage.id,
        "record": passage.record,
        "url": passage.url,
        "title": passage.title,
        "text": passage.text,
        "date": passage.date,
        "language": passage.language,
        "sentences": [(units[start], units[end]) for start, end in passage.sentences],
        "blocks": [convert(block) for block in passage.blocks],
        "spans": [convert(span) for span in passage.spans],
        "statements": [expand(convert(statement)) for statement in passage.statements],
    }
