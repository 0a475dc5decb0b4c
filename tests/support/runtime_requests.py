"""The requests that every runtime has to answer alike, and what each of them is answered."""

import json
from dataclasses import dataclass
from typing import Literal

from answerable.function.guards import MAX_BODY_BYTES

Origin = Literal["own", "none"] | str

KNOWN = "How thick is the chain of a mooring?"
PRIVATE = "Where was the gearbox of the electric winch taken from?"
UNKNOWN = "Who wrote the tragedy of Hamlet?"
GOOD = json.dumps({"question": KNOWN}).encode()
JSON = "application/json"
FOREIGN = "https://elsewhere.example"


@dataclass(frozen=True)
class Case:
    """A request and its answer: a status and, of a problem, its code; of an answer, its mode.

    ``path``: relative to the base. ``kind``: the content type, None for none. ``origin``: ``own``
    for the page that may ask, ``none`` for no such header.
    """

    name: str
    status: int
    expected: str | None = None
    method: str = "POST"
    path: str = "answer"
    body: bytes | None = None
    kind: str | None = JSON
    origin: Origin = "own"
    headers: tuple[tuple[str, str], ...] = ()


def ask(name: str, expected: str, question: str, **extra: object) -> Case:
    """A question that is answered."""
    return Case(name, 200, expected, body=json.dumps({"question": question, **extra}).encode())


def get(name: str, status: int, path: str, expected: str | None = None) -> Case:
    """A page's request without a body."""
    return Case(name, status, expected, "GET", path, kind=None)


CASES = [
    ask("good", "partial", KNOWN, language="en", more=7),
    ask("refused", "not-found", UNKNOWN),
    ask("routes", "related-material", PRIVATE),
    ask("lone surrogate", "partial", KNOWN + " \ud800 👩‍🚀"),
    Case("as long as allowed", 200, "partial", body=GOOD.ljust(MAX_BODY_BYTES)),
    Case("percent", 200, "partial", path="%61nswer?question=x", body=GOOD),
    Case("slash", 404, "not-found", path="answer/", body=GOOD),
    Case("no origin", 200, "partial", body=GOOD, origin="none"),
    Case("other headers", 200, "partial", body=GOOD, headers=(("X-A", "é"), ("Cookie", "a=b"))),
    Case("no body", 400, "bad-request", body=b""),
    Case("not UTF-8", 400, "bad-request", body=b'{"question": "\xff\xfe"}'),
    Case("nested lists", 400, "bad-request", body=b"[" * MAX_BODY_BYTES),
    Case("a byte too large", 413, "too-large", body=GOOD.ljust(MAX_BODY_BYTES + 1)),
    Case("far too large", 413, "too-large", body=b" " * 1_000_000),
    Case("no type", 415, "unsupported", body=GOOD, kind=None),
    Case("binary type", 415, "unsupported", body=b"\x00\xff" * 40, kind="application/octet-stream"),
    get("base", 404, "", "not-found"),
    get("unicode path", 404, "caf%C3%A9/%00/%ff", "not-found"),
    get("upwards", 404, "x/../health", "not-found"),
    get("GET answer", 405, "answer", "method-not-allowed"),
    Case("PATCH search", 405, "method-not-allowed", "PATCH", "search", GOOD),
    Case("HEAD health", 200, None, "HEAD", "health", kind=None),
    Case("foreign", 403, "forbidden", body=GOOD, origin=FOREIGN),
    Case("empty origin", 403, "forbidden", body=GOOD, origin=""),
    get("search", 200, "search?a=1&q=chain+of+a%20mooring%ff&q=lantern"),
    get("search missing", 400, "search", "bad-request"),
    get("health", 200, "health"),
    get("openapi", 200, "openapi.json"),
    Case(
        "mcp tools", 200, path="mcp", origin="none",
        body=b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list"}',
    ),
]  # fmt: skip
