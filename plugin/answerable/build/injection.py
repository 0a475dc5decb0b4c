"""The widget in built pages: its script, its element and where it asks."""

import re
from html import escape
from importlib.resources import files

SCRIPT = "assets/answerable/ask-box.js"
ELEMENT = "<answerable-ask></answerable-ask>"

# A minifier may have taken the quotes away.
_SCRIPT_TAG = re.compile(
    rf"""<script\b[^>]*\bsrc=["']?[^"'>\s]*{re.escape(SCRIPT)}["']?[^>]*>\s*</script>\n?""", re.I
)
_LINK_TAG = re.compile(r"""<link\b[^>]*\brel=["']?answerable["']?(?=[\s>/])[^>]*>\n?""", re.I)
_WHOLE = re.compile(r"</body>|\A\s*<!doctype html", re.I)
_BODY_END = re.compile(r"</body>", re.I)
_HEAD_END = re.compile(r"</head>", re.I)
_ASK = re.compile(r"<answerable-ask(?=[\s/>])", re.I)
# What a browser does not read as the page's own tags. One without an end runs on to the page's.
_HIDDEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|(?P<comment_on>\Z)))"
    r"|<(?P<name>script|style|textarea|title|template)(?=[\s>])(?:[^>]*[^>/])?>"
    r"(?P<body>.*?)(?:</(?P=name)(?=[\s/>])|(?P<element_on>\Z))",
    re.I | re.S,
)
# Stands for a `<` that is no tag's: no text that can be written holds half a surrogate pair.
_HIDING = "\ud800"


def script() -> str:
    """The widget's source."""
    return (files("answerable") / "widget" / "ask-box.js").read_text(encoding="utf-8")


def inject(html: str, script_url: str, *, endpoint: str | None, element: bool) -> str:
    """A page with the widget; one that has it already is brought up to date.

    An element that an author has placed is left as the only one, and without an endpoint a link
    to one is left as it is. What is no whole page is left alone.
    """
    script_tag = f'<script type="module" src="{escape(script_url)}"></script>\n'
    link = f'<link rel="answerable" href="{escape(endpoint)}">\n' if endpoint else ""
    if _is_plain(html):
        tags = f"{ELEMENT}\n{script_tag}" if element else script_tag
        return html.replace("</body>", f"{tags}</body>").replace("</head>", f"{link}</head>")
    page = _HIDDEN.sub(_hidden, html)
    if not _WHOLE.search(page):
        return html
    page = _only(page, _SCRIPT_TAG, script_tag) or _at(page, _BODY_END, -1, script_tag)
    if element and not _ASK.search(page):
        page = page.replace(script_tag, f"{ELEMENT}\n{script_tag}", 1)
    if link:
        page = _only(page, _LINK_TAG, link) or _at(page, _HEAD_END, 0, link)
    return page.replace(_HIDING, "<")


def _is_plain(html: str) -> bool:
    """Whether a page is as most are: one body's end, the last thing in it, and none of our tags."""
    start, end = html.find("<body"), html.find("</body>")
    return (
        0 <= html.find("</head>") < start < end
        and html.count("</head>") == html.count("</body>") == 1
        and html[end:].split() == ["</body>", "</html>"]
        and "answerable" not in html.lower()
    )


def _hidden(found: re.Match[str]) -> str:
    """A stretch of a page in which no pattern here finds a tag; one without an end is kept."""
    if found["comment_on"] is not None or found["element_on"] is not None:
        return found[0]
    if not found["name"]:
        return found[0].replace("<", _HIDING)
    start, end = (at - found.start() for at in found.span("body"))
    return f"{found[0][:start]}{found['body'].replace('<', _HIDING)}{found[0][end:]}"


def _only(html: str, pattern: re.Pattern[str], tag: str) -> str | None:
    """A page in which a tag stands where the first one like it was; None if there was none."""
    first = pattern.search(html)
    if first is None:
        return None
    rest = pattern.sub("", html[first.end() :])
    return f"{html[: first.start()]}{tag}{rest}"


def _at(html: str, pattern: re.Pattern[str], which: int, tag: str) -> str:
    """A page with a tag before one of the places of a kind, the first or the last, or at its end.

    The head's end is the first, the body's the last: any other stands in a script.
    """
    places = [match.start() for match in pattern.finditer(html)] or [len(html)]
    return f"{html[: places[which]]}{tag}{html[places[which] :]}"
