"""OpenAPI document: valid, in agreement with the types, and true of what the service sends."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
from jsonschema import ValidationError
from openapi_spec_validator import validate

from answerable.function.guards import MAX_BODY_BYTES
from answerable.function.openapi import make_document
from answerable.function.policy import Policy
from answerable.function.problems import JSON_TYPE, PROBLEM_STATUSES, PROBLEM_TYPE, ProblemCode
from answerable.function.stream import EVENT_STREAM_TYPE
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.request_context import RequestStage
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS
from answerable.serve.text import languages
from answerable.serve.types import Confidence, Mode, Reason
from support import openapi_check
from support.app_requests import Request, Response, app_of, send
from support.sites import NOTES, build_here, local, opened, write_site

FULL = make_document("1", metrics=True, bearer=True)
ASK = FULL["paths"]["/answer"]["post"]
CONTENT = ASK["responses"]["200"]["content"]
ANSWER = CONTENT[JSON_TYPE]["examples"]["answer"]["value"]
REFUSAL = CONTENT[JSON_TYPE]["examples"]["refusal"]["value"]
QUESTION = ASK["requestBody"]["content"][JSON_TYPE]["example"]["question"]
REFUSED = CONTENT[JSON_TYPE]["examples"]["refusal"]["summary"]
SEARCH = FULL["paths"]["/search"]["get"]
SEARCHED = SEARCH["parameters"][0]["example"]
ORIGIN = "https://harbour.example"
TOKEN = "harbour-master"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
WORN = {
    "worn.md": (
        "---\nid: worn-chains\nlabel: Worn chains\nlocator: second shelf\n"
        "about: mooring.md#chains\n---\n\n"
        "How thick a chain of a mooring is after ten winters: eleven millimetres at the shackle, "
        "and the chain of the mooring by the pier is worn most.\n"
    )
}
# What differs between two builds or two answers.
PASSING = ("request_id", "built_at", "bundle", "generator")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The keyless engine of the site that the document's examples come from."""
    folder = write_site(tmp_path_factory.mktemp("site"), notes={**NOTES, **WORN})
    build_here(folder)
    return make_engine(opened(folder), local())


@dataclass(frozen=True)
class Case:
    """A request and the status and code that it should have, of a function with a policy."""

    id: str
    status: int
    method: str
    path: str
    code: str | None = None
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    has_index: bool = True
    times: int = 1

    def request(self) -> Request:
        usual = {"content-type": "application/json"} if self.method == "POST" else {}
        return Request(
            self.method,
            self.path,
            self.query,
            {**usual, **self.headers},
            self.body,
            "192.0.2.1",
        )


def body_of(question: object, **fields: object) -> bytes:
    return json.dumps({"question": question, **fields}).encode()


HOW = body_of(QUESTION)
STREAM = {"accept": EVENT_STREAM_TYPE}
PAGE = {"origin": ORIGIN}
ELSEWHERE = {"origin": "https://elsewhere.example"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
GUARDED = {"bearer": (DIGEST,)}
COUNTED = {"metrics": DIGEST}
ONCE = {"rate": "1/hour"}

CASES = (
    Case("answer", 200, "POST", "answer", body=HOW, headers=PAGE),
    Case("refusal", 200, "POST", "answer", body=body_of(REFUSED)),
    Case("route", 200, "POST", "answer", body=body_of("Where is the electric winch from?")),
    Case("stream", 200, "POST", "answer", body=HOW, headers=STREAM | PAGE),
    Case("stream-refused", 200, "POST", "answer", body=body_of("Hamlet?"), headers=STREAM),
    Case("no-json", 400, "POST", "answer", "bad-request", body=b"{", headers=STREAM),
    Case("elsewhere", 403, "POST", "answer", "forbidden", body=HOW, headers=ELSEWHERE),
    Case("method", 405, "GET", "answer", "method-not-allowed"),
    Case("large", 413, "POST", "answer", "too-large", body=b" " * (MAX_BODY_BYTES + 1)),
    Case(
        "text", 415, "POST", "answer", "unsupported",
        body=HOW, headers={"content-type": "text/plain"},
    ),
    Case("often", 429, "POST", "answer", "rate-limited", body=HOW, policy=ONCE, times=2),
    Case("paused", 503, "POST", "answer", "paused", body=HOW, policy={"paused": True}),
    Case("late", 504, "POST", "answer", "timeout", body=HOW, policy={"deadline": 0.0}),
    Case("no-index", 503, "POST", "answer", "unavailable", body=HOW, has_index=False),
    Case("no-token", 401, "POST", "answer", "unauthorized", body=HOW, policy=GUARDED),
    Case("search", 200, "GET", "search", query="q=mooring"),
    Case("search-no-words", 400, "GET", "search", "bad-request"),
    Case("places", 200, "POST", "places", body=HOW, headers=PAGE),
    Case("section", 200, "GET", "section", query="id=mooring%23chains"),
    Case("section-of-nothing", 404, "GET", "section", "not-found", "id=mooring%23zeppelin"),
    Case("health", 200, "GET", "health", policy=GUARDED),
    Case("ready", 200, "GET", "ready"),
    Case("ready-paused", 503, "GET", "ready", "paused", policy={"paused": True}),
    Case("openapi", 200, "GET", "openapi.json", headers=PAGE),
    Case("metrics", 200, "GET", "metrics", headers=BEARER, policy=COUNTED),
    Case("metrics-no-token", 401, "GET", "metrics", "unauthorized", policy=COUNTED),
    Case("nothing", 404, "GET", "answer/more", "not-found"),
)  # fmt: skip


def response(engine: Engine, case: Case) -> tuple[dict[str, Any], Response]:
    """The document of a function with a policy, and what the function sends."""
    policy = Policy(origins=(ORIGIN,), secret="of this test and no other", **case.policy)
    app = app_of(engine if case.has_index else None, policy)
    for _ in range(case.times - 1):
        send(app, case.request())
    described = make_document(
        "1",
        metrics=bool(policy.metrics),
        bearer=bool(policy.bearer),
    )
    return described, send(app, case.request())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_response_matches_openapi_document(engine: Engine, case: Case) -> None:
    document, sent = response(engine, case)
    assert sent.status == case.status
    assert (sent.json["code"] if case.code else None) == case.code
    openapi_check.check_response(document, case.method, case.path, sent)


@pytest.mark.parametrize("configured", [False, True])
def test_document_is_valid_openapi(configured: bool) -> None:
    validate(make_document("1", "/ask/", metrics=configured, bearer=configured))


def test_paths_that_are_not_configured_are_absent() -> None:
    bare = make_document("1")
    full = make_document("1", metrics=True, bearer=True)
    assert set(full["paths"]) - set(bare["paths"]) == {"/metrics"}
    assert "401" not in bare["paths"]["/answer"]["post"]["responses"]
    assert "401" in full["paths"]["/answer"]["post"]["responses"]
    assert "securitySchemes" not in bare["components"]


def test_enums_match_types() -> None:
    schemas = make_document("1")["components"]["schemas"]
    answer = schemas["Answer"]["properties"]
    assert set(answer["mode"]["enum"]) == set(get_args(Mode))
    assert set(answer["reason"]["enum"]) == {*get_args(Reason), None}
    assert set(answer["confidence"]["enum"]) == set(get_args(Confidence))
    assert set(schemas["Stage"]["properties"]["stage"]["enum"]) == set(get_args(RequestStage))
    assert set(schemas["Problem"]["properties"]["code"]["enum"]) == set(get_args(ProblemCode))
    question = schemas["Question"]["properties"]
    assert question["question"]["maxLength"] == MAX_QUESTION_CHARACTERS
    assert question["language"]["maxLength"] == languages.MAX_TAG_LENGTH
    *modes, _ = schemas["Answer"]["allOf"]
    assert {case["if"]["properties"]["mode"]["const"] for case in modes} == set(get_args(Mode))


def test_problem_responses_list_codes_of_their_status() -> None:
    document = make_document("1", metrics=True)
    statuses: dict[str, int] = {}
    for status, sent in document["components"]["responses"].items():
        fields = sent["content"][PROBLEM_TYPE]["schema"]["allOf"][1]["properties"]
        assert fields["status"] == {"const": int(status)}
        statuses |= dict.fromkeys(fields["code"]["enum"], int(status))
    assert statuses == {code: status for code, (status, _) in PROBLEM_STATUSES.items()}


def test_examples_match_their_schemas() -> None:
    document = make_document("1", metrics=True, bearer=True)
    content = list(media_types(document["paths"]))
    checked_count = 0
    for kind, media in content:
        values = [case["value"] for case in media.get("examples", {}).values()]
        values += [media["example"]] if "example" in media else []
        for value in values:
            openapi_check.validate(document, media["schema"], value)
            checked_count += 1
        if kind == EVENT_STREAM_TYPE:
            openapi_check.check_events(document, media, media["example"])
    assert checked_count == 11


def media_types(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every media type of a part of the document."""
    if isinstance(node, dict):
        yield from node.get("content", {}).items()
        for value in node.values():
            yield from media_types(value)


def example_of(path: str, method: str = "get") -> dict[str, Any]:
    content = FULL["paths"][path][method]["responses"]["200"]["content"]
    example: dict[str, Any] = content[JSON_TYPE]["example"]
    return example


def lasting(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in PASSING}


@pytest.mark.parametrize(
    ("case", "example"),
    [
        (Case("", 200, "POST", "answer", body=HOW), ANSWER),
        (
            Case("", 200, "POST", "answer", body=body_of(REFUSED)),
            REFUSAL,
        ),
        (
            Case("", 200, "GET", "search", query=f"q={SEARCHED}"),
            example_of("/search"),
        ),
        (
            Case("", 200, "POST", "places", body=body_of(SEARCHED)),
            example_of("/places", "post"),
        ),
        (
            Case("", 200, "GET", "section", query="id=mooring%23chains"),
            example_of("/section"),
        ),
        (Case("", 200, "GET", "health"), example_of("/health")),
        (Case("", 200, "GET", "ready"), example_of("/ready")),
    ],
    ids=["answer", "refusal", "search", "places", "section", "health", "ready"],
)
def test_examples_are_real_answers_of_tiny_site(
    engine: Engine, case: Case, example: Mapping[str, Any]
) -> None:
    sent = response(engine, case)[1].json
    assert set(sent) == set(example)
    assert lasting(sent) == lasting(example)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("Answer", {"mode": "partial"}),
        ("Answer", {"mode": "unheard-of"}),
        ("Answer", {"reason": "declined"}),
        ("Answer", {"confidence": 0.93}),
        ("Answer", {"score": 0.93}),
        ("Answer", {"citations": []}),
        ("Answer", {"dropped": -1}),
        ("RecordCitation", {"url": "javascript:alert(1)"}),
        ("RecordCitation", {"url": "//elsewhere.example/"}),
        ("RecordCitation", {"kind": "hint"}),
        ("RecordCitation", {"score": 1}),
        ("HintCitation", {"text": "private"}),
        ("HintCitation", {"quote": "private"}),
    ],
)
def test_schema_rejects_what_an_answer_never_is(name: str, change: Mapping[str, Any]) -> None:
    record, *_, hint = ANSWER["citations"]
    value = {"Answer": ANSWER, "RecordCitation": record, "HintCitation": hint}[name]
    openapi_check.validate(FULL, FULL["components"]["schemas"][name], value)
    refuse(FULL, name, {**value, **change})


def test_schema_rejects_refusal_with_citations() -> None:
    refuse(FULL, "Answer", {**REFUSAL, "citations": ANSWER["citations"]})
    refuse(FULL, "Answer", {**REFUSAL, "reason": None})


def refuse(document: Mapping[str, Any], name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        openapi_check.validate(document, document["components"]["schemas"][name], value)
