"""The protocol of the server for agents: messages, versions and methods."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...serve.text.normalization import normalize_phrase
from ..problems import convert_error
from .tools import (
    TOOLS,
    AgentSite,
    call_tool,
    describe_page_list,
    describe_page_template,
    describe_problem,
    read_resource,
)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Of a server, for what the protocol has no code for.
SERVER_ERROR = -32000
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
# Of the revisions before 2026-07-28, which took it for a resource that does not exist.
RESOURCE_NOT_FOUND = -32002

STATELESS_VERSION = "2026-07-28"
# Revisions that begin with ``initialize``, the newest first.
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18")

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

_META_PREFIX = "io.modelcontextprotocol/"
_VERSION_KEY = f"{_META_PREFIX}protocolVersion"
_CAPABILITIES_KEY = f"{_META_PREFIX}clientCapabilities"
SERVER_KEY = f"{_META_PREFIX}serverInfo"

# The parameter that the header ``Mcp-Name`` repeats, by the method.
_NAMED_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# The HTTP status of an error since 2026-07-28.
_STATUSES = {METHOD_NOT_FOUND: 404}
_ENCODED_START, _ENCODED_END = "=?base64?", "?="

RequestId = str | int | None


class RpcError(Exception):
    """Refuse a message with a JSON-RPC error; ``data`` says more of it.

    ``is_stateless``: the era of the message. ``id``: None where the message has none to repeat.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        id: RequestId = None,  # noqa: A002 - JSON-RPC's word
        is_stateless: bool = False,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id
        self.is_stateless = is_stateless
        self.data = data

    @property
    def status(self) -> int:
        """Return the HTTP status: an older client reads no body but that of a 200."""
        if self.is_stateless:
            return _STATUSES.get(self.code, 400)
        return 400 if self.code in (PARSE_ERROR, INVALID_REQUEST, UNSUPPORTED_VERSION) else 200

    def as_json(self) -> dict[str, Any]:
        """Encode the error as a JSON-RPC response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = dict(self.data)
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


@dataclass(frozen=True, slots=True)
class Call:
    """One request that wants a response."""

    id: str | int
    method: str
    is_stateless: bool
    params: Mapping[str, Any] = field(default_factory=dict)

    def refuse(self, code: int, message: str, **data: Any) -> RpcError:
        """Build the error that refuses it."""
        return RpcError(
            code, message, id=self.id, is_stateless=self.is_stateless, data=data or None
        )

    def respond(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Build the response that holds a result."""
        return {"jsonrpc": "2.0", "id": self.id, "result": dict(result)}


def parse_message(body: bytes, headers: Mapping[str, str] | None) -> Call | None:
    """Parse one message; None for a notification or a response, which get no response.

    headers: of the HTTP request, by their names in lower case; None on standard input and output,
    where nothing repeats what the body says. RpcError for anything else.
    """
    try:
        # `json` would take UTF-16 too.
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "The message is not JSON in UTF-8.") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "Send one JSON-RPC 2.0 object; batches are not taken.")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "The method has to be a text.", id=_find_id(message))
    if "id" not in message:
        return None
    request_id = _find_id(message)
    if request_id is None:
        raise RpcError(INVALID_REQUEST, "The id has to be a text or a whole number.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "The params have to be an object.", id=request_id)
    call = Call(request_id, method, _is_stateless(params, headers), params)
    if call.is_stateless:
        _check_stateless_call(call, headers)
    elif headers is not None:
        _check_handshake_version(call, headers)
    return call


def make_version_error(call: Call, version: object) -> RpcError:
    """Refuse a call for its protocol version, and name the one to speak."""
    return call.refuse(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        supported=[STATELESS_VERSION, *(() if call.is_stateless else HANDSHAKE_VERSIONS)],
        requested=version,
    )


def _find_id(message: Mapping[str, Any]) -> RequestId:
    request_id = message.get("id")
    is_valid = isinstance(request_id, str) or type(request_id) is int
    return request_id if is_valid else None


def _is_stateless(params: Mapping[str, Any], headers: Mapping[str, str] | None) -> bool:
    """Tell the era of a request: that of its ``_meta``, or of its header."""
    meta = params.get("_meta")
    if isinstance(meta, dict) and _VERSION_KEY in meta:
        return True
    return headers is not None and headers.get(VERSION_HEADER) == STATELESS_VERSION


def _check_stateless_call(call: Call, headers: Mapping[str, str] | None) -> None:
    """Check what every request says of itself since 2026-07-28."""
    meta = call.params.get("_meta")
    for key in (_VERSION_KEY, _CAPABILITIES_KEY):
        if not isinstance(meta, dict) or key not in meta:
            raise call.refuse(INVALID_PARAMS, f"params._meta needs {key}.")
    version = call.params["_meta"][_VERSION_KEY]
    if headers is not None:
        header = headers.get(VERSION_HEADER)
        is_repeated = header is not None and header == version
        _check_header(call, is_repeated, "MCP-Protocol-Version")
        _check_header(call, headers.get(METHOD_HEADER) == call.method, "Mcp-Method")
        parameter = _NAMED_PARAMETERS.get(call.method)
        name = call.params.get(parameter) if parameter else None
        if name is not None:
            _check_header(call, _decode_header(headers.get(NAME_HEADER)) == name, "Mcp-Name")
    if not isinstance(version, str):
        raise call.refuse(INVALID_PARAMS, f"params._meta: {_VERSION_KEY} has to be a text.")
    if version != STATELESS_VERSION:
        raise make_version_error(call, version)


def _check_handshake_version(call: Call, headers: Mapping[str, str]) -> None:
    """Check the version that a client of an older revision sends after ``initialize``."""
    version = headers.get(VERSION_HEADER)
    if version is not None and version not in HANDSHAKE_VERSIONS and call.method != "initialize":
        raise make_version_error(call, version)


def _check_header(call: Call, matches: bool, name: str) -> None:
    if not matches:
        raise call.refuse(
            HEADER_MISMATCH, f"The header {name} is missing or differs from the body."
        )


def _decode_header(value: str | None) -> str | None:
    """Decode a header whose text is not plain ASCII; None for one that is malformed."""
    if value is None or not (value.startswith(_ENCODED_START) and value.endswith(_ENCODED_END)):
        return value
    try:
        encoded = value[len(_ENCODED_START) : -len(_ENCODED_END)]
        return base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


SERVER_NAME = "mkdocs-answerable"

# How long a client may keep a list: a site is built again at any time.
_CACHE_MILLISECONDS = 300_000
_PROMPT_NAME = "ask"

_INSTRUCTIONS = (
    "These tools answer from the published documentation of {site}. Use `ask` for any question "
    "about it, also where you think that you know the answer: what you remember may be of another "
    "version. Every sentence that `ask` returns was checked against the page that it cites, and "
    "its first line says how sure it is that these pages are on the subject: check that their "
    "words answer the question. `read` the url of a source for its whole section. Cite the urls of "
    "what you use. Where `ask` finds no answer, try `search` and `read`, which return the words of "
    "pages, with a few words at a time; if these do not answer it either, say that the "
    "documentation does not answer it, and do not fill the gap from other knowledge "
    "as if the site said it."
)
# The last part of a site's address where it has an address for each version, as mike makes them.
_VERSION = re.compile(r"/(v?[0-9]+(?:\.[0-9a-z]+)*|latest|stable|dev|main|master)/?$", re.I)

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
        code = INTERNAL_ERROR if problem.code == "internal" else SERVER_ERROR
        refusal = call.refuse(code, describe_problem(problem))
        status = problem.status if call.is_stateless else 200
        return McpReply(status, refusal.as_json(), problem.headers.get("Retry_After"))


def _find_handle(call: Call) -> Handle:
    handles = _STATELESS_METHODS if call.is_stateless else _HANDSHAKE_METHODS
    handle = handles.get(call.method)
    if handle is None:
        raise call.refuse(METHOD_NOT_FOUND, "There is no such method here.")
    return handle


def _complete_result(call: Call, result: Mapping[str, Any], site: AgentSite) -> Mapping[str, Any]:
    """Add what each result says since 2026-07-28: its type, its server, how long it holds."""
    cache: dict[str, Any] = {}
    if call.method in _CACHEABLE_METHODS:
        milliseconds = 0 if site.is_draft else _CACHE_MILLISECONDS
        scope = "public" if site.is_public else "private"
        cache = {"ttlMs": milliseconds, "cacheScope": scope}
    meta = {SERVER_KEY: _describe_server(site)}
    return {**result, **cache, "resultType": "complete", "_meta": meta}


def _describe_server(site: AgentSite) -> dict[str, Any]:
    return {"name": SERVER_NAME, "title": site.name, "version": site.version}


def _instruct(site: AgentSite) -> str:
    """Say when to use the tools: for which product, of which version, as of which day."""
    version = _VERSION.search(site.base or "")
    parts = [
        f"version {version[1]}" if version else "",
        site.base or "",
        f"built on {site.built_at[:10]}",
    ]
    return _INSTRUCTIONS.format(site=f"{site.name} ({', '.join(filter(None, parts))})")


def _describe_capabilities() -> dict[str, Any]:
    return {"tools": {}, "resources": {}, "prompts": {}}


def _discover(call: Call, site: AgentSite) -> Mapping[str, Any]:
    del call
    return {
        "supportedVersions": [STATELESS_VERSION],
        "capabilities": _describe_capabilities(),
        "instructions": _instruct(site),
    }


def _initialize(call: Call, site: AgentSite) -> Mapping[str, Any]:
    """Agree on a revision: the client's, or else the newest that begins in this way."""
    requested = call.params.get("protocolVersion")
    if not isinstance(requested, str):
        raise call.refuse(INVALID_PARAMS, "The params need a text protocolVersion.")
    versions = HANDSHAKE_VERSIONS
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
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        names = ", ".join(tool.name for tool in TOOLS)
        raise call.refuse(INVALID_PARAMS, f"There is no such tool; there are {names}.")
    if not isinstance(arguments, dict):
        raise call.refuse(INVALID_PARAMS, "The arguments have to be an object.")
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
        raise call.refuse(INVALID_PARAMS, "The params need a text uri.")
    contents = read_resource(uri, site)
    if contents is None:
        code = INVALID_PARAMS if call.is_stateless else RESOURCE_NOT_FOUND
        raise call.refuse(code, "Resource not found", uri=uri)
    return {"contents": [contents]}


def _list_prompts(call: Call, site: AgentSite) -> Mapping[str, Any]:
    """List the prompt that takes a question, and those of questions that the site answers."""
    _refuse_cursor(call)
    question = {"name": "question", "description": "The question.", "required": True}
    asking = {
        "name": _PROMPT_NAME,
        "title": f"Ask {site.name}",
        "description": "Answer a question from this site alone, with the urls to cite.",
        "arguments": [question],
    }
    answered = [
        {"name": name, "title": text, "description": text}
        for name, text in _name_questions(site).items()
    ]
    return {"prompts": [asking, *answered]}


def _name_questions(site: AgentSite) -> dict[str, str]:
    """Name the prompts of questions that the site answers by their words."""
    return {normalize_phrase(text).replace(" ", "-"): text for text in site.questions}


def _get_prompt(call: Call, site: AgentSite) -> Mapping[str, Any]:
    name, arguments = call.params.get("name"), call.params.get("arguments")
    question = None
    if name == _PROMPT_NAME:
        question = arguments.get("question") if isinstance(arguments, dict) else None
    elif isinstance(name, str):
        question = _name_questions(site).get(name)
    if not isinstance(question, str):
        raise call.refuse(INVALID_PARAMS, "There is no such prompt with a text question.")
    text = (
        f"Answer this question about {site.name} with the tool `ask`, and cite its urls. If the "
        f"site does not answer it, say so.\n\n{question}"
    )
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _refuse_cursor(call: Call) -> None:
    """Refuse a cursor: every list here is complete, so that none was ever given out."""
    if call.params.get("cursor") is not None:
        raise call.refuse(INVALID_PARAMS, "There is no such cursor.")


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
