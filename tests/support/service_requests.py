"""Requests to a service over letters, whose answerer costs tokens, and what it has logged."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from answerable.serve.embedders.embedder import Vectors
from answerable.serve.engine import Engine
from answerable.serve.http.messages import (
    EVENT_STREAM_TYPE,
    MAX_BODY_BYTES,
    PROBLEM_STATUSES,
    PROBLEM_TYPE,
    Request,
    Response,
)
from answerable.serve.http.service import Service
from answerable.serve.index.manifest import Profile
from answerable.serve.limits.policy import Policy
from answerable.serve.request_context import RequestContext, current_context
from answerable.serve.types import Evidence
from support.doubles import bundle_of, index_of, note, record
from support.scripted import LetterEmbedder

ORIGIN = "https://harbour.example"
ELSEWHERE = "https://elsewhere.example"
TOKEN = "harbour-master"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
BEARER = {"authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}
ROPE = "A rope holds the boat."
QUESTION = "Which rope holds?"
# A claim with a quote of the page, and a route to the note.
ROUTED = {
    "claims": [{"text": ROPE, "evidence": [{"source": "s1", "quote": ROPE}]}],
    "routes": ["h1"],
}
# Nothing but what a test sets holds anything back.
USUAL = Policy(
    origins=(ORIGIN,), rate="1000/second", rate_all="1000/second", secret=b"a harbour's secret"
)


@dataclass
class Paid:
    """An answerer that costs tokens, counts them and may take its time or fail."""

    max_question_tokens: int = 100
    max_evidence_characters: int | None = 24_000
    cost: int | None = 30
    questions: list[str] = field(default_factory=list)
    before: Callable[[], object] | None = None
    drafts: Sequence[object] | None = None
    label: str = "paid"

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        del violation
        self.questions.append(question)
        current_context().begin_provider_call()
        if self.before:
            self.before()
        if self.cost is not None:
            current_context().end_provider_call(self.cost - 10, 10)
        if self.drafts is not None:
            return self.drafts[len(self.questions) - 1]
        text = evidence.passages[0].text
        return {"claims": [{"text": text, "evidence": [{"source": "s1", "quote": text}]}]}


@dataclass
class Failing(LetterEmbedder):
    """An embedder that raises its faults, one a call, and then works."""

    faults: list[Exception] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.faults:
            raise self.faults.pop(0)
        return super().embed(texts)


class Slow(LetterEmbedder):
    """An embedder that takes all the time that a question has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        current_context().ends = time.monotonic()
        return super().embed(texts)


class Looking(RequestContext):
    """A call that tells when its asker is looked for while it waits for another's answer."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = threading.Event()

    def check_deadline(self) -> None:
        self.looked.set()
        super().check_deadline()


def letters(folder: Path) -> Engine:
    """An engine over a small bundle of letters; everything is above its floor."""
    pages = [record("rope", f"<h2 id=use>Use</h2><p>{ROPE}</p>"), record("w", "<p>Wind.</p>")]
    index = index_of(folder, pages, [note("one", "alpha beta")])
    profile = Profile(floor=0, note_floor=0, call_floor=0)
    return Engine(bundle_of(folder, index, profile), LetterEmbedder(), Paid())


@dataclass
class Asking:
    """A service, what it has logged, and requests to it as a page of the site makes them."""

    service: Service
    engine: Engine
    lines: list[bytes]

    @property
    def answerer(self) -> Any:
        return self.engine.answerer

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    def __call__(self, question: object = QUESTION, **extra: Any) -> Response:
        return self.service.handle(question_request(question, **extra))

    def get(self, path: str, query: str = "", **headers: str) -> Response:
        return self.service.handle(request("GET", path, query=query, headers=headers))


def asking(base: Engine, policy: Policy = USUAL, **options: Any) -> Asking:
    """A service with a fresh answerer. options: ``answerer``, ``embedder``, or of the service."""
    engine = replace(
        base,
        answerer=options.pop("answerer", None) or Paid(),
        embedder=options.pop("embedder", base.embedder),
    )
    lines: list[bytes] = []
    options.setdefault("log", lines.append)
    return Asking(Service(lambda: engine, policy, **options), engine, lines)


def request(
    method: str = "GET",
    path: str = "health",
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    asker: str = "192.0.2.1",
    streams: bool = False,
) -> Request:
    return Request(method, path, query, headers or {}, body, asker, can_stream=streams)


def question_request(question: object = QUESTION, **extra: Any) -> Request:
    """A question. extra: ``headers``, ``asker``, ``streams``, or fields of the body."""
    headers = {**JSON, **extra.pop("headers", {})}
    options = {name: extra.pop(name) for name in ("asker", "streams") if name in extra}
    body = json.dumps({"question": question, **extra}).encode()
    return request("POST", "answer", headers=headers, body=body, **options)


def code(response: Response) -> str:
    """The code of a problem, whose body and headers are those of its kind."""
    body: dict[str, Any] = response.json
    assert set(body) == {"type", "title", "status", "detail", "code"}
    assert header(response, "Content-Type") == PROBLEM_TYPE
    assert (body["status"], body["title"]) == PROBLEM_STATUSES[body["code"]]
    assert response.status == body["status"]
    return str(body["code"])


def header(response: Response, name: str) -> str | None:
    values = [value for key, value in response.headers if key == name]
    assert len(values) <= 1, f"{name} is sent {len(values)} times"
    return values[0] if values else None


def stream(ask: Asking, **extra: Any) -> Response:
    return ask(streams=True, headers={"accept": EVENT_STREAM_TYPE}, **extra)


# Wrong in every way that a body can be.
WRONG = b'{"question": "\xff' + b"x" * MAX_BODY_BYTES
# A request for each branch of the service.
SENT = [
    request("GET", "health"),
    request("GET", "openapi.json"),
    request("GET", "search", query="q=rope"),
    request("GET", "metrics"),
    request("GET", "nothing"),
    request("DELETE", "answer"),
    request("OPTIONS", "answer"),
    request("POST", "answer", body=WRONG, headers=JSON),
    question_request(),
    question_request(streams=True, headers={"accept": EVENT_STREAM_TYPE}),
    question_request("", streams=True, headers={"accept": EVENT_STREAM_TYPE}),
]
