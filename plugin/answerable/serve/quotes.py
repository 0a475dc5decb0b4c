"""Whether words are somebody's own: verbatim quotes, numbers and code spans."""

import re
from collections.abc import Iterable
from functools import lru_cache

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
_EXACT = re.compile(r"`([^`]+)`|(?<!\w)(?<!\d[.,:])(v?\d\w*(?:[.,:]\d\w*)*)")


@frozen
class Folded:
    """A folded text and, for each of its characters, the offset it came from."""

    text: str
    offsets: tuple[int, ...]


def fold(text: str) -> Folded:
    """Fold white space, quote marks, dashes and Markdown emphasis, and nothing else."""
    if not _EMPHASIS.search(text):
        return _plain(text)
    emphasis = {i for match in _EMPHASIS.finditer(text) for i in range(*match.span())}
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
    return Folded("".join(characters), tuple(offsets))


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


# Two characters of one word; scripts without spaces have no such edges to keep.
_WITHIN_WORD = re.compile(r"[A-Za-z0-9_]{2}")


def find(quote: str, text: str) -> tuple[int, int] | None:
    """The (start, end) in a text of a quote that occurs verbatim after folding, else None.

    It has to hold a word and to begin and end at whole words, where the script divides words:
    "able to" is not a quote from "unable to".
    """
    needle = fold(quote).text.strip()
    folded = _folded(text)
    if not re.search(r"\w", needle):
        return None
    at = folded.text.find(needle)
    while at >= 0 and not _is_whole(folded.text, at, at + len(needle)):
        at = folded.text.find(needle, at + 1)
    if at < 0:
        return None
    return folded.offsets[at], folded.offsets[at + len(needle) - 1] + 1


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no ASCII word goes on over either edge of a span."""
    edges = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(_WITHIN_WORD.fullmatch(edge) for edge in edges)


def exact_parts(claim: str) -> tuple[str, ...]:
    """The numbers, versions and code spans of a claim: what may not be paraphrased."""
    return tuple(code or number for code, number in _EXACT.findall(claim))


def holds(texts: Iterable[str], part: str) -> bool:
    """Whether a number, version or code span occurs whole in one of the texts."""
    needle = fold(part).text.strip()
    if not needle:
        return any(part in text for text in texts)
    # Neither 3.1 nor 10 is in 3.10: a number goes on where another digit follows its mark.
    pattern = rf"(?<!\w)(?<!\d[.,:]){re.escape(needle)}(?!\w)(?![.,:]\d)"
    folded = (_folded(text).text for text in texts)
    # A needle that is nowhere is not compiled: it may be as long as a model likes.
    return any(needle in text and re.search(pattern, text) is not None for text in folded)


@lru_cache(maxsize=64)
def _folded(text: str) -> Folded:
    """A passage's text, folded once for all the claims that are held against it."""
    return fold(text)
