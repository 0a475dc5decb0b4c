"""Check the ask widget's options, resolve its links and examples, and place it in pages."""

import re
from pathlib import Path
from string import Formatter
from typing import Literal, NamedTuple
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..evaluate.gold import load_gold_queries
from ..indexing.widget.injection import (
    append_element,
    drop_duplicate_element,
    format_element,
    inject_widget,
    put_into_header,
)
from ..indexing.widget.widget_config import WidgetConfig
from ..serve.errors import SiteError
from ..serve.retrieval.question_text import clean_question
from ..serve.structure import is_safe_url
from .config import DEFAULT_SHORTCUT, AnswerableConfig, parse_shortcut
from .options import resolve_gold_path

_ADDRESS_FIELDS = frozenset({"question", "bundle"})
_MAX_EXAMPLES = 3
_SEARCH_PLUGINS = ("search", "material/search")
# Of MkDocs' three themes; those without a page of results open their dialog for `?q=`.
_RESULTS_PAGE = "search.html?q={question}"
_SEARCH_DIALOG = "?q={question}"

_ISSUE_BODY = (
    "The ask box of this site did not find an answer.\n\nQuestion: {question}\nBundle: {bundle}\n"
)

Placement = Literal["button", "header", "inline", "none"]

UNKNOWN_HEADER = (
    "widget.placement: only the headers of the themes material, mkdocs and readthedocs are known, "
    "so the Ask button floats; set `placement: button`, or place <answerable-ask> in your theme"
)


def check_widget_options(config: AnswerableConfig) -> None:
    """Refuse keys or an address that the widget cannot follow; SiteError names the option."""
    parse_shortcut(config.widget.shortcut)
    _check_address("search", config.widget.search, _ADDRESS_FIELDS)
    _check_address(
        "authors",
        config.widget.authors,
        _ADDRESS_FIELDS,
        schemes=("https://", "http://", "mailto:"),
    )
    _check_address("feedback", config.widget.feedback, frozenset())


def make_widget_config(config: MkDocsConfig, options: AnswerableConfig) -> WidgetConfig:
    """Make the widget's configuration file; GoldError for a mistake in the gold set."""
    widget = options.widget
    return WidgetConfig(
        examples=_pick_examples(resolve_gold_path(options), config.site_author),
        search=_resolve_address(widget.search, _find_theme_search(config)),
        authors=_resolve_address(widget.authors, _make_issue_form(config.repo_url or "")),
        feedback=_resolve_address(widget.feedback, None),
    )


def _pick_examples(path: Path, author: str | None) -> tuple[str, ...]:
    """Pick the first questions that the gold set marks as examples; none without a gold set."""
    # A gold set without examples is not parsed: it may have thousands of queries.
    if not path.is_file() or b"example" not in path.read_bytes():
        return ()
    marked = [query.query for query in load_gold_queries(path, author) if query.example]
    return tuple(clean_question(text) for text in marked[:_MAX_EXAMPLES])


def _resolve_address(option: object, default: str | None) -> str | None:
    if option is None:
        return default
    return None if _is_off(option) else str(option)


def _is_off(option: object) -> bool:
    return option is False or option == "none"


def _find_theme_search(config: MkDocsConfig) -> str | None:
    """Find the address of a theme's own search; None for an unknown theme."""
    plugins = (config.plugins.get(name) for name in _SEARCH_PLUGINS)
    # Material's own search has an option of that name, and stays among the plugins without it.
    if not any(plugin and plugin.config.get("enabled", True) for plugin in plugins):
        return None
    theme = config.theme
    if theme.name not in ("material", "mkdocs", "readthedocs"):
        return None
    return _RESULTS_PAGE if theme.get("include_search_page") else _SEARCH_DIALOG


def _make_issue_form(repo_url: str) -> str | None:
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


def _check_address(
    name: str,
    option: object,
    fields: frozenset[str],
    schemes: tuple[str, ...] = ("https://", "http://"),
) -> None:
    if option is None or _is_off(option):
        return
    if not isinstance(option, str) or not _is_address(option, schemes):
        absolute = "an http(s) or mailto: url" if "mailto:" in schemes else "an http(s) url"
        raise SiteError(
            f"widget.{name}: {option!r} is neither {absolute} nor an address from the site's root "
            "without a leading slash; correct it, or write none"
        )
    if not _find_placeholders(option) <= fields:
        allowed = " and ".join(f"{{{field}}}" for field in sorted(fields, reverse=True))
        may = f"only {allowed} may stand in it" if allowed else "no placeholder may stand in it"
        raise SiteError(f"widget.{name}: {option!r} has other braces, and {may}; correct it")


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    if not is_safe_url(f"/{text}"):
        return False
    scheme = re.match(r"[^/?#]*:", text)
    return text.lower().startswith(schemes) if scheme else bool(text)


def _find_placeholders(template: str) -> set[str]:
    """List the placeholders of a template; an open brace or a format makes an unknown one."""
    try:
        fields = [(name, spec, change) for _, name, spec, change in Formatter().parse(template)]
    except ValueError:
        return {""}
    return {f"{name}{spec}{change or ''}" for name, spec, change in fields if name is not None}


class PlacedWidget(NamedTuple):
    """Hold a page with the widget. ``lacks_header``: no known header to put the widget into."""

    html: str
    lacks_header: bool


def append_inline_widget(content: str, options: AnswerableConfig) -> str:
    """Append the widget to a page's content if the option places it inline."""
    if options.widget.placement != "inline":
        return content
    return append_element(content, _widget_element(options, "inline"))


def place_widget(
    html: str, script_url: str, endpoint: str | None, options: AnswerableConfig
) -> PlacedWidget:
    """Put the widget into a whole page; one with the widget in its content keeps it there."""
    placement = options.widget.placement
    placed: str | None = html
    if placement == "header":
        placed = put_into_header(html, _widget_element(options, "header"))
    elif placement == "inline":
        placed = drop_duplicate_element(html, _widget_element(options, "inline"))
    floats = placement in ("button", "header")
    element = _widget_element(options, "button") if floats else None
    injected = inject_widget(placed or html, script_url, endpoint=endpoint, element=element)
    return PlacedWidget(injected, placed is None and injected != html)


def _widget_element(options: AnswerableConfig, placement: Placement) -> str:
    shortcut = parse_shortcut(options.widget.shortcut)
    return format_element(
        None if placement == "button" else placement,
        None if shortcut == DEFAULT_SHORTCUT else shortcut,
        offers_tool=options.widget.webmcp,
        has_search_row=options.widget.search_row,
    )
