"""Tools, schemas and resources of the server for agents."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from ...serve.answers.wire import MAX_PLACES
from ...serve.retrieval.question import MAX_QUESTION_CHARACTERS
from ...serve.retrieval.retrieve import TOP_K
from ...serve.retrieval.store import Store
from ...serve.text.languages import MAX_TAG_LENGTH
from ..problems import Problem, convert_error
from ..questions import parse_language, parse_question
from .markdown import find_url, format_answer, format_notes, join_parts, make_absolute
from .pages import PageText, count_pages, list_pages, read_page

_TEXT: Mapping[str, Any] = {"type": "string"}
_URL: Mapping[str, Any] = {
    "type": "string",
    "description": "Where the words are published: cite it.",
}
_NUMBERS: Mapping[str, Any] = {"type": "array", "items": {"type": "integer"}}
_NOTES: Mapping[str, Any] = {"type": "array", "description": "On corrected and unknown words."}


def _describe_rows(required: Mapping[str, Any], **others: Any) -> Mapping[str, Any]:
    """Build the schema of a list of objects, which may have more than it says."""
    row = {"type": "object", "properties": {**required, **others}, "required": list(required)}
    return {"type": "array", "items": row}


# What of an answer's body an agent needs; OpenAPI's document has all of it.
_ANSWER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["supported", "partial", "related-material", "not-found"]},
        "confidence": {
            "enum": ["high", "medium", "low"],
            "description": "low: the nearest sections, which may not answer the question",
        },
        "written": {"type": "boolean", "description": "By a model, not only quoted."},
        "complete": {
            "type": "boolean",
            "description": "A written answer is to the whole question; else it is one in part.",
        },
        "fallback": {
            "type": "boolean",
            "description": "The model failed, and the passages are shown without it.",
        },
        "answer": {"type": "string", "description": "With the numbers of citations: [1]."},
        "claims": _describe_rows({"markdown": _TEXT, "citations": _NUMBERS}),
        "routes": _describe_rows({"text": _TEXT, "citations": _NUMBERS}),
        "citations": _describe_rows(
            {"n": {"type": "integer"}, "url": _URL}, absolute_url=_URL, title=_TEXT, quote=_TEXT
        ),
        "notes": _NOTES,
        "reason": {"type": ["string", "null"], "description": "Of a refusal."},
        "places": _describe_rows({"title": _TEXT, "url": _TEXT}),
    },
    "required": [
        *("mode", "confidence", "written", "complete", "fallback"),
        *("answer", "claims", "citations", "places"),
    ],
}
_PASSAGES_SCHEMA = _describe_rows({"id": _TEXT, "url": _URL, "title": _TEXT, "markdown": _TEXT})
_SEARCH_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"passages": _PASSAGES_SCHEMA, "notes": _NOTES},
    "required": ["passages", "notes"],
}
_PAGE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "url": _URL,
        "title": _TEXT,
        "sections": _PASSAGES_SCHEMA,
        "is_cut": {"type": "boolean", "description": "The section ends early: too long."},
        "left_out_count": {"type": "integer"},
        "left_out": {
            "type": "array",
            "items": _TEXT,
            "description": "Ids of sections that there is no room for, or the first of them.",
        },
    },
    "required": ["id", "url", "title", "sections", "is_cut", "left_out_count", "left_out"],
}

# Ids of sections that a result names of those that it has no room for.
_MAX_LISTED = 50
# A refused agent goes on with the first of them, and reads no more.
_PLACES_OF_REFUSAL = 3


@dataclass(frozen=True, slots=True)
class AgentSite:
    """Give the tools what they may use of a site.

    ``version``: of this program. ``built_at``: when the index was built. ``base``: what makes its
    urls absolute, if that is known. ``questions``: some that it is known to answer, each of another
    page. ``ask`` (question, language) returns the body of an answer, ``search`` (question) the rows
    of passages by id, ``read_notes`` (question) the notes on its words, ``list_places`` (question,
    language) rows as of a search for the end of an answer, or none, ``open_store`` the store to
    read a page from, in a block; the others raise a Problem, or whatever kept them from it.
    ``is_draft``: pages change at any moment. ``report_error`` takes what an agent is told in
    general words.
    """

    name: str
    version: str
    built_at: str
    base: str | None
    is_public: bool
    open_store: Callable[[], AbstractContextManager[Store]]
    ask: Callable[[str, str | None], Mapping[str, Any]]
    search: Callable[[str], Mapping[str, Mapping[str, Any]]]
    read_notes: Callable[[str], Sequence[Mapping[str, str]]]
    list_places: Callable[[str, str | None], Mapping[str, Mapping[str, Any]]]
    questions: Sequence[str] = ()
    is_draft: bool = False
    report_error: Callable[[Exception], object] = lambda _: None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Hold what a tool returns: text to read, and the same as JSON unless it is an error."""

    text: str
    data: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Encode the result of ``tools/call``."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": self.data is None,
        }
        return result if self.data is None else result | {"structuredContent": dict(self.data)}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its input's properties, the first of which it requires, its output, what runs it.

    ``aliases``: other names of a property, which the list of tools leaves out.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    output: Mapping[str, Any]
    run: Callable[[AgentSite, Mapping[str, Any]], ToolResult]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def required(self) -> str:
        """Return the name of the property that it requires."""
        return next(iter(self.properties))

    def as_json(self, site: AgentSite) -> dict[str, Any]:
        """Describe the tool in a list of tools."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description.format(site=site.name),
            "inputSchema": {
                "type": "object",
                "properties": self.properties,
                "required": [self.required],
            },
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }


def call_tool(tool: Tool, site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Run a tool; a problem, and an argument that it does not take, become an error result."""
    values = {tool.aliases.get(name, name): value for name, value in arguments.items()}
    for name in values:
        if name not in tool.properties:
            names = " and ".join(tool.properties)
            return ToolResult(f"The tool {tool.name} takes {names}, and no {name:.40}.")
    if tool.required not in values:
        return ToolResult(f"The tool {tool.name} needs {tool.required}.")
    if not isinstance(values[tool.required], str):
        return ToolResult(f"The {tool.required} has to be a text.")
    try:
        return tool.run(site, values)
    except Exception as error:
        site.report_error(error)
        return ToolResult(describe_problem(convert_error(error)))


def describe_problem(problem: Problem) -> str:
    """Say what a problem is and, where waiting helps, how long to wait."""
    wait = problem.headers.get("Retry_After")
    return f"{problem.detail} Wait {wait} seconds." if wait else problem.detail


def run_ask(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Ask a question: an answer with its citations, or a refusal, both as the wire has them."""
    question = parse_question(arguments["question"])
    language = parse_language(arguments.get("language"))
    body = site.ask(question, language)
    cited = {citation["url"] for citation in body["citations"]}
    rows = site.list_places(question, language).values()
    places = [row for row in rows if row["url"] not in cited]
    places = places[: _PLACES_OF_REFUSAL if body["mode"] == "not-found" else MAX_PLACES]
    links = [
        {"title": place["title"], "url": find_url(place), "line": place["line"]} for place in places
    ]
    return ToolResult(format_answer(body, places), {**body, "places": links})


def run_search(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Search public passages, best first."""
    limit = arguments.get("limit", TOP_K)
    if type(limit) is not int or not 1 <= limit <= TOP_K:
        return ToolResult(f"The limit is a whole number from 1 to {TOP_K}.")
    query = parse_question(arguments["query"])
    rows, notes = site.search(query), site.read_notes(query)
    listed = dict(list(rows.items())[:limit])
    passages = [
        {"id": name, "url": find_url(row), "title": row["title"], "markdown": row["markdown"]}
        for name, row in listed.items()
    ]
    texts = [
        f"{row['title']}\n{find_url(row)}\n(section {name})\n\n{row['markdown']}"
        + ("\n\n…" if row["is_cut"] else "")
        for name, row in listed.items()
    ]
    texts = texts or ["Nothing on this site is near enough to this query."]
    text = join_parts(format_notes(notes), *texts)
    return ToolResult(text, {"passages": passages, "notes": notes})


def run_read(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Read a page or a section of it, as it may be quoted."""
    max_words = arguments.get("max_words")
    if max_words is not None and (type(max_words) is not int or max_words < 1):
        return ToolResult("The max_words is a whole number from 1 on.")
    with site.open_store() as store:
        page = read_page(store, arguments["page"], site.base, max_words)
    if page is None:
        return ToolResult(
            "There is no such page: name one by the id or url that search returned, or list the "
            "resource answerable://pages."
        )
    return ToolResult(format_page(page, site.base), _page_as_json(page, site.base))


def format_page(page: PageText, base: str | None) -> str:
    """Format a page as Markdown that says where it is published and what is left out of it."""
    parts = [f"{page.title}\n{make_absolute(page.url, base)}"]
    parts += [f"## {section.title}\n\n{section.markdown}" for section in page.sections]
    if page.is_cut:
        parts.append(
            "…\n\n(Cut here: read it with more `max_words`, or search for what comes after it.)"
        )
    if page.left_out:
        listed = ", ".join(page.left_out[:_MAX_LISTED])
        count = len(page.left_out)
        parts.append(f"(Left out, {count} more sections of this page, such as: {listed})")
    return "\n\n".join(parts)


def _page_as_json(page: PageText, base: str | None) -> dict[str, Any]:
    """Encode a page's text. base: what makes its urls absolute."""
    return {
        "id": page.id,
        "url": make_absolute(page.url, base),
        "title": page.title,
        "sections": [
            {
                "id": section.id,
                "url": make_absolute(section.url, base),
                "title": section.title,
                "markdown": section.markdown,
            }
            for section in page.sections
        ],
        "is_cut": page.is_cut,
        "left_out_count": len(page.left_out),
        "left_out": list(page.left_out[:_MAX_LISTED]),
    }


_QUESTION_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_QUESTION_CHARACTERS,
    "description": "One whole question, as a reader would ask it.",
}

TOOLS = (
    Tool(
        "ask",
        "Ask the documentation",
        "Ask {site} one question. Returns sentences that were checked against the site's own "
        "words, each with the url to cite, or says that the site does not answer the question.",
        {
            "question": _QUESTION_SCHEMA,
            "language": {
                "type": "string",
                "maxLength": MAX_TAG_LENGTH,
                "description": "The tag of the language to prefer, such as en or pt-BR.",
            },
        },
        _ANSWER_SCHEMA,
        run_ask,
        {"query": "question"},
    ),
    Tool(
        "search",
        "Search the documentation",
        "Search {site} for the passages nearest to a query. Returns their text with the url of "
        "each; whether they answer anything is for you to judge.",
        {
            "query": {**_QUESTION_SCHEMA, "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": TOP_K, "default": TOP_K},
        },
        _SEARCH_SCHEMA,
        run_search,
        {"question": "query"},
    ),
    Tool(
        "read",
        "Read a page",
        "Read a page of {site}, or one section of it, as Markdown.",
        {
            "page": {
                "type": "string",
                "minLength": 1,
                "description": "Its id, url, path or title, such as guide/deploy#aws.",
            },
            "max_words": {
                "type": "integer",
                "minimum": 1,
                "description": "Stop after so many words.",
            },
        },
        _PAGE_SCHEMA,
        run_read,
    ),
)


PAGES_URI = "answerable://pages"

_PAGES_PER_LIST = 200
_JSON_TYPE = "application/json"
_TEXT_TYPE = "text/markdown"


def describe_page_list(site: AgentSite) -> dict[str, Any]:
    """Describe the resource that lists all pages."""
    return {
        "uri": PAGES_URI,
        "name": "pages",
        "title": "All pages",
        "description": f"The published pages of {site.name}, {_PAGES_PER_LIST} at a time.",
        "mimeType": _JSON_TYPE,
    }


def describe_page_template(site: AgentSite) -> dict[str, Any]:
    """Describe the resources that are the pages."""
    return {
        "uriTemplate": f"{PAGES_URI}/{{id}}",
        "name": "page",
        "title": "One page",
        "description": f"The text of a page of {site.name}, as it may be quoted.",
        "mimeType": _TEXT_TYPE,
    }


def read_resource(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read the contents of a resource; None where the uri names none."""
    contents = _read_page_list(uri, site) or _read_page_text(uri, site)
    return {"uri": uri, **contents} if contents else None


def _read_page_list(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read a part of the list of pages; None for another uri."""
    path, _, query = uri.partition("?")
    if path != PAGES_URI:
        return None
    after = parse_qs(query).get("after", ["0"])[0]
    start = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else -1
    with site.open_store() as store:
        total = count_pages(store)
        if not 0 <= start <= total:
            return None
        pages = list_pages(store, start, _PAGES_PER_LIST)
    end = start + len(pages)
    listing = {
        "pages": [
            {
                "id": page.id,
                "title": page.title,
                "resource": f"{PAGES_URI}/{quote(page.id, safe='')}",
            }
            for page in pages
        ],
        "total": total,
        "next": f"{PAGES_URI}?after={end}" if end < total else None,
    }
    return {"mimeType": _JSON_TYPE, "text": json.dumps(listing, ensure_ascii=False)}


def _read_page_text(uri: str, site: AgentSite) -> dict[str, Any] | None:
    """Read the text of a page; None where the uri names none."""
    prefix = f"{PAGES_URI}/"
    name = unquote(uri.removeprefix(prefix)) if uri.startswith(prefix) else ""
    if not name:
        return None
    with site.open_store() as store:
        page = read_page(store, name, site.base)
    return {"mimeType": _TEXT_TYPE, "text": format_page(page, site.base)} if page else None
