"""The requests that every runtime has to answer alike, and what each of them is answered."""

import json
from dataclasses import dataclass
from typing import Literal

from answerable.serve.http.messages import MAX_BODY_BYTES
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS

Origin = Literal["own", "none"] | str

KNOWN = "How thick is the chain of a mooring?"
_REPEATED = f"{KNOWN} " * 12
PRIVATE = "Where was the gearbox of the electric winch taken from?"
UNKNOWN = "Who wrote the tragedy of Hamlet?"
WIDE = "Ｈｏｗ　ｔｈｉｃｋ　ｉｓ　ｔｈｅ　ｃｈａｉｎ　ｏｆ　ａ　ｍｏｏｒｉｎｇ？"
JSON = "application/json"


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


def bad(name: str, body: bytes) -> Case:
    """A body that holds no question."""
    return Case(name, 400, "bad-request", body=body)


def get(name: str, status: int, path: str, expected: str | None = None) -> Case:
    """A page's request without a body."""
    return Case(name, status, expected, "GET", path, kind=None)


def preflight(
    name: str, status: int, path: str, origin: Origin, expected: str | None = None
) -> Case:
    """Make the preflight request that a browser sends before a page may ask."""
    request_method = (("Access-Control-Request-Method", "POST"),)
    return Case(name, status, expected, "OPTIONS", path, None, None, origin, request_method)


def fitting(size: int) -> bytes:
    """A good body of so many bytes."""
    return json.dumps({"question": KNOWN}).encode().ljust(size)


GOOD = fitting(0)

ANSWERS = [
    ask("good", "partial", KNOWN),
    ask("refused", "not-found", UNKNOWN),
    ask("no words", "not-found", "?!"),
    ask("routes", "related-material", PRIVATE),
    ask("language", "partial", KNOWN, language="en"),
    ask("language of a region", "partial", KNOWN, language="pt-BR"),
    ask("language null", "partial", KNOWN, language=None),
    ask("unknown keys", "partial", KNOWN, mode="supported", bundle=7),
    ask("control characters", "partial", KNOWN.replace(" ", "\x00\x07\x7f\x85 ")),
    ask("bidi", "partial", f"‮{KNOWN}‬⁦"),
    ask("NFKC", "partial", WIDE),
    ask("combining", "not-found", "A cafe\u0301 or a café?"),
    ask("emoji", "partial", f"{KNOWN} 👩‍🚀🏳️‍🌈"),
    ask("lone surrogate", "partial", KNOWN + " \ud800"),
    ask("swapped surrogates", "partial", KNOWN + " \udc00\ud800"),
    ask("longest", "partial", _REPEATED + "?" * (MAX_QUESTION_CHARACTERS - len(_REPEATED))),
    ask("spaces around", "partial", KNOWN.join([" " * 400] * 2)),
    ask("markup", "not-found", "<script>alert(1)</script> ${7*7} {{7*7}} ' OR 1=1 --"),
    Case("pair of escapes", 200, "partial", body=b'{"question": "\\ud83d\\ude80 ' + GOOD[14:]),
    Case("raw UTF-8", 200, "partial", body=b'{"question": "%b"}' % WIDE.encode()),
    Case("duplicate keys", 200, "partial", body=b'{"question": "x", ' + GOOD[1:]),
    Case("as long as allowed", 200, "partial", body=fitting(MAX_BODY_BYTES)),
    Case("charset", 200, "partial", body=GOOD, kind="application/json; charset=utf-8"),
    Case("capital type", 200, "partial", body=GOOD, kind="Application/JSON"),
    Case("query on answer", 200, "partial", path="answer?question=x&q=", body=GOOD),
    Case("slash behind", 200, "partial", path="answer/", body=GOOD),
    Case("percent in path", 200, "partial", path="%61nswer", body=GOOD),
    Case("no origin", 200, "partial", body=GOOD, origin="none"),
    Case("other headers", 200, "partial", body=GOOD, headers=(("X-A", "é"), ("Cookie", "a=b"))),
    Case("accept anything", 200, "partial", body=GOOD, headers=(("Accept", "*/*"),)),
]  # fmt: skip

MALFORMED = [
    bad("no body", b""),
    bad("half", b'{"question": "rope'),
    bad("trailing", GOOD + b"}"),
    bad("not UTF-8", b'{"question": "\xff\xfe"}'),
    bad("overlong UTF-8", b'{"question": "\xc0\xafrope"}'),
    bad("surrogate in UTF-8", b'{"question": "\xed\xa0\x80rope"}'),
    bad("UTF-16", GOOD.decode().encode("utf-16")),
    bad("UTF-16 without a mark", GOOD.decode().encode("utf-16-le")),
    bad("UTF-32", GOOD.decode().encode("utf-32")),
    bad("byte order mark", b"\xef\xbb\xbf" + GOOD),
    bad("raw control character", b'{"question": "a\x00rope"}'),
    bad("nested lists", b"[" * MAX_BODY_BYTES),
    bad("nested objects", b'{"a":' * 800 + b"1" + b"}" * 90),
    bad("nested question", b'{"question": ' + b"[" * 2000 + b"]" * 2000 + b"}"),
    bad("many digits", b"1" * MAX_BODY_BYTES),
    bad("array", b'["question"]'),
    bad("text", b'"question"'),
    bad("null", b"null"),
    bad("no question", b"{}"),
    bad("question null", b'{"question": null}'),
    bad("question a number", b'{"question": 1e999}'),
    bad("question no number", b'{"question": NaN}'),
    bad("question a list", b'{"question": ["rope"]}'),
    bad("empty", b'{"question": ""}'),
    bad("blank", b'{"question": " \\t\\n "}'),
    bad("invisible", b'{"question": "\\u200b\\u202e\\u0000\\ufeff"}'),
    bad("too long", json.dumps({"question": "r" * (MAX_QUESTION_CHARACTERS + 1)}).encode()),
    bad("too long in NFKC", json.dumps({"question": "ﷺ" * 30}).encode()),
    bad("language a number", GOOD[:-1] + b', "language": 1}'),
    bad("language no tag", GOOD[:-1] + b', "language": "en; drop"}'),
    Case("a byte too large", 413, "too-large", body=fitting(MAX_BODY_BYTES + 1)),
    Case("far too large", 413, "too-large", body=fitting(1_000_000)),
    Case("too large and no JSON", 413, "too-large", body=b"\xff" * (2 * MAX_BODY_BYTES)),
    Case("no type", 415, "unsupported", body=GOOD, kind=None),
    Case("text type", 415, "unsupported", body=GOOD, kind="text/plain"),
    Case("form type", 415, "unsupported", body=GOOD, kind="application/x-www-form-urlencoded"),
    Case("problem type", 415, "unsupported", body=GOOD, kind="application/problem+json"),
    Case("binary type", 415, "unsupported", body=b"\x00\xff" * 40, kind="application/octet-stream"),
    Case("type before size", 415, "unsupported", body=fitting(40_000), kind="text/plain"),
]  # fmt: skip

ELSEWHERE = [
    get("base", 404, "", "not-found"),
    get("unknown", 404, "nothing", "not-found"),
    get("below", 404, "answer/x", "not-found"),
    get("capitals", 404, "Health", "not-found"),
    get("upwards", 404, "x/../health", "not-found"),
    get("unicode path", 404, "caf%C3%A9/%00/%ff", "not-found"),
    get("a file", 404, "bundle/manifest.json", "not-found"),
    get("metrics", 404, "metrics", "not-found"),
    get("GET answer", 405, "answer", "method-not-allowed"),
    Case("PUT answer", 405, "method-not-allowed", "PUT", body=GOOD),
    Case("DELETE answer", 405, "method-not-allowed", "DELETE", kind=None),
    Case("PATCH search", 405, "method-not-allowed", "PATCH", "search", GOOD),
    Case("POST search", 405, "method-not-allowed", "POST", "search?q=rope", GOOD),
    Case("POST health", 405, "method-not-allowed", "POST", "health", GOOD),
    Case("HEAD health", 405, None, "HEAD", "health", kind=None),
    Case("HEAD unknown", 404, None, "HEAD", "nothing", kind=None),
]  # fmt: skip

ORIGINS = [
    preflight("OPTIONS answer", 204, "answer", "own"),
    preflight("OPTIONS search", 204, "search?q=x", "own"),
    preflight("OPTIONS foreign", 403, "answer", "https://elsewhere.example", "forbidden"),
    preflight("OPTIONS null", 403, "answer", "null", "forbidden"),
    preflight("OPTIONS no origin", 403, "answer", "none", "forbidden"),
    preflight("OPTIONS unknown", 404, "nothing", "own", "not-found"),
    Case("foreign", 403, "forbidden", body=GOOD, origin="https://elsewhere.example"),
    Case("null origin", 403, "forbidden", body=GOOD, origin="null"),
    Case("empty origin", 403, "forbidden", body=GOOD, origin=""),
    Case("longer origin", 403, "forbidden", body=GOOD, origin="https://pages.example.evil.example"),
    Case("origin with a slash", 403, "forbidden", body=GOOD, origin="https://pages.example/"),
    Case("origin of http", 403, "forbidden", body=GOOD, origin="http://pages.example"),
    Case("two origins", 403, "forbidden", body=GOOD, headers=(("Origin", "https://a.example"),)),
    Case("foreign before bad", 403, "forbidden", body=b"{", origin="https://elsewhere.example"),
    Case("foreign search", 403, "forbidden", "GET", "search?q=rope", origin="https://a.example"),
]  # fmt: skip

READING = [
    get("search", 200, "search?q=chain"),
    get("search nothing", 200, "search?q=Hamlet"),
    get("search plus", 200, "search?q=chain+of+a%20mooring"),
    get("search a plus sign", 200, "search?q=chain%2Bmooring"),
    get("search unicode", 200, "search?q=cha%C3%AEne%20%F0%9F%9A%A2%20lantern"),
    get("search no UTF-8", 200, "search?q=lantern%ff%fe"),
    get("search twice", 200, "search?q=lantern&q=chain"),
    get("search more", 200, "search?a=1&q=lantern&b=%26q%3Dchain"),
    get("search slash", 200, "search/?q=lantern"),
    get("search empty", 400, "search?q=", "bad-request"),
    get("search blank", 400, "search?q=%20+%00", "bad-request"),
    get("search missing", 400, "search", "bad-request"),
    get("search other", 400, "search?query=lantern", "bad-request"),
    get("search too long", 400, f"search?q={'r' * (MAX_QUESTION_CHARACTERS + 1)}", "bad-request"),
    get("health", 200, "health"),
    get("health query", 200, "health?x=%ff"),
    get("ready", 200, "ready"),
    get("openapi", 200, "openapi.json"),
    Case("health without origin", 200, None, "GET", "health", kind=None, origin="none"),
]


def agent(name: str, status: int, **message: object) -> Case:
    """An agent's message."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return Case(name, status, path="mcp", body=body, origin="none")


AGENTS = [
    agent("mcp ping", 200, id=1, method="ping"),
    agent("mcp tools", 200, id="a", method="tools/list"),
    agent("mcp pages", 200, id=2, method="resources/read", params={"uri": "answerable://pages"}),
    agent("mcp no method", 200, id=3, method="no/such"),
    agent("mcp no message", 400, id=4),
    agent("mcp notification", 202, method="notifications/initialized"),
    get("mcp GET", 405, "mcp", "method-not-allowed"),
    preflight("mcp OPTIONS", 204, "mcp", "own"),
]

CASES = [*ANSWERS, *MALFORMED, *ELSEWHERE, *ORIGINS, *READING, *AGENTS]
