"""Check the ask widget's options, resolve its links and examples, and write the tags of pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..engine.errors import SiteError
from ..engine.retrieval.question import clean_question
from ..engine.text.urls import is_safe_url
from ..indexing.pages.page_index import PageIndex
from ..indexing.widget.injection import write_tags
from ..indexing.widget.site_files import (
    MAX_EXAMPLES,
    WidgetConfig,
    suggest_page_examples,
    suggest_site_examples,
)
from .options import (
    DEFAULT_SHORTCUT,
    AnswerableConfig,
    parse_shortcut,
    read_known_questions,
)

# Of MkDocs' three themes; those without a page of results open their dialog for `?q=`.
_RESULTS_PAGE = "search.html?q={question}"

_ISSUE_BODY = (
    "The ask box of this site did not find an answer.\n\nQuestion: {question}\nBundle: {bundle}\n"
)


def check_widget_options(config: AnswerableConfig) -> None:
    """Refuse keys or an address that the widget cannot follow; SiteError names the option."""
    parse_shortcut(config.widget.shortcut)
    for name in ("search", "authors", "feedback"):
        option = config.widget[name]
        if option is not None and not _is_off(option):
            _check_address(name, option)


def _check_address(name: str, value: object) -> None:
    text = str(value)
    schemes = "https?|mailto" if name == "authors" else "https?"
    is_known = re.match(rf"(?:{schemes}):|(?![^/?#]*:)", text, re.I)
    if not (text and isinstance(value, str) and is_safe_url(f"/{text}") and is_known):
        absolute = "an http(s) or mailto: url" if name == "authors" else "an http(s) url"
        raise SiteError(
            f"widget.{name}: {value!r} is neither {absolute} nor an address from the site's root "
            "without a leading slash; correct it, or write none"
        )
    allowed = () if name == "feedback" else ("{question}", "{bundle}")
    rest = re.sub("|".join(map(re.escape, allowed)) or "$", "", text)
    if "{" in rest or "}" in rest:
        may = f"only {' and '.join(allowed)} may stand in it" if allowed else "none may stand in it"
        raise SiteError(f"widget.{name}: {text!r} has other braces, and {may}; correct it")


def make_widget_config(
    config: MkDocsConfig, options: AnswerableConfig, pages: Iterable[PageIndex], search: str | None
) -> WidgetConfig:
    """Make the widget's configuration file; GoldError for a mistake in the gold set.

    pages: whose known questions are the examples on them, and those of the site where nobody has
    named any, for each language its own. search: the address of the theme's, empty where the
    widget has to look for it.
    """
    widget = options.widget
    examples: Sequence[str] | Mapping[str, Sequence[str]] = _clean_examples(widget.examples or ())
    page_examples: Mapping[str, Sequence[str]] = {}
    if widget.examples is None:
        listed = list(pages)
        page_examples = suggest_page_examples(listed, read_known_questions(options))
        examples = _clean_examples(_list_gold_examples(options, config.site_author))
        if not examples:
            by_language = suggest_site_examples(listed, page_examples)
            first = next(iter(by_language.values()), ())
            examples = by_language if len(by_language) > 1 else first
    return WidgetConfig(
        examples=examples,
        page_examples=page_examples,
        search=_resolve_address(widget.search, search),
        authors=_resolve_address(widget.authors, _make_issue_form(config.repo_url or "")),
        feedback=_resolve_address(widget.feedback, None),
    )


def _clean_examples(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(clean_question, texts[:MAX_EXAMPLES]))


def _list_gold_examples(options: AnswerableConfig, author: str | None) -> list[str]:
    """List the queries of the gold set that are marked as examples."""
    path = Path(options.gold)
    # A gold set without examples is not parsed: it may have thousands of queries.
    if not (path.is_file() and b"example" in path.read_bytes()):
        return []
    from ..check.gold import load_gold_queries

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


def write_widget_tags(
    script_url: str, endpoint: str | None, options: AnswerableConfig, *, is_page: bool = True
) -> str:
    """Write the tags that load the widget. is_page: False for a page of the theme, such as 404."""
    placement, shortcut = options.widget.placement or "", parse_shortcut(options.widget.shortcut)
    if placement == "inline" and not is_page:
        placement = "none"
    keys = None if shortcut == DEFAULT_SHORTCUT else shortcut
    return write_tags(script_url, endpoint, placement, keys)
