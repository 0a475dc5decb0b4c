"""Convert offsets of a text from code points, which Python counts, to JavaScript's UTF-16 units."""

from bisect import bisect_left
from collections.abc import Callable

_LAST_OF_ONE_UNIT = "\uffff"


def make_offset_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text to UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = [place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT]
    return lambda offset: offset + bisect_left(wide, offset)
