"""Tools, schemas and resources of the server for agents."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from ...answers.wire import MAX_PLACES, add_absolute_url, format_markers, insert_markers, name_grade
from ...retrieval.question import MAX_QUESTION_CHARACTERS
from ...retrieval.retrieve import TOP_K
from ...retrieval.store import Store
from ...text.languages import MAX_TAG_LENGTH
from ..messages import Problem, convert_error, parse_language, parse_question
from .pages import PageText, count_pages, list_pages, read_page

_WIRE_SCHEMAS = Path(__file__).parent.with_name("openapi.json")
_SCHEMA_PREFIX = "#/components/schemas/"
# A keyword of OpenAPI that JSON Schema does not know.
_OPENAPI_KEYWORD = "discriminator"

_URL_SCHEMA = {"type": "string", "description": "Where the words are published: cite it."}
_PASSAGE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Of the section, for the tool read."},
        "url": _URL_SCHEMA,
        "title": {"type": "string"},
        "text": {"type": "string"},
    },
    "required": ["id", "url", "title", "text"],
}


@cache
def build_answer_schema() -> Mapping[str, Any]:
    """Build the schema of an answer with all that it refers to; a refusal is one too."""
    schemas = json.loads(_WIRE_SCHEMAS.read_bytes())["components"]["schemas"]
    answer: dict[str, Any] = _localize_references(schemas["Answer"])
    names: list[str] = []
    pending = _list_references(answer)
    while pending:
        name = pending.pop()
        if name not in names:
            names.append(name)
            pending += _list_references(_localize_references(schemas[name]))
    return answer | {"$defs": {name: _localize_references(schemas[name]) for name in sorted(names)}}


def build_search_schema() -> Mapping[str, Any]:
    """Build the schema of found passages."""
    return {
        "type": "object",
        "properties": {"passages": {"type": "array", "items": _PASSAGE_SCHEMA}},
        "required": ["passages"],
    }


def build_page_schema() -> Mapping[str, Any]:
    """Build the schema of a page's text."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "url": _URL_SCHEMA,
            "title": {"type": "string"},
            "sections": {"type": "array", "items": _PASSAGE_SCHEMA},
            "is_cut": {"type": "boolean", "description": "The section ends early: too long."},
            "left_out_count": {"type": "integer", "minimum": 0},
            "left_out": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of sections that there is no room for, or the first of them.",
            },
        },
        "required": ["id", "url", "title", "sections", "is_cut", "left_out_count", "left_out"],
    }


def _localize_references(schema: Any) -> Any:
    """Let a schema refer to ``$defs`` of its own in place of OpenAPI's components."""
    if isinstance(schema, dict):
        return {
            key: value.replace(_SCHEMA_PREFIX, "#/$defs/")
            if key == "$ref"
            else _localize_references(value)
            for key, value in schema.items()
            if key != _OPENAPI_KEYWORD
        }
    return list(map(_localize_references, schema)) if isinstance(schema, list) else schema


def _list_references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for value in schema.values() for name in _list_references(value)]
    if isinstance(schema, list):
        return [name for value in schema for name in _list_references(value)]
    return []


# Ids of sections that a result names of those that it has no room for.
_MAX_LISTED = 50


@dataclass(frozen=True, slots=True)
class AgentSite:
    """Give the tools what they may use of a site.

    ``base``: what makes its urls absolute, if that is known. ``ask`` (question, language) returns
    the body of an answer, ``search`` (question) the rows of passages by id, ``list_places``
    (question, language) the same for the end of an answer, or none, ``open_store`` the store to
    read a page from, in a block; the others raise a Problem, or whatever kept them from
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
    list_places: Callable[[str, str | None], Mapping[str, Mapping[str, Any]]]
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
    language = parse_language(arguments.get("language"))
    body = site.ask(question, language)
    cited = {citation["url"] for citation in body["citations"]}
    rows = site.list_places(question, language).values()
    places = [row for row in rows if row["url"] not in cited][:MAX_PLACES]
    return ToolResult(format_answer_for_agent(body, places), body)


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


# What a reader is told of how a question was read; another remark is left to the JSON.
_REMARKS = {
    "corrected": "Showing results for “{to}”.",
    "unknown": "This site does not mention “{word}”.",
    "follow-up": "Each question stands alone: name what it is about.",
}


def format_answer_for_agent(
    body: Mapping[str, Any], places: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Format the body of an answer as Markdown, or say that there is none.

    First stands how sure it is, then how the question was read, the claims, their sources and
    where to look further.
    """
    remarks = [_REMARKS.get(note["kind"], "").format_map(note) for note in body["notes"]]
    listed = [f"- {place['title']} - {_cited_url(place)}" for place in places]
    if body["mode"] == "not-found":
        refusal = (
            "This site does not answer this question, so tell your user that. Do not fill the gap "
            "from other knowledge as if the site said it."
        )
        nearest = (
            "Nearest places, which may not answer it (`search` and `read` return their words):"
        )
        return _join_parts(refusal, " ".join(remarks), [nearest, *listed] if listed else [])
    claims = [_format_claim(claim) for claim in (*body["claims"], *body["routes"])]
    sources = ["Sources:"]
    for citation in body["citations"]:
        title = citation.get("title") or citation["label"]
        sources.append(f"[{citation['n']}] {title} - {_cited_url(citation)}")
    further = ["More on this site (search results, not sources):", *listed] if listed else []
    is_excerpt = all("blocks" in claim for claim in body["claims"])
    stored = body.get("question", "")
    grade = ""
    if body["claims"]:
        grade = name_grade(body["confidence"], is_excerpt=is_excerpt, stored=stored)
    return _join_parts(grade, " ".join(remarks), *claims, sources, further)


def _join_parts(*parts: str | Sequence[str]) -> str:
    """Join paragraphs, and lists of lines, that are not empty."""
    texts = (part if isinstance(part, str) else "\n".join(part) for part in parts)
    return "\n\n".join(text for text in map(str.strip, texts) if text)


def _format_claim(claim: Mapping[str, Any]) -> str:
    """Format a claim with its markers, by its blocks where it has them."""
    if "blocks" not in claim:
        return insert_markers(claim["text"], claim["citations"])
    blocks = [_format_block(block) for block in claim["blocks"]]
    return _join_parts(*blocks, format_markers(claim["citations"]))


def _format_block(block: Mapping[str, Any]) -> str:
    """Format a block of a claim as Markdown."""
    if block["kind"] == "code":
        fence = "~~~~" if "```" in block["text"] else "```"
        return f"{fence}{block['language']}\n{block['text']}\n{fence}"
    if block["kind"] == "list":
        return "\n".join(
            f"{'    ' * item['level']}{item['number'] + '.' if item['number'] else '-'} "
            f"{_format_spans(item['spans'])}"
            for item in block["items"]
        )
    if block["kind"] == "table":
        head = block["columns"] or [[] for _ in block["rows"][0]]
        lines = [" | ".join(map(_format_spans, cells)) for cells in (head, *block["rows"])]
        return "\n".join(
            f"| {line} |" for line in (lines[0], " | ".join("---" for _ in head), *lines[1:])
        )
    return _format_spans(block["spans"]) if "spans" in block else "…"


def _format_spans(spans: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f"`{s['text']}`" if s.get("code") else s["text"] for s in spans)


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


PAGES_URI = "answerable://pages"

_PAGES_PER_LIST = 200
_JSON_TYPE = "application/json"
_TEXT_TYPE = "text/plain"


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
