"""Fold a text so that typography does not tell two texts apart, and keep where it came from."""

import re

from .frozen import frozen

_FOLDS = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
# Between word characters an underscore is part of a name and an asterisk a product or a power, not
# emphasis. A run is taken whole, and only from its first character: long ones stay linear.
_EMPHASIS = re.compile(r"`+|(?<![\w*])[*_]++|(?<![*_])[*_]++(?!\w)")
_TABLE = str.maketrans(_FOLDS)
# White space that folding changes: any but one blank within a text.
_SPACES = re.compile(r"^\s+|\s{2,}|[^\S ]")


@frozen
class Folded:
    """A folded text, the offset that each of its characters came from, and those of emphasis."""

    text: str
    offsets: tuple[int, ...]
    marks: frozenset[int] = frozenset()


def fold(text: str) -> Folded:
    """Fold white space, quote marks, dashes and Markdown emphasis, and nothing else."""
    if not _EMPHASIS.search(text):
        return _plain(text)
    emphasis = frozenset(i for match in _EMPHASIS.finditer(text) for i in range(*match.span()))
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        if offset in emphasis:
            continue
        folded = " " if character.isspace() else _FOLDS.get(character, character)
        if folded == " " and (not characters or characters[-1] == " "):
            continue
        characters.append(folded)
        offsets.append(offset)
    return Folded("".join(characters), tuple(offsets), emphasis)


def _plain(text: str) -> Folded:
    """A text without emphasis, folded run by run."""
    folded = text.translate(_TABLE)
    kept: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in _SPACES.finditer(folded):
        kept.append(folded[at : match.start()])
        offsets += range(at, match.start())
        if match.start():
            kept.append(" ")
            offsets.append(match.start())
        at = match.end()
    offsets += range(at, len(folded))
    return Folded("".join([*kept, folded[at:]]), tuple(offsets))
