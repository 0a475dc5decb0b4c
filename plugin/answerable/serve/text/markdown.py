"""Escape a text for clients that draw Markdown: it is drawn as words and spans of code."""

import re

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
