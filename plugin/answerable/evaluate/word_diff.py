"""Compare two texts word by word, as the pieces that they share, lack or add."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Change = Literal["same", "removed", "added"]

# A word with the white space after it, so that the pieces of a text join to the text itself.
_WORD = re.compile(r"\S+\s*|\s+")
# In scripts without spaces between words each letter is compared alone.
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Hold a run of words and whether both texts have it, only the first or only the second."""

    text: str
    change: Change

    @property
    def word(self) -> str:
        """Return the text without the white space after it, which is not marked."""
        return self.text.rstrip()

    @property
    def space(self) -> str:
        """Return the white space after the text."""
        return self.text[len(self.word) :]


def diff_words(before: str, after: str) -> tuple[TextPiece, ...]:
    """Compare two texts; the pieces that are not removed join to ``after``.

    White space that is laid out anew is no change.
    """
    first, second = _split_words(before), _split_words(after)
    matcher = SequenceMatcher(None, _strip_all(first), _strip_all(second), autojunk=False)
    return tuple(
        piece
        for operation, i, j, k, m in matcher.get_opcodes()
        for piece in _list_pieces(operation, "".join(first[i:j]), "".join(second[k:m]))
    )


def _list_pieces(operation: str, before: str, after: str) -> Iterator[TextPiece]:
    if operation == "equal":
        yield TextPiece(after, "same")
        return
    if before:
        yield TextPiece(before, "removed")
    if after:
        yield TextPiece(after, "added")


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    for word in _WORD.findall(text):
        words += list(word) if _SPACELESS.search(word) else [word]
    return words


def _strip_all(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words]
