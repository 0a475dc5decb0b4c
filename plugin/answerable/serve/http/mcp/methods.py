"""Answer the messages of the Model Context Protocol (MCP) about one site, without a session.

A message goes in and a response comes out, over HTTP as over standard input and output; what the
tools may use is given by ``AgentSite``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..messages import convert_error
from . import messages
from .messages import Call, RpcError, parse_message
from .resources import describe_page_list, describe_page_template, read_resource
from .tools import TOOLS, AgentSite, call_tool, describe_problem

SERVER_NAME = "mkdocs-answerable"

# How long a client may keep a list: a site is built again at any time.
_CACHE_MILLISECONDS = 300_000
_PROMPT_NAME = "ask"

_INSTRUCTIONS = (
    "These tools answer from the published pages of {site}. Use `ask` for a question: every "
    "sentence that it returns was checked against the page that it cites. Cite the urls of what "
    "you use. Where `ask` finds no answer, say that the site does not answer it, and do not fill "
    "the gap from other knowledge as if the site said it. `search` and `read` return the words of "
    "pages."
)

Handle = Callable[[Call, AgentSite], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class McpReply:
    """The response to a message, and its HTTP status; ``body`` is None where nothing is said.

    ``retry_after``: the seconds to wait, where waiting helps.
    """

    status: int
    body: Mapping[str, Any] | None = None
    retry_after: str | None = None


def reply_to_message(body: bytes, headers: Mapping[str, str] | None, site: AgentSite) -> McpReply:
    """Reply to one message, whatever it is.

    headers: of the HTTP request by their names in lower case, None without HTTP.
    """
    try:
        call = parse_message(body, headers)
    except RpcError as error:
        return McpReply(error.status, error.as_json())
    if call is None:
        return McpReply(202)
    try:
        handle = _find_handle(call)
        result = handle(call, site)
        if call.is_stateless:
            result = _complete_result(call, result, site)
        return McpReply(200, call.respond(result))
    except RpcError as error:
        return McpReply(error.status, error.as_json())
    except Exception as error:
        site.report_error(error)
        problem = convert_error(error)
        code = messages.INTERNAL_ERROR if problem.code == "internal" else messages.SERVER_ERROR
        refusal = call.refuse(code, describe_problem(problem))
        status = problem.status if call.is_stateless else 200
        return McpReply(status, refusal.as_json(), problem.headers.get("Retry_After"))


def _find_handle(call: Call) -> Handle:
    handles = _STATELESS_METHODS if call.is_stateless else _HANDSHAKE_METHODS
    handle = handles.get(call.method)
    if handle is None:
        raise call.refuse(messages.METHOD_NOT_FOUND, "There is no such method here.")
    return handle


def _complete_result(call: Call, result: Mapping[str, Any], site: AgentSite) -> Mapping[str, Any]:
    """Add what each result says since 2026-07-28: its type, its server, how long it holds."""
    cache: dict[str, Any] = {}
    if call.method in _CACHEABLE_METHODS:
        milliseconds = 0 if site.is_draft else _CACHE_MILLISECONDS
        scope = "public" if site.is_public else "private"
        cache = {"ttlMs": milliseconds, "cacheScope": scope}
    meta = {messages.SERVER_KEY: _describe_server(site)}
    return {**result, **cache, "resultType": "complete", "_meta": meta}


def _describe_server(site: AgentSite) -> dict[str, Any]:
    return {"name": SERVER_NAME, "title": site.name, "version": site.version}


def _instruct(site: AgentSite) -> str:
    return _INSTRUCTIONS.format(site=site.name)


def _describe_capabilities() -> dict[str, Any]:
    return {"tools": {}, "resources": {}, "prompts": {}}


def _discover(call: Call, site: AgentSite) -> Mapping[str, Any]:
    del call
    return {
        "supportedVersions": [messages.STATELESS_VERSION],
        "capabilities": _describe_capabilities(),
        "instructions": _instruct(site),
    }


def _initialize(call: Call, site: AgentSite) -> Mapping[str, Any]:
    """Agree on a revision: the client's, or else the newest that begins in this way."""
    requested = call.params.get("protocolVersion")
    if not isinstance(requested, str):
        raise call.refuse(messages.INVALID_PARAMS, "The params need a text protocolVersion.")
    versions = messages.HANDSHAKE_VERSIONS
    return {
        "protocolVersion": requested if requested in versions else versions[0],
        "capabilities": _describe_capabilities(),
        "serverInfo": _describe_server(site),
        "instructions": _instruct(site),
    }


def _ping(call: Call, site: AgentSite) -> Mapping[str, Any]:
    del call, site
    return {}


def _list_tools(call: Call, site: AgentSite) -> Mapping[str, Any]:
    _refuse_cursor(call)
    return {"tools": [tool.as_json(site) for tool in TOOLS]}


def _call_tool(call: Call, site: AgentSite) -> Mapping[str, Any]:
    name, arguments = call.params.get("name"), call.params.get("arguments", {})
    tool = next((each for each in TOOLS if each.name == name), None)
    if tool is None:
        names = ", ".join(each.name for each in TOOLS)
        raise call.refuse(messages.INVALID_PARAMS, f"There is no such tool; there are {names}.")
    if not isinstance(arguments, dict):
        raise call.refuse(messages.INVALID_PARAMS, "The arguments have to be an object.")
    return call_tool(tool, site, arguments).as_json()


def _list_resources(call: Call, site: AgentSite) -> Mapping[str, Any]:
    _refuse_cursor(call)
    return {"resources": [describe_page_list(site)]}


def _list_templates(call: Call, site: AgentSite) -> Mapping[str, Any]:
    _refuse_cursor(call)
    return {"resourceTemplates": [describe_page_template(site)]}


def _read_resource(call: Call, site: AgentSite) -> Mapping[str, Any]:
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise call.refuse(messages.INVALID_PARAMS, "The params need a text uri.")
    contents = read_resource(uri, site)
    if contents is None:
        code = messages.INVALID_PARAMS if call.is_stateless else messages.RESOURCE_NOT_FOUND
        raise call.refuse(code, "Resource not found", uri=uri)
    return {"contents": [contents]}


def _list_prompts(call: Call, site: AgentSite) -> Mapping[str, Any]:
    _refuse_cursor(call)
    return {
        "prompts": [
            {
                "name": _PROMPT_NAME,
                "title": f"Ask {site.name}",
                "description": "Answer a question from this site alone, with the urls to cite.",
                "arguments": [
                    {"name": "question", "description": "The question.", "required": True}
                ],
            }
        ]
    }


def _get_prompt(call: Call, site: AgentSite) -> Mapping[str, Any]:
    arguments = call.params.get("arguments")
    question = arguments.get("question") if isinstance(arguments, dict) else None
    is_known = call.params.get("name") == _PROMPT_NAME
    if not is_known or not isinstance(question, str):
        raise call.refuse(messages.INVALID_PARAMS, "There is no such prompt with a text question.")
    text = (
        f"Answer this question about {site.name} with the tool `ask`, and cite its urls. If the "
        f"site does not answer it, say so.\n\n{question}"
    )
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _refuse_cursor(call: Call) -> None:
    """Refuse a cursor: every list here is complete, so that none was ever given out."""
    if call.params.get("cursor") is not None:
        raise call.refuse(messages.INVALID_PARAMS, "There is no such cursor.")


_COMMON_METHODS: Mapping[str, Handle] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
}
_STATELESS_METHODS = {**_COMMON_METHODS, "server/discover": _discover}
_HANDSHAKE_METHODS = {**_COMMON_METHODS, "initialize": _initialize, "ping": _ping}
_CACHEABLE_METHODS = (
    "server/discover", "tools/list", "resources/list", "resources/templates/list",
    "resources/read", "prompts/list",
)  # fmt: skip
