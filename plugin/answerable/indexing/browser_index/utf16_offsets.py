"""Convert offsets of a text between Python's code points and JavaScript's UTF-16 units."""

from bisect import bisect_left
from collections.abc import Callable

_LAST_OF_ONE_UNIT = "\uffff"


def make_offset_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text to UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = _find_wide_characters(text)
    return lambda offset: offset + bisect_left(wide, offset)


def make_unit_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text from UTF-16 units."""
    # Each of them has one unit more, which the places of all later ones count.
    units = [place + before for before, place in enumerate(_find_wide_characters(text))]
    return lambda offset: offset - bisect_left(units, offset)


def _find_wide_characters(text: str) -> list[int]:
    """Find the places of the characters that take two units."""
    return [place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT]
