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


# A span of code between single backticks stays one, and no other backtick begins any.
_MARKDOWN_CODE = re.compile(r"(?<!`)(`[^`]+`)(?!`)")
# What begins a heading, a quotation, a table, a fence, a list, a rule or a definition.
_BLOCK_START = re.compile(r"^(?:[#>|]|~~|!!|[-+*=:](?=[-=:|\s]*(?:\s|$))|\d+(?=[.)](?: |$)))")
# What begins a link, an image, emphasis, HTML or an entity: "_" does not within a word.
_INLINE_START = re.compile(
    r"[\[\]`*<]|_(?![^\W_])|(?<![^\W_])_|~(?=~)|&(?=#?\w+;)|\\(?=[!-/:-@\[-`{-~]|$)"
)


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown draws it as one paragraph of words and spans of code."""
    parts = _MARKDOWN_CODE.split(" ".join(text.split()))
    prose = [_INLINE_START.sub(_escape_sign, part) for part in parts[::2]]
    escaped = "".join(word for pair in zip(prose, [*parts[1::2], ""], strict=True) for word in pair)
    return _BLOCK_START.sub(_escape_sign, escaped)


def _escape_sign(match: re.Match[str]) -> str:
    """Escape a sign with a backslash, or with an entity where some parsers know no backslash."""
    sign = match[0]
    return {"<": "&lt;", "&": "&amp;"}.get(sign, f"{sign}\\" if sign.isdigit() else f"\\{sign}")
