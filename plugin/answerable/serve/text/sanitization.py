"""Strip control characters and bidirectional overrides from untrusted text; unify line ends."""

import re

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# C0 but the line feed, DEL and C1, bidirectional overrides and isolates, and lone surrogates.
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def sanitize_text(text: str) -> str:
    """Remove control characters, bidirectional overrides and lone surrogates.

    Every kind of line end becomes a line feed, which code needs; a tab becomes four spaces.
    """
    return _UNSAFE.sub("", _LINE_ENDS.sub("\n", text).replace("\t", "    "))
