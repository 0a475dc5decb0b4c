"""Join the windows of a section into its text again: without what two of them repeat."""

from ...types import Passage

# A shorter repeated end may be chance, such as a line that closes a block of code.
_MIN_OVERLAP = 20
_HEADER = "header"


def append_window(text: str, window: Passage) -> str:
    """Append a window to the text of those before it, without the words that both hold.

    A window begins with whole sentences, items, rows or lines of the one before, and within a
    table with the column names of it.
    """
    begin = _skip_repeated_header(text, window)
    added = window.text[begin:]
    for end in sorted(_list_boundaries(window), reverse=True):
        overlap = window.text[begin:end].rstrip()
        if len(overlap) >= _MIN_OVERLAP and _ends_with(text, overlap):
            return text + added[len(overlap) :]
    return f"{text}\n{added}" if begin else f"{text}\n\n{added}"


def _skip_repeated_header(text: str, window: Passage) -> int:
    """Find where a window goes on after the column names that it repeats; 0 if it has none."""
    blocks = window.blocks
    if len(blocks) < 2 or blocks[0].start != 0 or blocks[0].detail != _HEADER:
        return 0
    header = window.text[: blocks[0].end]
    return blocks[1].start if header in text.split("\n") else 0


def _list_boundaries(window: Passage) -> set[int]:
    """List where units of a window end: each begins a sentence, a block or a line."""
    starts = {start for start, _ in window.sentences} | {block.start for block in window.blocks}
    lines = {place + 1 for place, character in enumerate(window.text) if character == "\n"}
    return starts | lines | {len(window.text)}


def _ends_with(text: str, overlap: str) -> bool:
    """Tell whether a text ends with an overlap that begins a unit of it, and not within a word."""
    before = len(text) - len(overlap)
    return text.endswith(overlap) and (before == 0 or text[before - 1].isspace())
