"""Requests to a service over letters, whose answerer costs tokens, and what it has logged."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette

from answerable.engine.engine import Engine
from answerable.engine.index.manifest import Profile
from answerable.engine.request_context import current_context
from answerable.engine.types import Evidence
from answerable.engine.vectors import Floats
from answerable.function.app import make_document
from answerable.function.exchange import EVENT_STREAM_TYPE
from answerable.function.policy import Policy
from answerable.function.requests import MAX_BODY_BYTES, PROBLEM_STATUSES, PROBLEM_TYPE
from support.app_requests import Request, Response, app_of, send
from support.doubles import bundle_of, index_of, note, record
from support.openapi_check import check_response
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
    allowed_origins=(ORIGIN,),
    rate="1000/second",
    rate_all="1000/second",
    secret="a harbour's secret",
)


def usual(**changes: Any) -> Policy:
    """The usual policy with some changes."""
    return msgspec.structs.replace(USUAL, **changes)


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
        if self.before:
            self.before()
        if self.cost is not None:
            current_context().count_tokens(self.cost - 10, 10)
        if self.drafts is not None:
            return self.drafts[len(self.questions) - 1]
        text = evidence.passages[0].text
        return {"claims": [{"text": text, "evidence": [{"source": "s1", "quote": text}]}]}


@dataclass
class Failing(LetterEmbedder):
    """An embedder that raises its faults, one a call, and then works."""

    faults: list[Exception] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Floats:
        if self.faults:
            raise self.faults.pop(0)
        return super().embed(texts)


class Slow(LetterEmbedder):
    """An embedder that takes all the time that a question has."""

    def embed(self, texts: Sequence[str]) -> Floats:
        current_context().ends = time.monotonic()
        return super().embed(texts)


def letters(folder: Path) -> Engine:
    """An engine over a small bundle of letters; everything is above its floor."""
    pages = [record("rope", f"<h2 id=use>Use</h2><p>{ROPE}</p>"), record("w", "<p>Wind.</p>")]
    index = index_of(folder, pages, [note("one", "alpha beta")])
    profile = Profile(floor=0, note_floor=0, call_floor=0)
    return Engine(bundle_of(folder, index, profile), LetterEmbedder(), Paid())


@dataclass
class Asking:
    """An app, what it has logged, and requests to it as a page of the site makes them.

    ``document``: describes its responses, None where no page may ask.
    """

    app: Starlette
    engine: Engine
    lines: list[bytes]
    document: dict[str, Any] | None

    @property
    def answerer(self) -> Any:
        return self.engine.answerer

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    def __call__(self, question: object = QUESTION, **extra: Any) -> Response:
        return self.send(question_request(question, **extra))

    def get(self, path: str, query: str = "", **headers: str) -> Response:
        return self.send(request("GET", path, query=query, headers=headers))

    def send(self, sent: Request) -> Response:
        """Send a request; its response is one that the OpenAPI document describes."""
        response = send(self.app, sent)
        if self.document and sent.method != "OPTIONS":
            check_response(self.document, sent.method, sent.path, response)
        return response


def asking(
    base: Engine,
    policy: Policy = USUAL,
    *,
    answerer: Any = None,
    embedder: Any = None,
    log: Callable[[bytes], object] | None = None,
    **options: Any,
) -> Asking:
    """An app with a fresh answerer. options: of ``Function``."""
    engine = replace(base, answerer=answerer or Paid(), embedder=embedder or base.embedder)
    lines: list[bytes] = []
    document = make_document("1", metrics=bool(policy.metrics_token), bearer=bool(policy.bearer))
    app = app_of(engine, policy, write_line=log or lines.append, **options)
    return Asking(app, engine, lines, document if policy.allowed_origins else None)


def request(
    method: str = "GET",
    path: str = "health",
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    asker: str = "192.0.2.1",
) -> Request:
    return Request(method, path, query, headers or {}, body, asker)


def question_request(question: object = QUESTION, **extra: Any) -> Request:
    """A question. extra: ``headers``, ``asker``, ``streams``, or fields of the body."""
    accept = {"accept": EVENT_STREAM_TYPE} if extra.pop("streams", False) else {}
    headers = {**JSON, **accept, **extra.pop("headers", {})}
    options = {name: extra.pop(name) for name in ("asker",) if name in extra}
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
    values = [value for key, value in response.headers if key == name.lower()]
    assert len(values) <= 1, f"{name} is sent {len(values)} times"
    return values[0] if values else None


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
    question_request(streams=True),
    question_request("", streams=True),
]
