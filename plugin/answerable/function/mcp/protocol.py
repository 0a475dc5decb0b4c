"""The messages of the server for agents: one JSON-RPC request in, one response out, no session.

The server speaks one revision of the protocol. An older client begins with ``initialize`` and gets
the revision that it asks for, since tools are listed and called alike in all of them. A client adds
headers that repeat its message; nothing here depends on them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from ...engine.answers.wire import Json
from ..exchange import Exchange
from ..requests import Problem
from .tools import TOOLS

VERSION = "2026-07-28"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

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
_SITE_VERSION = re.compile(
    r"/(v?[0-9]+(?:\.[0-9a-z]+)*|latest|stable|dev|main|master)/?$", re.IGNORECASE
)


class Message(msgspec.Struct):
    """A request, or a notification if it has no id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Params(msgspec.Struct):
    """The parameters of all methods."""

    name: str = ""
    arguments: dict[str, Any] = {}
    version: str = msgspec.field(default=VERSION, name="protocolVersion")


class _RpcError(Exception):
    """A refusal of a request by JSON-RPC: a code and a sentence."""


def reply_to_message(data: bytes, exchange: Exchange) -> tuple[int, Json | None]:
    """Reply to one message, whatever it is, by an HTTP status and a body.

    An error has the status 200 where the message is a request, since older clients read nothing
    else, and 400 where it is none. A notification gets no body.
    """
    reply: Json = {"jsonrpc": "2.0", "id": None}
    try:
        message = msgspec.json.decode(data, type=Message)
    except msgspec.ValidationError:
        sentence = "Send one JSON-RPC 2.0 request; batches are not taken."
        return 400, reply | {"error": {"code": INVALID_REQUEST, "message": sentence}}
    except (ValueError, RecursionError):
        sentence = "The message is not JSON in UTF-8."
        return 400, reply | {"error": {"code": PARSE_ERROR, "message": sentence}}
    if message.id is msgspec.UNSET:
        return 202, None
    reply["id"] = message.id
    try:
        return 200, reply | {"result": _run_method(message, exchange)}
    except _RpcError as error:
        code, sentence = error.args
        return 200, reply | {"error": {"code": code, "message": sentence}}


def _run_method(message: Message, exchange: Exchange) -> Json:
    """Run a method. All results but that of ``ping`` say that none may be kept: sites change."""
    run = _METHODS.get(message.method)
    if run is None:
        raise _RpcError(METHOD_NOT_FOUND, "There is no such method here.")
    try:
        params = msgspec.json.decode(message.params, type=Params)
    except (ValueError, RecursionError):
        raise _RpcError(INVALID_PARAMS, "The params have another shape.") from None
    result = run(params, exchange)
    if not result:
        return result
    meta = {"io.modelcontextprotocol/serverInfo": _describe_server(exchange)}
    return {**result, "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": meta}


def _describe_server(exchange: Exchange) -> Json:
    store = exchange.engine.store
    title = store.index.site.name
    return {"name": "mkdocs-answerable", "title": title, "version": store.manifest.generator}


def _describe_use(exchange: Exchange) -> Json:
    """Describe when to use the tools: for which product, of which version, as of which day."""
    store = exchange.engine.store
    version = _SITE_VERSION.search(exchange.base or "")
    facts = (
        f"version {version[1]}" if version else None,
        exchange.base,
        f"built on {store.manifest.built_at[:10]}",
    )
    name = f"{store.index.site.name} ({', '.join(filter(None, facts))})"
    return {"capabilities": {"tools": {}}, "instructions": _INSTRUCTIONS.format(site=name)}


def _call_tool(params: Params, exchange: Exchange) -> Json:
    """Call a tool. An error is a result too, which an agent may mend."""
    tool = next((tool for tool in TOOLS if tool.name == params.name), None)
    if tool is None:
        names = ", ".join(tool.name for tool in TOOLS)
        raise _RpcError(INVALID_PARAMS, f"There is no such tool; there are {names}.")
    required = next(iter(tool.properties))
    try:
        if not isinstance(params.arguments.get(required), str):
            raise Problem("bad-request", f"The tool {tool.name} needs a text `{required}`.")
        text, is_error = tool.run(exchange, params.arguments), False
    except Exception as error:
        problem = exchange.refuse(error)
        wait = problem.headers.get("Retry-After")
        text = f"{problem.detail} Wait {wait} seconds." if wait else problem.detail
        is_error = True
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


_METHODS: Mapping[str, Callable[[Params, Exchange], Json]] = {
    "ping": lambda *_: {},
    "server/discover": lambda _, exchange: {
        "supportedVersions": [VERSION],
        **_describe_use(exchange),
    },
    "initialize": lambda params, exchange: {
        "protocolVersion": params.version,
        "serverInfo": _describe_server(exchange),
        **_describe_use(exchange),
    },
    "tools/list": lambda _, exchange: {
        "tools": [tool.describe(exchange.engine.store.index.site.name) for tool in TOOLS]
    },
    "tools/call": _call_tool,
}
