"""Strip control characters and bidirectional overrides from untrusted text; unify line ends."""

from ..rules import compile_rule

_LINE_ENDS = compile_rule("sanitization", "LINE_ENDS")
# C0 but the line feed, DEL and C1, bidirectional overrides and isolates, and lone surrogates.
_UNSAFE = compile_rule("sanitization", "UNSAFE")


def sanitize_text(text: str) -> str:
    """Remove control characters, bidirectional overrides and lone surrogates.

    Every kind of line end becomes a line feed, which code needs; a tab becomes four spaces.
    """
    return _UNSAFE.sub("", _LINE_ENDS.sub("\n", text).replace("\t", "    "))
