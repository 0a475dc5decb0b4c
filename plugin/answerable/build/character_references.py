"""HTML character references, numeric and named, decoded as a browser does."""

import html
import re
from functools import lru_cache

# A reference to a break of a line adds no line to the file that holds it.
_LINE_ENDS = str.maketrans("\n\r", "  ")
# A number has no end but its last digit: `&#1001` is one character, and not `&#10` and `01`.
_REFERENCE = re.compile(r"&(?:#(?:[xX][0-9a-fA-F]++|[0-9]++)|[a-zA-Z][a-zA-Z0-9]{0,31}+);?")
_REPLACEMENT = "\ufffd"
# More digits than the highest code point has, which int() need not read.
_DIGITS = 8


def decode(text: str) -> str:
    """Decode every character reference once; one to a line feed becomes a space.

    Numbers are read as in HTML 13.2.5.80: those from 0x80 to 0x9f are of Windows-1252.
    """
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda reference: _character(reference[0]), text)


@lru_cache(maxsize=8192)
def _character(reference: str) -> str:
    if reference[1] != "#":
        return html.unescape(reference).translate(_LINE_ENDS)
    digits = reference[2:].rstrip(";")
    base = 16 if digits[0] in "xX" else 10
    digits = digits.lstrip("xX").lstrip("0")
    if not digits or len(digits) > _DIGITS:
        return _REPLACEMENT
    code = int(digits, base)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:
        # The five bytes that Windows-1252 leaves free are controls, as in Latin-1.
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code).translate(_LINE_ENDS)
