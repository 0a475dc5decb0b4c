"""Text as its reader sees it: styled letters and digits as plain ones, nothing invisible."""

import re
import unicodedata
from functools import cache

from .terms import UNSPACED

# Shown as nothing though Unicode counts them as letters or symbols: Hangul fillers, blank Braille.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NUMERIC = frozenset({"Nd", "Nl", "No"})


def normalize(text: str) -> str:
    """Rewrite a text so that what looks alike is written alike.

    Invisible characters are removed; full-width and mathematical letters become plain ones, and
    digits of any script, circled or raised ones too, ASCII digits. A fraction is written with a
    slash and a raised digit after a caret. A Latin word or a number within a script that is written
    without spaces gets spaces around it.
    """
    if text.isascii():
        return text
    return _script_edge().sub(" ", unicodedata.normalize("NFC", "".join(map(_plain, text))))


def is_blank(text: str) -> bool:
    """Tell whether a text shows no letter and no digit."""
    return not any(character.isalnum() for character in normalize(text))


def count_visible(text: str) -> int:
    """Count the characters that are not white space."""
    return sum(not character.isspace() for character in text)


@cache
def _script_edge() -> re.Pattern[str]:
    """Between a script without spaces and a word, a number or an address."""
    return re.compile(rf"(?<=[{UNSPACED}])(?=[A-Za-z0-9./~_-])|(?<=[A-Za-z0-9/_)])(?=[{UNSPACED}])")


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or character in _BLANK or _is_variation_selector(character):
        return ""
    if character.isascii():
        return character
    if category in _NUMERIC:
        return _digits(character, category)
    if unicodedata.decomposition(character).startswith(("<wide>", "<font>")):
        return unicodedata.normalize("NFKC", character)
    return character


def _is_variation_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _digits(character: str, category: str) -> str:
    """The ASCII digits of a numeric character; those that are no place of a number stand apart."""
    if category == "Nd":
        return str(unicodedata.digit(character))
    value = unicodedata.numeric(character)
    if not value.is_integer():
        return " " + unicodedata.normalize("NFKC", character).replace("\u2044", "/") + " "
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return f"^{int(value)}"
    return f" {int(value)} "
