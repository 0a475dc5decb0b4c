"""A server of the OpenAI protocol on loopback, for tests: responses, completions, embeddings."""

import base64
import json
import threading
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from ..indexing.local_model import open_local_embedder

Json = dict[str, Any]
_open_embedder = cache(open_local_embedder)


def quote_first_source(prompt: str) -> str:
    """Write a draft that quotes the first source of a prompt, or that declines without one."""
    lines = [json.loads(line) for line in prompt.split("\n") if line.startswith("{")]
    sources = [line for line in lines if line.get("kind") == "source"][:1]
    claims = [
        {"text": source["text"], "evidence": [{"source": source["id"], "quote": source["text"]}]}
        for source in sources
    ]
    return json.dumps({"claims": claims, "routes": []})


def format_response(model: str, text: str, tokens: tuple[int, int] = (9, 9)) -> Json:
    """Format the body of a response. tokens: of what was read, and of the text."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    return {
        "id": "resp_1", "object": "response", "status": "completed", "model": model,
        "output": [{**message, "content": content}],
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1],
                  "total_tokens": sum(tokens)},
    }  # fmt: skip


def format_completion(model: str, text: str, tokens: tuple[int, int] = (9, 9)) -> Json:
    """Format the body of a chat completion. tokens: of what was read, and of the text."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1],
                  "total_tokens": sum(tokens)},
    }  # fmt: skip


def embed_texts(values: Json, tokens: int = 9) -> Json:
    """Embed the texts of a request, and format the body of the reply."""
    texts = [values["input"]] if isinstance(values["input"], str) else values["input"]
    dimensions = values.get("dimensions") or 1536
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    local = _open_embedder().embed(texts)[:, :dimensions]
    vectors[:, : local.shape[1]] = local
    # OpenAI never sends zeros; a text without a known token gets a direction of its own.
    vectors[~vectors.any(axis=1), -1] = 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    is_packed = values.get("encoding_format") == "base64"
    rows = []
    for index, vector in enumerate(vectors):
        packed = base64.b64encode(vector.tobytes()).decode() if is_packed else vector.tolist()
        rows.append({"object": "embedding", "index": index, "embedding": packed})
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": values["model"], "data": rows, "usage": usage}


class OpenAIServer:
    """A server that runs in a thread of its own while a `with` block does.

    ``requests``: the path and the values of each request. write: what the model writes for the
    text of the user's messages. Vectors are those of the local embedder, cut or padded.
    """

    def __init__(self, write: Callable[[str], str] = quote_first_source) -> None:
        self.requests: list[tuple[str, Json]] = []
        handler = type("Handler", (_Handler,), {"write": staticmethod(write), "owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True

    @property
    def base_url(self) -> str:
        """The base URL that a client is configured with."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: OpenAIServer
    write: Callable[[str], str]

    def do_POST(self) -> None:
        values = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        self.owner.requests.append((self.path, values))
        reply = {
            "/v1/responses": self._respond,
            "/v1/chat/completions": self._complete,
            "/v1/embeddings": embed_texts,
        }.get(self.path)
        body = json.dumps(reply(values) if reply else {"error": {"message": "Invalid URL."}})
        self.send_response(200 if reply else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode("ascii"))

    def _respond(self, values: Json) -> Json:
        return format_response(values["model"], self._write(values["input"]))

    def _complete(self, values: Json) -> Json:
        return format_completion(values["model"], self._write(values["messages"]))

    def _write(self, messages: str | list[Json]) -> str:
        if isinstance(messages, str):
            return self.write(messages)
        texts = [message["content"] for message in messages if message["role"] == "user"]
        return self.write("\n".join(texts))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed."""
