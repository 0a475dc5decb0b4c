"""Tags of the widget in the pages of a built site, and the addresses that they name."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Formatter
from urllib.parse import quote, urlsplit

from ...serve.errors import SiteError
from ...serve.text.urls import is_safe_url
from .scripts import join_modules, shorten_script

WIDGET_FOLDER = "assets/answerable/"
WIDGET_SCRIPT = f"{WIDGET_FOLDER}ask-box.js"
# Loads the other one, on a page of a disk too.
OFFLINE_SCRIPT = f"{WIDGET_FOLDER}offline.js"
WIDGET_ELEMENT = "<answerable-ask></answerable-ask>"

# A minifier may have taken the quotes away.
_SCRIPT_TAG = re.compile(
    rf"""<script\b[^>]*\bsrc=["']?[^"'>\s]*{WIDGET_FOLDER}(?:ask-box|offline)\.js["']?[^>]*>"""
    r"\s*</script>\n?",
    re.I,
)
_LINK_TAG = re.compile(r"""<link\b[^>]*\brel=["']?answerable["']?(?=[\s>/])[^>]*>\n?""", re.I)
_WHOLE_PAGE = re.compile(r"</body>|\A\s*<!doctype html", re.I)
_BODY_END = re.compile(r"</body>", re.I)
_HEAD_END = re.compile(r"</head>", re.I)
_ELEMENT_TAG = re.compile(r"<answerable-ask(?=[\s/>])", re.I)

# What a browser does not read as tags of the page. A region without an end runs on to the page's.
_NON_TAG_REGION = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|(?P<comment_on>\Z)))"
    r"|<(?P<name>script|style|textarea|title|template)(?=[\s>])(?:[^>]*[^>/])?>"
    r"(?P<body>.*?)(?:</(?P=name)(?=[\s/>])|(?P<element_on>\Z))",
    re.I | re.S,
)
# Stands for a `<` that begins no tag: no text that can be written holds half a surrogate pair.
_MASK = "\ud800"

# How a part of a page begins, the tag that it ends with, and what the element stands in there.
_PageParts = tuple[tuple[re.Pattern[str], str, Callable[[str], str]], ...]
_ARTICLES: _PageParts = (
    (re.compile(r"<article(?=[\s>])[^>]*>", re.I), "article", str),
    (re.compile(r"""<div\b[^>]*\brole=["']?main(?=[\s"'>])[^>]*>""", re.I), "div", str),
    (re.compile(r"<main(?=[\s>])[^>]*>", re.I), "main", str),
)
_MATERIAL_HEADER: _PageParts = (
    (
        re.compile(r"""<nav\b[^>]*\bclass=["']?md-header__inner(?=[\s"'>])[^>]*>""", re.I),
        "nav",
        str,
    ),
)
# What stands behind the search in the header of Material.
_AFTER_SEARCH = re.compile(r"""<div\b[^>]*\bclass=["']?md-header__source(?=[\s"'>])""", re.I)
_THEME_HEADERS: _PageParts = (
    *_MATERIAL_HEADER,
    # Bootstrap themes, and Read the Docs for Sphinx.
    (
        re.compile(r"""<ul\b[^>]*\bclass=["']?[^"'>]*\bnavbar-nav ms-md-auto\b[^>]*>""", re.I),
        "ul",
        '<li class="nav-item d-flex align-items-center">{}</li>'.format,
    ),
    (
        re.compile(r"""<div\b[^>]*\bclass=["']?wy-side-nav-search(?=[\s"'>])[^>]*>""", re.I),
        "div",
        str,
    ),
)


@cache
def read_widget_files() -> Mapping[str, str]:
    """Read every file of the widget, by its path in the site: its scripts and its strings."""
    folder = files("answerable") / "widget"
    sources = {
        f"{prefix}{file.name}": file.read_text(encoding="utf-8")
        for prefix in ("", "ask-box/", "engine/", "strings/")
        for file in (folder / prefix).iterdir()
        if file.name.endswith((".js", ".css", ".json"))
    }
    modules = {path: shorten_script(text) for path, text in sources.items() if path.endswith(".js")}
    entry = WIDGET_SCRIPT.removeprefix(WIDGET_FOLDER)
    joined = {entry: join_modules({**sources, **modules}, entry)}
    published = {
        path: text
        for path, text in {**sources, **modules, **joined}.items()
        if path.startswith("strings/") or (path in modules and "/" not in path)
    }
    return {WIDGET_FOLDER + path: published[path] for path in sorted(published)}


def format_element(placement: str | None = None, shortcut: str | None = None) -> str:
    """Format the widget's element. None: its defaults, a floating button and its own shortcut."""
    options = {"placement": placement, "shortcut": shortcut}
    attributes = [f' {name}="{escape(value)}"' for name, value in options.items() if value]
    return f"<answerable-ask{''.join(attributes)}></answerable-ask>"


def append_element(content: str, element: str) -> str:
    """Append an element to a page's content, if none stands in it."""
    has_element = _ELEMENT_TAG.search(mask_non_tags(content))
    return content if has_element else f"{content}\n{element}\n"


def drop_duplicate_element(html: str, element: str) -> str:
    """Remove our element from a page if it stands beside one that an author has placed."""
    page = mask_non_tags(html)
    if page.count(element) == len(_ELEMENT_TAG.findall(page)):
        return html
    return unmask(page.replace(element, ""))


def put_into_header(html: str, element: str, *, of_material: bool = False) -> str | None:
    """Put an element at the end of a page's header, in Material beside its search.

    Returns None for a header of no known theme. A page that holds such an element already is left
    as it is. of_material: no other header counts.
    """
    return _put_into_part(html, element, _MATERIAL_HEADER if of_material else _THEME_HEADERS)


def put_into_article(html: str, element: str) -> str | None:
    """Put an element at the end of a page's article, or return None for a page without one.

    A page that holds such an element already is left as it is.
    """
    return _put_into_part(html, element, _ARTICLES)


def _put_into_part(html: str, element: str, parts: _PageParts) -> str | None:
    page = mask_non_tags(html)
    if _ELEMENT_TAG.search(page):
        return html
    for part, tag, wrap in parts:
        start = part.search(page)
        end = _find_element_end(page, start.end(), tag) if start else None
        if end is not None:
            behind = _AFTER_SEARCH.search(page, start.end() if start else 0, end)
            end = behind.start() if behind else end
            return unmask(f"{page[:end]}{wrap(element)}\n{page[end:]}")
    return None


def _find_element_end(page: str, start: int, tag: str) -> int | None:
    """Return where an element ends that has begun before ``start``; None if it does not."""
    depth = 1
    for match in re.compile(rf"<(/?){tag}(?=[\s/>])", re.I).finditer(page, start):
        depth += -1 if match[1] else 1
        if not depth:
            return match.start()
    return None


def inject_widget(
    html: str, script_url: str, *, endpoint: str | None, element: str | None = WIDGET_ELEMENT
) -> str:
    """Put the widget into a page; one that has it already is brought up to date.

    element: None for the script alone. An element that an author has placed stays the only one.
    endpoint: None leaves a link to one as it is, and "" removes it. What is not a whole page is
    unchanged.
    """
    kind = "defer" if script_url.endswith(OFFLINE_SCRIPT) else 'type="module"'
    script_tag = f'<script {kind} src="{escape(script_url)}"></script>\n'
    link = f'<link rel="answerable" href="{escape(endpoint)}">\n' if endpoint else ""
    page = mask_non_tags(html)
    if not _WHOLE_PAGE.search(page):
        return html
    page = _put_tag(page, _SCRIPT_TAG, script_tag, _BODY_END, -1)
    if element and not _ELEMENT_TAG.search(page):
        page = page.replace(script_tag, f"{element}\n{script_tag}", 1)
    if link:
        page = _put_tag(page, _LINK_TAG, link, _HEAD_END, 0)
    elif endpoint is not None:
        page = _LINK_TAG.sub("", page)
    return unmask(page)


def _put_tag(
    html: str, existing: re.Pattern[str], tag: str, place: re.Pattern[str], which: int
) -> str:
    """Replace the first existing tag and drop the others; without one, insert before a place.

    The head's end is the first match of its pattern, the body's the last: any other stands in a
    script. A page without such a place gets the tag at its end.
    """
    if first := existing.search(html):
        return f"{html[: first.start()]}{tag}{existing.sub('', html[first.end() :])}"
    places = [match.start() for match in place.finditer(html)] or [len(html)]
    return f"{html[: places[which]]}{tag}{html[places[which] :]}"


def mask_non_tags(html: str) -> str:
    """Return a page, as long as before, in which only its own tags begin with `<`."""
    return _NON_TAG_REGION.sub(_mask_region, html)


def unmask(html: str) -> str:
    """Restore the page that was masked, with what has been put into it since."""
    return html.replace(_MASK, "<")


def _mask_region(match: re.Match[str]) -> str:
    """Mask a comment or the body of an element; a region without an end is unchanged."""
    if match["comment_on"] is not None or match["element_on"] is not None:
        return match[0]
    if not match["name"]:
        return match[0].replace("<", _MASK)
    start, end = (offset - match.start() for offset in match.span("body"))
    return f"{match[0][:start]}{match['body'].replace('<', _MASK)}{match[0][end:]}"


_FIELDS = frozenset({"question", "bundle"})
_ISSUE_BODY = (
    "The ask box of this site did not find an answer.\n\nQuestion: {question}\nBundle: {bundle}\n"
)


def make_issue_form(repo_url: str) -> str | None:
    """Make the address of a repository's form for issues; None for an unknown host.

    The question and the bundle are placeholders in it.
    """
    parts = urlsplit(repo_url)
    host = (parts.hostname or "").removeprefix("www.")
    names = [name for name in parts.path.partition("/-/")[0].split("/") if name]
    is_gitlab = host == "gitlab.com" or host.startswith("gitlab.")
    if len(names) < 2 or (host != "github.com" and not is_gitlab):
        return None
    # Without the user info, which may hold a password.
    root = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    body = quote(_ISSUE_BODY, safe="{}")
    if is_gitlab:
        form = f"-/issues/new?issue%5Btitle%5D={{question}}&issue%5Bdescription%5D={body}"
    else:
        names = names[:2]
        form = f"issues/new?title={{question}}&body={body}"
    names[-1] = names[-1].removesuffix(".git")
    return f"{root}/{quote('/'.join(names), safe='/%')}/{form}"


def check_address(name: str, value: object) -> None:
    """Refuse an address that the widget cannot follow, by SiteError. name: of the option."""
    schemes = ("https://", "http://", *(["mailto:"] if name == "authors" else []))
    text = str(value)
    is_known = not re.match(r"[^/?#]*:", text) or text.lower().startswith(schemes)
    if not (text and isinstance(value, str) and is_safe_url(f"/{text}") and is_known):
        absolute = "an http(s) or mailto: url" if "mailto:" in schemes else "an http(s) url"
        raise SiteError(
            f"widget.{name}: {value!r} is neither {absolute} nor an address from the site's root "
            "without a leading slash; correct it, or write none"
        )
    fields = frozenset() if name == "feedback" else _FIELDS
    if not _find_placeholders(text) <= fields:
        allowed = " and ".join(f"{{{field}}}" for field in sorted(fields, reverse=True))
        may = f"only {allowed} may stand in it" if allowed else "no placeholder may stand in it"
        raise SiteError(f"widget.{name}: {text!r} has other braces, and {may}; correct it")


def _find_placeholders(template: str) -> set[str]:
    """List the placeholders of a template; an open brace or a format makes an unknown one."""
    try:
        fields = [(name, spec, change) for _, name, spec, change in Formatter().parse(template)]
    except ValueError:
        return {""}
    return {f"{name}{spec}{change or ''}" for name, spec, change in fields if name is not None}
