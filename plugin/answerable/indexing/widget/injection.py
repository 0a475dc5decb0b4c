"""What a browser does not read as a page's own tags, taken out of the sight of patterns.

The widget in built pages: its files, its element and where it asks.

Where the headers of known themes have room for the widget.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

# One without an end runs on to the page's.
_NON_TAG_REGION = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|(?P<comment_on>\Z)))"
    r"|<(?P<name>script|style|textarea|title|template)(?=[\s>])(?:[^>]*[^>/])?>"
    r"(?P<body>.*?)(?:</(?P=name)(?=[\s/>])|(?P<element_on>\Z))",
    re.I | re.S,
)
# Stands for a `<` that is no tag's: no text that can be written holds half a surrogate pair.
_MASK = "\ud800"


def mask_non_tags(html: str) -> str:
    """A page, as long as before, in which only its own tags begin with `<`."""
    return _NON_TAG_REGION.sub(_mask_region, html)


def unmask(html: str) -> str:
    """The page that was hidden in, with what has been put into it since."""
    return html.replace(_MASK, "<")


def _mask_region(found: re.Match[str]) -> str:
    """A stretch of a page in which no pattern here finds a tag; one without an end is kept."""
    if found["comment_on"] is not None or found["element_on"] is not None:
        return found[0]
    if not found["name"]:
        return found[0].replace("<", _MASK)
    start, end = (at - found.start() for at in found.span("body"))
    return f"{found[0][:start]}{found['body'].replace('<', _MASK)}{found[0][end:]}"


WIDGET_FOLDER = "assets/answerable/"
WIDGET_SCRIPT = f"{WIDGET_FOLDER}ask-box.js"
WIDGET_ELEMENT = "<answerable-ask></answerable-ask>"

# A minifier may have taken the quotes away.
_SCRIPT_TAG = re.compile(
    rf"""<script\b[^>]*\bsrc=["']?[^"'>\s]*{re.escape(WIDGET_SCRIPT)}["']?[^>]*>\s*</script>\n?""",
    re.I,
)
_LINK_TAG = re.compile(r"""<link\b[^>]*\brel=["']?answerable["']?(?=[\s>/])[^>]*>\n?""", re.I)
_WHOLE_PAGE = re.compile(r"</body>|\A\s*<!doctype html", re.I)
_BODY_END = re.compile(r"</body>", re.I)
_HEAD_END = re.compile(r"</head>", re.I)
_ELEMENT_TAG = re.compile(r"<answerable-ask(?=[\s/>])", re.I)


def read_widget_files() -> Mapping[str, str]:
    """Every file that the widget is made of, by its path in the site: its script and its texts."""
    return {path: file.read_text(encoding="utf-8") for path, file in _list_widget_files().items()}


def read_widget_file(path: str) -> str | None:
    """The file of the widget at a path in the site; None if there is none."""
    file = _list_widget_files().get(path)
    return None if file is None else file.read_text(encoding="utf-8")


def _list_widget_files() -> Mapping[str, Traversable]:
    folder = files("answerable") / "widget"
    found = {WIDGET_SCRIPT: folder / "ask-box.js"}
    for file in sorted((folder / "strings").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            found[f"{WIDGET_FOLDER}strings/{file.name}"] = file
    return found


def has_element(page: str) -> bool:
    """Whether a page, as `hiding.hide` gives it, holds the widget's element."""
    return _ELEMENT_TAG.search(page) is not None


def format_element(placement: str | None = None, shortcut: str | None = None) -> str:
    """The widget's element. None: as the widget has it, a floating button and its own shortcut."""
    given = {"placement": placement, "shortcut": shortcut}
    told = "".join(f' {name}="{escape(value)}"' for name, value in given.items() if value)
    return f"<answerable-ask{told}></answerable-ask>"


def append_element(content: str, element: str) -> str:
    """What a page says with an element at its end, if none stands in it."""
    return content if has_element(mask_non_tags(content)) else f"{content}\n{element}\n"


def drop_duplicate_element(html: str, element: str) -> str:
    """A page without our element if it stands beside one of its own."""
    page = mask_non_tags(html)
    if page.count(element) == len(_ELEMENT_TAG.findall(page)):
        return html
    return unmask(page.replace(element, ""))


def inject_widget(
    html: str, script_url: str, *, endpoint: str | None, element: str | None = WIDGET_ELEMENT
) -> str:
    """A page with the widget; one that has it already is brought up to date.

    element: None for the script alone. An element that an author has placed is left as the only
    one, and without an endpoint a link to one is left as it is. What is no whole page is left
    alone.
    """
    script_tag = f'<script type="module" src="{escape(script_url)}"></script>\n'
    link = f'<link rel="answerable" href="{escape(endpoint)}">\n' if endpoint else ""
    if _is_plain_page(html):
        tags = f"{element}\n{script_tag}" if element else script_tag
        return html.replace("</body>", f"{tags}</body>").replace("</head>", f"{link}</head>")
    page = mask_non_tags(html)
    if not _WHOLE_PAGE.search(page):
        return html
    page = _replace_existing_tag(page, _SCRIPT_TAG, script_tag) or _insert_before(
        page, _BODY_END, -1, script_tag
    )
    if element and not has_element(page):
        page = page.replace(script_tag, f"{element}\n{script_tag}", 1)
    if link:
        page = _replace_existing_tag(page, _LINK_TAG, link) or _insert_before(
            page, _HEAD_END, 0, link
        )
    return unmask(page)


def _is_plain_page(html: str) -> bool:
    """Whether a page is as most are: one body's end, the last thing in it, and none of our tags."""
    start, end = html.find("<body"), html.find("</body>")
    return (
        0 <= html.find("</head>") < start < end
        and html.count("</head>") == html.count("</body>") == 1
        and html[end:].split() == ["</body>", "</html>"]
        and "answerable" not in html.lower()
    )


def _replace_existing_tag(html: str, pattern: re.Pattern[str], tag: str) -> str | None:
    """A page in which a tag stands where the first one like it was; None if there was none."""
    first = pattern.search(html)
    if first is None:
        return None
    rest = pattern.sub("", html[first.end() :])
    return f"{html[: first.start()]}{tag}{rest}"


def _insert_before(html: str, pattern: re.Pattern[str], which: int, tag: str) -> str:
    """A page with a tag before one of the places of a kind, the first or the last, or at its end.

    The head's end is the first, the body's the last: any other stands in a script.
    """
    places = [match.start() for match in pattern.finditer(html)] or [len(html)]
    return f"{html[: places[which]]}{tag}{html[places[which] :]}"


_MATERIAL_HEADER = re.compile(
    r"""<nav\b[^>]*\bclass=["']?md-header__inner(?=[\s"'>])[^>]*>""", re.I
)
_BOOTSTRAP_HEADER = re.compile(
    r"""<ul\b[^>]*\bclass=["']?[^"'>]*\bnavbar-nav ms-md-auto\b[^>]*>""", re.I
)
_SPHINX_HEADER = re.compile(
    r"""<div\b[^>]*\bclass=["']?wy-side-nav-search(?=[\s"'>])[^>]*>""", re.I
)

_WrapElement = Callable[[str], str]

# How a theme's header begins, the tag that it ends with, and what the element stands in there.
_THEME_HEADERS: tuple[tuple[re.Pattern[str], str, _WrapElement], ...] = (
    (_MATERIAL_HEADER, "nav", str),
    (_BOOTSTRAP_HEADER, "ul", '<li class="nav-item">{}</li>'.format),
    (_SPHINX_HEADER, "div", str),
)


def put_into_header(html: str, element: str) -> str | None:
    """A page with an element as the last thing in its header; None for a header not known.

    A page that holds such an element already is left as it is.
    """
    page = mask_non_tags(html)
    if has_element(page):
        return html
    for header, tag, wrap in _THEME_HEADERS:
        begun = header.search(page)
        end = _find_element_end(page, begun.end(), tag) if begun else None
        if end is not None:
            return unmask(f"{page[:end]}{wrap(element)}\n{page[end:]}")
    return None


def _find_element_end(page: str, start: int, tag: str) -> int | None:
    """Where an element ends that has begun before a place; None if it does not."""
    depth = 1
    for found in re.compile(rf"<(/?){tag}(?=[\s/>])", re.I).finditer(page, start):
        depth += -1 if found[1] else 1
        if not depth:
            return found.start()
    return None
