"""What a browser does not read as a page's own tags, taken out of the sight of patterns."""

import re

# One without an end runs on to the page's.
_HIDDEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|(?P<comment_on>\Z)))"
    r"|<(?P<name>script|style|textarea|title|template)(?=[\s>])(?:[^>]*[^>/])?>"
    r"(?P<body>.*?)(?:</(?P=name)(?=[\s/>])|(?P<element_on>\Z))",
    re.I | re.S,
)
# Stands for a `<` that is no tag's: no text that can be written holds half a surrogate pair.
_HIDING = "\ud800"


def hide(html: str) -> str:
    """A page, as long as before, in which only its own tags begin with `<`."""
    return _HIDDEN.sub(_hidden, html)


def show(html: str) -> str:
    """The page that was hidden in, with what has been put into it since."""
    return html.replace(_HIDING, "<")


def _hidden(found: re.Match[str]) -> str:
    """A stretch of a page in which no pattern here finds a tag; one without an end is kept."""
    if found["comment_on"] is not None or found["element_on"] is not None:
        return found[0]
    if not found["name"]:
        return found[0].replace("<", _HIDING)
    start, end = (at - found.start() for at in found.span("body"))
    return f"{found[0][:start]}{found['body'].replace('<', _HIDING)}{found[0][end:]}"
