"""A model's server that sends without end: reading stops, and the question with it."""

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from answerable.serve.answers.openai_answerer import OpenAIAnswerer
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.embedders.openai_embedder import OpenAIEmbedder
from answerable.serve.errors import ProviderError
from answerable.serve.openai_client import MAX_RESPONSE_BYTES
from answerable.serve.settings import AnswerAPI
from answerable.serve.types import Evidence, Passage

MEBIBYTE = 1024 * 1024
# What the two ends of a connection hold on to beside what was read.
BUFFERED = 32 * MEBIBYTE
ENDLESS = 1500 * MEBIBYTE
TOO_MUCH = "the provider sent more than an answer takes"
PASSAGE = Passage(
    id="rope#use", record="rope", url="/rope/", title="Rope", markdown="A rope holds.",
    date=None, language="en",
)  # fmt: skip


@dataclass
class Flood:
    """A server that answers each request by a head and by parts, until its client hangs up."""

    head: bytes
    part: bytes
    size: int
    sent: list[int] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)
    url: str = ""

    def respond(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(30)
            self.requests.append(received(client))
            self.sent.append(0)
            client.sendall(self.head)
            while self.sent[-1] < self.size:
                client.sendall(self.part)
                self.sent[-1] += len(self.part)


def received(client: socket.socket) -> bytes:
    """A request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += client.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def flooding(head: bytes, part: bytes, size: int = ENDLESS) -> Iterator[Flood]:
    flood = Flood(head, part, size)
    listening = socket.create_server(("127.0.0.1", 0))
    flood.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"

    def accept() -> None:
        with suppress(OSError):
            while True:
                flood.respond(listening.accept()[0])

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield flood
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(60)
        assert not thread.is_alive()


def draft(url: str, api: AnswerAPI = "responses") -> object:
    """Ask for a draft, by ``/responses`` or by chat completions."""
    answerer = OpenAIAnswerer("gpt-4.1", "Harbour", url, deadline=60, api=api)
    return answerer.draft("Which rope?", Evidence((PASSAGE,), ()))


def embed(url: str) -> object:
    identity = EmbedderIdentity("openai", "text-embedding-3-large", 64)
    return OpenAIEmbedder(identity, url, 60).embed(["Which rope?"])


ENDPOINTS: dict[str, Callable[[str], object]] = {
    "responses": draft,
    "chat": lambda url: draft(url, "chat"),
    "embeddings": embed,
}
KIND = b"Content-Type: application/json\r\n"
HEADS = {
    "declared": b"HTTP/1.1 200 OK\r\n" + KIND + b"Content-Length: %d\r\n\r\n" % ENDLESS,
    "until it closes": b"HTTP/1.1 200 OK\r\n" + KIND + b"Connection: close\r\n\r\n",
}


@pytest.fixture(autouse=True)
def set_api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.mark.parametrize(
    ("endpoint", "head"),
    [("responses", "declared"), ("chat", "until it closes"), ("embeddings", "declared")],
)
def test_an_endless_body_is_read_up_to_the_limit(endpoint: str, head: str) -> None:
    with flooding(HEADS[head], b" " * 65_536) as flood:
        with pytest.raises(ProviderError, match=TOO_MUCH) as caught:
            ENDPOINTS[endpoint](flood.url)
        assert not caught.value.transient
    # One attempt: what was sent has cost what it has cost.
    (sent,) = flood.sent
    assert sent < MAX_RESPONSE_BYTES + BUFFERED


def test_a_compressed_body_is_limited_by_its_decompressed_size() -> None:
    bomb = gzip.compress(b" " * (4 * MAX_RESPONSE_BYTES), 9)
    head = (
        b"HTTP/1.1 200 OK\r\n" + KIND + b"Content-Encoding: gzip\r\n"
        b"Content-Length: %d\r\n\r\n" % len(bomb)
    )
    with (
        flooding(head, bomb, len(bomb)) as flood,
        pytest.raises(ProviderError, match=TOO_MUCH),
    ):
        draft(flood.url)
