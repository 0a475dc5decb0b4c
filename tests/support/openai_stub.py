"""The stub of the OpenAI protocol for tests: records requests, checks them, fails as it is told."""

import json
import re
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Self, cast

from answerable.engine.openai import is_reasoning_model
from answerable.indexing.stems import extract_stems
from support import stub_server
from support.honest_model import (
    ParsedPrompt,
    honest_model,
    parse_data_lines,
    split_prompt_sentences,
)
from support.hostile_models import HOSTILE_MODELS
from support.stub_server import (
    CHAT_PATH,
    EMBEDDINGS_PATH,
    RESPONSES_PATH,
    ScriptedModel,
    StubReply,
    StubRequest,
    error_reply,
    json_reply,
)

ANSWER_PATHS = (RESPONSES_PATH, CHAT_PATH)
FAULT_HEADER = "x-stub-fault"
_MODEL_SUFFIX = re.compile(r"-fault-(.+)$")
_PARAMETERS = {
    RESPONSES_PATH: {"model", "input", "instructions", "text", "store", "max_output_tokens",
                     "reasoning", "temperature"},
    CHAT_PATH: {"model", "messages", "response_format", "max_completion_tokens", "max_tokens",
                "reasoning_effort", "temperature"},
    EMBEDDINGS_PATH: {"model", "input", "dimensions", "encoding_format"},
}  # fmt: skip
_HTML = b"<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"
# Statuses with what OpenAI says, and the code that it gives.
_STATUSES: Mapping[str, tuple[int, str, str | None]] = {
    "400": (400, "The request is invalid.", None),
    "401": (401, "Incorrect API key provided.", "invalid_api_key"),
    "403": (403, "You are not allowed to do this.", None),
    "404": (404, "Not found.", None),
    "422": (422, "The request cannot be processed.", None),
    "429": (429, "Rate limit reached. Please try again later.", "rate_limit_exceeded"),
    "500": (500, "The server had an error while processing your request.", None),
    "503": (503, "The engine is currently overloaded, please try again later.", None),
    "quota": (429, "You exceeded your current quota, please check it.", "insufficient_quota"),
    "context": (400, "The prompt has more tokens than fit.", "exceed_context_size_error"),
}
_REPLIES: Mapping[str, StubReply] = {
    **{name: error_reply(*fault) for name, fault in _STATUSES.items()},
    "502": StubReply(_HTML, 502, {"Content-Type": "text/html"}),
    "html": StubReply(_HTML, 200, {"Content-Type": "text/html"}),
    "garbage": StubReply(bytes(range(128, 256)) * 4),
    "null": json_reply(None),
    "unrelated": json_reply({"status": "ok", "data": {"output": 1, "choices": 2}}),
    "blank": StubReply(b""),
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
    "infinite": lambda rows: [[float("inf"), *row[1:]] for row in rows],
    "zeros": lambda rows: [[0.0] * len(row) for row in rows],
}
# An answering or an embedding endpoint ignores the faults of the other.
FAULTS = (
    *_REPLIES, *_DELIVERIES, *_VECTORS, "refusal", "empty", "incomplete",
    "no-usage", "fixed-dimensions", "reversed",
)  # fmt: skip


@dataclass
class _Plan:
    """A fault to come. left: how many more times, None for ever; path: at one endpoint only."""

    name: str
    left: int | None = None
    path: str | None = None


class OpenAIStub(stub_server.OpenAIStub):
    """A stub that keeps the latest ``keep`` requests, None for all, and counts all of them.

    ``retry_after``: of a 429 or 503, in seconds; ``drip_seconds``: between dripped bytes.
    ``failures``: what should never have happened.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        keep: int | None = None,
        models: Mapping[str, ScriptedModel] | None = None,
    ) -> None:
        super().__init__(port, models={**JUDGES, **HOSTILE_MODELS, **(models or {})})
        self.retry_after = 1.0
        self.drip_seconds = 0.05
        self.failures: list[BaseException] = []
        self._recorded: deque[StubRequest] = deque(maxlen=keep)
        self._plan: _Plan | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._delivery = threading.local()
        self.counts: Counter[str] = Counter()
        self.disconnects = 0

    def start(self) -> Self:
        self._stopping.clear()
        return super().start()

    def stop(self) -> None:
        """End what hangs too, and answer on no connection that is still open."""
        self._stopping.set()
        super().stop()

    @property
    def requests(self) -> tuple[StubRequest, ...]:
        return tuple(self._recorded)

    @property
    def answer_calls(self) -> int:
        return sum(self.counts[path] for path in ANSWER_PATHS)

    @property
    def embedding_calls(self) -> int:
        return self.counts[EMBEDDINGS_PATH]

    @property
    def fault(self) -> str | None:
        """The fault that requests meet, one of ``FAULTS``."""
        return self._plan.name if self._plan else None

    @fault.setter
    def fault(self, name: str | None) -> None:
        self._plan = None
        if name:
            self.fail(name)

    def fail(self, fault: str, times: int | None = None, path: str | None = None) -> None:
        """Meet the next ``times`` requests (None: all) to an endpoint (None: any) with a fault."""
        assert fault in FAULTS, fault
        self._plan = _Plan(fault, times, path)

    def forget(self) -> None:
        """Clear the record of requests and their counts."""
        self._recorded.clear()
        self.counts.clear()
        self.disconnects = 0

    def respond(self, request: StubRequest) -> StubReply:
        """Record a request without its key; reply, or fail as the plan says."""
        headers = {name: v for name, v in request.headers.items() if name != "authorization"}
        with self._lock:
            self._recorded.append(replace(request, headers=headers))
            self.counts[request.endpoint] += 1
            fault = self._take(request)
        self._delivery.name = fault if fault in _DELIVERIES else None
        if fault and fault in _REPLIES:
            reply = _REPLIES[fault]
            if reply.status in (429, 503):
                return replace(
                    reply, headers={**reply.headers, "Retry-After": f"{self.retry_after:g}"}
                )
            return reply
        try:
            refused = self._find_mistake(request, fault)
            reply = refused or super().respond(request)
            return reply if refused or reply.status != 200 else _spoil(request, reply, fault)
        except Exception as error:
            self.failures.append(error)
            raise

    def send(self, reply: StubReply, handler: BaseHTTPRequestHandler) -> None:
        """Write a reply, or as much of it as the fault lets through."""
        if self._stopping.is_set():
            handler.close_connection = True
            return
        try:
            self._send(reply, handler, getattr(self._delivery, "name", None))
        except OSError:
            if not self._stopping.is_set():
                with self._lock:
                    self.disconnects += 1
            handler.close_connection = True

    def _send(
        self, reply: StubReply, handler: BaseHTTPRequestHandler, delivery: str | None
    ) -> None:
        if delivery == "truncated":
            reply = replace(reply, body=reply.body[: len(reply.body) // 2])
        if delivery in (None, "truncated"):
            super().send(reply, handler)
            return
        handler.close_connection = True
        if delivery == "hang":
            while not self._stopping.wait(0.02):
                _raise_if_disconnected(handler.connection)
        if delivery in ("hang", "drop"):
            return
        size = len(reply.body)
        super().send(replace(reply, body=b""), cast(Any, _Announced(handler, size)))
        handler.wfile.flush()
        for byte in reply.body[: size // 2 if delivery == "cut" else size]:
            if delivery == "drip":
                if self._stopping.wait(self.drip_seconds):
                    return
                _raise_if_disconnected(handler.connection)
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()

    def _take(self, request: StubRequest) -> str | None:
        """Return the fault that a request meets, and count it down."""
        if fault := request.headers.get(FAULT_HEADER):
            return fault
        plan = self._plan
        if plan and plan.path in (None, request.endpoint):
            if plan.left is not None:
                plan.left -= 1
                self._plan = plan if plan.left else None
            return plan.name
        suffix = _MODEL_SUFFIX.search(str(_values(request).get("model")))
        return suffix[1] if suffix else None

    def _find_mistake(self, request: StubRequest, fault: str | None) -> StubReply | None:
        """Refuse what OpenAI refuses: unknown parameters, a wrong sampling, a loose schema."""
        values, path = _values(request), request.endpoint
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


class _Announced:
    """A handler that announces a longer body than it is given."""

    def __init__(self, handler: BaseHTTPRequestHandler, size: int) -> None:
        self._handler, self._size = handler, size

    def send_header(self, name: str, value: str) -> None:
        self._handler.send_header(name, str(self._size) if name == "Content-Length" else value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handler, name)


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
    if rows and fault and fault in _VECTORS and "embedding" in rows[0]:
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


def honest_judge(prompt: ParsedPrompt) -> str:
    """Judge a claim by its quotes: no if negation differs, yes if they hold all its terms."""
    lines = list(parse_data_lines(prompt.text))
    quotes = " ".join(line["text"] for line in lines if line.get("kind") == "quote")
    claim = " ".join(line["text"] for line in lines if line.get("kind") == "claim")
    if len(_NEGATION.findall(claim)) != len(_NEGATION.findall(quotes)):
        return json.dumps({"supported": "no"})
    is_covered = set(extract_stems(claim)) <= set(extract_stems(quotes))
    return json.dumps({"supported": "yes" if is_covered else "unclear"})


def lying_judge(prompt: ParsedPrompt) -> str:
    """Find every claim supported."""
    del prompt
    return json.dumps({"supported": "yes"})


_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot)\b|n't\b", re.IGNORECASE)
JUDGES: Mapping[str, ScriptedModel] = {
    "contrite": contrite_model,
    "honest-judge": honest_judge,
    "lying-judge": lying_judge,
}
