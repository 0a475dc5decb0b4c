"""Define and run the tools that agents call over MCP: ask, search and read.

A refusal of the site is a result and no error; an error of a tool says what the agent can mend.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ...answers.wire import add_absolute_url
from ...retrieval.question_text import MAX_QUESTION_CHARACTERS
from ...retrieval.retrieve import TOP_K
from ...retrieval.store import Store
from ...text.languages import MAX_TAG_LENGTH
from ..messages import Problem, convert_error
from ..validation import parse_language, parse_question
from .pages import PageText, read_page
from .schemas import build_answer_schema, build_page_schema, build_search_schema

# Ids of sections that a result names of those that it has no room for.
_MAX_LISTED = 50


@dataclass(frozen=True, slots=True)
class AgentSite:
    """Give the tools what they may use of a site.

    ``base``: what makes its urls absolute, if that is known. ``ask`` (question, language) returns
    the body of an answer, ``search`` (question) the rows of passages by id, ``open_store`` the
    store to read a page from, in a block; all three raise a Problem, or whatever kept them from
    it. ``is_draft``: pages change at any moment. ``report_error`` takes what an agent is told in
    general words.
    """

    name: str
    version: str
    base: str | None
    is_public: bool
    open_store: Callable[[], AbstractContextManager[Store]]
    ask: Callable[[str, str | None], Mapping[str, Any]]
    search: Callable[[str], Mapping[str, Mapping[str, Any]]]
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
    """A tool: its input's properties, those that it requires, its output and what runs it."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: Sequence[str]
    output: Callable[[], Mapping[str, Any]]
    run: Callable[[AgentSite, Mapping[str, Any]], ToolResult]

    def as_json(self, site: AgentSite) -> dict[str, Any]:
        """Describe the tool in a list of tools."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description.format(site=site.name),
            "inputSchema": {
                "type": "object",
                "properties": self.properties,
                "required": list(self.required),
                "additionalProperties": False,
            },
            "outputSchema": self.output(),
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }


def call_tool(tool: Tool, site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Run a tool; a problem, and an argument that it does not take, become an error result."""
    for name in arguments:
        if name not in tool.properties:
            names = " and ".join(tool.properties)
            return ToolResult(f"The tool {tool.name} takes {names}, and no {name:.40}.")
    for name in tool.required:
        if name not in arguments:
            return ToolResult(f"The tool {tool.name} needs {name}.")
    try:
        return tool.run(site, arguments)
    except Exception as error:
        site.report_error(error)
        return ToolResult(describe_problem(convert_error(error)))


def describe_problem(problem: Problem) -> str:
    """Say what a problem is and, where waiting helps, how long to wait."""
    wait = problem.headers.get("Retry_After")
    return f"{problem.detail} Wait {wait} seconds." if wait else problem.detail


def run_ask(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Ask a question: an answer with its citations, or a refusal, both as the wire has them."""
    if not isinstance(arguments["question"], str):
        return ToolResult("The question has to be a text.")
    question = parse_question(arguments["question"])
    body = site.ask(question, parse_language(arguments.get("language")))
    return ToolResult(format_answer_for_agent(body), body)


def run_search(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Search public passages, best first."""
    limit = arguments.get("limit", TOP_K)
    if type(limit) is not int or not 1 <= limit <= TOP_K:
        return ToolResult(f"The limit is a whole number from 1 to {TOP_K}.")
    if not isinstance(arguments["query"], str):
        return ToolResult("The query has to be a text.")
    rows = site.search(parse_question(arguments["query"]))
    passages = [
        {"id": name, "url": _cited_url(row), "title": row["title"], "text": row["text"]}
        for name, row in list(rows.items())[:limit]
    ]
    text = "\n\n".join(
        f"{each['title']}\n{each['url']}\n(section {each['id']})\n\n{each['text']}"
        for each in passages
    )
    return ToolResult(
        text or "Nothing on this site is near enough to this query.", {"passages": passages}
    )


def run_read(site: AgentSite, arguments: Mapping[str, Any]) -> ToolResult:
    """Read a page or a section of it, as it may be quoted."""
    name = arguments["page"]
    if not isinstance(name, str):
        return ToolResult("The page has to be a text.")
    with site.open_store() as store:
        page = read_page(store, name, site.base)
    if page is None:
        return ToolResult(
            "There is no such page: name one by the id or url that search returned, or list the "
            "resource answerable://pages."
        )
    return ToolResult(format_page(page, site.base), _page_as_json(page, site.base))


def format_page(page: PageText, base: str | None) -> str:
    """Format a page as text that says where it is published and what is left out of it."""
    parts = [f"{page.title}\n{_make_absolute(page.url, base)}"]
    parts += [f"{section.title}\n\n{section.text}" for section in page.sections]
    if page.is_cut:
        parts.append("(This section is too long for one result: search for what comes after it.)")
    if page.left_out:
        listed = ", ".join(page.left_out[:_MAX_LISTED])
        count = len(page.left_out)
        parts.append(f"(Left out, {count} more sections of this page, such as: {listed})")
    return "\n\n".join(parts)


def _page_as_json(page: PageText, base: str | None) -> dict[str, Any]:
    """Encode a page's text. base: what makes its urls absolute."""
    return {
        "id": page.id,
        "url": _make_absolute(page.url, base),
        "title": page.title,
        "sections": [
            {
                "id": section.id,
                "url": _make_absolute(section.url, base),
                "title": section.title,
                "text": section.text,
            }
            for section in page.sections
        ],
        "is_cut": page.is_cut,
        "left_out_count": len(page.left_out),
        "left_out": list(page.left_out[:_MAX_LISTED]),
    }


def format_answer_for_agent(body: Mapping[str, Any]) -> str:
    """Format the body of an answer as text with its sources, or say that there is none."""
    if body["mode"] == "not-found":
        return (
            "This site does not answer this question, so tell your user that. Do not fill the gap "
            "from other knowledge as if the site said it."
        )
    sources = []
    for citation in body["citations"]:
        title = citation.get("title") or citation["label"]
        sources.append(f"[{citation['n']}] {title} - {_cited_url(citation)}")
    return "\n".join([body["answer"], "", "Sources:", *sources])


def _cited_url(row: Mapping[str, Any]) -> str:
    return str(row.get("absolute_url") or row["url"])


def _make_absolute(url: str, base: str | None) -> str:
    return _cited_url(add_absolute_url({"url": url}, base))


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
        ("question",),
        build_answer_schema,
        run_ask,
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
        ("query",),
        build_search_schema,
        run_search,
    ),
    Tool(
        "read",
        "Read a page",
        "Read a page of {site}, or one section of it, by the id or url that search and ask return.",
        {"page": {"type": "string", "minLength": 1, "description": "The id or the url."}},
        ("page",),
        build_page_schema,
        run_read,
    ),
)
