"""What the widget is told: the site's addresses, by its options or its theme, and its examples."""

import re
from pathlib import Path
from string import Formatter
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..build.facts import Facts
from ..evaluate import gold
from ..serve import questions
from ..serve.errors import SiteError
from ..serve.urls import is_safe_url
from . import choices, shortcuts
from .config import AnswerableConfig

_FIELDS = frozenset({"question", "bundle"})
_EXAMPLES = 3
_SEARCH = ("search", "material/search")
# Of MkDocs' three themes; those without a page of results open their dialog for `?q=`.
_PAGE = "search.html?q={question}"
_DIALOG = "?q={question}"

_BODY = (
    "The ask box of this site did not find an answer.\n\nQuestion: {question}\nBundle: {bundle}\n"
)


def check(config: AnswerableConfig) -> None:
    """Refuse keys or an address that the widget cannot follow; SiteError names the option."""
    shortcuts.parse(config.widget.shortcut)
    _check("search", config.widget.search, _FIELDS)
    _check("authors", config.widget.authors, _FIELDS, schemes=("https://", "http://", "mailto:"))
    _check("feedback", config.widget.feedback, frozenset())


def facts(config: MkDocsConfig, options: AnswerableConfig) -> Facts:
    """What is put into the site for its widget; GoldError for a mistake in the gold set."""
    widget = options.widget
    return Facts(
        examples=_examples(choices.gold(options), config.site_author),
        search=_address(widget.search, _search(config)),
        authors=_address(widget.authors, _authors(config.repo_url or "")),
        feedback=_address(widget.feedback, None),
    )


def _examples(path: Path, author: str | None) -> tuple[str, ...]:
    """The first questions of the gold set that are marked; none without a gold set."""
    # What marks none is not read: it may be of thousands of queries, and a build needs none.
    if not path.is_file() or b"example" not in path.read_bytes():
        return ()
    marked = [query.query for query in gold.load(path, author) if query.example]
    return tuple(questions.clean(text) for text in marked[:_EXAMPLES])


def _address(given: object, default: str | None) -> str | None:
    if given is None:
        return default
    return None if _is_off(given) else str(given)


def _is_off(given: object) -> bool:
    return given is False or given == "none"


def _search(config: MkDocsConfig) -> str | None:
    """Where the search of a theme is asked; None for a theme that is not known."""
    plugins = (config.plugins.get(name) for name in _SEARCH)
    # Material's own search has an option of that name, and stays among the plugins without it.
    if not any(plugin and plugin.config.get("enabled", True) for plugin in plugins):
        return None
    theme = config.theme
    if theme.name not in ("material", "mkdocs", "readthedocs"):
        return None
    return _PAGE if theme.get("include_search_page") else _DIALOG


def _authors(repo_url: str) -> str | None:
    """Where a repository's issues are written, with the question and the bundle in the body."""
    parts = urlsplit(repo_url)
    host = (parts.hostname or "").removeprefix("www.")
    names = [name for name in parts.path.partition("/-/")[0].split("/") if name]
    is_gitlab = host == "gitlab.com" or host.startswith("gitlab.")
    if len(names) < 2 or (host != "github.com" and not is_gitlab):
        return None
    # Not the whole of it: an address may hold a password.
    root = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    body = quote(_BODY, safe="{}")
    if is_gitlab:
        form = f"-/issues/new?issue%5Btitle%5D={{question}}&issue%5Bdescription%5D={body}"
    else:
        names = names[:2]
        form = f"issues/new?title={{question}}&body={body}"
    names[-1] = names[-1].removesuffix(".git")
    return f"{root}/{quote('/'.join(names), safe='/%')}/{form}"


def _check(
    name: str,
    given: object,
    fields: frozenset[str],
    schemes: tuple[str, ...] = ("https://", "http://"),
) -> None:
    if given is None or _is_off(given):
        return
    if not isinstance(given, str) or not _is_address(given, schemes):
        absolute = "an http(s) or mailto: url" if "mailto:" in schemes else "an http(s) url"
        raise SiteError(
            f"widget.{name}: {given!r} is neither {absolute} nor an address from the site's root "
            "without a leading slash; correct it, or write none"
        )
    if not _placeholders(given) <= fields:
        known = " and ".join(f"{{{field}}}" for field in sorted(fields, reverse=True))
        may = f"only {known} may stand in it" if known else "no placeholder may stand in it"
        raise SiteError(f"widget.{name}: {given!r} has other braces, and {may}; correct it")


def _is_address(given: str, schemes: tuple[str, ...]) -> bool:
    if not is_safe_url(f"/{given}"):
        return False
    scheme = re.match(r"[^/?#]*:", given)
    return given.lower().startswith(schemes) if scheme else bool(given)


def _placeholders(given: str) -> set[str]:
    """What stands in braces; an open one, or one with a format, is none that is known."""
    try:
        found = [(name, spec, change) for _, name, spec, change in Formatter().parse(given)]
    except ValueError:
        return {""}
    return {f"{name}{spec}{change or ''}" for name, spec, change in found if name is not None}
