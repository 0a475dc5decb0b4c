"""Run an honest server of the OpenAI protocol on loopback: responses, chat and embeddings."""

import base64
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from answerable.engine.errors import SiteError
from answerable.indexing.local_model import open_local_embedder
from support.honest_model import ParsedPrompt, honest_model, parse_prompt

HOST = "127.0.0.1"
RESPONSES_PATH, CHAT_PATH = "/v1/responses", "/v1/chat/completions"
EMBEDDINGS_PATH, MODELS_PATH = "/v1/embeddings", "/v1/models"
# The dimensions of a model's vectors where a request names none.
EMBEDDING_MODELS = {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536}
_BYTES_PER_TOKEN = 4

ScriptedModel = Callable[[ParsedPrompt], str]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StubRequest:
    """One request: ``path`` includes the query, header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def endpoint(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    @property
    def json(self) -> Any:
        """The parsed body; ValueError if it is not JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class StubReply:
    """A status, a body and its headers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


class OpenAIStub:
    """A server in threads of its own, from ``start`` or ``with`` until ``stop``.

    port: 0 for any free one. models: by their names; any other name is the honest model's.
    """

    def __init__(self, port: int = 0, *, models: Mapping[str, ScriptedModel] | None = None) -> None:
        self.models = {"honest": honest_model, **(models or {})}
        self.port = port
        self._server: ThreadingHTTPServer | None = None

    @property
    def base_url(self) -> str:
        """The base URL that a client is configured with."""
        return f"http://{HOST}:{self.port}/v1"

    def start(self) -> Self:
        """Listen and answer; SiteError if the port is taken."""
        handler = type("Handler", (_StubHandler,), {"stub": self})
        try:
            self._server = _StubServer((HOST, self.port), handler)
        except OSError as error:
            raise SiteError(
                f"--port: cannot listen on {HOST}:{self.port} ({error.strerror}): choose another "
                "port"
            ) from None
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Close the port."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def respond(self, request: StubRequest) -> StubReply:
        """Reply to a request."""
        if not request.headers.get("authorization", "").removeprefix("Bearer").strip():
            return error_reply(401, "You didn't provide an API key.")
        if request.endpoint == MODELS_PATH:
            names = [*self.models, *EMBEDDING_MODELS]
            return json_reply(
                {"object": "list", "data": [{"id": n, "object": "model"} for n in names]}
            )
        endpoint = {
            RESPONSES_PATH: self._write_response,
            CHAT_PATH: self._write_completion,
            EMBEDDINGS_PATH: self._embed,
        }.get(request.endpoint)
        if endpoint is None:
            return error_reply(404, "Invalid URL.")
        try:
            return json_reply(endpoint(request.json))
        except (ValueError, KeyError, TypeError, AttributeError):
            return error_reply(400, "The request cannot be read.")

    def send(self, reply: StubReply, handler: BaseHTTPRequestHandler) -> None:
        """Write a reply to its connection."""
        handler.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(reply.body)

    def _write_response(self, values: Json) -> Json:
        schema = values.get("text", {}).get("format", {}).get("schema")
        messages = values["input"]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        text, read = self._write(values["model"], messages, schema)
        part = {"type": "output_text", "text": text, "annotations": []}
        tokens = count_tokens(values.get("instructions") or "", read), count_tokens(text)
        return {
            "id": "resp_stub", "object": "response", "status": "completed",
            "model": values["model"],
            "output": [{"id": "msg_stub", "type": "message", "role": "assistant",
                        "status": "completed", "content": [part]}],
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1],
                      "total_tokens": sum(tokens)},
        }  # fmt: skip

    def _write_completion(self, values: Json) -> Json:
        schema = values.get("response_format", {}).get("json_schema", {}).get("schema")
        text, read = self._write(values["model"], values["messages"], schema)
        tokens = count_tokens(read), count_tokens(text)
        return {
            "id": "chatcmpl-stub", "object": "chat.completion", "model": values["model"],
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": text, "refusal": None}}],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1],
                      "total_tokens": sum(tokens)},
        }  # fmt: skip

    def _write(self, name: str, messages: list[Json], schema: Json | None) -> tuple[str, str]:
        """Write the text of a model, and return what it has read too."""
        texts = [message["content"] for message in messages if message["role"] == "user"]
        model = self.models.get(name, self.models["honest"])
        read = "".join(message["content"] for message in messages)
        return model(parse_prompt(texts, schema)), read

    def _embed(self, values: Json) -> Json:
        texts = [values["input"]] if isinstance(values["input"], str) else values["input"]
        dimensions = values.get("dimensions") or EMBEDDING_MODELS.get(values["model"], 1536)
        data = []
        for index, vector in enumerate(resize_vectors(_open_embedder().embed(texts), dimensions)):
            is_packed = values.get("encoding_format") == "base64"
            packed = base64.b64encode(vector.tobytes()).decode() if is_packed else vector.tolist()
            data.append({"object": "embedding", "index": index, "embedding": packed})
        tokens = count_tokens(*texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data, "model": values["model"], "usage": usage}


def json_reply(value: object, status: int = 200) -> StubReply:
    """Make a JSON reply, escaped to ASCII, so that even a lone surrogate can be sent."""
    return StubReply(json.dumps(value).encode("ascii"), status)


def error_reply(status: int, message: str, code: str | None = None) -> StubReply:
    """Make the reply of an error, in OpenAI's envelope."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return json_reply({"error": error}, status)


def count_tokens(*texts: str) -> int:
    """Estimate the tokens of what was read or written from its bytes."""
    return -(-len("".join(texts).encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def resize_vectors(vectors: Any, dimensions: int) -> Any:
    """Truncate or pad to unit vectors. vectors: (n, d) float32; returns (n, dimensions)."""
    sized = np.zeros((len(vectors), dimensions), dtype=np.float32)
    common = min(dimensions, vectors.shape[1])
    sized[:, :common] = vectors[:, :common]
    # OpenAI never sends zeros; a text without a known token gets a direction of its own.
    sized[~sized.any(axis=1), -1] = 1.0
    return sized / np.linalg.norm(sized, axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _open_embedder() -> Any:
    return open_local_embedder()


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
        request = StubRequest(self.command, self.path, headers, body)
        self.stub.send(self.stub.respond(request), self)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed."""
