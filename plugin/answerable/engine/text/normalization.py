"""Normal forms of a text: for matching quotes (with offsets), claims and authored names.

``fold_typography``: quotes with a page, where only typography may differ; with offsets.
``normalize_visible``: numbers, code and names in claims, which must look the same to a reader.
``normalize_phrase``: authored names in a question, as words only.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from .tokenization import UNSPACED

_TYPOGRAPHY = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
# Between word characters an underscore is part of a name and an asterisk a product or a power, not
# emphasis. A run is taken whole, and only from its first character: long ones stay linear.
_EMPHASIS = re.compile(r"`+|(?<![\w*])[*_]+|(?<![*_])[*_]+(?![\w*])")
TYPOGRAPHY_TABLE = str.maketrans(_TYPOGRAPHY)
# White space that folding changes: any but one blank within a text.
_FOLDED_SPACES = re.compile(r"^\s+|\s{2,}|[^\S ]")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Hold a folded text, the offset that each character came from, and offsets of emphasis."""

    text: str
    offsets: tuple[int, ...]
    marks: frozenset[int] = frozenset()


def fold_typography(text: str) -> FoldedText:
    """Fold white space, quote marks, dashes and Markdown emphasis, and nothing else."""
    if not _EMPHASIS.search(text):
        return _fold_without_emphasis(text)
    emphasis = frozenset(i for match in _EMPHASIS.finditer(text) for i in range(*match.span()))
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        if offset in emphasis:
            continue
        folded = " " if character.isspace() else _TYPOGRAPHY.get(character, character)
        if folded == " " and (not characters or characters[-1] == " "):
            continue
        characters.append(folded)
        offsets.append(offset)
    return FoldedText("".join(characters), tuple(offsets), emphasis)


def _fold_without_emphasis(text: str) -> FoldedText:
    """Fold a text without emphasis, run by run."""
    folded = text.translate(TYPOGRAPHY_TABLE)
    parts: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in _FOLDED_SPACES.finditer(folded):
        parts.append(folded[at : match.start()])
        offsets += range(at, match.start())
        if match.start():
            parts.append(" ")
            offsets.append(match.start())
        at = match.end()
    offsets += range(at, len(folded))
    return FoldedText("".join([*parts, folded[at:]]), tuple(offsets))


# Shown as nothing though Unicode counts them as letters or symbols: Hangul fillers, blank Braille.
_BLANK_CHARACTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NUMERIC_CATEGORIES = frozenset({"Nd", "Nl", "No"})


def normalize_visible(text: str) -> str:
    """Rewrite a text so that what looks alike is written alike.

    Invisible characters are removed; full-width and mathematical letters become plain ones, and
    digits of any script, circled or raised ones too, ASCII digits. A fraction is written with a
    slash and a raised digit after a caret. A Latin word or a number within a script that is written
    without spaces gets spaces around it.
    """
    if text.isascii():
        return text
    return _script_edge_pattern().sub(
        " ", unicodedata.normalize("NFC", "".join(map(_plain_character, text)))
    )


def is_visibly_blank(text: str) -> bool:
    """Tell whether a text shows no letter and no digit."""
    return not any(character.isalnum() for character in normalize_visible(text))


def count_visible_characters(text: str) -> int:
    """Count the characters that are not white space."""
    return len("".join(text.split()))


@cache
def _script_edge_pattern() -> re.Pattern[str]:
    """Match between a script without spaces and a word, a number or an address."""
    return re.compile(rf"(?<=[{UNSPACED}])(?=[A-Za-z0-9./~_-])|(?<=[A-Za-z0-9/_)])(?=[{UNSPACED}])")


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if (
        category == "Cf"
        or character in _BLANK_CHARACTERS
        or ("\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef")
    ):
        return ""
    if character.isascii():
        return character
    if category in _NUMERIC_CATEGORIES:
        return _ascii_digits(character, category)
    if unicodedata.decomposition(character).startswith(("<wide>", "<font>")):
        return unicodedata.normalize("NFKC", character)
    return character


def _ascii_digits(character: str, category: str) -> str:
    """Write a numeric character in ASCII digits; with spaces around a value of its own."""
    if category == "Nd":
        return str(unicodedata.digit(character))
    value = unicodedata.numeric(character)
    if not value.is_integer():
        return " " + unicodedata.normalize("NFKC", character).replace("\u2044", "/") + " "
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return f"^{int(value)}"
    return f" {int(value)} "


def normalize_phrase(text: str) -> str:
    """Lower-case a text and divide its runs of letters and digits by single spaces."""
    characters = (c if unicodedata.category(c)[0] in "LN" else " " for c in text.lower())
    return " ".join("".join(characters).split())


def split_ngrams(text: str, lengths: Iterable[int]) -> Iterator[str]:
    """Yield the n-grams of a normalized text, of each of the lengths in words."""
    words = normalize_phrase(text).split()
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])
