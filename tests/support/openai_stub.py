"""A server of the OpenAI protocol on loopback for tests: it records requests, checks them, and
fails as it is told.
"""

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from answerable.engine.openai import is_reasoning_model
from answerable.testing.openai_server import embed_texts, format_completion, format_response
from support.honest_model import (
    ParsedPrompt,
    ScriptedModel,
    honest_model,
    parse_prompt,
    split_prompt_sentences,
)
from support.hostile_models import HOSTILE_MODELS

HOST = "127.0.0.1"
RESPONSES_PATH, CHAT_PATH = "/v1/responses", "/v1/chat/completions"
EMBEDDINGS_PATH = "/v1/embeddings"
ANSWER_PATHS = (RESPONSES_PATH, CHAT_PATH)
# The dimensions of a model's vectors where a request names none.
EMBEDDING_MODELS = {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536}
_BYTES_PER_TOKEN = 4
_PARAMETERS = {
    RESPONSES_PATH: {"model", "input", "instructions", "text", "store", "max_output_tokens",
                     "reasoning", "temperature"},
    CHAT_PATH: {"model", "messages", "response_format", "max_completion_tokens", "max_tokens",
                "reasoning_effort", "temperature"},
    EMBEDDINGS_PATH: {"model", "input", "dimensions", "encoding_format"},
}  # fmt: skip

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StubRequest:
    """One request: header names are in lower case, and the key is not among them."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    has_key: bool

    @property
    def json(self) -> Any:
        """The parsed body; ValueError if it is not JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class StubReply:
    """A status, a body and its headers. delivery: how little of it reaches the client."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delivery: str | None = None


def json_reply(value: object, status: int = 200) -> StubReply:
    """Make a JSON reply, escaped to ASCII, so that even a lone surrogate can be sent."""
    return StubReply(json.dumps(value).encode("ascii"), status)


def error_reply(status: int, message: str, code: str | None = None) -> StubReply:
    """Make the reply of an error, in OpenAI's envelope."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return json_reply({"error": error}, status)


_HTML = b"<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"
# Statuses with what OpenAI says, and the code that it gives.
_STATUSES: Mapping[str, tuple[int, str, str | None]] = {
    "400": (400, "The request is invalid.", None),
    "401": (401, "Incorrect API key provided.", "invalid_api_key"),
    "403": (403, "You are not allowed to do this.", None),
    "429": (429, "Rate limit reached. Please try again later.", "rate_limit_exceeded"),
    "500": (500, "The server had an error while processing your request.", None),
    "quota": (429, "You exceeded your current quota, please check it.", "insufficient_quota"),
    "context": (400, "The prompt has more tokens than fit.", "exceed_context_size_error"),
}
_REPLIES: Mapping[str, StubReply] = {
    **{name: error_reply(*fault) for name, fault in _STATUSES.items()},
    "502": StubReply(_HTML, 502, {"Content-Type": "text/html"}),
    "html": StubReply(_HTML, 200, {"Content-Type": "text/html"}),
    "garbage": StubReply(bytes(range(128, 256)) * 4),
    "unrelated": json_reply({"status": "ok", "data": {"output": 1, "choices": 2}}),
}
UPSTREAM_WORDS = tuple(words for _, words, _ in _STATUSES.values())
# Of those that strict mode takes, the ones that our requests use.
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "minItems",
    "maxItems", "description",
}  # fmt: skip
# What reaches the client: not a byte, byte by byte, half of a body, no byte, half as a whole.
_DELIVERIES = ("hang", "drip", "cut", "drop", "truncated")
_VECTORS: Mapping[str, Callable[[list[list[float]]], list[list[float]]]] = {
    "fewer-vectors": lambda rows: rows[:-1],
    "wrong-dimensions": lambda rows: [row[:-1] for row in rows],
    "not-finite": lambda rows: [[float("nan"), *row[1:]] for row in rows],
    "zeros": lambda rows: [[0.0] * len(row) for row in rows],
}
# An answering or an embedding endpoint ignores the faults of the other.
FAULTS = (
    *_REPLIES, *_DELIVERIES, *_VECTORS, "refusal", "empty", "incomplete",
    "no-usage", "fixed-dimensions", "reversed",
)  # fmt: skip


class OpenAIStub:
    """A server in threads of its own, from ``start`` or ``with`` until ``stop``.

    models: by their names; any other name is the honest model's. ``retry_after``: of a 429, in
    seconds; ``failures``: what should never have happened.
    """

    def __init__(self, *, models: Mapping[str, ScriptedModel] | None = None) -> None:
        self.models = {
            "honest": honest_model,
            "contrite": contrite_model,
            **HOSTILE_MODELS,
            **(models or {}),
        }
        self.port = 0
        self.retry_after = 1.0
        self.failures: list[BaseException] = []
        self.requests: tuple[StubRequest, ...] = ()
        self.counts: Counter[str] = Counter()
        self._fault: str | None = None
        self._times: int | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None

    @property
    def base_url(self) -> str:
        """The base URL that a client is configured with."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def answer_calls(self) -> int:
        return sum(self.counts[path] for path in ANSWER_PATHS)

    def start(self) -> Self:
        self._stopping.clear()
        handler = type("Handler", (_StubHandler,), {"stub": self})
        self._server = _StubServer((HOST, self.port), handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def stop(self) -> None:
        """End what hangs too, and answer on no connection that is still open."""
        self._stopping.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def fault(self) -> str | None:
        """The fault that requests meet, one of ``FAULTS``."""
        return self._fault

    @fault.setter
    def fault(self, name: str | None) -> None:
        self._fault, self._times = name, None

    def fail(self, fault: str, times: int | None = None) -> None:
        """Meet the next ``times`` requests, None for all, with a fault."""
        assert fault in FAULTS, fault
        self._fault, self._times = fault, times

    def forget(self) -> None:
        """Clear the record of requests and their counts."""
        self.requests = ()
        self.counts.clear()

    def find_fault(self, request: StubRequest) -> str | None:
        """Return the fault that a request meets, and count it down."""
        del request
        fault = self._fault
        if self._times is not None:
            self._times -= 1
            if self._times == 0:
                self.fault = None
        return fault

    def respond(self, request: StubRequest) -> StubReply:
        """Record a request; reply, or fail as the plan says."""
        with self._lock:
            self.requests = (*self.requests, request)
            self.counts[request.path] += 1
            fault = self.find_fault(request)
        if fault and fault in _REPLIES:
            reply = _REPLIES[fault]
            if reply.status == 429:
                headers = {**reply.headers, "Retry-After": f"{self.retry_after:g}"}
                return replace(reply, headers=headers)
            return reply
        try:
            reply = _find_mistake(request, fault) or self._reply(request)
            if reply.status == 200:
                reply = _spoil(request, reply, fault)
        except Exception as error:
            self.failures.append(error)
            raise
        return replace(reply, delivery=fault if fault in _DELIVERIES else None)

    def send(self, reply: StubReply, handler: BaseHTTPRequestHandler) -> None:
        """Write a reply, or as much of it as the fault lets through."""
        size = len(reply.body)
        body = reply.body[: size // 2] if reply.delivery in ("cut", "truncated") else reply.body
        if reply.delivery not in (None, "truncated"):
            handler.close_connection = True
        while reply.delivery == "hang" and not self._stopping.wait(0.02):
            _raise_if_disconnected(handler.connection)
        if self._stopping.is_set() or reply.delivery in ("hang", "drop"):
            handler.close_connection = True
            return
        announced = size if reply.delivery == "cut" else len(body)
        handler.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(announced)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reply.delivery != "drip":
            handler.wfile.write(body)
            return
        for byte in body:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if self._stopping.wait(0.05):
                return
            _raise_if_disconnected(handler.connection)

    def _reply(self, request: StubRequest) -> StubReply:
        endpoints = {
            RESPONSES_PATH: self._write_response,
            CHAT_PATH: self._write_completion,
            EMBEDDINGS_PATH: _embed,
        }
        if not request.has_key:
            return error_reply(401, "You didn't provide an API key.")
        if request.path not in endpoints:
            return error_reply(404, "Invalid URL.")
        try:
            return json_reply(endpoints[request.path](request.json))
        except (ValueError, KeyError, TypeError, AttributeError):
            return error_reply(400, "The request cannot be read.")

    def _write_response(self, values: Json) -> Json:
        schema = values.get("text", {}).get("format", {}).get("schema")
        messages = values["input"]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        text, read = self._write(values["model"], messages, schema)
        tokens = count_tokens(values.get("instructions") or "", read), count_tokens(text)
        return format_response(values["model"], text, tokens)

    def _write_completion(self, values: Json) -> Json:
        schema = values.get("response_format", {}).get("json_schema", {}).get("schema")
        text, read = self._write(values["model"], values["messages"], schema)
        return format_completion(values["model"], text, (count_tokens(read), count_tokens(text)))

    def _write(self, name: str, messages: list[Json], schema: Json | None) -> tuple[str, str]:
        """Write the text of a model, and return what it has read too."""
        texts = [message["content"] for message in messages if message["role"] == "user"]
        model = self.models.get(name, self.models["honest"])
        read = "".join(message["content"] for message in messages)
        return model(parse_prompt(texts, schema)), read


def _embed(values: Json) -> Json:
    texts = [values["input"]] if isinstance(values["input"], str) else values["input"]
    dimensions = values.get("dimensions") or EMBEDDING_MODELS.get(values["model"], 1536)
    return embed_texts({**values, "dimensions": dimensions}, count_tokens(*texts))


def count_tokens(*texts: str) -> int:
    """Estimate the tokens of what was read or written from its bytes."""
    return -(-len("".join(texts).encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


class _StubServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a client that hangs up is no fault."""


class _StubHandler(BaseHTTPRequestHandler):
    """Reads requests off one connection until it ends."""

    protocol_version = "HTTP/1.1"
    # A reply leaves in one piece; otherwise the client's delayed acknowledgement stalls it.
    wbufsize = -1
    disable_nagle_algorithm = True
    stub: OpenAIStub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = headers.pop("authorization", "").removeprefix("Bearer").strip()
        request = StubRequest(self.path.partition("?")[0], headers, body, bool(key))
        self.stub.send(self.stub.respond(request), self)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed."""


def _find_mistake(request: StubRequest, fault: str | None) -> StubReply | None:
    """Refuse what OpenAI refuses: unknown parameters, a wrong sampling, a loose schema."""
    values, path = _values(request), request.path
    if unknown := set(values) - _PARAMETERS.get(path, set(values)):
        return error_reply(400, f"Unknown parameter: {sorted(unknown)}.", "unknown_parameter")
    reasons = is_reasoning_model(str(values.get("model")))
    refused = {"temperature", "max_tokens"} if reasons else {"reasoning", "reasoning_effort"}
    is_openai = reasons or str(values.get("model")).startswith("gpt-")
    if path in ANSWER_PATHS and is_openai and refused & set(values):
        return error_reply(400, "Unsupported parameter.", "unsupported_parameter")
    if fault == "fixed-dimensions" and values.get("dimensions"):
        return error_reply(400, "The model does not support matryoshka representation.")
    text = values.get("text", {}).get("format") or {}
    sent = values.get("response_format", {}).get("json_schema") or text
    mistake = find_schema_fault(sent["schema"]) if sent.get("strict") else None
    return error_reply(400, mistake, "invalid_json_schema") if mistake else None


def find_schema_fault(schema: Any, depth: int = 0) -> str | None:
    """Tell why strict mode refuses a schema, else None; it takes more than is checked here."""
    if not isinstance(schema, dict) or depth > 10 or (not depth and schema.get("type") != "object"):
        return "a schema of 'type: \"object\"' is expected, of ten levels at most"
    if unknown := set(schema) - _KEYWORDS:
        return f"{sorted(unknown)} is not permitted"
    if "enum" in schema and not 1 <= len(schema["enum"]) <= 1000:
        return "an enum has 1 to 1000 values"
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False
        or sorted(schema.get("required", [])) != sorted(properties)
    ):
        return "'additionalProperties' has to be false, and every property required"
    if schema.get("type") == "array" and "items" not in schema:
        return "array schema missing items"
    inner = [*properties.values(), *([schema["items"]] if "items" in schema else [])]
    return next((fault for each in inner if (fault := find_schema_fault(each, depth + 1))), None)


def _values(request: StubRequest) -> dict[str, Any]:
    return request.json if request.body else {}


def _spoil(request: StubRequest, reply: StubReply, fault: str | None) -> StubReply:
    """Cut the right reply at its limit, and change it to what a fault makes of it."""
    values, sent = json.loads(reply.body), _values(request)
    limits = ("max_output_tokens", "max_completion_tokens", "max_tokens")
    limit = 4 * next((sent[name] for name in limits if name in sent), 10**9)
    if fault == "no-usage":
        values.pop("usage", None)
    rows = values.get("data") or []
    if fault and fault in _VECTORS and rows and "embedding" in rows[0]:
        vectors = _VECTORS[fault]([row["embedding"] for row in rows])
        values["data"] = [
            {**row, "embedding": vector} for row, vector in zip(rows, vectors, strict=False)
        ]
    if fault == "reversed":
        rows.reverse()
    if "output" in values:
        (message,) = values["output"]
        part = message["content"][0]
        limit = len(part["text"]) // 2 if fault == "incomplete" else limit
        if len(part["text"]) > limit:
            part["text"] = part["text"][:limit]
            values |= {"status": "incomplete"}
        if fault == "refusal":
            message["content"] = [{"type": "refusal", "refusal": "I cannot help with that."}]
        elif fault == "empty":
            values["output"] = []
    elif "choices" in values:
        choice = values["choices"][0]
        message = choice["message"]
        limit = len(message["content"]) // 2 if fault == "incomplete" else limit
        if len(message["content"]) > limit:
            message["content"] = message["content"][:limit]
            choice["finish_reason"] = "length"
        if fault == "refusal":
            message |= {"content": None, "refusal": "I cannot help with that."}
        elif fault == "empty":
            message["content"] = None
    return json_reply(values)


def _raise_if_disconnected(connection: socket.socket) -> None:
    """Raise ConnectionAbortedError if the client has closed its end."""
    connection.setblocking(False)
    try:
        if not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError
    except BlockingIOError:
        return
    finally:
        connection.setblocking(True)


def contrite_model(prompt: ParsedPrompt) -> str:
    """Invent a source at first; write an honest draft once the violation is pointed out."""
    if prompt.violation is not None:
        return honest_model(prompt)
    sentences = (part for source in prompt.sources for part in split_prompt_sentences(source.text))
    quote = next(sentences, "There is no source.")
    claim = {"text": quote, "evidence": [{"source": "s99", "quote": quote}]}
    return json.dumps({"claims": [claim], "routes": ["h99", "note:0123456789"]})
