"""Check the ask widget's options, resolve its links and examples, and place it in pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig

from ..indexing.pages.page_index import PageIndex
from ..indexing.widget.injection import (
    append_element,
    check_address,
    drop_duplicate_element,
    format_element,
    inject_widget,
    make_issue_form,
    put_into_article,
    put_into_header,
)
from ..indexing.widget.site_files import (
    MAX_EXAMPLES,
    WidgetConfig,
    suggest_page_examples,
    suggest_site_examples,
)
from ..serve.retrieval.question import clean_question
from .options import (
    DEFAULT_SHORTCUT,
    AnswerableConfig,
    parse_shortcut,
    read_known_questions,
    resolve_gold_path,
)

# Of MkDocs' three themes; those without a page of results open their dialog for `?q=`.
_RESULTS_PAGE = "search.html?q={question}"

Placement = Literal["button", "header", "inline", "none"]

UNKNOWN_HEADER = (
    "widget.placement: only the headers of the themes material, mkdocs and readthedocs are known, "
    "so the Ask button floats; set `placement: button`, or place <answerable-ask> in your theme"
)


def check_widget_options(config: AnswerableConfig) -> None:
    """Refuse keys or an address that the widget cannot follow; SiteError names the option."""
    parse_shortcut(config.widget.shortcut)
    for name in ("search", "authors", "feedback"):
        option = config.widget[name]
        if option is not None and not _is_off(option):
            check_address(name, option)


def make_widget_config(
    config: MkDocsConfig, options: AnswerableConfig, pages: Iterable[PageIndex], search: str | None
) -> WidgetConfig:
    """Make the widget's configuration file; GoldError for a mistake in the gold set.

    pages: whose known questions are the examples on them, and whose questions, or headings, are
    those of the site where nobody has named any, for each language its own. search: the address of
    the theme's, empty where the widget has to look for it.
    """
    widget = options.widget
    examples: Sequence[str] | Mapping[str, Sequence[str]] = _clean_examples(widget.examples or ())
    page_examples: Mapping[str, Sequence[str]] = {}
    sources: Mapping[str, str] = {}
    if widget.examples is None:
        listed = list(pages)
        page_examples = suggest_page_examples(listed, read_known_questions(options))
        examples = _clean_examples(_list_gold_examples(options, config.site_author))
        if not examples:
            by_language, sources = suggest_site_examples(listed, page_examples)
            first = next(iter(by_language.values()), ())
            examples = by_language if len(by_language) > 1 else first
    return WidgetConfig(
        examples=examples,
        page_examples=page_examples,
        sources=sources,
        search=_resolve_address(widget.search, search),
        authors=_resolve_address(widget.authors, make_issue_form(config.repo_url or "")),
        feedback=_resolve_address(widget.feedback, None),
    )


def _clean_examples(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(clean_question, texts[:MAX_EXAMPLES]))


def _list_gold_examples(options: AnswerableConfig, author: str | None) -> list[str]:
    """List the queries of the gold set that are marked as examples."""
    path = resolve_gold_path(options)
    # A gold set without examples is not parsed: it may have thousands of queries.
    if not (path.is_file() and b"example" in path.read_bytes()):
        return []
    from ..evaluate.gold import load_gold_queries

    return [query.query for query in load_gold_queries(path, author) if query.example]


def _resolve_address(option: object, default: str | None) -> str | None:
    if option is None:
        return default
    return None if _is_off(option) else str(option)


def _is_off(option: object) -> bool:
    return option is False or option == "none"


def find_theme_search(config: MkDocsConfig) -> str | None:
    """Find the address of a theme's search; empty for an unknown theme, None without one."""
    theme = config.theme
    if theme.name not in ("material", "mkdocs", "readthedocs"):
        return ""
    plugins = (config.plugins.get(name) for name in ("search", "material/search"))
    # Material's own search has an option of that name, and stays among the plugins without it.
    if not any(plugin and plugin.config.get("enabled", True) for plugin in plugins):
        return None
    return _RESULTS_PAGE if theme.get("include_search_page") else "?q={question}"


def append_inline_widget(content: str, options: AnswerableConfig) -> str:
    """Append the widget to a page's content if the option places it inline."""
    if options.widget.placement != "inline":
        return content
    return append_element(content, _widget_element(options, "inline"))


def append_inline_widget_to_page(html: str, options: AnswerableConfig) -> str:
    """Append the widget to the article of a whole page if the option places it inline."""
    if options.widget.placement != "inline":
        return html
    return put_into_article(html, _widget_element(options, "inline")) or html


def place_widget(
    html: str, script_url: str, endpoint: str | None, options: AnswerableConfig
) -> tuple[str, bool]:
    """Put the widget into a whole page; one with the widget in its content keeps it there.

    Returns the page, and whether it has no known header to put the widget into.
    """
    placement = options.widget.placement
    placed: str | None = html
    if placement is None:
        # Where nobody has chosen a place, it is beside the search of Material, else it floats.
        header = _widget_element(options, "header")
        placed = put_into_header(html, header, of_material=True) or html
    elif placement == "header":
        placed = put_into_header(html, _widget_element(options, "header"))
    elif placement == "inline":
        placed = drop_duplicate_element(html, _widget_element(options, "inline"))
    floats = placement in (None, "button", "header")
    element = _widget_element(options, "button") if floats else None
    injected = inject_widget(placed or html, script_url, endpoint=endpoint, element=element)
    return injected, placed is None and injected != html


def _widget_element(options: AnswerableConfig, placement: Placement) -> str:
    shortcut = parse_shortcut(options.widget.shortcut)
    return format_element(
        None if placement == "button" else placement,
        None if shortcut == DEFAULT_SHORTCUT else shortcut,
    )
