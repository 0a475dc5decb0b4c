"""Where a built page has the widget, by the option ``widget.placement``."""

from typing import Literal, NamedTuple

from ..build import headers, injection
from . import shortcuts
from .config import AnswerableConfig

Placement = Literal["button", "header", "inline", "none"]

NO_HEADER = (
    "widget.placement: only the headers of the themes material, mkdocs and readthedocs are known, "
    "so the Ask button floats; set `placement: button`, or place <answerable-ask> in your theme"
)


class Put(NamedTuple):
    """A page with the widget. ``is_headless``: its header was asked for and is not known."""

    html: str
    is_headless: bool


def under(content: str, options: AnswerableConfig) -> str:
    """What a page says, with the widget at its end if it is placed there."""
    if options.widget.placement != "inline":
        return content
    return injection.append(content, _element(options, "inline"))


def put(html: str, script_url: str, endpoint: str | None, options: AnswerableConfig) -> Put:
    """Put the widget into a whole page; a page that has it in its content keeps it there."""
    placement = options.widget.placement
    placed: str | None = html
    if placement == "header":
        placed = headers.put(html, _element(options, "header"))
    elif placement == "inline":
        placed = injection.drop_second(html, _element(options, "inline"))
    floats = placement in ("button", "header")
    element = _element(options, "button") if floats else None
    injected = injection.inject(placed or html, script_url, endpoint=endpoint, element=element)
    return Put(injected, placed is None and injected != html)


def _element(options: AnswerableConfig, placement: Placement) -> str:
    shortcut = shortcuts.parse(options.widget.shortcut)
    return injection.tag(
        None if placement == "button" else placement,
        None if shortcut == shortcuts.DEFAULT else shortcut,
    )
