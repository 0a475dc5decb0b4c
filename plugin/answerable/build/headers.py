"""Where the headers of known themes have room for the widget."""

import re
from collections.abc import Callable

from . import hiding, injection

_MATERIAL = re.compile(r"""<nav\b[^>]*\bclass=["']?md-header__inner(?=[\s"'>])[^>]*>""", re.I)
_BOOTSTRAP = re.compile(r"""<ul\b[^>]*\bclass=["']?[^"'>]*\bnavbar-nav ms-md-auto\b[^>]*>""", re.I)
_SPHINX = re.compile(r"""<div\b[^>]*\bclass=["']?wy-side-nav-search(?=[\s"'>])[^>]*>""", re.I)

_Wrap = Callable[[str], str]

# How a theme's header begins, the tag that it ends with, and what the element stands in there.
_KNOWN: tuple[tuple[re.Pattern[str], str, _Wrap], ...] = (
    (_MATERIAL, "nav", str),
    (_BOOTSTRAP, "ul", '<li class="nav-item">{}</li>'.format),
    (_SPHINX, "div", str),
)


def put(html: str, element: str) -> str | None:
    """A page with an element as the last thing in its header; None for a header not known.

    A page that holds such an element already is left as it is.
    """
    page = hiding.hide(html)
    if injection.has_element(page):
        return html
    for header, tag, wrap in _KNOWN:
        begun = header.search(page)
        end = _end(page, begun.end(), tag) if begun else None
        if end is not None:
            return hiding.show(f"{page[:end]}{wrap(element)}\n{page[end:]}")
    return None


def _end(page: str, start: int, tag: str) -> int | None:
    """Where an element ends that has begun before a place; None if it does not."""
    depth = 1
    for found in re.compile(rf"<(/?){tag}(?=[\s/>])", re.I).finditer(page, start):
        depth += -1 if found[1] else 1
        if not depth:
            return found.start()
    return None
