"""Parse and check JSON-RPC messages of the Model Context Protocol (MCP); build responses, errors.

Two eras of the protocol are understood. Since revision 2026-07-28 every request carries its
version and the client's capabilities in ``params._meta``, and over HTTP in headers that repeat
them; before, a client begins with the request ``initialize``. Neither needs a session here.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
