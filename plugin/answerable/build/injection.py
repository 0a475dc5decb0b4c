"""The widget in built pages: its files, its element and where it asks."""

import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

from . import hiding

FOLDER = "assets/answerable/"
SCRIPT = f"{FOLDER}ask-box.js"
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


def assets() -> Mapping[str, str]:
    """Every file that the widget is made of, by its path in the site: its script and its texts."""
    return {path: file.read_text(encoding="utf-8") for path, file in _files().items()}


def asset(path: str) -> str | None:
    """The file of the widget at a path in the site; None if there is none."""
    file = _files().get(path)
    return None if file is None else file.read_text(encoding="utf-8")


def _files() -> Mapping[str, Traversable]:
    folder = files("answerable") / "widget"
    found = {SCRIPT: folder / "ask-box.js"}
    for file in sorted((folder / "strings").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            found[f"{FOLDER}strings/{file.name}"] = file
    return found


def has_element(page: str) -> bool:
    """Whether a page, as `hiding.hide` gives it, holds the widget's element."""
    return _ASK.search(page) is not None


def tag(placement: str | None = None, shortcut: str | None = None) -> str:
    """The widget's element. None: as the widget has it, a floating button and its own shortcut."""
    given = {"placement": placement, "shortcut": shortcut}
    told = "".join(f' {name}="{escape(value)}"' for name, value in given.items() if value)
    return f"<answerable-ask{told}></answerable-ask>"


def append(content: str, element: str) -> str:
    """What a page says with an element at its end, if none stands in it."""
    return content if has_element(hiding.hide(content)) else f"{content}\n{element}\n"


def drop_second(html: str, element: str) -> str:
    """A page without our element if it stands beside one of its own."""
    page = hiding.hide(html)
    if page.count(element) == len(_ASK.findall(page)):
        return html
    return hiding.show(page.replace(element, ""))


def inject(
    html: str, script_url: str, *, endpoint: str | None, element: str | None = ELEMENT
) -> str:
    """A page with the widget; one that has it already is brought up to date.

    element: None for the script alone. An element that an author has placed is left as the only
    one, and without an endpoint a link to one is left as it is. What is no whole page is left
    alone.
    """
    script_tag = f'<script type="module" src="{escape(script_url)}"></script>\n'
    link = f'<link rel="answerable" href="{escape(endpoint)}">\n' if endpoint else ""
    if _is_plain(html):
        tags = f"{element}\n{script_tag}" if element else script_tag
        return html.replace("</body>", f"{tags}</body>").replace("</head>", f"{link}</head>")
    page = hiding.hide(html)
    if not _WHOLE.search(page):
        return html
    page = _only(page, _SCRIPT_TAG, script_tag) or _at(page, _BODY_END, -1, script_tag)
    if element and not has_element(page):
        page = page.replace(script_tag, f"{element}\n{script_tag}", 1)
    if link:
        page = _only(page, _LINK_TAG, link) or _at(page, _HEAD_END, 0, link)
    return hiding.show(page)


def _is_plain(html: str) -> bool:
    """Whether a page is as most are: one body's end, the last thing in it, and none of our tags."""
    start, end = html.find("<body"), html.find("</body>")
    return (
        0 <= html.find("</head>") < start < end
        and html.count("</head>") == html.count("</body>") == 1
        and html[end:].split() == ["</body>", "</html>"]
        and "answerable" not in html.lower()
    )


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
